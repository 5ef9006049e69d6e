"""A group's readable queues and its consumers as arrays, both in Java's order: what every strategy divides.

Two terms here have a meaning of their own. A *place* of queues is one topic on one broker. A *place* of members is the
position of a consumer in the list that RocketMQ sorts, where equal client ids have one position each.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import json, structs

from rocketmq_capacity.model.facts import Consumer, GroupFacts, Place, Reads
from rocketmq_capacity.model.ragged import lengths
from rocketmq_capacity.model.written_queues import WrittenQueues
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BUSINESS, EXCLUDED, SYSTEM, java_order

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

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


@dataclass(frozen=True)
class Members:
    """The consumers of a group in rebalance order: by client id, equal ids next to one another.

    ``List.indexOf`` finds the first of equal ids. So all consumers with the same id take the share of the first place,
    and nobody takes the share of a later place.
    Source: RebalanceImpl.rebalanceByTopic, rocketmq-all-5.3.3.

    Attributes:
        consumers: the consumers, by place.
    """

    consumers: tuple[Consumer, ...]

    @classmethod
    def of(cls, group: GroupFacts) -> "Members":
        """The consumers of a group."""
        return cls.sorted(group.consumers)

    @classmethod
    def sorted(cls, consumers: Iterable[Consumer]) -> "Members":
        """Consumers in any order. Those with equal ids are sorted by their other members, not by the inventory."""
        every = tuple(consumers)
        key = {one.client_id: java_order(one.client_id) for one in every}
        if len(key) < len(every):
            every = tuple(sorted(every, key=lambda one: json.encode(structs.replace(one, consumer_index=0))))
        return cls(tuple(sorted(every, key=lambda one: key[one.client_id])))

    def alike(self, consumers: tuple[Consumer, ...], client_ids: list[str]) -> "Members":
        """Other consumers, in order, of which each is like one of these and has an id of its own."""
        members = Members(consumers)
        members.__dict__.update(client_ids=client_ids, has_copies=False, is_plain=self.is_plain, has_grpc=self.has_grpc)
        if len(self.libraries) == 1 and consumers:
            members.__dict__.update(libraries=self.libraries)
        return members

    def only(self, stays: Iterable[bool]) -> "Members":
        """Those consumers that stay; one entry for each."""
        left = tuple(compress(self.consumers, stays))
        return self.alike(left, [one.client_id for one in left]) if self.is_plain else Members(left)

    def __len__(self) -> int:
        """The number of consumers; equal ids count separately."""
        return len(self.consumers)

    @cached_property
    def client_ids(self) -> list[str]:
        """The different ids, in Java's order."""
        return list(dict.fromkeys(one.client_id for one in self.consumers))

    @cached_property
    def has_copies(self) -> bool:
        """Whether several consumers have one id."""
        return len(self.client_ids) < len(self)

    @cached_property
    def client(self) -> Integers:
        """The index of each place's id among the different ids."""
        if not self.has_copies:
            return np.arange(len(self))
        ids = [one.client_id for one in self.consumers]
        is_new = [place == 0 or ids[place - 1] != ids[place] for place in range(len(ids))]
        return np.cumsum(is_new, dtype=np.int64) - 1

    @cached_property
    def first(self) -> Integers:
        """The first place of each different id."""
        if not self.has_copies:
            return np.arange(len(self))
        return np.searchsorted(self.client, np.arange(len(self.client_ids)))

    @cached_property
    def copies(self) -> Integers:
        """The number of consumers of each different id."""
        if not self.has_copies:
            return np.ones(len(self), np.int64)
        return np.bincount(self.client, minlength=len(self.client_ids))

    @cached_property
    def takers(self) -> Integers:
        """The number of consumers that take each place's share: all of an id at its first place, none later."""
        if not self.has_copies:
            return self.copies
        takers = np.zeros(len(self), np.int64)
        takers[self.first] = self.copies
        return takers

    @cached_property
    def libraries(self) -> frozenset[tuple[str | None, str | None]]:
        """The languages and versions of the consumers' client libraries."""
        return frozenset((one.language, one.version) for one in self.consumers)

    @cached_property
    def is_grpc(self) -> Flags:
        """Whether a Proxy assigns the queues of the consumer at each place."""
        return np.array([one.is_grpc for one in self.consumers], bool)

    @cached_property
    def has_grpc(self) -> bool:
        """Whether a Proxy assigns the queues of some consumers."""
        return any(one.is_grpc for one in self.consumers)

    @cached_property
    def listed(self) -> "Members":
        """The consumers among which remoting consumers divide the queues: themselves, and gRPC ones in their lists."""
        if self.is_grpc.all():
            return Members(())
        return Members(tuple(one for one in self.consumers if one.is_listed))

    @cached_property
    def is_plain(self) -> bool:
        """Whether each consumer has an id of its own, reads every topic and is a remoting one."""
        return not (self.has_copies or self.has_readers_of_some or self.has_grpc)

    @cached_property
    def has_readers_of_some(self) -> bool:
        """Whether a consumer subscribes to only some of its group's topics."""
        return any(one.only_topics is not None for one in self.consumers)

    def readers(self, topics: Sequence[str]) -> Integers:
        """The number of consumers that take a place's share of a topic. Shape: a row a topic, a column a place."""
        takers = np.zeros((len(topics), len(self)), np.int64)
        firsts = self.first[self.client]
        for row, topic in enumerate(topics):
            np.add.at(takers[row], firsts, [one.reads(topic) for one in self.consumers])
        return takers


