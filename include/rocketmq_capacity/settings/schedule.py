"""When a group is expected to run: a cron expression, by the hour."""

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Final

from croniter import CroniterBadDateError, CroniterError, croniter
from pydantic import AfterValidator

EXPECTED: Final = "expected a cron expression of five fields in UTC, such as '0 6-22 * * *'"
FIELDS: Final = 5
LONGEST: Final = 200
"""Characters of an expression."""
ANY_DAY: Final = datetime(2024, 1, 1, tzinfo=UTC)
"""Where a check begins to look for a moment at which an expression fires."""
VALUE: Final = r"(\d+|[a-z]{3})"
ITEM: Final = rf"(\*|{VALUE}(-{VALUE})?)(/\d+)?"
FIELD: Final = re.compile(rf"{ITEM}(,{ITEM})*", re.IGNORECASE)
"""A field in the form of cron; croniter knows more, such as random values."""


def _checked(expression: str) -> str:
    fields = expression.split()
    if len(expression) > LONGEST or len(fields) != FIELDS or not all(map(FIELD.fullmatch, fields)):
        raise ValueError(EXPECTED)
    try:
        croniter(expression, ANY_DAY).get_next()
    except CroniterBadDateError:
        raise ValueError(f"names no day that ever comes; {EXPECTED}") from None
    except (CroniterError, OverflowError):
        raise ValueError(EXPECTED) from None
    return expression


Schedule = Annotated[str, AfterValidator(_checked)]
"""A cron expression; a group runs in every hour in which it fires at least once."""


@lru_cache(maxsize=1_000)
def is_scheduled(schedule: str, taken_at: str) -> bool:
    """Whether the hour of a moment (UTC, ISO-8601) is one of the schedule's.

    The field of minutes does not matter. If days of the month and of the week are both given, either is enough, as in
    cron.
    """
    moment = datetime.fromisoformat(taken_at).astimezone(UTC)
    _minutes, rest = schedule.split(maxsplit=1)
    return bool(croniter.match(f"* {rest}", moment))
