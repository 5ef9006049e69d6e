"""What became of the recommendations of the plan before, as far as today's snapshot tells.

A recommendation is carried out when what it changes has become what it asks for. Then its predictions are compared
with what the clients report. A prediction holds for the group that it was made for: where the number of clients or the
traffic has changed, or a second change has touched the group, it cannot be judged.
Source: planning rules 25 (plan ledger).
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.plan_file.ledger import (
    ActionRate,
    Fate,
    Gate,
    GroupThen,
    Ledger,
    LedgerEntry,
    LedgerFigure,
    LedgerStanding,
    State,
    Value,
)
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.deliveries import judged_deliveries
from rocketmq_capacity.report.foretold import BROKERS, OWNED, PEAK, QUEUES, TWICE, UTILISATION
from rocketmq_capacity.report.gates import Going, Leftover, Spread, gate_of, gate_of_broker
from rocketmq_capacity.report.plan_before import PlanBefore
from rocketmq_capacity.vocabulary import MIXED, UNREAD

SHOWN_DAYS: Final = 14
"""Days for which the ledger lists what was verified or failed, and waits for what cannot be judged yet."""
MOST_ENTRIES: Final = 1_000
PEAK_ERROR: Final = 0.0001
"""The plan rounds PEAK to four decimals."""
UTILISATION_ERROR: Final = 0.1
"""A predicted busy share is right within this; a tenth is what response times vary by in an hour (ours)."""
SAME_TRAFFIC: Final = 0.1
"""Traffic that differs by more than this share of the earlier one is other traffic (ours)."""
ORDER: Final[tuple[Fate, ...]] = ("FAILED", "BEGUN", "CARRIED_OUT", "VERIFIED", "GONE")
DECIDED: Final = ("VERIFIED", "FAILED")
WHILE_DIVIDING: Final = ("orphan_queues", "doubly_owned_queues")
"""What clients have for a while after a change, until all of them know the new queues."""
NOTHING_PREDICTED: Final = "nothing was predicted that a snapshot shows"
Done = Literal["NOT", "IN_PART", "DONE", "OTHERWISE"]
Queues = Mapping[str, tuple[int | None, int | None]]
"""By broker, the read and write queues of a topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedOwners:
    """What the clients of a group report to own of its business topics.

    Attributes:
        idle: client ids that own nothing.
        orphan_queues: readable queues that nobody owns.
        doubly_owned_queues: queues that several consumers own.
        peak: the busiest client's queues / the mean; None without clients or queues.
    """

    idle: int
    orphan_queues: int
    doubly_owned_queues: int
    peak: float | None


@dataclass(frozen=True, slots=True)
class LedgerFacts:
    """What the snapshot says of what earlier plans recommended.

    Attributes:
        queues: of each topic.
        owners: names of groups -> what their clients own; a group that did not say it is missing.
        went_back: names of groups -> messages by which their offsets went back since the run before; None if unknown.
        leftover: topic, queues that go -> what is still written to them, and what groups have not read there.
        spread: how topics lie on brokers; None if unknown.
    """

    queues: Mapping[str, Queues] = field(default_factory=dict)
    owners: Callable[[Collection[str]], Mapping[str, ReportedOwners]] = lambda _names: {}
    went_back: Callable[[Collection[str]], Mapping[str, int | None]] = lambda _names: {}
    leftover: Callable[[str, Going], Leftover] = lambda _topic, _going: Leftover(msgs_per_s=None)
    spread: Spread | None = None


NOTHING_SEEN: Final = LedgerFacts()


@dataclass(frozen=True, slots=True)
class _JudgedBy:
    """What is judged by: the groups of today, what their clients own, and by how much their offsets went back."""

    groups: Mapping[str, GroupPlan]
    owned: Mapping[str, ReportedOwners]
    went_back: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class _Carried:
    """An earlier entry, how much of it is done, and what its changes have become."""

    entry: LedgerEntry
    done: Done | None
    """None if no figure shows it."""
    changes: tuple[LedgerFigure, ...]

    @property
    def made(self) -> int:
        return sum(figure.is_right is True for figure in self.changes)

    @property
    def touched(self) -> set[str]:
        return {one.consumer_group for one in self.entry.groups}


