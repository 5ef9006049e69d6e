"""How fast topics were written at the moments of earlier inventories, and the busiest hours of a group."""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from datetime import date, datetime, timedelta
from itertools import groupby, pairwise
from math import ceil, fsum
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.facts import PastTraffic
from rocketmq_capacity.model.sums import most_of
from rocketmq_capacity.settings.events import Event, past_events
from rocketmq_capacity.settings.thresholds import ProvisionPolicy
from rocketmq_capacity.snapshot.inventory import HourlyRates, Inventory, InventoryTopic, PastRate, parse_utc
from rocketmq_capacity.snapshot.seconds import HOUR_S

PEAK: Final = 0.95
"""The share of the hours that are not above the peak: p95, by the nearest rank."""

_QueueOffsets = Mapping[tuple[str, int], int | None]
_Rates = dict[str, dict[str, PastRate]]
"""Rates by topic and moment."""


def past_rates(
    inventory: Inventory, history: Sequence[Inventory], bounds: ProvisionPolicy
) -> dict[str, tuple[PastRate, ...]]:
    """By topic, its rates at earlier moments, oldest first: of the last ``peak_days`` different days (UTC) with any.

    Of each day before these a topic has one rate, that of its busy hour: as far back as ``trend_days``.

    Each inventory of the history gives the rates that it measured, the mean until the next inventory, and the rates
    that it has of moments before its own.

    Args:
        inventory: the one that is planned; its own rates of earlier moments count too.
        history: earlier inventories of the same cluster, oldest first.
        bounds: how many days to keep.
    """
    rates_at: _Rates = {}
    for snapshot in (*history, inventory):
        for topic in snapshot.topics:
            for rate in topic.rates or ():
                _add(rates_at, topic.topic, rate)
    for (earlier, starts), (later, ends) in pairwise((one, ends_of(one)) for one in (*history, inventory)):
        lasts_s = (later.taken_at_utc - earlier.taken_at_utc).total_seconds()
        partly = _known_in_part(earlier, starts)
        means = {
            topic: _mean(start, ends.get(topic, {}), lasts_s) for topic, start in starts.items() if topic not in partly
        }
        _add_measured(rates_at, earlier, means, partly)
    moments = {at: parse_utc(at) for at in {at for rates in rates_at.values() for at in rates}}
    before = {at: moment for at, moment in moments.items() if moment < inventory.taken_at_utc}
    last = set(sorted({moment.date() for moment in before.values()})[-bounds.peak_days :])
    first = inventory.taken_at_utc.date() - timedelta(days=bounds.trend_days)
    whole, older = [], []
    for at, moment in sorted(before.items(), key=lambda item: (item[1], item[0])):
        if moment.date() in last:
            whole.append(at)
        elif moment.date() >= first:
            older.append((moment.date(), at))
    by_topic = {
        topic: (*_busy_of_days(older, rates), *(rates[at] for at in whole if at in rates))
        for topic, rates in rates_at.items()
    }
    return {topic: rates for topic, rates in by_topic.items() if rates}


def _busy_of_days(moments: Sequence[tuple[date, str]], rates: Mapping[str, PastRate]) -> Iterator[PastRate]:
    """The rate of each day's busy hour."""
    known = ((day, rates[at]) for day, at in moments if at in rates)
    for _, of_day in groupby(known, key=itemgetter(0)):
        ranked = sorted((rate for _, rate in of_day), key=lambda rate: _highest(rate) or 0.0)
        yield ranked[_busy(len(ranked))]


def _highest(rate: PastRate) -> float | None:
    return most_of((rate.put_msgs_per_s, rate.mean_msgs_per_s))


def _busy(hours: int) -> int:
    """The position of the busy hour among so many hours, the busiest last."""
    return ceil(round(PEAK * hours, 9)) - 1


def with_past_rates(inventory: Inventory, history: Sequence[Inventory], bounds: ProvisionPolicy) -> Inventory:
    """The inventory; its topics have their rates of earlier moments. So a what-if has them as well."""
    rates = past_rates(inventory, history, bounds)
    topics = (replace(topic, rates=rates.get(topic.topic)) for topic in inventory.topics)
    return replace(inventory, topics=tuple(topics)) if rates else inventory