@dataclass(frozen=True, eq=False)
class Division:
    """A group's queues and consumers.

    Attributes:
        group: whose they are; of joined divisions that of the first.
        queues: what is divided.
        members: among whom; of joined divisions nobody, because each divides among its own.
        joined: the divisions that it joins; empty for a single one.
    """

    group: GroupFacts
    queues: Queues
    members: Members
    joined: "tuple[Division, ...]" = ()

    @classmethod
    def of(cls, group: GroupFacts) -> "Division":
        """The readable queues and the consumers of the group."""
        return cls(group, Queues.of(group), Members.of(group))

    @classmethod
    def join(cls, divisions: "Sequence[Division]") -> "Division":
        """Several divisions side by side; the queues of each are divided among its own consumers.

        A strategy then calls numpy once for all of them, and not once for each.
        """
        queues = Queues.joined([one.queues for one in divisions])
        return cls(divisions[0].group, queues, Members(()), joined=tuple(divisions))

    @property
    def parts(self) -> "tuple[Division, ...]":
        """The divisions that it joins, or itself."""
        return self.joined or (self,)

    @cached_property
    def queues_of_part(self) -> Integers:
        """The number of queues of each part."""
        return lengths([part.queues.place for part in self.parts])

    @cached_property
    def consumers_of_part(self) -> Integers:
        """The number of consumers of each part."""
        return lengths([part.members.consumers for part in self.parts])

    @cached_property
    def part(self) -> Integers:
        """The index of each queue's part."""
        return np.repeat(np.arange(len(self.parts)), self.queues_of_part)

    @cached_property
    def ends(self) -> Integers:
        """Where the queues of each part end."""
        return np.cumsum(self.queues_of_part)

    @cached_property
    def in_part(self) -> Integers:
        """The index of each queue in its part."""
        return np.arange(len(self.queues)) - (self.ends - self.queues_of_part)[self.part]

    @cached_property
    def is_plain(self) -> bool:
        """Whether each consumer of a clustering group takes its share alone; False without consumers or queues."""
        has_both = bool(self.members.consumers) and len(self.queues.place) > 0
        return has_both and self.members.is_plain and self.group.is_clustering

    @cached_property
    def consumers(self) -> Integers:
        """The number of consumers among which each queue is divided."""
        return self.consumers_of_part[self.part]

    @cached_property
    def first_place(self) -> Integers:
        """The place of the first consumer of each queue's part."""
        return (np.cumsum(self.consumers_of_part) - self.consumers_of_part)[self.part]

    @cached_property
    def taken(self) -> Integers | None:
        """The number of consumers that take a place's share of a topic; None if it is always one.

        Shape: a row a topic, a column a place.
        """
        members = self.members
        if members.has_readers_of_some:
            return members.readers([reads.topic.topic for reads in self.queues.topics])
        if members.has_copies:
            return np.broadcast_to(members.takers, (len(self.queues.topics), len(members)))
        return None

    @property
    def among_listed(self) -> "Division":
        """The same queues, divided only by the remoting consumers."""
        return self._without_grpc if self.members.has_grpc else self

    @cached_property
    def _without_grpc(self) -> "Division":
        return Division(self.group, self.queues, self.members.listed)

    @cached_property
    def proxied(self) -> tuple[Integers, Integers]:
        """What Proxies assign: each gRPC consumer gets every queue of every topic that it reads.

        Shape: two arrays of one length, the index of a queue and the place of a gRPC consumer.
        A SimpleConsumer asks all brokers of the topic in turn.
        Source: RouteActivity.queryAssignment, rocketmq-all-5.3.3.
        """
        places = np.flatnonzero(self.members.is_grpc)
        queue, place = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for topic, reads in enumerate(self.queues.topics):
            readers = [index for index in places.tolist() if self.members.consumers[index].reads(reads.topic.topic)]
            of_topic = np.flatnonzero(self.queues.topic == topic)
            queue.append(np.repeat(of_topic, len(readers)))
            place.append(np.tile(np.array(readers, np.int64), len(of_topic)))
        return np.concatenate(queue), np.concatenate(place)
