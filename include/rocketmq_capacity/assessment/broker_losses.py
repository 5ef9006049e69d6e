"""The queues that a group would divide without each of its brokers: all of these divisions at once, as arrays."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rocketmq_capacity.assessment.skew import Numbers
from rocketmq_capacity.contracts.division import Division, Flags, Integers, Members, Queues
from rocketmq_capacity.contracts.facts import Place, Reads
from rocketmq_capacity.vocabulary import BUSINESS, LOGICAL_BROKER_PREFIX, MASTERLESS, PERM_WRITE


@dataclass(frozen=True)
class BrokerLosses:
    """A group's business topics without each broker that they are on, or without several at once.

    A strategy divides each topic on its own. So each pair of a loss and a topic that it touches is one topic of one
    large division, and a strategy divides all of them in one call.

    Attributes:
        losses: the name of each loss -> the brokers that are lost.
        division: the pairs as topics, ordered by loss; a topic whose queues are all lost has no queue.
        loss: for each pair the index of its loss.
        base_topic: for each pair the index of its topic in the group's own division.
        base_queue: for each queue its index in the group's own division.
        lost_queues: how many readable queues are lost with each loss.
    """

    losses: Mapping[str, Collection[str]]
    division: Division
    loss: Integers
    base_topic: Integers
    base_queue: Integers
    lost_queues: Sequence[int]

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
        queues = base.queues
        on: dict[int, list[tuple[int, Place, int]]] = {}
        first = 0
        of_place = zip(queues.topic_of_place.tolist(), queues.places, np.bincount(queues.place).tolist(), strict=True)
        for topic, place, count in of_place:
            if queues.topics[topic].topic.kind == BUSINESS:
                on.setdefault(topic, []).append((first, place, count))
            first += count
        topics: list[Reads] = []
        pairs: list[tuple[int, int]] = []
        places: list[Place] = []
        of_pair: list[int] = []
        extents: list[tuple[int, int]] = []
        lost = [0] * len(losses)
        for number, gone in enumerate(losses.values()):
            for topic, each in on.items():
                left = [one for one in each if one[1].broker_name not in gone]
                if members is not None or len(left) < len(each):
                    places += [place for _, place, _ in left]
                    of_pair.append(len(left))
                    extents += [(begin, count) for begin, _, count in left]
                    lost[number] += sum(count for _, _, count in each) - sum(count for _, _, count in left)
                    topics.append(queues.topics[topic])
                    pairs.append((number, topic))
        begins, counts = np.array(extents, np.int64).reshape(-1, 2).T
        after = Queues.counted(topics, places, np.repeat(np.arange(len(pairs)), of_pair), counts)
        told = np.array(pairs, np.int64).reshape(-1, 2)
        among = base.members if members is None else members
        return cls(
            losses,
            Division(base.group, after, among),
            told[:, 0],
            told[:, 1],
            begins[after.place] + after.queue_id,
            lost,
        )

    def per_loss(self, is_moved: Flags) -> Integers:
        """How many queues move with each loss."""
        of_queue = self.loss[self.division.queues.topic[is_moved]]
        return np.bincount(of_queue, minlength=len(self.losses))

    def touched(self, pairs: Flags) -> Flags:
        """For each loss whether one of its pairs is flagged."""
        return np.bincount(self.loss[pairs], minlength=len(self.losses)) > 0

    @cached_property
    def _pairs(self) -> list[tuple[int, Reads, Collection[str]]]:
        """The index of the loss, the topic and the lost brokers of each pair."""
        gone = list(self.losses.values())
        return [
            (number, reads, gone[number])
            for number, reads in zip(self.loss.tolist(), self.division.queues.topics, strict=True)
        ]

    @cached_property
    def added_msgs_per_s(self) -> Numbers:
        """Further messages a second from each queue, when producers write to the brokers that are left; NaN if unknown.

        Producers spread evenly what the lost broker got. Messages that the group's filter rejects are left out.
        """
        added = np.array([_added(reads, gone) for _, reads, gone in self._pairs], np.float64)
        queues = self.division.queues
        written = np.array([writable_queues(place) or 0 for place in queues.places], np.int64)
        takes = queues.queue_id < written[queues.place]
        return np.where(takes, added[queues.topic], 0.0)


def _added(reads: Reads, gone: Collection[str]) -> float:
    """Further messages a second on each queue of a topic that is writable without the lost brokers."""
    left = [writable_queues(place) for place in reads.topic.places if place.broker_name not in gone]
    lost = [one.put_msgs_per_s for one in reads.topic.written if one.broker_name in gone]
    if None in lost or None in left or reads.pass_ratio is None:
        return np.nan
    queues = sum(one or 0 for one in left)
    return sum(one or 0.0 for one in lost) * reads.pass_ratio / queues if queues else 0.0


def writable_queues(place: Place) -> int | None:
    """How many queues producers see; None if that is unknown."""
    if place.broker_state == MASTERLESS or (place.perm is not None and not place.perm & PERM_WRITE):
        return 0
    return None if place.perm is None else place.write_queue_nums
