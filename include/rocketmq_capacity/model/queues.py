"""A group's readable queues as arrays, in Java's order.

A *place* of queues is one topic on one broker.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np

from rocketmq_capacity.model.arrays import Flags, Integers
from rocketmq_capacity.model.facts import GroupFacts, Place, Reads
from rocketmq_capacity.model.ragged import lengths
from rocketmq_capacity.model.written_queues import WrittenQueues
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BUSINESS, EXCLUDED, SYSTEM, java_order

NOT_RANKED: Final = -1
"""The key of a place whose queues have no rank."""
NOTHING: Final[Integers] = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Queues:
    """The readable queues of a group's topics in rebalance order: by topic, broker name and queue id.

    RocketMQ's own topics and those that the policy excludes are left out.

    Attributes:
        topics: the topics that have such queues, with how the group reads them.
        facts: the facts of the places. Several places may have the same: in the division after the loss of each broker,
            a place is there once for each loss.
        facts_of_place: the index in ``facts`` of each place: the queues of one topic on one broker, in order.
        topic_of_place: the index of each place's topic.
        place: the index of its place, one entry for each queue.
        queue_id: the id on the broker, one entry for each queue.
    """

    topics: tuple[Reads, ...]
    facts: tuple[Place, ...]
    facts_of_place: Integers
    topic_of_place: Integers
    place: Integers
    queue_id: Integers

    @classmethod
    def of(cls, group: GroupFacts) -> "Queues":
        """The queues of a group."""
        planned = (one for one in group.reads if one.topic.kind not in (SYSTEM, EXCLUDED))
        topics: list[Reads] = []
        places: list[Place] = []
        of_topic: list[int] = []
        for reads in sorted(planned, key=lambda one: java_order(one.topic.topic)):
            readable = [place for place in reads.topic.places if place.readable]
            if readable:
                places += sorted(readable, key=lambda place: java_order(place.broker_name))
                of_topic.append(len(readable))
                topics.append(reads)
        counts = np.array([place.readable for place in places], np.int64)
        topic_of_place = np.repeat(np.arange(len(topics)), of_topic)
        return cls.counted(topics, tuple(places), np.arange(len(places)), topic_of_place, counts)

    @classmethod
    def counted(
        cls,
        topics: Iterable[Reads],
        facts: tuple[Place, ...],
        facts_of_place: Integers,
        topic_of_place: Integers,
        counts: Integers,
    ) -> "Queues":
        """The queues of topics on brokers; ``counts`` has the number of queues of each place."""
        place = np.repeat(np.arange(len(counts)), counts)
        queue_id = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        return cls(tuple(topics), facts, facts_of_place, topic_of_place, place, queue_id)

    @classmethod
    def joined(cls, parts: "Sequence[Queues]") -> "Queues":
        """The queues of several groups, one after the other; each keeps topics of its own."""
        topics = lengths([part.topics for part in parts])
        facts = lengths([part.facts for part in parts])
        places = lengths([part.facts_of_place for part in parts])
        facts_of_place = np.concatenate([part.facts_of_place for part in parts])
        facts_of_place += np.repeat(np.cumsum(facts) - facts, places)
        topic_of_place = np.concatenate([part.topic_of_place for part in parts])
        topic_of_place += np.repeat(np.cumsum(topics) - topics, places)
        place = np.concatenate([part.place for part in parts])
        place += np.repeat(np.cumsum(places) - places, lengths([part.place for part in parts]))
        return cls(
            tuple(chain.from_iterable(part.topics for part in parts)),
            tuple(chain.from_iterable(part.facts for part in parts)),
            facts_of_place,
            topic_of_place,
            place,
            np.concatenate([part.queue_id for part in parts]),
        )

    @cached_property
    def places(self) -> list[Place]:
        """The facts of each place."""
        return [self.facts[index] for index in self.facts_of_place.tolist()]

    @property
    def of_topics(self) -> Iterator[tuple[Reads, Place]]:
        """Each place with its topic."""
        return zip([self.topics[topic] for topic in self.topic_of_place.tolist()], self.places, strict=True)

    def __len__(self) -> int:
        """How many queues there are."""
        return len(self.place)

    def ranked(self, key: Integers) -> tuple[Integers, Integers]:
        """The 0-based rank of each queue among the queues whose places have an equal key, and the number of these.

        Shape: two int64 arrays, one entry for each queue. One with the key :data:`NOT_RANKED` has rank and number 0.

        Args:
            key: one entry for each place; other keys are 0 or more.
        """
        if not len(self):
            return NOTHING, NOTHING
        number = np.bincount(self.place, minlength=len(key))
        order = np.argsort(key, kind="stable")
        is_first = np.append(True, key[order][1:] != key[order][:-1])
        begins = np.flatnonzero(is_first)
        of_key = np.cumsum(is_first) - 1
        before = np.cumsum(number[order]) - number[order]
        first, total = np.empty_like(number), np.empty_like(number)
        first[order] = before - before[begins][of_key]
        total[order] = np.add.reduceat(number[order], begins)[of_key]
        is_ranked = key != NOT_RANKED
        rank = (first * is_ranked)[self.place] + self.queue_id * is_ranked[self.place]
        return rank, (total * is_ranked)[self.place]

    @cached_property
    def in_topic(self) -> tuple[Integers, Integers]:
        """The rank of each queue in its topic, and the number of queues of the topic."""
        number = np.bincount(self.topic, minlength=len(self.topics))
        begin = np.cumsum(number) - number
        return np.arange(len(self)) - begin[self.topic], number[self.topic]

    @cached_property
    def in_topic_and_room(self) -> tuple[Integers, Integers]:
        """The rank of each queue among its topic's queues in the same machine room, and the number of these."""
        rooms, room = self.rooms
        return self.ranked(self.topic_of_place * len(rooms) + room)

    @cached_property
    def written(self) -> WrittenQueues:
        """Where producers write its topics."""
        return WrittenQueues.of(self.topics, self.facts)

    @cached_property
    def rooms(self) -> tuple[list[str | None], Integers]:
        """The machine rooms of the brokers, and the index in these of each place's room."""
        of_facts = [facts.room for facts in self.facts]
        rooms = {room: index for index, room in enumerate(dict.fromkeys(of_facts))}
        return list(rooms), np.array([rooms[room] for room in of_facts], np.int64)[self.facts_of_place]

    @cached_property
    def topic(self) -> Integers:
        """The index of each queue's topic."""
        return self.topic_of_place[self.place]

    @cached_property
    def is_business(self) -> Flags:
        """Whether each queue is of a business topic."""
        return np.array([reads.topic.kind == BUSINESS for reads in self.topics], bool)[self.topic]

    @cached_property
    def is_all_business(self) -> bool:
        """Whether every queue is of a business topic."""
        return all(reads.topic.kind == BUSINESS for reads in self.topics)

    @cached_property
    def first(self) -> dict[str, dict[str, tuple[int, int]]]:
        """By topic and broker name the index of the first queue, and the number of queues."""
        first: dict[str, dict[str, tuple[int, int]]] = {reads.topic.topic: {} for reads in self.topics}
        begin = 0
        for reads, place in self.of_topics:
            readable = place.readable
            first[reads.topic.topic][place.broker_name] = begin, readable
            begin += readable
        return first

    def topic_names(self, topics: Iterable[int]) -> frozenset[str]:
        """The names of topics, by their indexes."""
        return frozenset(self.topics[topic].topic.topic for topic in topics)

    @cached_property
    def names(self) -> list[Queue]:
        """The name of each queue."""
        return [
            Queue(reads.topic.topic, place.broker_name, queue_id)
            for reads, place in self.of_topics
            for queue_id in range(place.readable)
        ]
