"""Layouts of a topic with more queues, which are then simulated.

A layout has the same number of queues on every writable broker, at least that of the largest of today: no broker gets
fewer queues.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import Final

from rocketmq_capacity.catalogue.action import Action
from rocketmq_capacity.model.cases import QueueChange, QueueCounts
from rocketmq_capacity.model.kept_counts import kept_count
from rocketmq_capacity.recommendation.cases import queue_case
from rocketmq_capacity.recommendation.facts import AdvisedTopic, AdvisedTopicPlace
from rocketmq_capacity.tables import Demand

IDLE: Final = "IDLE_CONSUMERS"
UNEVEN: Final = "CROSS_TOPIC_SKEW"
BUSY: Final = "CONSUMER_CAPACITY"
EVEN_MULTIPLES: Final = (1, 2)
"""Multiples of the number of clients that are tried as well as the least number of queues."""


@dataclass(frozen=True)
class TopicLayout:
    """The queues of a topic today, as far as they matter for a layout.

    Attributes:
        brokers: the number of writable brokers.
        least: queues of the largest of these.
        fixed: readable queues on other brokers.
        is_behind: a writable broker has fewer than ``least`` read or write queues.
    """

    brokers: int
    least: int
    fixed: int
    is_behind: bool

    @property
    def per_broker(self) -> int | None:
        """The number of queues on every writable broker; None if they differ."""
        return None if self.is_behind else self.least

    def queues(self, per_broker: int) -> int:
        """Readable queues of the topic with this number on each writable broker."""
        return per_broker * self.brokers + self.fixed

    def smallest_for(self, clients: int, headroom: float) -> int:
        """The fewest queues on each writable broker for this number of clients."""
        lacking = ceil(clients * (1 + headroom)) - self.fixed
        return max(self.least, ceil(lacking / self.brokers))


@dataclass(frozen=True)
class TriedLayout:
    """A layout to simulate, because a group asks for it.

    Attributes:
        rule: IDLE, BUSY or UNEVEN.
        consumer_group: the group that asks.
        per_broker: queues on each writable broker.
        is_even: its queues are a multiple of the group's clients.
        demand: what the group asks for.
    """

    rule: str
    consumer_group: str
    per_broker: int
    is_even: bool
    demand: Demand


def writable(topic: AdvisedTopic) -> Sequence[AdvisedTopicPlace]:
    """The brokers on which queues may be added, by name."""
    return [place for place in topic.places if place.is_changeable]


def layout_case(action: Action, topic: AdvisedTopic, per_broker: int) -> QueueChange:
    """The case of an action in which every writable broker has this many read and write queues."""
    counts = [QueueCounts.both(place.place.broker_name, per_broker) for place in writable(topic)]
    return queue_case(action, topic.name, counts, per_broker)


def topic_layout(topic: AdvisedTopic) -> TopicLayout | None:
    """The layout of today; None if no broker is writable, or if the number of queues of one is unknown."""
    counts = [(place.place.read_queue_nums, place.place.write_queue_nums) for place in writable(topic)]
    known = [(read, write) for read, write in counts if read is not None and write is not None]
    if not known or len(known) < len(counts):
        return None
    larger = [max(pair) for pair in known]
    elsewhere = (place.place for place in topic.places if not place.is_changeable)
    return TopicLayout(
        brokers=len(known),
        least=max(larger),
        fixed=sum(place.readable for place in elsewhere),
        is_behind=max(larger) > min(min(pair) for pair in known),
    )


def tried_layouts(topic: AdvisedTopic) -> list[TriedLayout]:
    """The layouts to simulate, for each group that asks."""
    layout = topic_layout(topic)
    if layout is None or kept_count(topic.facts) is not None:
        return []
    bounds = topic.policy.thresholds.EXPAND_QUEUES
    tried = [
        TriedLayout(
            demand.rule,
            demand.consumer_group,
            per_broker,
            is_even=layout.queues(per_broker) % demand.clients == 0,
            demand=demand,
        )
        for demand in topic.demands
        for per_broker in dict.fromkeys(_tries(demand, layout, bounds.headroom))
    ]
    return [
        one
        for one in tried
        if (one.per_broker > layout.least or layout.is_behind)
        and (one.per_broker <= bounds.max_queues_per_broker or one.per_broker == layout.least)
    ]


def _tries(demand: Demand, layout: TopicLayout, headroom: float) -> Iterator[int]:
    """Numbers of queues on each broker to try for a group; none is below the largest of today."""
    if demand.queues_per_broker is not None:
        yield demand.queues_per_broker
    elif demand.rule == IDLE:
        smallest = layout.smallest_for(demand.clients, headroom)
        yield smallest
        for multiple in EVEN_MULTIPLES:
            per_broker, rest = divmod(demand.clients * multiple - layout.fixed, layout.brokers)
            if not rest and per_broker >= smallest:
                yield per_broker
    else:
        # If there is a multiple of the clients at all, it is within as many steps as there are clients.
        steps = range(layout.least, layout.least + demand.clients + 1)
        yield from islice((each for each in steps if layout.queues(each) % demand.clients == 0), 1)
