"""Formats of form fields that a JSON schema alone cannot tell: the form and the API refuse a bad text with its reason.

Airflow checks a Param by its JSON schema, in the API server before a run is made and again in the task. A schema names
a format; what the format means, jsonschema is told here, once in each process: by the Dag files, and by the plugin in
the API server.
"""

from collections.abc import Callable
from typing import Final

from jsonschema import FormatChecker
from jsonschema.exceptions import FormatError

from rocketmq_capacity.errors import HALF_A_CHARACTER, BadInput, is_writable
from rocketmq_capacity.settings.policy import PolicyChanges
from rocketmq_capacity.simulation.scenario import scenario_of_text

LONGEST_TEXT: Final = 60_000
"""Characters of a text field."""
LONGEST_ARGUMENT: Final = 120_000
"""Bytes of a text: it travels as one argument of a program, and Linux takes less than 128 KiB for one."""
POLICY: Final = "rocketmq-capacity-policy"
SCENARIO: Final = "rocketmq-capacity-scenario"


def register_formats() -> None:
    """Tell jsonschema what the formats mean; calling it again changes nothing."""
    FormatChecker.checkers[POLICY] = (_checker(lambda text: PolicyChanges(text=text).mapping()), ())
    FormatChecker.checkers[SCENARIO] = (_checker(lambda text: scenario_of_text(text, "scenario")), ())


def _checker(read: Callable[[str], object]) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        if isinstance(value, str) and not value.isspace():  # other types are the schema's to refuse
            # First of all: jsonschema asks about the format of a text that is longer than its maxLength, too.
            check_text(value)
            try:
                read(value)
            except BadInput as error:
                raise FormatError(str(error)) from None
        return True

    return check


def check_text(text: str) -> None:
    """Errors: FormatError for a text that is too long for a field, or that no argument of a program can hold."""
    if not is_writable(text):
        raise FormatError(HALF_A_CHARACTER)
    if len(text) > LONGEST_TEXT or len(text.encode()) > LONGEST_ARGUMENT:
        raise FormatError(f"is too long; expected at most {LONGEST_TEXT:,} characters and {LONGEST_ARGUMENT:,} bytes")
