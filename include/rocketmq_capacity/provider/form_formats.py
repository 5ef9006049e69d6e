"""Formats of form fields that a JSON schema cannot describe: the form and the API refuse a bad text with the reason.

Airflow checks a Param by its JSON schema, in the API server before a run is made and again in the task. The schema
only names a format. This module gives jsonschema the meaning, once in each process: from the Dag files, and from the
plugin in the API server.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Final

from jsonschema import FormatChecker
from jsonschema.exceptions import FormatError

from rocketmq_capacity.errors import HALF_A_CHARACTER, BadInput, is_writable
from rocketmq_capacity.settings.policy import PolicyChanges
from rocketmq_capacity.settings.yaml_file import mapping_of_text
from rocketmq_capacity.simulation.scenario import WHAT, scenario_of_text

LONGEST_TEXT: Final = 60_000
"""Characters of a text field."""
LONGEST_ARGUMENT: Final = 120_000
"""Bytes of a text: it becomes one argument of a program, and Linux allows less than 128 KiB for one."""
REMEMBERED: Final = 128
"""Texts whose answer is remembered: twice as many as may wait for their check."""
POLICY: Final = "rocketmq-capacity-policy"
SCENARIO: Final = "rocketmq-capacity-scenario"


def register_formats() -> None:
    """Register the formats with jsonschema; calling it again changes nothing."""
    FormatChecker.checkers[POLICY] = (_checker(lambda text: PolicyChanges(text=text).mapping()), ())
    FormatChecker.checkers[SCENARIO] = (_checker(_read_scenario), ())


def check_ahead(text: object, name: str) -> None:
    """Check a text of this format, so that its answer is known when Airflow checks it."""
    check, _ = FormatChecker.checkers[name]
    with suppress(FormatError):
        check(text)


def _read_scenario(text: str) -> None:
    """Errors: BadInput; a text of comments alone is a field that was left as it is."""
    if mapping_of_text(text, "scenario", WHAT):
        scenario_of_text(text, "scenario")


def _checker(read: Callable[[str], object]) -> Callable[[object], bool]:
    # Airflow checks a text again in a thread of its own, of which it has forty. By then its answer is known.
    @lru_cache(maxsize=REMEMBERED)
    def problem(text: str) -> str | None:
        try:
            read(text)
        except BadInput as error:
            return str(error)
        return None

    def check(value: object) -> bool:
        if isinstance(value, str) and not value.isspace():  # the schema refuses other types
            # First, because jsonschema checks the format also of a text that is longer than its maxLength.
            check_text(value)
            if reason := problem(value):
                raise FormatError(reason)
        return True

    return check


def check_text(text: str) -> None:
    """Errors: FormatError for a text that is too long for a field, or for an argument of a program."""
    if not is_writable(text):
        raise FormatError(HALF_A_CHARACTER)
    if len(text) > LONGEST_TEXT or len(text.encode()) > LONGEST_ARGUMENT:
        raise FormatError(f"is too long; expected at most {LONGEST_TEXT:,} characters and {LONGEST_ARGUMENT:,} bytes")
