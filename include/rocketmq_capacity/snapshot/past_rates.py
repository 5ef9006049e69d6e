"""How fast topics were written at the moments of earlier inventories, and the busiest hours of a group."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby, pairwise
from math import ceil, fsum
from operator import itemgetter
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from rocketmq_capacity.model.facts import PastTraffic
from rocketmq_capacity.settings.thresholds import Provision
from rocketmq_capacity.snapshot.inventory import HourlyRates, Inventory, PastRate, Topic, parse_utc
from rocketmq_capacity.snapshot.seconds import HOUR_S

PEAK: Final = 0.95
"""The share of the hours that are not above the peak: p95, by the nearest rank."""

_QueueOffsets = Mapping[tuple[str, int], int | None]
_Rates = dict[str, dict[str, PastRate]]
"""Rates by topic and moment."""
_Numbers = npt.NDArray[np.float64]


def past_rates(
    inventory: Inventory, history: Sequence[Inventory], bounds: Provision
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
    for earlier, later in pairwise((*history, inventory)):
        _add_measured(rates_at, earlier, later)
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
    return max((each for each in (rate.put_msgs_per_s, rate.mean_msgs_per_s) if each is not None), default=None)


def _busy(hours: int) -> int:
    """The position of the busy hour among so many hours, the busiest last."""
    return ceil(round(PEAK * hours, 9)) - 1


def with_past_rates(inventory: Inventory, history: Sequence[Inventory], bounds: Provision) -> Inventory:
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


def _add_measured(rates: _Rates, earlier: Inventory, later: Inventory) -> None:
    """Add the rates that an inventory measured, and the means until the next one."""
    ends, lasts_s = _ends(later), (later.taken_at_utc - earlier.taken_at_utc).total_seconds()
    starts = _ends(earlier)
    puts = {topic.topic: _put(topic) for topic in earlier.topics}
    for topic in puts.keys() | starts.keys():
        mean = _mean(starts.get(topic, {}), ends.get(topic, {}), lasts_s)
        rate = PastRate(at=earlier.taken_at, put_msgs_per_s=puts.get(topic), mean_msgs_per_s=mean)
        if rate.put_msgs_per_s is not None or mean is not None:
            _add(rates, topic, rate)


def _put(topic: Topic) -> float | None:
    """The rate that was measured, of all queues; None if that of one is unknown."""
    rates = [one.put_msgs_per_s for one in topic.offsets or ()]
    known = [rate for rate in rates if rate is not None]
    return fsum(known) if known and len(known) == len(rates) else None


def _ends(inventory: Inventory) -> dict[str, dict[tuple[str, int], int | None]]:
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


class PastHours:
    """The rates of topics by hour.

    Attributes:
        hours: the hours that have any rate, in seconds since 1970, ascending.
        days: of each hour the day, in days since 1970.
        is_recent: of each hour whether its day is one of the last ones, which the peak is looked for in.
        of_topic: by topic its rate in each hour, the highest that was seen, or the mean by samples; NaN if none was.
        daily: by topic the rate of its busy hour on each of ``different_days``; NaN if none was seen. Samples do not
            count, because a day that has them would look busier than the days before without.
        most: by topic the highest rate between two samples in each hour; NaN if there were none.
    """

    def __init__(
        self,
        rates: Mapping[str, Sequence[PastRate]],
        taken_at: datetime,
        days: int,
        hourly: Mapping[str, HourlyRates] | None = None,
    ) -> None:
        """The rates before a snapshot; the peak is looked for in the last so many days that have any."""
        hours_at = {at: hour_of(at) for at in {rate.at for each in rates.values() for rate in each}}
        sampled = {topic: _by_hour(own) for topic, own in (hourly or {}).items()}
        self.hours = sorted({*hours_at.values(), *(hour for own in sampled.values() for hour in own)})
        self.days = np.array(self.hours, np.int64) // (24 * HOUR_S)
        place = {hour: index for index, hour in enumerate(self.hours)}
        self.of_topic: dict[str, _Numbers] = {}
        for topic, of_topic in rates.items():
            course = np.full(len(self.hours), np.nan)
            for rate in of_topic:
                if (highest := _highest(rate)) is not None:
                    index = place[hours_at[rate.at]]
                    course[index] = np.fmax(course[index], highest)
            self.of_topic[topic] = course
        self.different_days, first = np.unique(self.days, return_index=True)
        self.is_recent = np.isin(self.days, self.different_days[-days:])
        today = int(taken_at.timestamp()) // (24 * HOUR_S)
        self.days_ago = today - self.different_days
        self.daily = {topic: _daily(own, first) for topic, own in self.of_topic.items()}
        self.most: dict[str, _Numbers] = {}
        nothing = np.full(len(self.hours), np.nan)
        for topic, by_hour in sampled.items():
            places = [place[hour] for hour in by_hour]
            course, most = self.of_topic.get(topic, nothing).copy(), nothing.copy()
            means, mosts = np.array([*by_hour.values()], np.float64).reshape(-1, 2).T
            course[places], most[places] = np.fmax(course[places], means), mosts
            self.of_topic[topic], self.most[topic] = course, most
            self.daily.setdefault(topic, np.full(len(first), np.nan))

    def of_group(self, pass_ratios: Mapping[str, float | None]) -> PastTraffic | None:
        """The traffic of a group's busy hour; None without rates, or if a filter's share is unknown.

        An hour in which the rate of some topic is unknown counts with the others: at least that much came.

        Args:
            pass_ratios: of each topic that the group reads, the share of its messages that its filter lets through.
        """
        known = {topic: self.of_topic[topic] for topic in pass_ratios if topic in self.of_topic}
        shares = [pass_ratios[topic] for topic in known]
        if not known or None in shares or None in pass_ratios.values():
            return None
        rates = np.stack(list(known.values()))
        is_known = ~np.isnan(rates)
        totals = (np.where(is_known, rates, 0.0) * np.array(shares, np.float64)[:, None]).sum(axis=0)
        seen = np.flatnonzero(is_known.any(axis=0) & self.is_recent)
        if not len(seen):
            return None
        ranked = seen[np.argsort(totals[seen], kind="stable")]
        hour = int(ranked[_busy(len(ranked))])
        is_whole = is_known.all(axis=0) & self.is_recent & (len(known) == len(pass_ratios))
        days_ago, daily = self.days_of(pass_ratios)
        return PastTraffic(
            days=len(set(self.days[is_whole].tolist())),
            hours=len(seen),
            hour_s=self.hours[hour],
            msgs_per_s={topic: float(own[hour]) for topic, own in known.items() if not np.isnan(own[hour])},
            days_ago=days_ago,
            daily_msgs_per_s=daily,
            **self._most(pass_ratios),
        )

    def _most(self, shares: Mapping[str, float | None]) -> dict[str, float]:
        """The most that came to a group between two samples, and in which hour; nothing without samples."""
        mosts = [self.most[topic] * (share or 0.0) for topic, share in shares.items() if topic in self.most]
        totals = np.nansum(mosts, axis=0) if mosts else np.zeros(0)
        if not totals.any():
            return {}
        hour = int(totals.argmax())
        return {"most_msgs_per_s": float(totals[hour]), "most_s": self.hours[hour]}

    def days_of(self, pass_ratios: Mapping[str, float | None]) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The earlier days of which the rates of all these topics are known, and the traffic on each of them."""
        daily = self._of_all(pass_ratios, self.daily, len(self.days_ago))
        is_used = ~np.isnan(daily) & (self.days_ago > 0)
        return tuple(self.days_ago[is_used].tolist()), tuple(daily[is_used].tolist())

    def courses_of(self, pass_ratios: Mapping[str, float | None]) -> tuple[_Numbers, _Numbers]:
        """What came to a group in each of ``hours``, and the most between two samples; NaN where a topic is unknown."""
        courses = (self._of_all(pass_ratios, known, len(self.hours)) for known in (self.of_topic, self.most))
        msgs, most = courses
        return msgs, most

    @staticmethod
    def _of_all(pass_ratios: Mapping[str, float | None], known: Mapping[str, _Numbers], number: int) -> _Numbers:
        """The sum over all these topics; NaN where one is unknown."""
        if not pass_ratios or not pass_ratios.keys() <= known.keys() or None in pass_ratios.values():
            return np.full(number, np.nan)
        shares = np.array(list(pass_ratios.values()), np.float64)
        total: _Numbers = shares @ np.stack([known[topic] for topic in pass_ratios])
        return total


def _daily(hours: _Numbers, first: npt.NDArray[np.int64]) -> _Numbers:
    """The rate of the busy hour of each day; ``first`` has the position of the first hour of each."""
    busy = np.full(len(first), np.nan)
    for day, of_day in enumerate(np.split(hours, first[1:])):
        known = np.sort(of_day[~np.isnan(of_day)])
        if len(known):
            busy[day] = known[_busy(len(known))]
    return busy


def hour_of(at: str) -> int:
    """The begin of the hour of a moment, in seconds since 1970."""
    moment = parse_utc(at)
    start = moment - timedelta(minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond)
    return int(start.timestamp())


def _by_hour(hourly: HourlyRates) -> dict[int, tuple[float, float]]:
    """The mean and the highest rate of each hour of which both are known."""
    first = hour_of(hourly.first_at)
    pairs = enumerate(zip(hourly.mean_msgs_per_s, hourly.most_msgs_per_s, strict=True))
    return {
        first + place * HOUR_S: (mean, most) for place, (mean, most) in pairs if mean is not None and most is not None
    }
