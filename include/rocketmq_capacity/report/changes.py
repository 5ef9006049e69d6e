"""The state of each finding, and what is new, worse and gone since the plan before."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import convert
from msgspec.structs import asdict, replace

from rocketmq_capacity.plan_file.changes import ChangesSincePlan, Closing, Gone, Worse, grown
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.pairs import paired, place_of, place_with_subjects
from rocketmq_capacity.report.answering import urgency
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.impact import impact_of
from rocketmq_capacity.tables.assess.findings import CLOSING, PENDING, FindingSince, FoundPlace


def with_states(findings: Iterable[PlanFinding], states: Mapping[FoundPlace, FindingSince]) -> tuple[PlanFinding, ...]:
    """The findings with their states; one whose state is not known has none."""
    return tuple(_with_state(one, states.get(place_of(one))) for one in findings)


def changes_of(
    before: Sequence[PlanFinding],
    now: Sequence[PlanFinding],
    states: Mapping[FoundPlace, FindingSince],
    since: str,
    worse_factor: float,
) -> ChangesSincePlan:
    """Compare the findings of two plans.

    A finding is the same if rule, group, topic and broker are. Of several, those with the same subjects are paired
    first.

    Args:
        before: the findings of the plan before, and what was closing in it.
        now: the findings of this plan, with their states.
        states: of the findings of this plan, and of those that close in it.
        since: when the snapshot of the plan before was taken.
        worse_factor: a figure of an impact that is at least this many times what it was is worse.
    """
    pairs, absent, appeared = paired(before, now, (place_with_subjects, place_of))
    opened = {id(one) for _, one in pairs if _has_opened(states.get(place_of(one)), since)}
    new = [one for one in appeared if one.state != PENDING] + [one for _, one in pairs if id(one) in opened]
    judged = ((was, is_now, tuple(grown(impact_of([was]), impact_of([is_now]), worse_factor))) for was, is_now in pairs)
    worse = [
        (is_now, Worse(finding=is_now.id, severity_before=was.severity, figures=figures))
        for was, is_now, figures in judged
        if id(is_now) not in opened and (figures or SEVERITY_RANK[is_now.severity] < SEVERITY_RANK[was.severity])
    ]
    close = [(one, states.get(place_of(one))) for one in sorted(absent, key=urgency)]
    return ChangesSincePlan(
        since=since,
        new=tuple(one.id for one in sorted(new, key=urgency)),
        worse=tuple(one for _, one in sorted(worse, key=lambda pair: urgency(pair[0]))),
        gone=tuple(_gone(one) for one, state in close if not _closes(state)),
        pending=tuple(one.id for one in sorted(now, key=urgency) if one.state == PENDING),
        closing=tuple(
            Closing(**asdict(_gone(one)), since=state.since) for one, state in close if state and _closes(state)
        ),
    )


def _with_state(finding: PlanFinding, state: FindingSince | None) -> PlanFinding:
    if state is None or state.state is None:
        return finding
    return replace(finding, state="PENDING" if state.state == PENDING else "OPEN", since=state.since)


def _has_opened(state: FindingSince | None, before: str) -> bool:
    """Whether it was PENDING in the plan before, which first found it."""
    return state is not None and state.since == before and state.open_since not in (None, before)


def _closes(state: FindingSince | None) -> bool:
    return state is not None and state.state == CLOSING


def _gone(finding: PlanFinding) -> Gone:
    return convert(finding, Gone, from_attributes=True)
