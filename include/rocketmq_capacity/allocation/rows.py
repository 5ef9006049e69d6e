"""Rows of the dataset ``allocation``, as indexes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rocketmq_capacity.allocation.shares import index_of_clients, takers, takes_share
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import EVERY_QUEUE


@dataclass(frozen=True, slots=True)
class AllocationRows:
    """Rows of the dataset ``allocation`` of one group and strategy, as indexes.

    Attributes:
        strategy: its name, or BROADCASTING.
        division: the queues and consumers that the indexes are of.
        place: each row's index in ``division.queues.places``: its topic and broker.
        queue_id: each row's queue id, or :data:`~rocketmq_capacity.vocabulary.EVERY_QUEUE`.
        client: each row's index of the client id.
        strangers: rows of queues that do not exist: the index of the client id, and the queue.
    """

    strategy: str
    division: Division
    place: Integers
    queue_id: Integers
    client: Integers
    strangers: tuple[tuple[int, Queue], ...] = ()

    def named(self) -> Iterator[tuple[int, Queue]]:
        """Each row's index of the client id, and its queue."""
        queues = self.division.queues
        of_place = queues.topic_of_place.tolist()
        columns = (column.tolist() for column in (self.place, self.queue_id, self.client))
        for place, queue_id, client in zip(*columns, strict=True):
            at, topic = queues.places[place], queues.topics[of_place[place]].topic
            yield client, Queue(topic.topic, at.broker_name, queue_id)
        yield from self.strangers


def rows_of_shares(strategy: str, division: Division, shares: Shares) -> AllocationRows:
    """The rows of what a strategy gives: one for each queue and each consumer that takes it."""
    queues, members = division.queues, division.members
    queue, place = shares.queue, shares.place
    if division.taken is not None:
        times = division.taken[queues.topic[queue], place]
        queue, place = np.repeat(queue, times), np.repeat(place, times)
    of_place, client = [queues.place[queue]], [members.client[place]]
    is_popped = set(shares.popped)
    for index, topic in enumerate(queues.topic_of_place.tolist() if is_popped else ()):
        if topic in is_popped:
            client.append(np.repeat(members.client, takers(division, topic)))
            of_place.append(np.full(len(client[-1]), index))
    places = np.concatenate(of_place)
    queue_id = np.concatenate([queues.queue_id[queue], np.full(len(places) - len(queue), EVERY_QUEUE)])
    strangers = tuple(
        (int(members.client[place]), name)
        for place, topic, name in shares.strangers
        for _ in range(int(takers(division, topic)[place]))
    )
    return AllocationRows(strategy, division, places, queue_id, np.concatenate(client), strangers)


def with_proxied_rows(rows: AllocationRows, division: Division) -> AllocationRows:
    """The rows of the listed consumers, and those of gRPC consumers, with queue -1 for all queues of a broker.

    For an orderly group the Proxy names the queues one by one.
    """
    queues = division.queues
    queue, place = division.proxied
    queue_id = queues.queue_id[queue]
    if not division.group.is_orderly:
        is_first = queue_id == 0
        queue, place = queue[is_first], place[is_first]
        queue_id = np.full(len(queue), EVERY_QUEUE)
    if not len(division.among_listed.members):
        return AllocationRows(rows.strategy, division, queues.place[queue], queue_id, division.members.client[place])
    index, takes = index_of_clients(division), takes_share(division)
    keep = takes[rows.client]
    return AllocationRows(
        rows.strategy,
        division,
        np.concatenate([rows.place[keep], queues.place[queue]]),
        np.concatenate([rows.queue_id[keep], queue_id]),
        np.concatenate([index[rows.client[keep]], division.members.client[place]]),
        tuple((int(index[client]), name) for client, name in rows.strangers if takes[client]),
    )
