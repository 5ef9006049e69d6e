"""A group's consumers in Java's order.

A *place* of members is the position of a consumer in the list that RocketMQ sorts, where equal client ids have one
position each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np
from msgspec import json, structs

from rocketmq_capacity.model.arrays import Flags, Integers
from rocketmq_capacity.model.facts import Consumer, GroupFacts
from rocketmq_capacity.vocabulary import NOT_ASSIGNED_BY_BROKERS, java_order


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
    def is_known_to_brokers(self) -> Flags:
        """Whether brokers know the strategy that consumers of each different id report, if they report one."""
        is_known = np.zeros(len(self.client_ids), bool)
        is_known[self.client[[one.allocate_strategy not in NOT_ASSIGNED_BY_BROKERS for one in self.consumers]]] = True
        return is_known

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