def _add(rates: _Rates, topic: str, rate: PastRate) -> None:
    of_topic = rates.setdefault(topic, {})
    known = of_topic.get(rate.at)
    if known is not None:
        put = rate.put_msgs_per_s if known.put_msgs_per_s is None else known.put_msgs_per_s
        mean = rate.mean_msgs_per_s if known.mean_msgs_per_s is None else known.mean_msgs_per_s
        rate = PastRate(at=rate.at, put_msgs_per_s=put, mean_msgs_per_s=mean)
    of_topic[rate.at] = rate


def _known_in_part(inventory: Inventory, ends: Mapping[str, _QueueOffsets]) -> Set[str]:
    """The topics that may have more queues than is known: on a broker that did not answer, or where none are known."""
    unanswered = {failure.broker_addr for failure in inventory.unanswered}
    silent = {broker.broker_name for broker in inventory.brokers if broker.broker_addr in unanswered}
    if not silent:
        return frozenset()
    if not inventory.topics:
        return ends.keys()
    return {
        topic.topic
        for topic in inventory.topics
        if not silent.intersection(place.broker_name for place in topic.queues or () if place.write_queue_nums != 0)
        <= {one.broker_name for one in topic.offsets or ()}
    }


def _add_measured(
    rates: _Rates, earlier: Inventory, means: Mapping[str, float | None], partly: Collection[str]
) -> None:
    """Add the rates that an inventory measured, and the means until the next one; ``partly`` are topics without."""
    puts = {topic.topic: _put(topic) for topic in earlier.topics if topic.topic not in partly}
    for topic in puts.keys() | means.keys():
        mean = means.get(topic)
        rate = PastRate(at=earlier.taken_at, put_msgs_per_s=puts.get(topic), mean_msgs_per_s=mean)
        if rate.put_msgs_per_s is not None or mean is not None:
            _add(rates, topic, rate)


def _put(topic: InventoryTopic) -> float | None:
    """The rate that was measured, of all queues; None if that of one is unknown."""
    rates = [one.put_msgs_per_s for one in topic.offsets or ()]
    known = [rate for rate in rates if rate is not None]
    return fsum(known) if known and len(known) == len(rates) else None


def ends_of(inventory: Inventory) -> dict[str, dict[tuple[str, int], int | None]]:
    """By topic how far each queue is written: as the topic has it, else as a group has it."""
    ends: dict[str, dict[tuple[str, int], int | None]] = {}
    for group in inventory.consumer_groups:
        for offset in group.offsets or ():
            if offset.broker_offset is not None:
                ends.setdefault(offset.topic, {})[offset.broker_name, offset.queue_id] = offset.broker_offset
    for topic in inventory.topics:
        if topic.offsets:
            of_topic = ends.setdefault(topic.topic, {})
            of_topic.update({
                (one.broker_name, one.queue_id): one.max_offset
                for one in topic.offsets
                if one.max_offset is not None or (one.broker_name, one.queue_id) not in of_topic
            })
    return ends


def _mean(start: _QueueOffsets, end: _QueueOffsets, lasts_s: float) -> float | None:
    """Messages a second between two moments; None if the queues differ, or an offset is unknown or went back.

    A topic that was deleted and created again starts at 0.
    """
    if not start or start.keys() != end.keys() or lasts_s <= 0:
        return None
    written = 0
    for queue, first in start.items():
        last = end[queue]
        if first is None or last is None or last < first:
            return None
        written += last - first
    return written / lasts_s


class _Course(NamedTuple):
    """A figure of a topic in the hours of which it is known: there may be many topics, and each may know other hours.

    Attributes:
        places: of the hours, ascending.
        values: in these hours.
    """

    places: Integers
    values: Numbers

    def whole(self, hours: int) -> Numbers:
        """The figure in all hours, NaN where it is unknown."""
        course = np.full(hours, np.nan)
        course[self.places] = self.values
        return course


