"""What a scenario does to every group, and to the findings: the plan before it beside the plan after it."""

from collections.abc import Iterable, Iterator

from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.assessment.loads import Load, Weights, loads_of
from rocketmq_capacity.contracts import Finding, ScenarioEffect
from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.contracts.division import Division
from rocketmq_capacity.contracts.facts import GroupFacts
from rocketmq_capacity.vocabulary import BUSINESS, EVERY_QUEUE, POP

Places = dict[tuple[str, str], int]
"""How many queues consumers see of a business topic on a broker."""
Readers = dict[Queue, tuple[str, ...]]
"""The client ids that own a queue, sorted; one id as often as it has consumers, under POP once."""


def scenario_effects(before: GroupFacts | None, after: GroupFacts, strategies: Strategies) -> Iterator[ScenarioEffect]:
    """A row for each strategy that can be run after the changes, of a group that shares queues out.

    A queue has moved when it is readable, of a business topic that the group reads, on both sides, and the client ids
    that own it differ: as a multiset, since equal ids are several consumers, and under POP, where clients share
    queues, as a set. A queue that nobody owns counts as owned by nobody.

    Args:
        before: the group as it is; None where there was none.
        after: the group as it would be.
        strategies: the strategies of the policy.
    """
    if not after.is_clustering:
        return
    was = {} if before is None or not before.is_clustering else _loads(Division.of(before), strategies)
    kept = _kept(before, after) if before is not None else {}
    had, has = (_readers(facts, strategies) for facts in (before, after))
    for strategy, load in _loads(Division.of(after), strategies).items():
        old = was.get(strategy)
        moved = _moved(kept, had.get(strategy, {}), has.get(strategy, {})) if old else None
        yield ScenarioEffect(
            consumer_group=after.consumer_group,
            strategy=strategy,
            moved_queues=moved,
            moved_ratio=moved / sum(kept.values()) if moved is not None and kept else None,
            before_idle=len(old.idle) if old else None,
            before_count=old.count if old else None,
            before_traffic=old.traffic if old else None,
            after_idle=len(load.idle),
            after_count=load.count,
            after_traffic=load.traffic,
        )


def only_in(findings: Iterable[Finding], others: Iterable[Finding]) -> list[Finding]:
    """The findings that have no equal among the others; equal means the same rule about the same things."""
    there = {_identity(other) for other in others}
    return [finding for finding in findings if _identity(finding) not in there]


def _identity(finding: Finding) -> tuple[object, ...]:
    """What makes two findings the same, whatever their figures."""
    return finding.rule, finding.consumer_group, finding.topic, finding.broker_name, finding.about


def _loads(division: Division, strategies: Strategies) -> dict[str, Load]:
    """What each strategy that can be run means."""
    names = [name for name in strategies.policy.strategies if strategies.refusal(name, division) is None]
    each = [strategies.owners(name, division) for name in names]
    return dict(zip(names, loads_of(division, Weights.of(division), each), strict=True))


def _places(facts: GroupFacts) -> Places:
    return {
        (reads.topic.topic, place.broker_name): place.readable
        for reads in facts.business
        for place in reads.topic.places
        if place.readable
    }


def _kept(before: GroupFacts, after: GroupFacts) -> Places:
    """The queues on both sides. Ids count from 0, so that these are the first ones of the smaller number."""
    had, has = _places(before), _places(after)
    return {place: min(had[place], has[place]) for place in had.keys() & has.keys()}


def _moved(kept: Places, had: Readers, has: Readers) -> int:
    queues = (Queue(topic, broker, queue_id) for (topic, broker), count in kept.items() for queue_id in range(count))
    return sum(had.get(queue, ()) != has.get(queue, ()) for queue in queues)


def _readers(facts: GroupFacts | None, strategies: Strategies) -> dict[str, Readers]:
    """Who owns each business queue under each strategy."""
    if facts is None or not facts.is_clustering:
        return {}
    division = Division.of(facts)
    each = rows_of(division, strategies)
    return {rows.strategy: _readers_under(rows.strategy, division, rows.named()) for rows in each}


def _readers_under(strategy: str, division: Division, rows: Iterable[tuple[int, Queue]]) -> Readers:
    owners: dict[Queue, list[str]] = {}
    readable = _places(division.group)
    business = {reads.topic.topic for reads in division.queues.topics if reads.topic.kind == BUSINESS}
    for client, queue in rows:
        if queue.topic not in business:
            continue
        every = range(readable[queue.topic, queue.broker_name]) if queue.queue_id == EVERY_QUEUE else [queue.queue_id]
        for queue_id in every:
            own = owners.setdefault(Queue(queue.topic, queue.broker_name, queue_id), [])
            own.append(division.members.client_ids[client])
    return {queue: tuple(sorted(set(ids) if strategy == POP else ids)) for queue, ids in owners.items()}
