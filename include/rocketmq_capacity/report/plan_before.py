"""What the ledger takes from the plan before: its recommendations, who approved them, and its own ledger."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.ledger import ActionRate, GroupThen, Ledger, LedgerEntry, LedgerFigure, LedgerStanding
from rocketmq_capacity.report.foretold import TWICE, changed_figures, predicted_figures
from rocketmq_capacity.vocabulary import CRITICAL

INCOMPLETE: Final = "SNAPSHOT_INCOMPLETE"


class _Step(msgspec.Struct, frozen=True):
    title: str


class _Transition(msgspec.Struct, frozen=True):
    messages_twice_worst: float | None = None


class _Recommendation(msgspec.Struct, frozen=True):
    id: str
    action: str
    consumer_group: str | None
    topic: str | None
    before: dict[str, Any]
    after: dict[str, Any]
    standing: LedgerStanding | UnsetType = UNSET
    steps: tuple[_Step, ...] = ()
    transition: _Transition = _Transition()


class _Peak(msgspec.Struct, frozen=True):
    msgs_per_s: float | None = None


class _GroupBefore(msgspec.Struct, frozen=True):
    consumer_group: str
    distinct_client_ids: int
    peak: _Peak = _Peak()


class _Approval(msgspec.Struct, frozen=True):
    by: str | None
    at: str
    approved: tuple[str, ...] = ()


class _Finding(msgspec.Struct, frozen=True):
    rule: str
    severity: str


class _Plan(msgspec.Struct, frozen=True):
    """The members that the ledger needs; everything else in the file is skipped."""

    taken_at: str
    groups: tuple[_GroupBefore, ...]
    recommendations: tuple[_Recommendation, ...]
    valid_until: str | None = None
    approval: _Approval | UnsetType = UNSET
    ledger: Ledger | UnsetType = UNSET
    findings: tuple[_Finding, ...] = ()

    @property
    def is_undecided(self) -> bool:
        """Whether its snapshot was too incomplete to recommend any change."""
        return any(one.rule == INCOMPLETE and one.severity == CRITICAL for one in self.findings)


@dataclass(frozen=True, slots=True)
class PlanBefore:
    """The recommendations of the plan before, those that its ledger lists, and its rates."""

    entries: tuple[LedgerEntry, ...] = ()
    rates: tuple[ActionRate, ...] = ()


def plan_before(file: Path) -> PlanBefore:
    """What the plan of the run before says. Errors: BadInput if the file is damaged; OSError."""
    try:
        plan = msgspec.json.decode(file.read_bytes(), type=_Plan)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise BadInput(str(file), "", f"is not a plan: {error}") from None
    earlier = None if plan.ledger is UNSET else plan.ledger
    listed = () if earlier is None else tuple(_waiting(one, plan) for one in earlier.entries)
    return PlanBefore((*_recommended(plan), *listed), () if earlier is None else earlier.rates)


def _waiting(entry: LedgerEntry, plan: _Plan) -> LedgerEntry:
    """The entry; it still waits if the plan could recommend nothing, so that it seemed to be gone."""
    return replace(entry, state="OPEN") if plan.is_undecided and entry.state == "GONE" else entry


def _recommended(plan: _Plan) -> Iterator[LedgerEntry]:
    groups = {one.consumer_group: one for one in plan.groups}
    approval = None if plan.approval is UNSET else plan.approval
    for recommendation in plan.recommendations:
        if action_of(recommendation.action).changes == "nothing":
            continue
        stood = (
            LedgerStanding(state="OPEN", since=plan.taken_at)
            if recommendation.standing is UNSET
            else recommendation.standing
        )
        if approval is not None and recommendation.id in approval.approved:
            stood = replace(
                stood, state="APPROVED", approved_by=approval.by, approved_at=approval.at, expires_at=plan.valid_until
            )
        predictions = predicted_figures(recommendation.before, recommendation.after, recommendation.consumer_group)
        names = dict.fromkeys(figure.of for figure in predictions)
        clients = recommendation.after.get("clients")
        yield LedgerEntry(
            id=recommendation.id,
            action=recommendation.action,
            consumer_group=recommendation.consumer_group,
            topic=recommendation.topic,
            state=stood.state,
            since=stood.since,
            at=plan.taken_at,
            approved_by=stood.approved_by,
            approved_at=stood.approved_at,
            expires_at=stood.expires_at,
            changes=changed_figures(recommendation.before, recommendation.after),
            predictions=(*predictions, *_twice(recommendation.transition)),
            steps=tuple(step.title for step in recommendation.steps),
            groups=tuple(
                GroupThen(
                    consumer_group=name,
                    clients=clients if isinstance(clients, int) else groups[name].distinct_client_ids,
                    msgs_per_s=groups[name].peak.msgs_per_s,
                )
                for name in names
                if name in groups
            ),
        )


def _twice(transition: _Transition) -> Iterator[LedgerFigure]:
    if transition.messages_twice_worst is not None:
        yield LedgerFigure(figure=TWICE, before=0, predicted=transition.messages_twice_worst)