def with_ledger(plan: Plan, before: PlanBefore, today: LedgerFacts) -> Plan:
    """The plan with the standing of its recommendations, and with what became of earlier ones.

    Args:
        plan: a daily plan with its answers, after another one.
        before: of that other plan.
        today: of the plan's snapshot.
    """
    if plan.changes is None:
        return plan
    groups = {one.consumer_group: one for one in plan.groups}
    old = [one for one in before.entries if one.state in DECIDED and _is_recent(one, plan.taken_at)]
    carried = [_carried(one, groups, today) for one in before.entries if one.state not in (*DECIDED, "GONE")]
    standing = _matched(plan.recommendations, [one for one in carried if one.done not in ("DONE", "OTHERWISE")])
    kept = {one.entry.id for one in standing.values()}
    left = [one for one in carried if one.entry.id not in kept]
    closed = _closed(plan, left, groups, today)
    new = [one for one in closed if one.state in DECIDED]
    entries = sorted([*closed, *old], key=lambda one: (ORDER.index(_fate(one)), one.action, one.id, one.at))
    return replace(
        plan,
        recommendations=tuple(_with_standing(one, standing.get(one.id), plan) for one in plan.recommendations),
        ledger=Ledger(
            before=plan.changes.since,
            entries=tuple(entries[:MOST_ENTRIES]),
            left_out=len(entries[MOST_ENTRIES:]),
            rates=_rates(before.rates, new),
        ),
    )


def _fate(entry: LedgerEntry) -> Fate:
    return next(one for one in ORDER if one == entry.state)


def _carried(entry: LedgerEntry, groups: Mapping[str, GroupPlan], today: LedgerFacts) -> _Carried:
    group, queues = groups.get(entry.consumer_group or ""), today.queues.get(entry.topic or "", {})
    brokers = None if today.spread is None else len(today.spread.brokers)
    came = [brokers if one.figure == BROKERS else _came(one, queues, group) for one in entry.changes]
    changes = tuple(replace(figure, came=value) for figure, value in zip(entry.changes, came, strict=True))
    changes = tuple(replace(one, is_right=None if one.came is None else _done(one) == "DONE") for one in changes)
    done = {_done(figure) for figure in changes}
    if not changes:
        return _Carried(entry, None, changes)
    if "OTHERWISE" in done:
        return _Carried(entry, "OTHERWISE", changes)
    if len(done) > 1:
        return _Carried(entry, "IN_PART", changes)
    return _Carried(entry, done.pop(), changes)


def _came(figure: LedgerFigure, queues: Queues, group: GroupPlan | None) -> Value:
    if figure.figure in QUEUES:
        # Queues that were there are not fewer because their broker or topic is lost: nobody decided on that.
        absent = 0 if figure.before == 0 else None
        return queues.get(figure.of or "", (absent, absent))[QUEUES.index(figure.figure)]
    if group is None:
        return None
    of_group = {
        "clients": group.distinct_client_ids,
        "strategy": group.current_strategy,
        "message_request_mode": group.message_request_mode,
    }
    return of_group[figure.figure]


def _done(figure: LedgerFigure) -> Done:
    """How far a figure has become what was asked for."""
    came, before, predicted = figure.came, figure.before, figure.predicted
    if came == predicted:
        return "DONE"
    if came is None or came == before:
        return "NOT"
    if isinstance(came, int) and isinstance(before, int) and isinstance(predicted, int):
        if figure.figure == BROKERS and came > predicted:
            return "DONE"  # so many or more were asked for
        if figure.figure in ("clients", BROKERS):
            # Clients come and go by themselves: a number between is a part of the way, and another one says nothing.
            return "IN_PART" if min(before, predicted) < came < max(before, predicted) else "NOT"
    return "IN_PART" if came == MIXED else "OTHERWISE"


