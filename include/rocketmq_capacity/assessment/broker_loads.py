"""How much each broker stores, how much it can, and what the loss of another broker adds to it.

Producers spread evenly over the writable queues that are left what a lost broker got.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Protocol

import numpy as np
from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.model.arrays import Flags, Numbers
from rocketmq_capacity.model.broker_figures import (
    LOG_BEGIN,
    LOG_END,
    MIB,
    deletes_early_above,
    disk_bytes,
    figure,
    kept_hours,
    mean_message_bytes,
    put_rate,
    used_ratio,
)
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Broker, BrokerLoad, TopicHeadroom
from rocketmq_capacity.vocabulary import DISK, PUT_BYTES, PUT_MESSAGES, SEEN, TOLD
from rocketmq_capacity.wording import rounded

DAY_S: Final = 86_400
DAY_HOURS: Final = 24
TOPICS_AT_ONCE: Final = 1_000
"""Topics in memory as a table of topics and brokers."""


class FailureTopicPlace(Protocol):
    """A topic on a broker, as ``topic_failure`` has it: ``writable_queues`` are those elsewhere."""

    @property
    def topic(self) -> str:
        """Name of the topic."""

    @property
    def lost(self) -> str:
        """Name of the broker."""

    @property
    def msgs_per_s(self) -> float | None:
        """Messages a second written to it there."""

    @property
    def writable_queues(self) -> int | None:
        """Its writable queues on other brokers."""


class OverBroker(Struct, frozen=True, kw_only=True):
    """A broker that would have to store more than the policy says that it can."""

    broker_name: Annotated[str, means("the broker")]
    msgs_per_s: Annotated[float | None, means("messages that it would get")]
    max_msgs_per_s: Annotated[float | None, means("messages that it can store, by the policy")]
    bytes_per_s: Annotated[float | None, means("bytes that it would get")]
    max_bytes_per_s: Annotated[float | None, means("bytes that it can store, by the policy")]
    ratio: Annotated[float, means("what it would get as a share of what it can store")]


@dataclass(frozen=True, slots=True)
class Limit:
    """What a broker can store; None is unknown.

    Attributes:
        msgs_per_s: messages a second.
        bytes_per_s: bytes a second.
        source: TOLD or SEEN.
    """

    msgs_per_s: float | None
    bytes_per_s: float | None
    source: str | None

    @classmethod
    def of(cls, broker: Broker, policy: Policy) -> "Limit":
        """What the policy tells of a broker; else the most that the history has seen."""
        stated = policy.broker(broker.broker_name)
        if stated is not None and (stated.max_msgs_per_s or stated.max_mib_per_s):
            return cls(stated.max_msgs_per_s, stated.max_mib_per_s and stated.max_mib_per_s * MIB, TOLD)
        is_seen = broker.seen_msgs_per_s is not None
        return cls(broker.seen_msgs_per_s, broker.seen_bytes_per_s, SEEN if is_seen else None)

    def ratio(self, msgs_per_s: float | None, bytes_per_s: float | None) -> float | None:
        """The larger share of what it can; None if unknown."""
        pairs = (msgs_per_s, self.msgs_per_s), (bytes_per_s, self.bytes_per_s)
        return max((rate / most for rate, most in pairs if rate is not None and most), default=None)


@dataclass(frozen=True)
class BrokerLoads:
    """The masters of a cluster with what they store.

    Attributes:
        brokers: the masters, by name.
        limits: what each can store.
        topics: how many business topics each has.
        topic_msgs_per_s: messages a second of these topics; NaN if unknown.
        added_msgs_per_s: row b, column c: what the loss of broker b adds to broker c; NaN if unknown.
    """

    brokers: Sequence[Broker]
    limits: Sequence[Limit]
    topics: Sequence[int]
    topic_msgs_per_s: Numbers
    added_msgs_per_s: Numbers

    @classmethod
    def of(cls, places: Sequence[FailureTopicPlace], cluster: ClusterFacts, policy: Policy) -> "BrokerLoads":
        """The masters of a cluster; ``places`` has a row for each business topic and broker."""
        brokers = sorted((one for one in cluster.brokers if one.broker_id == 0), key=lambda one: one.broker_name)
        limits = [Limit.of(one, policy) for one in brokers]
        index = {one.broker_name: number for number, one in enumerate(brokers)}
        by_topic: dict[str, list[FailureTopicPlace]] = {}
        for place in places:
            by_topic.setdefault(place.topic, []).append(place)
        count = Counter(place.lost for place in places)
        rates, added = np.zeros(len(brokers)), np.zeros((len(brokers), len(brokers)))
        of_topics = [by_topic[name] for name in sorted(by_topic)]
        for first in range(0, len(of_topics), TOPICS_AT_ONCE):
            written, queues = _tables(of_topics[first : first + TOPICS_AT_ONCE], index)
            rates += written.sum(axis=0)
            added += _added(written, queues)
        return cls(brokers, limits, [count[one.broker_name] for one in brokers], rates, added)

    @cached_property
    def puts(self) -> list[float | None]:
        """Messages a second that each stores: what it says itself, or else those of its business topics."""
        reported = [put_rate(one.runtime) for one in self.brokers]
        return [
            own if own is not None else _known(rate) for own, rate in zip(reported, self.topic_msgs_per_s, strict=True)
        ]

    @cached_property
    def sizes(self) -> list[float | None]:
        """The mean bytes of a message of each."""
        return [mean_message_bytes(one) for one in self.brokers]

    def after(self, lost: int, broker: int) -> tuple[float | None, float | None]:
        """Messages and bytes a second that a broker stores without another one."""
        put, added = self.puts[broker], _known(self.added_msgs_per_s[lost, broker])
        if put is None or added is None:
            return None, None
        size, lost_size = self.sizes[broker], self.sizes[lost]
        return put + added, None if size is None or lost_size is None else put * size + added * lost_size

    def overloaded(self, lost: str) -> list[OverBroker]:
        """The brokers that would have to store more than the policy says they can, if another one is lost."""
        number = next((index for index, one in enumerate(self.brokers) if one.broker_name == lost), None)
        return [] if number is None else list(self._overloaded(number))

    def _overloaded(self, lost: int) -> Iterator[OverBroker]:
        for broker, (facts, limit) in enumerate(zip(self.brokers, self.limits, strict=True)):
            if broker == lost or limit.source != TOLD or not self.added_msgs_per_s[lost, broker]:
                continue
            msgs_per_s, bytes_per_s = self.after(lost, broker)
            ratio = limit.ratio(msgs_per_s, bytes_per_s)
            if ratio is not None and ratio > 1:
                yield OverBroker(
                    broker_name=facts.broker_name,
                    msgs_per_s=rounded(msgs_per_s),
                    max_msgs_per_s=limit.msgs_per_s,
                    bytes_per_s=rounded(bytes_per_s, 0),
                    max_bytes_per_s=limit.bytes_per_s,
                    ratio=rounded(ratio),
                )


def broker_loads(loads: BrokerLoads, policy: Policy) -> Iterator[BrokerLoad]:
    """A row for each master."""
    for number, (broker, limit) in enumerate(zip(loads.brokers, loads.limits, strict=True)):
        put, size = loads.puts[number], loads.sizes[number]
        put_bytes = None if put is None or size is None else put * size
        room = _Room.of(broker, put_bytes, policy.thresholds.BROKER_DISK.warning_ratio)
        worst = _worst_loss(loads, number)
        after = (None, None) if worst is None else loads.after(worst, number)
        factor, breaks = _headroom(limit, put, put_bytes, room)
        yield BrokerLoad(
            broker_name=broker.broker_name,
            topics=loads.topics[number],
            topic_msgs_per_s=_known(loads.topic_msgs_per_s[number]),
            put_msgs_per_s=put,
            put_bytes_per_s=put_bytes,
            most_msgs_per_s=limit.msgs_per_s,
            most_bytes_per_s=limit.bytes_per_s,
            most_source=limit.source,
            busy_ratio=limit.ratio(put, put_bytes),
            bytes_per_day=room.bytes_per_day,
            kept_bytes=room.kept_bytes,
            room_bytes=room.room_bytes,
            disk_days=room.days,
            worst_loss=None if worst is None else loads.brokers[worst].broker_name,
            loss_msgs_per_s=after[0],
            loss_ratio=limit.ratio(*after),
            headroom_factor=factor,
            headroom_breaks=breaks,
        )


def topic_headroom(places: Iterable[FailureTopicPlace], loads: BrokerLoads) -> Iterator[TopicHeadroom]:
    """A row for each topic with traffic on brokers of which it is known what they can store.

    Only this topic's traffic grows: a broker bears as much more as it has left.
    """
    number = {one.broker_name: index for index, one in enumerate(loads.brokers)}
    tightest: dict[str, tuple[float, str, str]] = {}
    for place in places:
        index = number.get(place.lost)
        if index is None or not place.msgs_per_s:
            continue
        limit, put, size = loads.limits[index], loads.puts[index], loads.sizes[index]
        if put is None:
            continue
        left = [(PUT_MESSAGES, limit.msgs_per_s and (limit.msgs_per_s - put) / place.msgs_per_s)]
        if size is not None:
            left.append((PUT_BYTES, limit.bytes_per_s and (limit.bytes_per_s / size - put) / place.msgs_per_s))
        headrooms = [(1 + max(more, -1.0), breaks, place.lost) for breaks, more in left if more is not None]
        if headrooms:
            tightest[place.topic] = min(*headrooms, tightest.get(place.topic, headrooms[0]))
    for topic in sorted(tightest):
        factor, breaks, broker_name = tightest[topic]
        yield TopicHeadroom(topic=topic, factor=factor, breaks=breaks, broker_name=broker_name)


def _tables(topics: Sequence[Sequence[FailureTopicPlace]], index: dict[str, int]) -> tuple[Numbers, Numbers]:
    """Topics by brokers: messages a second there (NaN: unknown), and writable queues (NaN: none, or unknown)."""
    written, queues = np.zeros((len(topics), len(index))), np.full((len(topics), len(index)), np.nan)
    for row, places in enumerate(topics):
        elsewhere = [place.writable_queues for place in places if place.writable_queues is not None]
        # Each place knows the queues of all others: together that is each queue, once for each other place.
        whole = sum(elsewhere) / (len(places) - 1) if len(elsewhere) == len(places) > 1 else None
        for place in places:
            column = index.get(place.lost)
            if column is not None:
                written[row, column] = np.nan if place.msgs_per_s is None else place.msgs_per_s
                if whole is not None and place.writable_queues is not None:
                    queues[row, column] = whole - place.writable_queues
    return written, queues


def _added(written: Numbers, queues: Numbers) -> Numbers:
    """What the loss of each broker adds to each other one, in messages a second; NaN if unknown."""
    known = np.nan_to_num(queues)
    elsewhere = known.sum(axis=1, keepdims=True) - known
    with np.errstate(divide="ignore", invalid="ignore"):
        a_queue = np.where(elsewhere > 0, written / elsewhere, 0.0)
    added = np.nan_to_num(a_queue).T @ known
    is_unknown: Flags = (np.isnan(a_queue).astype(np.float64).T @ (known > 0)) > 0
    added[is_unknown] = np.nan
    np.fill_diagonal(added, 0.0)
    return added


def _worst_loss(loads: BrokerLoads, broker: int) -> int | None:
    """The broker whose loss adds most to another one; None if none adds anything, or if it is unknown."""
    added = loads.added_msgs_per_s[:, broker]
    if np.isnan(added).any() or not added.any():
        return None
    return int(added.argmax())


@dataclass(frozen=True, slots=True)
class _Room:
    """A broker's disk and its messages; None is unknown.

    Attributes:
        bytes_per_day: bytes stored a day.
        kept_bytes: bytes of messages once it has stored so much for its whole retention.
        room_bytes: bytes of messages that its disk takes before they are deleted early.
        days: days until then; None also if it never comes to that.
    """

    bytes_per_day: float | None
    kept_bytes: float | None
    room_bytes: float | None
    days: float | None

    @classmethod
    def of(cls, broker: Broker, put_bytes_per_s: float | None, default_ratio: float) -> "_Room":
        a_day = broker.seen_bytes_per_day
        if a_day is None and put_bytes_per_s is not None:
            a_day = put_bytes_per_s * DAY_S
        hours, size, used = kept_hours(broker), disk_bytes(broker), used_ratio(broker)
        kept = None if a_day is None or hours is None else a_day * hours / DAY_HOURS
        begin, end = figure(broker.runtime, LOG_BEGIN), figure(broker.runtime, LOG_END)
        if size is None or used is None or begin is None or end is None or end < begin:
            return cls(a_day, kept, None, None)
        left = size * (deletes_early_above(broker, default_ratio) - used)
        room = max(left + end - begin, 0.0)
        is_short = kept is not None and kept > room
        return cls(a_day, kept, room, max(left, 0.0) / a_day if is_short and a_day else None)


def _headroom(limit: Limit, put: float | None, put_bytes: float | None, room: _Room) -> tuple[float | None, str | None]:
    """So many times a broker's traffic until something breaks, and what breaks."""
    pairs = (
        (limit.msgs_per_s, put, PUT_MESSAGES),
        (limit.bytes_per_s, put_bytes, PUT_BYTES),
        (room.room_bytes, room.kept_bytes, DISK),
    )
    headrooms = [(most / load, breaks) for most, load, breaks in pairs if most is not None and load]
    return min(headrooms, default=(None, None), key=lambda one: one[0])


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