class PastHours:
    """The rates of topics by hour.

    Attributes:
        hours: the hours that have any rate, in seconds since 1970, ascending.
        days: of each hour the day, in days since 1970.
        is_recent: of each hour whether its day is one of the last ones, which the peak is looked for in.
        different_days: those with any rate, in days since 1970.
        days_ago: the same, counted back from the snapshot's.
    """

    def __init__(
        self,
        rates: Mapping[str, Sequence[PastRate]],
        taken_at: datetime,
        bounds: ProvisionPolicy,
        hourly: Mapping[str, HourlyRates] | None = None,
        events: Sequence[Event] = (),
    ) -> None:
        """The rates before a snapshot, those by samples of its last ``sampled_days``, and the policy's events."""
        hours_at = {at: hour_of(at) for at in {rate.at for each in rates.values() for rate in each}}
        sampled = {topic: _by_hour(own, taken_at, bounds) for topic, own in (hourly or {}).items()}
        self.hours = sorted({*hours_at.values(), *(hour for own in sampled.values() for hour in own)})
        self.days = np.array(self.hours, np.int64) // (24 * HOUR_S)
        self.different_days = np.unique(self.days)
        self.is_recent = np.isin(self.days, self.different_days[-bounds.peak_days :])
        self._taken_at, self._events = taken_at, events
        self.days_ago = int(taken_at.timestamp()) // (24 * HOUR_S) - self.different_days
        place = {hour: index for index, hour in enumerate(self.hours)}
        # The highest rate that was seen, or the mean by samples; the highest between two samples; the rate of the busy
        # hour of each day. Samples do not count in the last: a day that has them would look busier than those without.
        self._rates: dict[str, _Course] = {}
        self._most: dict[str, _Course] = {}
        self._daily: dict[str, _Course] = {}
        for topic in {**rates, **sampled}:
            seen: dict[int, float] = {}
            for rate in rates.get(topic, ()):
                if (highest := _highest(rate)) is not None:
                    index = place[hours_at[rate.at]]
                    seen[index] = max(highest, seen.get(index, highest))
            self._daily[topic] = self._busy_hours(_course(seen))
            by_hour = {place[hour]: told for hour, told in sampled.get(topic, {}).items()}
            means = {index: max(mean, seen.get(index, mean)) for index, (mean, _) in by_hour.items()}
            self._rates[topic] = _course({**seen, **means})
            if topic in sampled:
                self._most[topic] = _course({index: most for index, (_, most) in by_hour.items()})

    def _busy_hours(self, course: _Course) -> _Course:
        """The rate of the busy hour of each day, by the place of the day."""
        days, first = np.unique(self.days[course.places], return_index=True)
        busy = [np.sort(of_day)[_busy(len(of_day))] for of_day in np.split(course.values, first[1:]) if len(of_day)]
        return _Course(np.searchsorted(self.different_days, days), np.array(busy, np.float64))

    def of_group(self, pass_ratios: Mapping[str, float | None]) -> PastTraffic | None:
        """The traffic of a group's busy hour; None without rates, or if a filter's share is unknown.

        An hour in which the rate of some topic is unknown counts with the others: at least that much came. An hour of
        an event that is over does not count; see :func:`past_events`.

        Args:
            pass_ratios: of each topic that the group reads, the share of its messages that its filter lets through.
        """
        known = [topic for topic in pass_ratios if topic in self._rates]
        if not known or None in pass_ratios.values():
            return None
        totals, number = np.zeros(len(self.hours)), np.zeros(len(self.hours), np.int64)
        for topic in known:
            places, values = self._rates[topic]
            totals[places] += values * (pass_ratios[topic] or 0.0)
            number[places] += 1
        seen = np.flatnonzero((number > 0) & self.is_recent & self._is_usual(known))
        if not len(seen):
            return None
        ranked = seen[np.argsort(totals[seen], kind="stable")]
        hour = int(ranked[_busy(len(ranked))])
        is_whole = (number == len(pass_ratios)) & self.is_recent
        days_ago, daily = self.days_of(pass_ratios)
        of_hour = {topic: _value_at(self._rates[topic], hour) for topic in known}
        return PastTraffic(
            days=len(set(self.days[is_whole].tolist())),
            hours=len(seen),
            hour_s=self.hours[hour],
            msgs_per_s={topic: rate for topic, rate in of_hour.items() if rate is not None},
            days_ago=days_ago,
            daily_msgs_per_s=daily,
            **self._most_of(pass_ratios),
        )

    def _is_usual(self, topics: Sequence[str]) -> Flags:
        """Of each hour, whether no event of one of these topics was on."""
        starts, is_usual = np.array(self.hours, np.int64), np.ones(len(self.hours), bool)
        for begins_s, ends_s in past_events(self._events, self._taken_at, topics):
            is_usual &= (starts + HOUR_S <= begins_s) | (starts >= ends_s)
        return is_usual

    def _most_of(self, pass_ratios: Mapping[str, float | None]) -> dict[str, float]:
        """The most that came to a group between two samples, and in which hour; nothing without samples."""
        totals = np.zeros(len(self.hours))
        for topic, share in pass_ratios.items():
            if topic in self._most:
                places, values = self._most[topic]
                totals[places] += values * (share or 0.0)
        if not totals.any():
            return {}
        hour = int(totals.argmax())
        return {"most_msgs_per_s": float(totals[hour]), "most_s": self.hours[hour]}

    def days_of(self, pass_ratios: Mapping[str, float | None]) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The earlier days of which the rates of all these topics are known, and the traffic on each of them."""
        daily = _of_all(pass_ratios, self._daily, len(self.days_ago))
        is_used = ~np.isnan(daily) & (self.days_ago > 0)
        return tuple(self.days_ago[is_used].tolist()), tuple(daily[is_used].tolist())

    def courses_of(self, pass_ratios: Mapping[str, float | None]) -> tuple[Numbers, Numbers]:
        """What came to a group in each of ``hours``, and the most between two samples; NaN where a topic is unknown."""
        courses = (_of_all(pass_ratios, known, len(self.hours)) for known in (self._rates, self._most))
        msgs, most = courses
        return msgs, most


def _of_all(pass_ratios: Mapping[str, float | None], known: Mapping[str, _Course], number: int) -> Numbers:
    """The sum over all these topics; NaN where one is unknown."""
    if not pass_ratios or not pass_ratios.keys() <= known.keys() or None in pass_ratios.values():
        return np.full(number, np.nan)
    total = np.zeros(number)
    for topic, share in pass_ratios.items():
        total += known[topic].whole(number) * (share or 0.0)
    return total


def _course(values: Mapping[int, float]) -> _Course:
    places = sorted(values)
    return _Course(np.array(places, np.int64), np.array([values[place] for place in places], np.float64))


def _value_at(course: _Course, hour: int) -> float | None:
    place = int(np.searchsorted(course.places, hour))
    is_known = place < len(course.places) and course.places[place] == hour
    return float(course.values[place]) if is_known else None


def hour_of(at: str) -> int:
    """The begin of the hour of a moment, in seconds since 1970."""
    moment = parse_utc(at)
    start = moment - timedelta(minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond)
    return int(start.timestamp())


def sampled_hours(first_at: str, number: int, taken_at: datetime, bounds: ProvisionPolicy) -> range:
    """Of so many hours from a first one, the places of those that are in the ``sampled_days`` before a snapshot."""
    taken_s = int(taken_at.timestamp())
    first = hour_of(first_at)
    ago = (taken_s // HOUR_S * HOUR_S - first) // HOUR_S
    return range(max(ago - bounds.sampled_days * 24, 0), min(ago + (taken_s % HOUR_S > 0), number))


def _by_hour(hourly: HourlyRates, taken_at: datetime, bounds: ProvisionPolicy) -> dict[int, tuple[float, float]]:
    """The mean and the highest rate of each hour of which both are known."""
    first, means, mosts = hour_of(hourly.first_at), hourly.mean_msgs_per_s, hourly.most_msgs_per_s
    return {
        first + place * HOUR_S: (mean, most)
        for place in sampled_hours(hourly.first_at, len(means), taken_at, bounds)
        if (mean := means[place]) is not None and (most := mosts[place]) is not None
    }