def _matched(recommendations: Iterable[PlanRecommendation], carried: Sequence[_Carried]) -> dict[str, _Carried]:
    """By id of today's recommendation, the earlier one that it is: of the same id, or the only one of its kind."""
    by_id = {one.entry.id: one for one in carried}
    made = [one for one in recommendations if action_of(one.action).changes != "nothing"]
    matched = {one.id: by_id[one.id] for one in made if one.id in by_id}
    left = [one for one in made if one.id not in matched]
    kinds = Counter((one.action, one.consumer_group, one.topic) for one in left)
    unmatched: dict[tuple[str, str | None, str | None], list[_Carried]] = {}
    for earlier in carried:
        if earlier.entry.id not in matched:
            entry = earlier.entry
            unmatched.setdefault((entry.action, entry.consumer_group, entry.topic), []).append(earlier)
    for recommendation in left:
        kind = recommendation.action, recommendation.consumer_group, recommendation.topic
        if kinds[kind] == 1 and len(unmatched.get(kind, ())) == 1:
            matched[recommendation.id] = unmatched[kind][0]
    return matched


def _with_standing(recommendation: PlanRecommendation, earlier: _Carried | None, plan: Plan) -> PlanRecommendation:
    if action_of(recommendation.action).changes == "nothing":
        return recommendation
    if earlier is None:
        standing = LedgerStanding(state="NEW", since=plan.taken_at)
    else:
        entry = earlier.entry
        is_same = entry.id == recommendation.id  # an approval is one of what was asked, and of no other number
        holds = is_same and entry.expires_at is not None and _days(plan.taken_at, entry.expires_at) > 0
        was_approved = is_same and entry.approved_at is not None
        not_approved: State = "EXPIRED" if was_approved else "OPEN"
        standing = LedgerStanding(
            state="APPROVED" if holds else not_approved,
            since=entry.since,
            approved_by=entry.approved_by if is_same else None,
            approved_at=entry.approved_at if is_same else None,
            expires_at=entry.expires_at if is_same else None,
            done=(earlier.made, len(earlier.changes)) if earlier.made else None,
        )
    if plan.approval is not msgspec.UNSET and recommendation.id in plan.approval.approved:
        answer = plan.approval
        standing = replace(
            standing, state="APPROVED", approved_by=answer.by, approved_at=answer.at, expires_at=plan.valid_until
        )
    return replace(recommendation, standing=standing)


def _closed(
    plan: Plan,
    left: Sequence[_Carried],
    groups: Mapping[str, GroupPlan],
    today: LedgerFacts,
) -> list[LedgerEntry]:
    """What became of the recommendations that are not made any more."""
    done = [one for one in left if one.done == "DONE"]
    asked = {name for one in left if one.done in ("DONE", None) for name in one.touched}
    seen = _JudgedBy(groups, *((today.owners(sorted(asked)), today.went_back(sorted(asked))) if asked else ({}, {})))
    touched = Counter(name for one in done for name in one.touched)
    topics = {one.entry.topic for one in done if one.entry.topic is not None}
    closed = []
    for earlier in left:
        entry = replace(earlier.entry, changes=earlier.changes, gate=None, why=None)
        if (gate := _gate(earlier, today, plan.taken_at)) is not None:
            entry = replace(entry, state="BEGUN", gate=gate)
        elif earlier.done in ("DONE", None):
            twice = {name for name in earlier.touched if touched[name] - (earlier.done == "DONE") > 0}
            entry = _judged(entry, earlier.done == "DONE", seen, twice, plan.taken_at)
        elif earlier.done == "OTHERWISE" and entry.topic not in topics:
            entry = replace(entry, state="FAILED", why="something else was done than what was recommended")
        else:
            entry = replace(entry, state="GONE", why=_why_gone(earlier, touched, topics))
        closed.append(replace(entry, at=plan.taken_at if entry.state != earlier.entry.state else earlier.entry.at))
    return closed


