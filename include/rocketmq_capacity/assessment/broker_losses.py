"""The queues that a group would divide without each of its brokers: all of these divisions at once, as arrays."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.skew import Numbers
from rocketmq_capacity.model.division import Division, Flags, Integers, Members, Queues
from rocketmq_capacity.model.facts import Reads
from rocketmq_capacity.vocabulary import BUSINESS, LOGICAL_BROKER_PREFIX

NO_LOSS: Final = -1
"""In place of the index of a loss: no loss takes this."""


@dataclass(frozen=True)
class BrokerLosses:
    """A group's business topics without each broker that they are on, or without several at once.

    A strategy divides each topic on its own. So each pair of a loss and a topic that it touches is one topic of one
    large division, and a strategy divides all of them in one call.

    Attributes:
        losses: the name of each loss -> the brokers that are lost; no broker is lost twice.
        division: the pairs as topics, ordered by loss; a topic whose queues are all lost has no queue.
        loss: for each pair the index of its loss.
        base_topic: for each pair the index of its topic in the group's own division.
        base_queue: for each queue its index in the group's own division.
        lost_queues: how many readable queues are lost with each loss.
        topics_with_queues: indexes of the topics of the group's own division that have readable queues.
        is_lost: for each loss and each place of the group's own division whether it is lost.
    """

    losses: Mapping[str, Collection[str]]
    division: Division
    loss: Integers
    base_topic: Integers
    base_queue: Integers
    lost_queues: Sequence[int]
    topics_with_queues: Integers
    is_lost: Flags

    @classmethod
    def of_each(cls, base: Division) -> "BrokerLosses":
        """The loss of each broker that has readable business queues of a group."""
        names = {place.broker_name for reads, place in base.queues.of_topics if reads.topic.kind == BUSINESS}
        real = sorted(name for name in names if not name.startswith(LOGICAL_BROKER_PREFIX))
        return cls.of(base, {name: (name,) for name in real})

    @classmethod
    def of(
        cls, base: Division, losses: Mapping[str, Collection[str]], members: Members | None = None
    ) -> "BrokerLosses":
        """Some losses.

        Args:
            base: the group's own division.
            losses: the name of each loss -> the brokers that are lost.
            members: the clients that are left, among whom all topics are divided again. None: nobody leaves, and topics
                without a queue on a lost broker are left out.
        """
        queues, topic = base.queues, base.queues.topic_of_place
        loss_of = _loss_of(losses)
        of_facts = np.array([loss_of.get(facts.broker_name, NO_LOSS) for facts in queues.facts], np.int64)
        is_business = np.array([reads.topic.kind == BUSINESS for reads in queues.topics], bool)
        of_place = np.where(is_business[topic], of_facts[queues.facts_of_place], NO_LOSS)
        is_lost = of_place == np.arange(len(losses))[:, None]
        if members is None:
            is_pair = np.zeros((len(losses), len(queues.topics)), bool)
            is_pair[of_place[of_place != NO_LOSS], topic[of_place != NO_LOSS]] = True
        else:
            is_pair = np.tile(is_business, (len(losses), 1))
        loss, base_topic = np.nonzero(is_pair)
        pair = np.cumsum(is_pair).reshape(is_pair.shape) - 1
        of_left, left = np.nonzero(is_pair[:, topic] & ~is_lost)
        counts = np.bincount(queues.place, minlength=len(topic))
        after = Queues.counted(
            [queues.topics[each] for each in base_topic.tolist()],
            queues.facts,
            queues.facts_of_place[left],
            pair[of_left, topic[left]],
            counts[left],
        )
        return cls(
            losses,
            Division(base.group, after, base.members if members is None else members),
            loss,
            base_topic,
            (np.cumsum(counts) - counts)[left][after.place] + after.queue_id,
            (is_lost @ counts).tolist(),
            np.unique(queues.topic),
            is_lost,
        )

    def per_loss(self, is_moved: Flags) -> Integers:
        """How many queues move with each loss."""
        of_queue = self.loss[self.division.queues.topic[is_moved]]
        return np.bincount(of_queue, minlength=len(self.losses))

    def touched(self, pairs: Flags) -> Flags:
        """For each loss whether one of its pairs is flagged."""
        return np.bincount(self.loss[pairs], minlength=len(self.losses)) > 0

    @cached_property
    def added_msgs_per_s(self) -> Numbers:
        """Further messages a second from each queue, when producers write to the brokers that are left; NaN if unknown.

        Producers spread evenly what the lost broker got. Messages that the group's filter rejects are left out.
        """
        queues = self.division.queues
        added = np.array([one.after(loss) for loss, one in self._added], np.float64)
        written = np.array([facts.writable or 0 for facts in queues.facts], np.int64)
        takes = queues.queue_id < written[queues.facts_of_place][queues.place]
        return np.where(takes, added[queues.topic], 0.0)

    @cached_property
    def is_unwritable(self) -> Flags:
        """For each pair whether the loss takes all queues of the topic that producers see."""
        return np.array([one.loses_all(loss) for loss, one in self._added], bool)

    @cached_property
    def is_unreadable(self) -> Flags:
        """For each pair whether the loss takes all queues of the topic that consumers see."""
        left = np.bincount(self.division.queues.topic, minlength=len(self.loss))
        return np.asarray(left == 0) & np.isin(self.base_topic, self.topics_with_queues)

    @cached_property
    def _added(self) -> list[tuple[int, "_Added"]]:
        """For each pair its loss, and the messages of its topic."""
        loss_of = _loss_of(self.losses)
        of_topic: dict[int, _Added] = {}
        pairs = zip(self.loss.tolist(), self.base_topic.tolist(), self.division.queues.topics, strict=True)
        return [(loss, _kept(of_topic, topic, reads, loss_of)) for loss, topic, reads in pairs]


def _kept(of_topic: dict[int, "_Added"], topic: int, reads: Reads, loss_of: Mapping[str, int]) -> "_Added":
    """The messages of a topic, worked out once."""
    if topic not in of_topic:
        of_topic[topic] = _Added.of(reads, loss_of)
    return of_topic[topic]


def _loss_of(losses: Mapping[str, Collection[str]]) -> dict[str, int]:
    """The index of the loss of each broker that is lost."""
    return {name: number for number, gone in enumerate(losses.values()) for name in gone}


@dataclass(frozen=True, slots=True)
class _Added:
    """Further messages a second on each queue of a topic that is writable after a loss.

    Attributes:
        queues: the topic's queues that are writable today.
        unknown: on how many brokers their number is unknown.
        pass_ratio: the share of the messages that pass the group's filter; None if unknown.
        lost: by loss, how many of the queues and of the brokers with an unknown number it takes.
        msgs_per_s: by loss, what is written to the lost brokers today; None if unknown.
    """

    queues: int
    unknown: int
    pass_ratio: float | None
    lost: Mapping[int, tuple[int, int]]
    msgs_per_s: Mapping[int, float | None]

    @classmethod
    def of(cls, reads: Reads, loss_of: Mapping[str, int]) -> "_Added":
        """A topic, with the losses by broker."""
        queues = unknown = 0
        lost: dict[int, tuple[int, int]] = {}
        for place in reads.topic.places:
            number = place.writable
            queues, unknown = queues + (number or 0), unknown + (number is None)
            loss = loss_of.get(place.broker_name, NO_LOSS)
            known, others = lost.get(loss, (0, 0))
            lost[loss] = known + (number or 0), others + (number is None)
        msgs_per_s: dict[int, float | None] = {}
        for one in reads.topic.written:
            loss = loss_of.get(one.broker_name, NO_LOSS)
            rate = msgs_per_s.get(loss, 0.0)
            msgs_per_s[loss] = None if rate is None or one.put_msgs_per_s is None else rate + one.put_msgs_per_s
        return cls(queues, unknown, reads.pass_ratio, lost, msgs_per_s)

    def after(self, loss: int) -> float:
        """The messages after a loss; NaN if unknown."""
        (queues, unknown), lost = self.lost.get(loss, (0, 0)), self.msgs_per_s.get(loss, 0.0)
        if lost is None or unknown < self.unknown or self.pass_ratio is None:
            return np.nan
        left = self.queues - queues
        return lost * self.pass_ratio / left if left else 0.0

    def loses_all(self, loss: int) -> bool:
        """Whether a loss takes all writable queues; not if a number is unknown."""
        return not self.unknown and 0 < self.queues == self.lost.get(loss, (0, 0))[0]
