"""The queues that groups would divide without some of their brokers: all of these divisions at once, as arrays."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.loads import QueueWeights
from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.model.queues import Queues
from rocketmq_capacity.model.ragged import begins_of, joined_from, lengths, within
from rocketmq_capacity.model.written_queues import NOT_KNOWN, WrittenQueues
from rocketmq_capacity.vocabulary import BUSINESS, LOGICAL_BROKER_PREFIX

NO_LOSS: Final = -1
"""In place of the index of a loss: no loss takes this."""


@dataclass(frozen=True, slots=True)
class BrokerLosses:
    """A group's business topics without each broker that they are on, or without several at once.

    A strategy divides each topic on its own. So each pair of a loss and a topic that it touches is one topic of one
    large division, and a strategy divides all of them in one call.

    Attributes:
        losses: the name of each loss -> the brokers that are lost; no broker is lost twice.
        division: the pairs as topics, ordered by loss; a topic whose queues are all lost has no queue.
        loss: for each pair the index of its loss.
        base_topic: for each pair the index of its topic in the group's own division.
        is_unwritable: for each pair whether the loss takes all queues of the topic that producers see.
        base_queue: for each queue its index in the group's own division.
        added_msgs_per_s: further messages a second from each queue, when producers write to the brokers that are left;
            NaN if unknown. Producers spread evenly what the lost broker got. Messages that the group's filter rejects
            are left out.
        lost_queues: how many readable queues are lost with each loss.
        unreadable: of how many topics each loss takes all queues that consumers see.
        unwritable: of how many all that producers see.
        waiting: messages of lag on the lost queues, or on all if no client is left; None if unknown.
    """

    losses: Mapping[str, Collection[str]]
    division: Division
    loss: Integers
    base_topic: Integers
    is_unwritable: Flags
    base_queue: Integers
    added_msgs_per_s: Numbers
    lost_queues: Sequence[int]
    unreadable: Sequence[int]
    unwritable: Sequence[int]
    waiting: Sequence[int | None]

    def per_loss(self, is_moved: Flags) -> Integers:
        """How many queues move with each loss."""
        of_queue = self.loss[self.division.queues.topic[is_moved]]
        return np.bincount(of_queue, minlength=len(self.losses))

    def touched(self, pairs: Flags) -> Flags:
        """For each loss whether one of its pairs is flagged."""
        return np.bincount(self.loss[pairs], minlength=len(self.losses)) > 0


@dataclass(frozen=True, slots=True)
class Lost:
    """What a group loses.

    Attributes:
        base: its own division.
        weights: the weights of its queues.
        losses: as in :class:`BrokerLosses`.
        members: the clients that are left, among whom all topics are divided again. None: nobody leaves, and topics
            without a queue on a lost broker are left out.
    """

    base: Division
    weights: QueueWeights
    losses: Mapping[str, Collection[str]]
    members: Members | None = None

    @property
    def left(self) -> Members:
        """The clients that are left."""
        return self.base.members if self.members is None else self.members

    @classmethod
    def each_broker(cls, base: Division, weights: QueueWeights) -> "Lost":
        """Each broker that has readable business queues of a group."""
        names = {place.broker_name for reads, place in base.queues.of_topics if reads.topic.kind == BUSINESS}
        real = sorted(name for name in names if not name.startswith(LOGICAL_BROKER_PREFIX))
        return cls(base, weights, {name: (name,) for name in real})


def losses_of(asked: Sequence[Lost]) -> list[BrokerLosses]:
    """What is left of several groups."""
    return list(_Batch(asked).losses()) if asked else []


@dataclass(frozen=True)
class _Batch:
    """The losses of several groups; each array has those of all groups, one after the other.

    A *cell* is a loss with a topic of its group. The cells that the loss touches are the pairs.

    Attributes:
        asked: what each group loses; a group may be there several times.
    """

    asked: Sequence[Lost]

    def losses(self) -> Iterator[BrokerLosses]:
        """What is left of each group."""
        number = np.arange(len(self.asked) + 1)
        loss, topic = self._pairs
        pair_of_place, left = self._left
        group, of_place = self._group[loss], self._group[loss[pair_of_place]]
        place = np.repeat(np.arange(len(left)), self._counts[left])
        queue_id = within(self._counts[left])
        queue = begins_of(self._counts)[left][place] + queue_id
        of_pair, of_places, of_queue = (np.searchsorted(part, number) for part in (group, of_place, of_place[place]))
        topics, facts = self._base.topics, self._base.facts_of_place[left]
        added, is_unwritable = self._written
        takes = np.concatenate([one.takes for one in self._seen])[facts][place]
        added_msgs_per_s = np.where(queue_id < takes, added[pair_of_place[place]], 0.0)
        is_unreadable = np.bincount(pair_of_place, minlength=len(loss)) == 0
        figures = (
            np.bincount(self._loss_of_place[self._is_lost], self._counts[self._is_lost], len(self._group)).astype(int),
            np.bincount(loss[is_unreadable], minlength=len(self._group)),
            np.bincount(loss[is_unwritable], minlength=len(self._group)),
        )
        lost_queues, unreadable, unwritable = (each.tolist() for each in figures)
        waiting = self._waiting()
        # What is told of one group counts from its own first loss, topic, place and queue.
        base_topic, facts = topic - self._first_topic[group], facts - self._first_facts[of_place]
        loss, base_queue = loss - self._first_loss[group], queue - self._first_queue[of_place[place]]
        pair_of_place, place = pair_of_place - of_pair[of_place], place - of_places[of_place[place]]
        for lost, losses, pairs, places, queues in zip(
            self.asked, _slices(self._bounds), *map(_slices, (of_pair, of_places, of_queue)), strict=True
        ):
            after = Queues(
                tuple([topics[index] for index in topic[pairs].tolist()]),
                lost.base.queues.facts,
                facts[places],
                pair_of_place[places],
                place[queues],
                queue_id[queues],
            )
            yield BrokerLosses(
                lost.losses,
                Division(lost.base.group, after, lost.left),
                loss[pairs],
                base_topic[pairs],
                is_unwritable[pairs],
                base_queue[queues],
                added_msgs_per_s[queues],
                lost_queues[losses],
                unreadable[losses],
                unwritable[losses],
                waiting[losses],
            )

    @cached_property
    def _base(self) -> Queues:
        """The queues of all groups."""
        return Queues.joined([one.base.queues for one in self.asked])

    @cached_property
    def _seen(self) -> list[WrittenQueues]:
        return [one.base.queues.written for one in self.asked]

    @cached_property
    def _first_loss(self) -> Integers:
        return begins_of(lengths([one.losses for one in self.asked]))

    @property
    def _bounds(self) -> list[int]:
        """Between which the losses of each group are."""
        return [*self._first_loss.tolist(), len(self._group)]

    @cached_property
    def _topics(self) -> Integers:
        """Of each group how many topics it has."""
        return lengths([one.base.queues.topics for one in self.asked])

    @cached_property
    def _first_topic(self) -> Integers:
        return begins_of(self._topics)

    @cached_property
    def _first_facts(self) -> Integers:
        return begins_of(lengths([one.base.queues.facts for one in self.asked]))

    @cached_property
    def _first_queue(self) -> Integers:
        return begins_of(lengths([one.base.queues.place for one in self.asked]))

    @cached_property
    def _group(self) -> Integers:
        """The group of each loss."""
        return np.repeat(np.arange(len(self.asked)), lengths([one.losses for one in self.asked]))

    @cached_property
    def _counts(self) -> Integers:
        """The number of queues of each place."""
        return np.bincount(self._base.place, minlength=len(self._base.topic_of_place))

    @cached_property
    def _is_business(self) -> Flags:
        """Whether each topic is one of the business."""
        return np.array([reads.topic.kind == BUSINESS for reads in self._base.topics], bool)

    @cached_property
    def _loss_of_broker(self) -> Integers:
        """The loss that takes each broker of each group, or NO_LOSS."""
        losses: list[int] = []
        for lost, seen, first in zip(self.asked, self._seen, self._first_loss.tolist(), strict=True):
            of_group = [NO_LOSS] * len(seen.brokers)
            for loss, gone in enumerate(lost.losses.values(), first):
                for name in gone:
                    of_group[seen.brokers[name]] = loss
            losses += of_group
        return np.array(losses, np.int64)

    @cached_property
    def _first_broker(self) -> Integers:
        return begins_of(lengths([one.brokers for one in self._seen]))

    @cached_property
    def _loss_of_place(self) -> Integers:
        """The loss that takes each place of business queues, or NO_LOSS."""
        broker = joined_from([one.broker_of_facts for one in self._seen], self._first_broker)
        of_place = self._loss_of_broker[broker][self._base.facts_of_place]
        return np.where(self._is_business[self._base.topic_of_place], of_place, NO_LOSS)

    @cached_property
    def _is_lost(self) -> Flags:
        return np.asarray(self._loss_of_place != NO_LOSS)

    @cached_property
    def _first_cell(self) -> Integers:
        """Of each loss its first cell."""
        return begins_of(self._topics[self._group])

    def _cell(self, loss: Integers, topic: Integers) -> Integers:
        return self._first_cell[loss] + topic - self._first_topic[self._group[loss]]

    @cached_property
    def _is_pair(self) -> Flags:
        """Whether each cell is a pair."""
        topics = self._topics[self._group]
        of_group = np.array([one.members is not None for one in self.asked], bool)[self._group]
        topic = within(topics) + np.repeat(self._first_topic[self._group], topics)
        is_pair = np.repeat(of_group, topics) & self._is_business[topic]
        is_lost = self._is_lost
        is_pair[self._cell(self._loss_of_place[is_lost], self._base.topic_of_place[is_lost])] = True
        return is_pair

    @cached_property
    def _pairs(self) -> tuple[Integers, Integers]:
        """The loss and the topic of each pair."""
        topics = self._topics[self._group]
        cell = np.flatnonzero(self._is_pair)
        loss = np.repeat(np.arange(len(topics)), topics)[cell]
        return loss, cell - self._first_cell[loss] + self._first_topic[self._group[loss]]

    @cached_property
    def _left(self) -> tuple[Integers, Integers]:
        """The places that are left of each pair: the pair and the place."""
        places = lengths([one.base.queues.topic_of_place for one in self.asked])
        of_loss = places[self._group]
        loss = np.repeat(np.arange(len(of_loss)), of_loss)
        place = within(of_loss) + begins_of(places)[self._group][loss]
        cell = self._cell(loss, self._base.topic_of_place[place])
        stays = self._is_pair[cell] & (self._loss_of_place[place] != loss)
        return (np.cumsum(self._is_pair) - 1)[cell[stays]], place[stays]

    @cached_property
    def _written(self) -> tuple[Numbers, Flags]:
        """Of each pair the further messages on each queue that producers still see, and whether they see none."""
        _, topic = self._pairs
        queues = np.concatenate([one.queues for one in self._seen])
        is_unknown, known = queues == NOT_KNOWN, np.maximum(queues, 0)
        of_topic = joined_from([one.topic for one in self._seen], self._first_topic)
        every = np.bincount(of_topic, known, len(self._base.topics))[topic]
        unknown = np.bincount(of_topic[is_unknown], minlength=len(self._base.topics))[topic]
        pair, place = self._lost_of([one.broker for one in self._seen], of_topic)
        lost = np.bincount(pair, known[place], len(topic))
        lost_unknown = np.bincount(pair[is_unknown[place]], minlength=len(topic))
        of_written = joined_from([one.written_topic for one in self._seen], self._first_topic)
        pair, at = self._lost_of([one.written_broker for one in self._seen], of_written)
        rate = np.bincount(pair, np.concatenate([one.put_msgs_per_s for one in self._seen])[at], len(topic))
        ratio = np.concatenate([one.pass_ratio for one in self._seen])[topic]
        added = np.where(lost_unknown < unknown, np.nan, rate * ratio)
        left = every - lost
        added = np.where((left > 0) | np.isnan(added), added / np.where(left > 0, left, 1.0), 0.0)
        return added, (unknown == 0) & (every > 0) & (left == 0)

    def _lost_of(self, brokers: Sequence[Integers], topic: Integers) -> tuple[Integers, Integers]:
        """Which of some things, each at a broker and of a topic, a pair loses: the pair and the thing's index."""
        loss = self._loss_of_broker[joined_from(brokers, self._first_broker)]
        at = np.flatnonzero(loss != NO_LOSS)
        cell = self._cell(loss[at], topic[at])
        is_pair = self._is_pair[cell]
        return (np.cumsum(self._is_pair) - 1)[cell[is_pair]], at[is_pair]

    def _waiting(self) -> list[int | None]:
        """The messages that wait with each loss; None if unknown."""
        lag = np.concatenate([one.weights.lag for one in self.asked])
        has_lag = np.concatenate([one.weights.has_lag for one in self.asked])
        loss = self._loss_of_place[self._base.place]
        is_lost = loss != NO_LOSS
        waiting = np.zeros(len(self._group), np.int64)
        np.add.at(waiting, loss[is_lost], lag[is_lost])
        known = waiting.astype(object)
        known[loss[is_lost & ~has_lag]] = None
        for lost, losses in zip(self.asked, _slices(self._bounds), strict=True):
            if not len(lost.left):
                known[losses] = lost.weights.total_lag  # nobody reads the queues that stay either
        messages: list[int | None] = known.tolist()
        return messages


def _slices(bounds: Sequence[int] | Integers) -> list[slice]:
    """The parts between successive bounds."""
    return [slice(begin, end) for begin, end in pairwise(bounds)]
