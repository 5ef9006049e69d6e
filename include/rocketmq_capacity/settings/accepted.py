"""Risks that somebody has accepted: findings that need nothing until a day, or until they get worse."""

from datetime import UTC, date, datetime
from typing import Annotated, Final, Self

from pydantic import BeforeValidator, model_validator

from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.settings.line import Name, Reason
from rocketmq_capacity.settings.section import Section
from rocketmq_capacity.settings.yaml_file import nearest
from rocketmq_capacity.vocabulary import Severity

PLACES: Final = ("consumer_group", "topic", "broker_name")


def _rule(name: object) -> object:
    if not isinstance(name, str) or name not in rules():
        raise ValueError(f"is not a known rule{nearest('rule', name, sorted(rules()))}")
    return name


def _day(value: object) -> object:
    """A date, or a text that is one; pydantic would also take a number, as seconds since 1970."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            value = None
    if not isinstance(value, date) or isinstance(value, datetime):
        raise ValueError("expected a day such as 2027-03-01")
    return value


class AcceptedRisk(Section):
    """An accepted risk.

    Attributes:
        rule: of the finding.
        consumer_group, topic, broker_name: where it is; a place that is left out may be any.
        by: who accepts it.
        why: the reason.
        until: the last day (UTC) on which it is accepted.
        severity: the worst severity that is accepted; None for that of the finding when it was first found.
    """

    rule: Annotated[str, BeforeValidator(_rule)]
    consumer_group: Name | None = None
    topic: Name | None = None
    broker_name: Name | None = None
    by: Name
    why: Reason
    until: Annotated[date, BeforeValidator(_day)]
    severity: Severity | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if all(getattr(self, name) is None for name in PLACES):
            raise ValueError(f"names no place; expected one of {', '.join(PLACES)}")
        return self

    def is_over(self, taken_at: str) -> bool:
        """Whether the moment (UTC, ISO-8601) is after its last day."""
        return datetime.fromisoformat(taken_at).astimezone(UTC).date() > self.until

    def is_about(
        self, rule: str, consumer_group: str | None, topic: str | None, broker_names: tuple[str | None, ...]
    ) -> bool:
        """Whether it is about a finding of this rule at this place."""
        return (
            self.rule == rule
            and self.consumer_group in {None, consumer_group}
            and self.topic in {None, topic}
            and self.broker_name in {None, *broker_names}
        )
