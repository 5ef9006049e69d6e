"""Refuses a run whose configuration has a field that its Dag does not know.

Airflow 3.3.2 accepts any field and ignores it, so ``{"only_lst": true}`` would delete instead of listing.
Source: airflow.sdk.definitions.param.process_params, which adds the configuration to the Dag's Params.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from airflow.sdk import Context

from rocketmq_capacity.errors import writable
from rocketmq_capacity.provider.refused import refuse
from rocketmq_capacity.settings.yaml_file import nearest

OF_AIRFLOW: Final = "airflow/"
"""Prefix of the names that Airflow itself reads from a run's configuration, such as the detail of traces."""


def unknown_field(conf: Mapping[str, Any], known: Iterable[str]) -> str:
    """The field of a run's configuration that the Dag does not know, and the nearest one; empty if it knows all."""
    fields = sorted(known)
    for name in sorted(conf.keys() - set(fields)):
        if not name.startswith(OF_AIRFLOW):
            end = nearest("field", name, fields) or "; this Dag has no fields"
            return f"Invalid input for param {writable(name):.200}: is not a known field{end}"
    return ""


def refuse_unknown_fields(context: Context) -> None:
    """The first check of each task of each Dag, in whatever way its run was started.

    Errors: `Refused`, with a line that names the field and the nearest known one.
    """
    if reason := unknown_field(context["dag_run"].conf or {}, context["dag"].params):
        refuse(reason)
