"""Compares every group before and after a scenario, under each strategy."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.allocation.rows import AllocationRows
from rocketmq_capacity.assessment.loads import GroupLoad, QueueWeights, loads_of
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.tables import ScenarioEffect
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BUSINESS, EVERY_QUEUE, POP

Places = dict[tuple[str, str], int]
"""By business topic and broker, the number of queues that consumers see."""
Readers = dict[Queue, tuple[str, ...]]
"""The client ids that own a queue, sorted; one id as often as it has consumers, under POP once."""


def scenario_effects(before: GroupFacts | None, after: GroupFacts, strategies: Strategies) -> Iterator[ScenarioEffect]:
    """A row for each strategy that can run after the changes, for a clustering group.

    A queue of a business topic that the group can read before and after has moved if other client ids own it. Owners
    are compared as a multiset, because equal ids are several consumers; under POP, where clients share queues, as a
    set. A queue without an owner has the owner "nobody". If a strategy throws for a topic after the changes, the
    topic's queues keep their owners, except clients that leave.

    Args:
        before: the group as it is; None if it is new.
        after: the group as it would be.
        strategies: the strategies of the policy.
    """
    if not after.is_clustering:
        return
    sides_before = {} if before is None or not before.is_clustering else _sides(Division.of(before), strategies)
    kept = _kept(before, after) if before is not None else {}
    for strategy, side in _sides(Division.of(after), strategies).items():
        old = sides_before.get(strategy)
        moved = _moved(kept, old, side) if old else None
        yield ScenarioEffect(
            consumer_group=after.consumer_group,
            strategy=strategy,
            moved_queues=moved,
            moved_ratio=moved / sum(kept.values()) if moved is not None and kept else None,
            before_idle=old.idle if old else None,
            before_count=old.load.count if old else None,
            before_traffic=old.load.traffic if old else None,
            after_idle=side.idle,
            after_count=side.load.count,
            after_traffic=side.load.traffic,
        )


@dataclass(frozen=True)
class _Side:
    """A group under a strategy, before or after the changes.

    Attributes:
        load: the load under the strategy.
        readers: the owners of each queue that it allocates.
        thrown: the topics for which it throws.
    """

    load: GroupLoad
    readers: Readers
    thrown: frozenset[str]

    @property
    def idle(self) -> int | None:
        """How many client ids own nothing; None if the owners of a topic are unknown."""
        return len(self.load.idle) if self.load.is_whole else None

    @cached_property
    def consumers(self) -> Counter[str]:
        """The number of consumers of each client id."""
        return Counter(one.client_id for one in self.load.division.members.consumers)


def _sides(division: Division, strategies: Strategies) -> dict[str, _Side]:
    """The group under each strategy that can run."""
    every = {
        rows.strategy: rows
        for rows in rows_of(division, strategies)
        if rows.strategy in strategies.policy.strategies_of(division.group.consumer_group)
    }
    owners = [strategies.owners(name, division) for name in every]
    return {
        name: _Side(load, _readers(rows), division.queues.topic_names(strategies.verdict(name, division).throws_for))
        for (name, rows), load in zip(every.items(), loads_of(division, QueueWeights.of(division), owners), strict=True)
    }


def _places(facts: GroupFacts) -> Places:
    return {
        (reads.topic.topic, place.broker_name): place.readable
        for reads in facts.business
        for place in reads.topic.places
        if place.readable
    }


def _kept(before: GroupFacts, after: GroupFacts) -> Places:
    """The queues that are there before and after. Ids count from 0, so their number is the smaller of the two."""
    places_before, places_after = _places(before), _places(after)
    return {
        place: min(places_before[place], places_after[place]) for place in places_before.keys() & places_after.keys()
    }


def _moved(kept: Places, before: _Side, after: _Side) -> int | None:
    """How many queues have other owners; None if their owners before or after are unknown."""
    topics = {topic for topic, _ in kept}
    stays = before.consumers <= after.consumers
    if topics & (before.thrown if not stays else before.thrown - after.thrown):
        return None
    moved = 0
    for (topic, broker), count in kept.items():
        for queue_id in range(count if topic not in before.thrown else 0):
            queue = Queue(topic, broker, queue_id)
            owners_before, owners_after = before.readers.get(queue, ()), after.readers.get(queue, ())
            moved += owners_before != (
                _kept_by(owners_before, owners_after, after) if topic in after.thrown else owners_after
            )
    return moved


def _kept_by(owners_before: tuple[str, ...], owners_after: tuple[str, ...], after: _Side) -> tuple[str, ...]:
    """The owners that are still there, and the gRPC clients, which read the queue under every strategy."""
    return tuple(sorted((Counter(owners_before) & after.consumers | Counter(owners_after)).elements()))


def _readers(rows: AllocationRows) -> Readers:
    """The owners of each business queue."""
    division = rows.division
    owners: dict[Queue, list[str]] = {}
    readable = _places(division.group)
    business = {reads.topic.topic for reads in division.queues.topics if reads.topic.kind == BUSINESS}
    for client, queue in rows.named():
        if queue.topic not in business:
            continue
        every = range(readable[queue.topic, queue.broker_name]) if queue.queue_id == EVERY_QUEUE else [queue.queue_id]
        for queue_id in every:
            of_queue = owners.setdefault(Queue(queue.topic, queue.broker_name, queue_id), [])
            of_queue.append(division.members.client_ids[client])
    return {queue: tuple(sorted(set(ids) if rows.strategy == POP else ids)) for queue, ids in owners.items()}
