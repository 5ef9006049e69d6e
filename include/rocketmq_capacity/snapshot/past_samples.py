"""What samples between snapshots tell of the days before: rates of topics by hour, and members that came and went."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import ConsumerGroup, HourlyRates, Inventory, Members, parse_utc
from rocketmq_capacity.snapshot.joined_samples import joined, ranks
from rocketmq_capacity.snapshot.sampled_groups import SampledGroups, encoded
from rocketmq_capacity.snapshot.seconds import HOUR_S
from rocketmq_capacity.tables.sample import MemberSample, TopicSample

LEAST_S: Final = HOUR_S / 2
"""The shortest part of an hour whose samples tell the hour's rate."""
LONGEST_S: Final = 1.5 * HOUR_S
"""The longest time between two samples: beyond it, nobody knows in which hour the messages came."""
AT_A_TIME: Final = 1_000_000
"""Rows of topics that are looked at together: what is computed of them takes some hundred bytes a row."""
_Numbers = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class SampledDay(NamedTuple):
    """The tables of a day's samples, one or more of each dataset, in the order of time."""

    topics: Sequence[pa.Table] = ()
    groups: Sequence[pa.Table] = ()
    members: Sequence[pa.Table] = ()


def with_sampled_days(
    inventory: Inventory, days: Iterable[SampledDay], *, most_days: int, window_h: float
) -> Inventory:
    """The inventory; its topics have their rates by hour, and its groups what they had not read and who they were.

    So a what-if has them as well. What was sampled at the moment of the snapshot or later does not count.

    Args:
        inventory: the one that is planned.
        days: days of samples of the same cluster, the first one first.
        most_days: days before the snapshot, for what is known by hour.
        window_h: hours before it, for members that came and went.
    """
    now = inventory.taken_at_utc
    first_s = int(now.timestamp()) // HOUR_S * HOUR_S - most_days * 24 * HOUR_S
    rates, hours = _Rates(first_s, now.timestamp()), SampledGroups(first_s, now.timestamp())
    since = (now - timedelta(hours=window_h)).isoformat()
    members: list[pa.Table] = []
    last: list[pa.Table] = []
    for day in days:
        if any(table.num_rows for table in day.topics):
            rates.add(joined(TopicSample, [*last, *_of_moment(day.topics, min)]))  # the step over midnight
            for table in _parts(day.topics):
                rates.add(joined(TopicSample, table))
            last = _of_moment(day.topics, max)
        for groups in day.groups:
            hours.add_lags(groups)
        for stretches in day.members:
            hours.add_members(stretches)
            members.append(stretches.filter(pc.greater_equal(stretches["last_at"].cast(pa.string()), since)))
    hourly, of_groups, changes = rates.by_topic(), dict(hours.by_group()), _stretches(members, now, window_h)
    topics = (replace(topic, hourly=hourly.get(topic.topic)) for topic in inventory.topics)
    groups = (
        replace(group, past_members=_changed(group, changes), hourly=of_groups.get(group.consumer_group))
        for group in inventory.consumer_groups
    )
    return replace(inventory, topics=tuple(topics), consumer_groups=tuple(groups))


def _of_moment(tables: Sequence[pa.Table], which: Callable[[Iterable[str]], str]) -> list[pa.Table]:
    """The rows of the first or the last sample of tables."""
    filled = [table for table in tables if table.num_rows]
    moments_of = [encoded(table["at"]) for table in filled]
    moment = which(which(np.array(moments)[np.unique(code)].tolist()) for moments, code in moments_of)
    return [
        table.filter(code == moments.index(moment))
        for table, (moments, code) in zip(filled, moments_of, strict=True)
        if moment in moments
    ]