def _gate(earlier: _Carried, today: LedgerFacts, taken_at: str) -> Gate | None:
    """The gate that a change has come to; None if it is not begun, or done."""
    entry = replace(earlier.entry, changes=earlier.changes)
    is_known = all(one.came is not None for one in earlier.changes) or _is_recent(entry, taken_at)
    if earlier.done == "IN_PART" and is_known and (gate := gate_of(entry, today.leftover)) is not None:
        return gate
    # With its brokers there, topics are still to be spread, which may stay unknown: it is shown for some days.
    is_shown = entry.state != "CARRIED_OUT" and (entry.state != "BEGUN" or _is_recent(entry, taken_at))
    return gate_of_broker(entry, today.spread) if earlier.done in ("IN_PART", "DONE") and is_shown else None


def _why_gone(earlier: _Carried, touched: Mapping[str, int], topics: Collection[str]) -> str:
    names = {*earlier.touched, earlier.entry.consumer_group or ""}
    if earlier.entry.topic in topics or any(touched.get(name) for name in names):
        return "another recommendation for the same topic or group was carried out"
    return "what it answered is not found any more, is accepted, or cannot be judged today"


def _judged(
    entry: LedgerEntry,
    is_done: bool,
    seen: _JudgedBy,
    twice: Collection[str],
    taken_at: str,
) -> LedgerEntry:
    """The entry with what came of its predictions."""
    doubts: dict[str, None] = {}
    predictions = []
    waits = _waits(entry, seen) if is_done else {}
    for figure in entry.predictions:
        if figure.figure == TWICE:
            predictions.append(_judged_deliveries(figure, entry, seen, twice))
            continue
        name = figure.of or ""
        group, then = seen.groups.get(name), next((one for one in entry.groups if one.consumer_group == name), None)
        came = None if group is None else _became(figure.figure, group, seen.owned.get(name))
        doubt = _doubt(figure.figure, group, then, is_twice=name in twice)
        if doubt is None:
            doubt = waits.get(name)
        if doubt is None and came is None:
            doubt = f"it is not known what the clients of {name} own or do"
        if doubt is not None:
            doubts[doubt] = None
        predictions.append(replace(figure, came=came, is_right=None if doubt else _is_right(figure, came)))
    judged = [one.is_right for one in predictions if one.is_right is not None]
    entry = replace(entry, predictions=tuple(predictions), why="; ".join(doubts) or None)
    if is_done and not all(judged):
        return replace(entry, state="FAILED", is_prediction_wrong=True)
    is_shown = is_done or any(one.is_right and not _is_right(one, one.before) for one in predictions)
    if judged and all(judged) and is_shown and not waits:
        return replace(entry, state="VERIFIED")
    if is_done and (entry.state != "CARRIED_OUT" or _is_recent(entry, taken_at)):
        return replace(entry, state="CARRIED_OUT", why=entry.why or NOTHING_PREDICTED)
    unseen = NOTHING_PREDICTED if is_done else "no snapshot shows whether it was carried out"
    return replace(entry, state="GONE", why=entry.why or unseen)


def _waits(entry: LedgerEntry, seen: _JudgedBy) -> dict[str, str]:
    """By group, why its predictions are judged by a later plan.

    Its clients may still divide their queues: more than predicted have no owner, or several. They learn of a change
    within half a minute, so this is said only by the first plan that finds the change carried out. Or its clients own
    their queues as predicted, and some broker gives them nothing.
    """
    waits = {}
    for figure in entry.predictions:
        name = figure.of or ""
        group, owners = seen.groups.get(name), seen.owned.get(name)
        if group is None or owners is None:
            continue
        if entry.state != "CARRIED_OUT" and _is_more(figure, owners):
            waits[name] = f"queues of {name} have no reader, or several: its clients may not have divided them yet"
        elif group.reading_status == UNREAD and not owners.orphan_queues:
            waits[name] = f"clients of {name} own queues that their broker does not let them read"
    return waits


