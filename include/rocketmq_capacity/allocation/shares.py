"""Shares of a strategy by part, by client id, and among all clients of a group."""

from collections.abc import Iterator

import numpy as np

from rocketmq_capacity.model.arrays import Flags, Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import NOBODY, Owners, Shares
from rocketmq_capacity.model.ragged import lengths, within
from rocketmq_capacity.vocabulary import BUSINESS, CONFIG, POP


def owners_of_parts(strategy: str, division: Division, shares: Shares) -> list[Owners]:
    """For each part of a division its shares by client id, only of business topics, without those that nobody takes.

    Args:
        strategy: its name; CONFIG may list a queue twice, and POP may give it to several clients.
        division: the queues and consumers that were divided.
        shares: the result of the strategy.
    """
    queues = division.queues
    queue, place = _with_popped(division, shares) if shares.popped else (shares.queue, shares.place)
    if not queues.is_all_business:
        keep = queues.is_business[queue]
        queue, place = queue[keep], place[keep]
    single: list[Integers | None] = [None] * len(division.parts)
    if shares.owner is not None:
        is_owned = (shares.owner != NOBODY) & queues.is_business
        owner = np.where(is_owned, shares.owner - division.first_place, NOBODY)
        ends = division.ends.tolist()
        single = [owner[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    is_plain = strategy != CONFIG and not shares.strangers
    return [
        Owners(own, by, is_popped=strategy == POP, owner=owner)
        if is_plain and part.members.is_plain
        else _taken(strategy, part, Shares(own, by, strangers=shares.strangers))
        for part, (own, by), owner in zip(division.parts, _by_part(division, queue, place), single, strict=True)
    ]


def _taken(strategy: str, division: Division, shares: Shares) -> Owners:
    """The owners where ids have copies, clients read some topics only, or the strategy gives what does not exist."""
    queues, members = division.queues, division.members
    queue, place = shares.queue, shares.place
    if division.taken is not None:
        keep = division.taken[queues.topic[queue], place] > 0
        queue, place = queue[keep], place[keep]
    client = members.client[place]
    strangers = {
        (int(members.client[at]), name)
        for at, topic, name in shares.strangers
        if queues.topics[topic].topic.kind == BUSINESS and takers(division, topic)[at]
    }
    if strategy == CONFIG:  # a client owns a queue once, also if the policy lists it twice
        queue, client = np.unique(np.stack([queue, client]), axis=1)
    return Owners(queue, client, tuple(sorted(strangers)), is_popped=strategy == POP)


def _with_popped(division: Division, shares: Shares) -> tuple[Integers, Integers]:
    """The shares together with the queues that all consumers of their topic pop: queues and places."""
    is_popped = np.zeros(len(division.queues.topics), bool)
    is_popped[list(shares.popped)] = True
    popped = np.flatnonzero(is_popped[division.queues.topic])
    readers = division.consumers[popped]
    place = within(readers) + np.repeat(division.first_place[popped], readers)
    return np.concatenate([shares.queue, np.repeat(popped, readers)]), np.concatenate([shares.place, place])


def shares_of_parts(division: Division, shares: Shares) -> Iterator[Shares]:
    """The shares of each part of a division."""
    if not division.joined:
        yield shares
        return
    ends = np.cumsum(lengths([part.queues.topics for part in division.parts]))
    popped = np.split(np.array(shares.popped, np.int64), np.searchsorted(shares.popped, ends))
    parts = zip(_by_part(division, shares.queue, shares.place), popped, [0, *ends.tolist()], strict=False)
    for (queue, place), topics, first in parts:
        yield Shares(queue, place, tuple((topics - first).tolist()))


def _by_part(division: Division, queue: Integers, place: Integers) -> list[tuple[Integers, Integers]]:
    """Queues of a joined division and their places by part; both count from the part's first one."""
    part = division.part[queue]
    if (part[1:] < part[:-1]).any():  # POP does not give all queues in order
        order = np.argsort(part, kind="stable")
        queue, place, part = queue[order], place[order], part[order]
    in_part, client = division.in_part[queue], place - division.first_place[queue]
    ends = np.searchsorted(part, np.arange(len(division.parts)), "right").tolist()
    return [(in_part[begin:end], client[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]


def takers(division: Division, topic: int) -> Integers:
    """The number of consumers that take each place's share of a topic; one entry for each place."""
    return division.members.takers if division.taken is None else division.taken[topic]


def everyone(division: Division) -> Shares:
    """The shares of broadcasting: every consumer gets every queue."""
    queues, places = len(division.queues), division.members.first
    return Shares(np.repeat(np.arange(queues), len(places)), np.tile(places, queues))


def seen_from(division: Division, owners: Owners) -> Owners:
    """The owners among the listed consumers, as owners among all of the group's client ids.

    Nobody takes the share of a gRPC consumer in the list: its Proxy assigns it other queues.
    """
    index, takes = index_of_clients(division), takes_share(division)
    strangers = tuple((int(index[client]), queue) for client, queue in owners.strangers if takes[client])
    keep = takes[owners.client]
    is_popped = owners.is_popped if isinstance(owners.is_popped, bool) else owners.is_popped[keep]
    return Owners(owners.queue[keep], index[owners.client[keep]], strangers, is_popped, owners.unknown)


def takes_share(division: Division) -> Flags:
    """Whether each client id of the listed consumers takes its share; one entry for each id."""
    members = division.among_listed.members
    return ~members.is_grpc[members.first]


def index_of_clients(division: Division) -> Integers:
    """The index among all of the group's ids of each client id of the listed consumers."""
    index = {client_id: number for number, client_id in enumerate(division.members.client_ids)}
    return np.array([index[client_id] for client_id in division.among_listed.members.client_ids], np.int64)