def _parts(tables: Sequence[pa.Table]) -> Iterator[list[pa.Table]]:
    """The rows of tables in parts: those of a topic are in one part. A day of a large fleet has twenty million rows."""
    filled = [table for table in tables if table.num_rows]
    topics = [encoded(table["topic"]) for table in filled]
    rows: Counter[str] = Counter()
    for names, code in topics:
        rows.update(dict(zip(names, np.bincount(code, minlength=len(names)).tolist(), strict=True)))
    names = sorted(rows)
    ends = np.cumsum([rows[name] for name in names])
    part_of = dict(zip(names, (ends // AT_A_TIME).tolist(), strict=True))
    parts = [np.array([part_of[name] for name in own], np.int32)[code] for own, code in topics]
    for part in sorted(set(part_of.values())):
        yield [table.filter(own == part) for table, own in zip(filled, parts, strict=True)]


def _changed(group: ConsumerGroup, stretches: Mapping[str, tuple[Members, ...]]) -> tuple[Members, ...] | None:
    """The stretches of a group whose members changed between samples, or since the last one."""
    members = stretches.get(group.consumer_group, ())
    now = {client.client_id for client in group.clients or ()}
    return members if len(members) > 1 or any({*one.client_ids} != now for one in members) else None


@dataclass(slots=True)
class _Sums:
    """Of a topic, by hour: messages, seconds in which they came, and the highest rate between two samples."""

    msgs: _Numbers
    seconds: _Numbers
    most: _Numbers


class _Rates:
    """Rates of topics by hour, summed up day by day."""

    def __init__(self, first_s: int, until_s: float) -> None:
        self._first_s, self._until_s = first_s, until_s
        self._hours = int(until_s - first_s) // HOUR_S + 1
        self._of_topic: dict[str, _Sums] = {}

    def add(self, table: pa.Table) -> None:
        """Add the steps between successive samples; the rows are sorted by topic, broker and moment.

        A step counts if all brokers that have the topic in the table tell it: with the same number of queues, and no
        offset that went back.
        """
        if not table.num_rows:
            return
        every, code = encoded(table["topic"])
        is_used = np.bincount(code, minlength=len(every)) > 0
        topic = (np.cumsum(is_used) - 1)[code]
        names = [every[place] for place in np.flatnonzero(is_used).tolist()]
        broker, moment = ranks(table["broker_name"]), table["at"].combine_chunks()
        at_s = np.array([parse_utc(at).timestamp() for at in moment.dictionary.to_pylist()])[moment.indices.to_numpy()]
        answered_s = at_s + table["after_s"].to_numpy()
        lasts, queues = np.diff(answered_s), table["queues"].to_numpy()
        came = np.diff(table["written"].to_numpy()).astype(np.float64)
        is_known = (np.diff(topic) == 0) & (np.diff(broker) == 0) & (np.diff(queues) == 0) & (came >= 0)
        is_known &= (lasts > 0) & (lasts <= LONGEST_S) & (at_s[1:] < self._until_s)
        brokers = np.bincount(topic[np.r_[True, (np.diff(topic) != 0) | (np.diff(broker) != 0)]], minlength=len(names))
        code = moment.indices.to_numpy().astype(np.int64)
        step = (topic * (len(moment.dictionary)) + code)[1:][is_known]
        # Counted and not sorted: there are few more places than steps.
        places = len(names) * len(moment.dictionary)
        parts = np.bincount(step, minlength=places)
        ends, first = np.flatnonzero(parts), np.zeros(places, np.int64)
        first[step[::-1]] = np.arange(len(step))[::-1]
        rate = np.bincount(step, (came / np.where(lasts > 0, lasts, 1))[is_known], places)[ends]
        of_topic, end_s, lasts_s = (values[1:][is_known][first[ends]] for values in (topic, at_s, np.r_[0.0, lasts]))
        is_whole = parts[ends] == brokers[of_topic]
        self._add_steps(names, of_topic[is_whole], end_s[is_whole], lasts_s[is_whole], rate[is_whole])

    def _add_steps(
        self, names: Sequence[str], topic: _Integers, end_s: _Numbers, lasts_s: _Numbers, rate: _Numbers
    ) -> None:
        """Add steps of whole topics to the hours in which their middle is."""
        hour = ((end_s - lasts_s / 2 - self._first_s) // HOUR_S).astype(np.int64)
        is_recent = hour >= 0
        place, hours = (topic * self._hours + hour)[is_recent], (len(names), self._hours)
        seconds = np.bincount(place, lasts_s[is_recent], len(names) * self._hours).reshape(hours)
        msgs = np.bincount(place, (rate * lasts_s)[is_recent], len(names) * self._hours).reshape(hours)
        most = np.zeros(len(names) * self._hours)
        np.maximum.at(most, place, rate[is_recent])
        for name, *added, highest in zip(names, msgs, seconds, most.reshape(hours), strict=True):
            sums = self._of_topic.setdefault(name, _Sums(*np.zeros((3, self._hours))))
            sums.msgs += added[0]
            sums.seconds += added[1]
            np.maximum(sums.most, highest, out=sums.most)

    def by_topic(self) -> dict[str, HourlyRates]:
        """The rates of each topic, in every hour up to the snapshot."""
        first_at = datetime.fromtimestamp(self._first_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        by_topic = {}
        for topic, sums in self._of_topic.items():
            is_known = sums.seconds >= LEAST_S
            if is_known.any():
                mean = sums.msgs / np.where(is_known, sums.seconds, 1)
                by_topic[topic] = HourlyRates(
                    first_at=first_at,
                    mean_msgs_per_s=_known(mean, is_known),
                    most_msgs_per_s=_known(sums.most, is_known),
                )
        return by_topic


def _known(values: _Numbers, is_known: npt.NDArray[np.bool_]) -> tuple[float | None, ...]:
    pairs = zip(values.tolist(), is_known.tolist(), strict=True)
    return tuple(round(value, 3) if known else None for value, known in pairs)


def _stretches(tables: Sequence[pa.Table], now: datetime, window_h: float) -> dict[str, tuple[Members, ...]]:
    """By group the stretches of the last hours with other members each, as one broker told them."""
    since, until = now.timestamp() - window_h * HOUR_S, now.timestamp()
    stretches: dict[str, list[tuple[str, Members]]] = {}
    for row in joined(MemberSample, tables).to_pylist():
        if parse_utc(row["last_at"]).timestamp() >= since and parse_utc(row["first_at"]).timestamp() < until:
            members = Members(first_at=row["first_at"], last_at=row["last_at"], client_ids=tuple(row["client_ids"]))
            stretches.setdefault(row["consumer_group"], []).append((row["broker_name"], members))
    return {group: tuple(_of_last_broker(rows)) for group, rows in stretches.items()}


def _of_last_broker(rows: Sequence[tuple[str, Members]]) -> Iterator[Members]:
    last, _ = rows[-1]
    return (told for broker_name, told in rows if broker_name == last)
