"""What all Dags have in common: their name and text, the kinds of runs they allow, and the first check of each task."""

from pathlib import Path
from typing import Any, Final

import pendulum
from airflow.utils.types import DagRunType

from rocketmq_capacity.provider.form_text import document
from rocketmq_capacity.provider.known_fields import refuse_unknown_fields
from rocketmq_capacity.provider.refused import NO_RETRY
from rocketmq_capacity.provider.spark_app import ASK_AGAIN

NEVER_BACKFILLED: Final = frozenset(DagRunType) - {DagRunType.BACKFILL_JOB}
"""A cluster cannot be asked about yesterday, so no Dag makes runs for past days."""


def every_dag(file: str, text: str, **default_args: Any) -> dict[str, Any]:
    """The arguments of Airflow's ``DAG`` that are the same for every Dag.

    Args:
        file: the Dag's file, which has the Dag's name.
        text: its docstring, which the UI shows in the deployment's language; its first line is the description.
        default_args: further defaults of this Dag's tasks.
    """
    shown = document(text)
    return {
        "dag_id": Path(file).stem,
        "description": shown.partition("\n")[0].rstrip(".。"),
        "doc_md": shown,
        "start_date": pendulum.datetime(2026, 1, 1, tz="UTC"),
        "catchup": False,
        "allowed_run_types": NEVER_BACKFILLED,
        "default_args": {**ASK_AGAIN, "retry_policy": NO_RETRY, "pre_execute": refuse_unknown_fields, **default_args},
        "tags": ["rocketmq", "capacity"],
    }
