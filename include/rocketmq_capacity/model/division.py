"""A group's readable queues and its consumers, both in Java's order: what every strategy divides."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rocketmq_capacity.model.arrays import Flags
from rocketmq_capacity.model.arrays import Integers as Integers  # as steps/load_columns.py imports it
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.model.queues import Queues
from rocketmq_capacity.model.ragged import lengths
from rocketmq_capacity.vocabulary import NOT_ASSIGNED_BY_BROKERS


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

    def readers(self, queue: Integers, client: Integers) -> Integers:
        """How many consumers with an owner's client id read its queue: those of the id that subscribe to the topic.

        Shape: two arrays, indexes of queues and of the client ids that own them -> one of the same length.
        An owner counts at least once, also if it reports a queue of a topic that it does not subscribe to.
        """
        if self.taken is None:
            return self.members.copies[client]
        return np.maximum(self.taken[self.queues.topic[queue], self.members.first[client]], 1)

    @cached_property
    def is_popped(self) -> Flags:
        """For each queue of a single division whether it is popped, so that the broker divides its messages."""
        return np.array([self.group.pops(reads) for reads in self.queues.topics], bool)[self.queues.topic]

    @cached_property
    def is_assigned(self) -> Flags:
        """Whether brokers assign each client id the queues that it pops: they do by strategies that they know.

        If a client with another one consumes what it pops, they know that one, too.
        """
        is_known = self.members.is_known_to_brokers
        return np.ones_like(is_known) if not is_known.all() and self._knows_others else is_known

    @cached_property
    def _knows_others(self) -> bool:
        popped = {reads.topic.topic for reads in self.group.business if self.group.pops(reads)}
        others = {one.client_id for one in self.group.consumers if one.allocate_strategy in NOT_ASSIGNED_BY_BROKERS}
        reports = (one for one in self.group.consumed if one.topic in popped and one.client_id in others)
        return any(one.msgs_per_s for one in reports)

    @cached_property
    def is_mixed(self) -> bool:
        """Whether some of its business topics are popped, and others are pulled."""
        is_popped = self.is_popped[self.queues.is_business]
        return bool(is_popped.any()) and not is_popped.all()

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