def _is_more(figure: LedgerFigure, owners: ReportedOwners) -> bool:
    """Whether more queues than predicted have no owner, or several."""
    predicted = figure.predicted
    if figure.figure not in WHILE_DIVIDING or not isinstance(predicted, int):
        return False
    return int(getattr(owners, figure.figure)) > predicted


def _judged_deliveries(
    figure: LedgerFigure, entry: LedgerEntry, seen: _JudgedBy, twice: Collection[str]
) -> LedgerFigure:
    """Judged once, by the two snapshots between which the change was carried out; later offsets say nothing of it."""
    if entry.state == "CARRIED_OUT":
        return figure
    for then in entry.groups:
        name = then.consumer_group
        doubt = _doubt(TWICE, seen.groups.get(name), then, is_twice=name in twice)
        if doubt is not None:
            return replace(figure, why=doubt)
    return judged_deliveries(figure, [one.consumer_group for one in entry.groups], seen.went_back)


def _became(figure: str, group: GroupPlan, owners: ReportedOwners | None) -> Value:
    if figure == UTILISATION:
        return None if group.utilisation is None else group.utilisation.estimate
    if owners is None:
        return None
    became: dict[str, Value] = {**{name: getattr(owners, name) for name in OWNED}, PEAK: owners.peak}
    return became[figure]


def _doubt(figure: str, group: GroupPlan | None, then: GroupThen | None, *, is_twice: bool) -> str | None:
    """Why a prediction cannot be judged, or None."""
    if group is None or then is None:
        return "the group is not there any more"
    name = group.consumer_group
    if is_twice:
        return f"a second change has touched {name}"
    if group.distinct_client_ids != then.clients:
        return f"{name} has {group.distinct_client_ids} client ids, and {then.clients} when it was predicted"
    if figure != UTILISATION:
        return None
    now = None if group.peak is None else group.peak.msgs_per_s
    if now is None or then.msgs_per_s is None:
        return f"the traffic of {name} is unknown"
    if abs(now - then.msgs_per_s) > SAME_TRAFFIC * then.msgs_per_s:
        return f"{name} gets {now:,.1f} messages a second at its peak, and {then.msgs_per_s:,.1f} when it was predicted"
    return None


def _is_right(figure: LedgerFigure, came: Value) -> bool:
    predicted = figure.predicted
    if isinstance(came, str) or isinstance(predicted, str) or came is None or predicted is None:
        return came == predicted
    allowed = {UTILISATION: UTILISATION_ERROR, PEAK: PEAK_ERROR}.get(figure.figure, 0)
    return abs(came - predicted) <= allowed


def _is_recent(entry: LedgerEntry, taken_at: str) -> bool:
    return _days(entry.at, taken_at) <= SHOWN_DAYS


def _days(start: str, end: str) -> float:
    """Days from one moment to another; not a number if one of them is no time, so that no comparison holds."""
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)) / timedelta(days=1)
    except (ValueError, TypeError):
        return math.nan


def _rates(before: Iterable[ActionRate], decided: Iterable[LedgerEntry]) -> tuple[ActionRate, ...]:
    rates = {one.action: one for one in before}
    for entry in decided:
        rate = rates.get(entry.action, ActionRate(action=entry.action))
        failed = "failed" if entry.is_prediction_wrong else "otherwise"
        name = "verified" if entry.state == "VERIFIED" else failed
        rates[entry.action] = replace(rate, **{name: getattr(rate, name) + 1})
    return tuple(rates[name] for name in sorted(rates))
