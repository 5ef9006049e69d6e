"""CHANGE_STRATEGY: another way to divide the same queues. It changes the clients' code, so there is no command.

The best of the policy's strategies that apply has the fewest queues without a reader. Among equals it has the fewest
queues with two readers, then the fewest idle clients, then the most findings answered, then (if clients differ) it is
what most clients run, then it has the least EXCESS. A strategy answers a finding only if it improves what the finding
measures, and by at least the policy's min_improvement. Only strategies that know rooms answer CROSS_ROOM.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.capacity import TooBusyEvidence
from rocketmq_capacity.assessment.membership import MixedEvidence
from rocketmq_capacity.assessment.not_taken import NOT_TAKEN
from rocketmq_capacity.assessment.ownership import OF_LISTS, OrphanEvidence
from rocketmq_capacity.assessment.rooms import CrossRoomEvidence
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.catalogue.rule import EVEN, OWNED
from rocketmq_capacity.model.cases import CaseSide
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.commands import consumer_progress
from rocketmq_capacity.recommendation.consequences import COUNT_SKEWS
from rocketmq_capacity.recommendation.effects import is_more_skewed, is_worse, loaded_side_shown
from rocketmq_capacity.recommendation.facts import AdvisedGroup, GroupAction
from rocketmq_capacity.tables.dataset import Metrics
from rocketmq_capacity.vocabulary import CLIENT_STRATEGIES, GO, MACHINE_ROOM_NEARBY, MIXED, POP, PULL, knows_rooms
from rocketmq_capacity.wording import fixed, listed, percent, queue_label, rounded


def _check(recommended: Recommended, nameserver: str) -> Proof:
    return consumer_progress(nameserver, recommended.consumer_group or ""), f"{OWNED[:-1]}, and {EVEN}"


def _way_back(before: Mapping[str, Any]) -> str:
    strategy = before.get("strategy")
    old = "what each ran before" if strategy in (None, MIXED) else strategy
    return f"Set {old} in the clients' code again, in all clients in one go."


MIXED_STRATEGIES: Final = "MIXED_STRATEGIES"
ORPHAN: Final = "ORPHAN_QUEUE"
IDLE: Final = "IDLE_CONSUMERS"
TRAFFIC_SKEW: Final = "TRAFFIC_SKEW"
CAPACITY: Final = "CONSUMER_CAPACITY"
CROSS_ROOM: Final = "CROSS_ROOM"
STARVATION: Final = "ROOM_STARVATION"
RULES: Final[tuple[str, ...]] = (
    MIXED_STRATEGIES,
    ORPHAN,
    IDLE,
    *COUNT_SKEWS,
    TRAFFIC_SKEW,
    CAPACITY,
    CROSS_ROOM,
    STARVATION,
)
ACTION: Final = Action(
    name="CHANGE_STRATEGY",
    title="Let all clients of {group} run {strategy}",
    meaning="A change in the consumers' code, not a command.",
    place=50,
    changes="clients",
    check=_check,
    way_back=_way_back,
    answers=RULES,
    offered=(
        "if one of the policy's strategies applies to every topic of the group, improves what a finding measures"
        " by at least `min_improvement`, and makes nothing worse. Lag that grows at clients with time left is no"
        " reason. With `report_cross_room`, idle clients and skew are no reason to leave MACHINE_ROOM_NEARBY"
    ),
    moves_queues=True,
    thresholds=("TRANSITION.rollout_s",),
    details="""
    Change all clients in one go: while they differ, queues are read twice or by nobody.

    Some groups are uneven under every strategy. What answers their skew then has fixed lists as well, one for each
    client, for `AllocateMessageQueueByConfig` (CONFIG). The lists share the messages out nearly as evenly as whole
    queues allow (the queues, where rates are unknown), move few queues, and name every queue of the group once,
    those of its retry topic included. Restart all clients with their lists in one go, within
    `TRANSITION.rollout_s`. For this way the report shows how many queues move, how long they are unread, and how
    many messages come twice. One client after the other takes longer, and meanwhile queues are read twice or by
    nobody. Copy the lists from plan.json or `recommendations.csv` (`config_assignment`); `clients` is also an entry
    of the policy's `config_assignments`, so that a what-if with `set_strategy` can try them. A list is fixed: while
    its client is stopped, nobody reads its queues, and it must be made anew whenever clients or queues change.
    There are none for gRPC clients, for libraries other than Java's and Go's, while clients share an id or differ,
    for more than `max_config_queues` queues, and if they gain less than `min_improvement`.
    """,
)
ABOVE_ROOMS: Final = frozenset({MIXED_STRATEGIES, ORPHAN, CAPACITY, CROSS_ROOM})
"""Findings for which a group that keeps rooms may get another strategy than MACHINE_ROOM_NEARBY."""
OTHER_CAUSES: Final = ("DUPLICATE_CLIENT_ID", "SUBSCRIPTION_MISMATCH")
"""Findings to mend first; until then no strategy divides the queues well."""
HOW: Final = (
    "Set it in the clients' code (setAllocateMessageQueueStrategy) and change all clients in one go. While they differ,"
    " some queues have two readers and others have none."
)

OR_ROOMS: Final = "Or give the strategy the rooms of all brokers of these topics."
NO_ROOMS: Final = "It knows no machine rooms: clients then also read from brokers of other rooms."
OR_LISTS: Final = (
    "Or keep CONFIG, and change the lists in the clients' code (setMessageQueueList) and in the policy"
    " (config_assignments)."
)
SHOWN: Final = 5
"""At most so many queues that are in several lists are named."""
HOW_IN_GO: Final = HOW.replace(")", "; in Go consumer.WithStrategy)", 1)


@dataclass(frozen=True, slots=True)
class Majority:
    """The strategy that most clients of a group report; among equals the first by name.

    Attributes:
        strategy: as the clients report it.
        running: how many clients report it.
        reporting: how many clients report any strategy.
    """

    strategy: str
    running: int
    reporting: int


@dataclass(frozen=True, slots=True)
class TriedStrategy:
    """A strategy that answers findings of a group and makes nothing worse.

    Attributes:
        strategy: its name, as the policy has it.
        after: how the group would fare under it.
        answered: rules of the findings that it answers.
        busy: the busy share of the busiest client now and under it; None where that answers no finding.
        crossing: the share of the queues read from another machine room now and under it; None likewise.
    """

    strategy: str
    after: CaseSide
    answered: list[str]
    busy: tuple[float, float] | None = None
    crossing: tuple[float, float] | None = None


def change_strategy(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation if another strategy of the policy would do better."""
    rules, before = _answerable_rules(group), group.before
    if before is None and ORPHAN in rules:
        yield from _read_by_another(group)
    if not rules or before is None:
        return
    majority = _majority(group)
    tried = _tried(group, before, rules)
    if not tried:
        return
    best = min(tried, key=lambda each: _order(group, each, rules, majority))
    yield answer(
        ACTION,
        consumer_group=group.name,
        target=best.strategy,
        reason=sentences(
            _why(group, best, before, majority if MIXED_STRATEGIES in rules else None),
            HOW_IN_GO if _has_go(group) else HOW,
            _or_other_lists(group),
            NO_ROOMS if knows_rooms(group.current_strategy or "") and not knows_rooms(best.strategy) else None,
        ),
        rules=best.answered,
        before={"strategy": group.current_strategy, **loaded_side_shown(before), **_measured(best, 0)},
        after={"strategy": best.strategy, **loaded_side_shown(best.after), **_measured(best, 1)},
    )


