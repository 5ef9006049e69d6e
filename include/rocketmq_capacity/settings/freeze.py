"""Times in which nothing may be changed: commands are then comments."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Annotated, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from rocketmq_capacity.settings.line import Reason
from rocketmq_capacity.settings.section import Section


def _moment(value: object) -> object:
    """A moment in UTC; a day is its beginning, and a time without a zone is UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise ValueError("expected a time such as 2026-12-20T00:00:00Z")
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


Moment = Annotated[datetime, BeforeValidator(_moment)]


class Period(Section):
    """From its first moment until before its last one."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, populate_by_name=False)

    begins: Moment = Field(alias="from")
    ends: Moment = Field(alias="to")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.begins >= self.ends:
            raise ValueError("ends before it begins; expected from before to")
        return self


class Freeze(Period):
    """A period in which nothing may be changed."""

    why: Reason

    def holds_at(self, taken_at: str) -> bool:
        """Whether a moment (UTC, ISO-8601) is within it."""
        return self.begins <= datetime.fromisoformat(taken_at) < self.ends


def freeze_at(freezes: Iterable[Freeze], taken_at: str) -> Freeze | None:
    """The freeze that holds at a moment; the one that ends last if there are several, None if there is none."""
    return max((one for one in freezes if one.holds_at(taken_at)), key=lambda one: one.ends, default=None)


def next_freeze(freezes: Iterable[Freeze], taken_at: str, until: str) -> Freeze | None:
    """The first freeze that begins after one moment and before another one; None if there is none."""
    after, before = datetime.fromisoformat(taken_at), datetime.fromisoformat(until)
    return min((one for one in freezes if after < one.begins < before), key=lambda one: one.begins, default=None)


def utc_text(moment: datetime) -> str:
    """A moment in UTC as the plan writes it: ``2026-12-20T00:00:00Z``."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
