"""What of a stored plan a person can accept: the rule and the place of each open finding, by causes.

To read a large plan takes a second, and no other thread runs meanwhile. So the API server has it done by a process of
its own: ``python -m …`` with the plan's address on standard input.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
from pydantic import ValidationError

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.errors import BadInput, cut
from rocketmq_capacity.own_process import answer_of, answer_question, state_of
from rocketmq_capacity.plan_file.finding import Cause, PlanFinding
from rocketmq_capacity.plan_file.plan import Plan, decoded_plan
from rocketmq_capacity.report.limits import CAUSES, FINDINGS
from rocketmq_capacity.settings.accepted import PLACES, AcceptedRisk
from rocketmq_capacity.vocabulary import Severity

MOST: Final = 400
"""Risks of all causes: one takes about half a kB of the page."""
LONGEST: Final = 300
"""Characters of a sentence that the page shows."""

Place = tuple[str, str | None, str | None, str | None]
"""Rule, group, topic and broker."""


class Risk(msgspec.Struct, frozen=True, kw_only=True):
    """What one acceptance is about, with the worst of its findings."""

    id: str
    """Of that finding."""
    rule: str
    title: str
    consumer_group: str | None
    topic: str | None
    broker_name: str | None
    severity: Severity
    message: str

    @property
    def place(self) -> Place:
        """What tells it from others."""
        return self.rule, self.consumer_group, self.topic, self.broker_name

    @property
    def fields(self) -> dict[str, str]:
        """Rule and place, as the form of the Dag has them."""
        fields = {name: getattr(self, name) for name in ("rule", *PLACES)}
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """Group, topic and broker that it names."""
        return tuple(name for name in self.place[1:] if name is not None)


class AcceptableCause(msgspec.Struct, frozen=True, kw_only=True):
    """A cause, and what of it can be accepted."""

    id: str
    title: str
    severity: Severity
    risks: tuple[Risk, ...]
    more: int
    """Risks that are left out."""


class Acceptable(msgspec.Struct, frozen=True, kw_only=True):
    """The causes that have something to accept, the worst first."""

    causes: tuple[AcceptableCause, ...]
    more: int
    """Causes that are left out."""

    def risks(self) -> dict[str, Risk]:
        """All of them, by id."""
        return {risk.id: risk for cause in self.causes for risk in cause.risks}


def acceptable_of(plan: Path) -> Acceptable:
    """What of a stored plan.json can be accepted, read by a process of its own; the same file is read once.

    Errors: BadInput if it cannot be read; OwnProcessFailed if it is too large, or takes too much time or memory.
    """
    return _read_once(plan, state_of(plan))


@lru_cache(maxsize=16)
def _read_once(plan: Path, _file: tuple[int, int, int]) -> Acceptable:
    acceptable_risks: Acceptable | None = answer_of(__name__, str(plan), Acceptable | None)
    if acceptable_risks is None:
        raise BadInput(str(plan), "", "is no plan")
    return acceptable_risks


def acceptable(plan: Plan) -> Acceptable:
    """The first causes and risks, and how many are left out."""
    findings = {finding.id: finding for finding in plan.findings}
    causes: list[AcceptableCause] = []
    left, more = MOST, 0
    for cause in plan.causes:
        risks = _risks(cause, findings)
        shown = risks[: min(FINDINGS, left)] if len(causes) < CAUSES else []
        left -= len(shown)
        if shown:
            causes.append(_cause(cause, shown, len(risks) - len(shown)))
        elif risks:
            more += 1
    return Acceptable(causes=tuple(causes), more=more)


def _cause(cause: Cause, risks: Iterable[Risk], more: int) -> AcceptableCause:
    return AcceptableCause(
        id=cause.id, title=cut(cause.title, LONGEST), severity=cause.severity, risks=tuple(risks), more=more
    )


def _risks(cause: Cause, findings: Mapping[str, PlanFinding]) -> list[Risk]:
    """What can be accepted of a cause, without repetitions; its findings are sorted, the most urgent first."""
    risks: dict[Place, Risk] = {}
    for risk in _each(findings[name] for name in cause.findings if name in findings):
        risks.setdefault(risk.place, risk)
    return list(risks.values())


def _each(findings: Iterable[PlanFinding]) -> Iterator[Risk]:
    for finding in findings:
        place = {name: getattr(finding, name) for name in PLACES}
        alone = finding.subjects[0] if len(finding.subjects) == 1 else None
        if not any(place.values()) and isinstance(alone, str):
            place["broker_name"] = alone
        if finding.accepted is None and _can_be_accepted(finding.rule, place):
            yield Risk(
                id=finding.id,
                rule=finding.rule,
                title=rule_of(finding.rule).title,
                severity=finding.severity,
                message=cut(finding.message, LONGEST),
                **place,
            )


def _can_be_accepted(rule: str, place: Mapping[str, str | None]) -> bool:
    """Whether the rule is known, and the place is named in one line of text."""
    known = {name: told for name, told in place.items() if told is not None}
    try:
        AcceptedRisk.model_validate({"rule": rule, **known, "by": "x", "why": "x", "until": "9999-12-31"})
    except ValidationError:
        return False
    return True


def _answer(plan: str) -> Acceptable | None:
    """What can be accepted of a plan; None if it is no plan."""
    try:
        return acceptable(decoded_plan(Path(plan).read_bytes()))
    except (OSError, ValueError, RecursionError, BadInput):  # msgspec's errors are ValueErrors
        return None


if __name__ == "__main__":
    answer_question(str, _answer)