def _or_other_lists(group: AdvisedGroup) -> str | None:
    """How CONFIG may stay: what its lists lack, and what is in several; None if the lists are whole."""
    lacking = [
        queue for one in group.answerable(ORPHAN) if OrphanEvidence.of(one).cause == OF_LISTS for queue in one.queues
    ]
    shared = [one for each in group.answerable(MIXED_STRATEGIES) for one in MixedEvidence.of(each).shared_queues or ()]
    topics = len(group.facts.business)
    missing = [queue_label(queue, topics) for queue in lacking]
    steps = sentences(
        f"Add {listed(missing)} to the list of one client." if missing else None,
        *(
            f"Keep {queue_label(one, topics)} in the list of only one of {listed(one.client_ids)}."
            for one in shared[:SHOWN]
        ),
    )
    return f"{OR_LISTS} {steps}" if steps else None


def _read_by_another(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation if clients report a strategy that leaves queues out, and what it needs is unknown.

    MACHINE_ROOM is such a strategy without the policy's ``machine_rooms``. The queues without a reader are those that
    clients do not report.
    """
    now = group.current_strategy
    if now not in CLIENT_STRATEGIES and now != MACHINE_ROOM_NEARBY:
        return
    names = group.policy.strategies_of(group.name)
    sides = {name: group.strategies[name] for name in names if name not in (POP, now) and name in group.strategies}
    whole = {name: side for name, side in sides.items() if not side.orphan_queues and not side.doubly_owned_queues}
    if not whole:
        return
    best = min(whole, key=lambda name: (whole[name].idle, names.index(name)))
    unread = sum(OrphanEvidence.of(one).orphans for one in group.answerable(ORPHAN))
    yield answer(
        ACTION,
        consumer_group=group.name,
        target=best,
        reason=sentences(
            f"Let every client run {best} instead of {now}: queues that nobody reads go from {unread} to 0.",
            OR_ROOMS if knows_rooms(now) else None,
            HOW_IN_GO if _has_go(group) else HOW,
        ),
        rules=[ORPHAN],
        before={"strategy": now, "idle": None, "orphan_queues": unread, "doubly_owned_queues": None},
        after={"strategy": best, **loaded_side_shown(whole[best])},
    )


def _has_go(group: AdvisedGroup) -> bool:
    return any(one.language == GO for one in group.facts.consumers)


def _answerable_rules(group: AdvisedGroup) -> frozenset[str]:
    """The rules that a strategy may answer; none if the group cannot choose one or must mend its clients first."""
    facts = group.facts
    chooses = not facts.has_grpc_clients and (facts.message_request_mode == PULL or facts.is_orderly)
    if not group.is_clustering or not chooses:
        return frozenset()
    rules = frozenset(one.rule for one in group.answerable(*RULES) if one.rule != ORPHAN or _is_of_strategy(one))
    return frozenset() if MIXED_STRATEGIES not in rules and group.named(*OTHER_CAUSES) else rules


def _tried(group: AdvisedGroup, before: CaseSide, rules: frozenset[str]) -> list[TriedStrategy]:
    if group.current_strategy is None:
        return []
    thresholds = group.policy.thresholds
    current, step = group.policy.computed(group.current_strategy), 1 - thresholds.CHANGE_STRATEGY.min_improvement
    by_evidence = {CAPACITY: _strong_enough(group, step), CROSS_ROOM: _crossing_less(group, step)}
    sides, tried = group.strategies, []
    for strategy in group.policy.strategies_of(group.name):
        may = [rule for rule in RULES if rule in rules and strategy in by_evidence.get(rule, (strategy,))]
        # The outcome of a strategy is computed only if it may answer something.
        if not may or strategy in (POP, current) or strategy not in sides:
            continue
        after = sides[strategy]
        if is_worse(before, after, thresholds.ALLOCATION_SKEW.excess):
            continue
        if not _is_read_better(rules, before, after) and is_more_skewed(
            before.traffic, after.traffic, thresholds.ALLOCATION_SKEW.excess
        ):
            continue
        answered = [rule for rule in may if rule in by_evidence or _answers(rule, before, after, step)]
        if group.keeps_rooms and not strategy.startswith(MACHINE_ROOM_NEARBY) and ABOVE_ROOMS.isdisjoint(answered):
            continue
        if answered:
            busy = (_busy_today(group), by_evidence[CAPACITY][strategy]) if CAPACITY in answered else None
            crossing = None
            if CROSS_ROOM in answered:
                crossing = (_crossing_today(group), by_evidence[CROSS_ROOM][strategy])
            tried.append(TriedStrategy(strategy, after, answered, busy, crossing))
    return tried


def _is_read_better(rules: frozenset[str], before: CaseSide, after: CaseSide) -> bool:
    """Whether a strategy mends what matters more than even shares of messages: that each queue is read once."""
    return (
        MIXED_STRATEGIES in rules
        or after.orphan_queues < before.orphan_queues
        or after.doubly_owned_queues < before.doubly_owned_queues
    )


def _strong_enough(group: AdvisedGroup, step: float) -> dict[str, float]:
    """By strategy that brings the busiest client within the bound, how busy it is then.

    None does where the busiest client is within the bound today: it falls behind for another reason.
    """
    strong: dict[str, float] = {}
    for finding in group.answerable(CAPACITY):
        facts = TooBusyEvidence.read(finding)
        if facts is None or facts.peak_utilisation_ratio <= facts.under_utilisation_ratio:
            continue
        most = min(facts.under_utilisation_ratio, facts.peak_utilisation_ratio * step)
        strong |= {one.strategy: one.busy_ratio for one in facts.strategies if one.busy_ratio <= most}
    return strong


def _busy_today(group: AdvisedGroup) -> float:
    return max(TooBusyEvidence.of(finding).peak_utilisation_ratio for finding in group.answerable(CAPACITY))


def _crossing_today(group: AdvisedGroup) -> float:
    return max(CrossRoomEvidence.of(finding).cross_room_share for finding in group.answerable(CROSS_ROOM))


def _crossing_less(group: AdvisedGroup, step: float) -> dict[str, float]:
    """By strategy that knows rooms and under which fewer queues are read from another machine room, their share.

    None does where a room of the group's queues or clients is unknown. Strategies that leave queues unread are not in
    the evidence.
    """
    less: dict[str, float] = {}
    for finding in group.answerable(CROSS_ROOM):
        crossing = CrossRoomEvidence.of(finding)
        if crossing.unknown_room_queues or crossing.unknown_room_clients:
            continue
        most = crossing.cross_room_share * step
        shares = {one.strategy: one.cross_room_share for one in crossing.strategies}
        less |= {strategy: share for strategy, share in shares.items() if knows_rooms(strategy) and share <= most}
    return less


def _answers(rule: str, before: CaseSide, after: CaseSide, step: float) -> bool:
    if rule == ORPHAN:
        return after.orphan_queues < before.orphan_queues
    if rule in (IDLE, STARVATION):
        return after.idle < before.idle
    if rule in COUNT_SKEWS:
        return _evens(before.count, after.count, step)
    if rule == TRAFFIC_SKEW:
        return _evens(before.traffic, after.traffic, step)
    return True  # MIXED_STRATEGIES: any strategy that is not worse will do


def _evens(before: Metrics | None, after: Metrics | None, step: float) -> bool:
    return before is not None and after is not None and after["excess"] <= before["excess"] * step


def _is_of_strategy(orphans: tables.Finding) -> bool:
    """Whether the strategy leaves queues out, and neither how clients are set up nor one that does not run."""
    evidence = OrphanEvidence.of(orphans)
    return evidence.cause not in (*OTHER_CAUSES, NOT_TAKEN) and not evidence.missing_clients


def _order(
    group: AdvisedGroup, tried: TriedStrategy, rules: frozenset[str], majority: Majority | None
) -> tuple[Any, ...]:
    """The sort key of a strategy; the best strategy has the least key."""
    after = tried.after
    is_majority = MIXED_STRATEGIES not in rules or _is_majority(tried.strategy, majority, group)
    by_count = not rules.isdisjoint((MIXED_STRATEGIES, *COUNT_SKEWS))
    loads = (after.count, after.traffic) if by_count else (after.traffic, after.count)
    return (
        # What the clients' set-up does to the queues says nothing of a strategy: that is mended first.
        bool(group.named(*OTHER_CAUSES)) and not is_majority,
        after.orphan_queues,
        after.doubly_owned_queues,
        after.idle,
        -len(tried.answered),
        not is_majority,
        # What is not known comes last.
        *((load is None, load and rounded(load["excess"], 6)) for load in loads),
        group.policy.strategies_of(group.name).index(tried.strategy),
    )


def _majority(group: AdvisedGroup) -> Majority | None:
    counts = Counter(one.allocate_strategy for one in group.facts.consumers if one.allocate_strategy is not None)
    if not counts:
        return None
    strategy, running = min(counts.items(), key=lambda each: (-each[1], each[0]))
    return Majority(strategy, running, counts.total())


def _is_majority(strategy: str, majority: Majority | None, group: AdvisedGroup) -> bool:
    return majority is not None and strategy == group.policy.computed(majority.strategy)


def _measured(best: TriedStrategy, side: int) -> dict[str, Any]:
    """The other figures that an answered finding measures, before (0) or after (1)."""
    busy = {} if best.busy is None else {"utilisation_ratio": best.busy[side]}
    return busy if best.crossing is None else {**busy, "cross_room_share": best.crossing[side]}


def _why(group: AdvisedGroup, best: TriedStrategy, before: CaseSide, majority: Majority | None) -> str:
    """Args: majority: None where the clients do not differ."""
    after, worth = best.after, group.policy.thresholds.CHANGE_STRATEGY.min_improvement
    gains = [
        _busier(best.busy),
        _crosses_less(best.crossing),
        _fewer("queues that nobody reads", before.orphan_queues, after.orphan_queues),
        _fewer("queues read twice", before.doubly_owned_queues, after.doubly_owned_queues),
        _fewer("idle clients", before.idle, after.idle),
        _less("EXCESS by queues", before.count, after.count, worth),
        _less("EXCESS by messages", before.traffic, after.traffic, worth),
    ]
    shown = ", ".join(gain for gain in gains if gain is not None)
    start = f"Let every client run {best.strategy}"
    if majority is not None and _is_majority(best.strategy, majority, group):
        do = "does" if majority.running == 1 else "do"
        start += f", as {majority.running} of {majority.reporting} {do}"
    else:
        today = "different ones" if group.current_strategy == MIXED else group.current_strategy
        start += f" instead of {today}"
    return f"{start}{f': {shown}' if shown else ''}."


def _busier(busy: tuple[float, float] | None) -> str | None:
    if busy is None:
        return None
    before, after = map(percent, busy)
    return f"the busiest client is busy for {after} of its time instead of {before}"


def _crosses_less(crossing: tuple[float, float] | None) -> str | None:
    if crossing is None:
        return None
    before, after = map(percent, crossing)
    return f"{after} of the queues are read from another machine room instead of {before}"


def _fewer(what: str, before: int, after: int) -> str | None:
    return None if before == after else f"{what} go from {before} to {after}"


def _less(what: str, before: Metrics | None, after: Metrics | None, worth: float) -> str | None:
    """How EXCESS falls by at least the share ``worth``, or at what price the rest becomes better: that it rises."""
    if before is None or after is None:
        return None
    falls = after["excess"] < before["excess"]
    change = abs(before["excess"] - after["excess"])
    if change < (before["excess"] * worth if falls else 0.005):
        return None
    verb = "goes" if falls else "rises"
    return f"{what} {verb} from {fixed(before['excess'], 2)} to {fixed(after['excess'], 2)}"


GROUP_ACTIONS: Final[tuple[GroupAction, ...]] = (change_strategy,)
