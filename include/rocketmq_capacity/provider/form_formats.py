"""Formats of form fields that a JSON schema alone cannot tell: the form and the API refuse a bad text with its reason.

Airflow checks a Param by its JSON schema, in the API server before a run is made and again in the task. A schema names
a format; what the format means, jsonschema is told here, once in each process: by the Dag files, and by the plugin in
the API server.
"""

from collections.abc import Callable
from typing import Final

from jsonschema import FormatChecker
from jsonschema.exceptions import FormatError

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import PolicyChanges
from rocketmq_capacity.simulation.scenario import scenario_of_text

POLICY: Final = "rocketmq-capacity-policy"
SCENARIO: Final = "rocketmq-capacity-scenario"


def register_formats() -> None:
    """Tell jsonschema what the formats mean; calling it again changes nothing."""
    FormatChecker.checkers[POLICY] = (_checker(lambda text: PolicyChanges(text=text).mapping()), ())
    FormatChecker.checkers[SCENARIO] = (_checker(lambda text: scenario_of_text(text, "scenario")), ())


def _checker(read: Callable[[str], object]) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        if isinstance(value, str) and value.strip():  # other types are the schema's to refuse; empty is not filled in
            try:
                read(value)
            except BadInput as error:
                raise FormatError(str(error)) from None
        return True

    return check
