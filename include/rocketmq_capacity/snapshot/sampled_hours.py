"""What samples tell of an hour that is over, in a row for each topic and group: a day of samples has millions of rows.

The result is the same whenever an hour is looked at, because it needs these samples only: those of the hour, the last
one before, and the first one after it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.snapshot.inventory import parse_utc
from rocketmq_capacity.snapshot.joined_samples import encoded_schema, joined, ranks
from rocketmq_capacity.snapshot.sampled_groups import encoded
from rocketmq_capacity.snapshot.seconds import HOUR_S
from rocketmq_capacity.tables.sample import TopicHourSample, TopicSample

LONGEST_S: Final = 1.5 * HOUR_S
"""The longest time between two samples: beyond it, nobody knows in which hour the messages came."""
AT_A_TIME: Final = 1_000_000
"""Rows of topics that are looked at together: what is computed of them takes some hundred bytes a row."""
_Figures = npt.NDArray[Any]


def moments_of(tables: Iterable[pa.Table]) -> list[float]:
    """The different moments of samples, in seconds since 1970, the first one first."""
    return sorted({second for table in tables for second in _used_seconds(table["at"])})


def hour_s(second: float) -> int:
    """When the hour of a moment began, in seconds since 1970."""
    return int(second // HOUR_S) * HOUR_S


def topic_hours(tables: Sequence[pa.Table], hours: Iterable[int]) -> pa.Table:
    """Rows of ``topic_hour_sample``, sorted by topic and hour.

    A step between two samples counts if all brokers that have the topic in the samples of its hour, the last one before
    and the first one after it, tell the step: with the same number of queues, and no offset that went back.

    Args:
        tables: rows of ``topic_sample``.
        hours: when the hours began, in seconds since 1970; one that no sample tells anything of has no rows.
    """
    hours, moments = sorted(hours), np.array(moments_of(tables))
    wanted = [(hour, *places) for hour in hours if (places := _window(moments, hour))]
    rows: list[pa.Table] = []
    for part in _parts(tables):
        names, steps = _steps(joined(TopicSample, part), moments)
        rows += [_of_hour(names, steps.between(first, last), hour) for hour, first, last in wanted]
    return joined(TopicHourSample, rows)


def since_last_before(tables: Sequence[pa.Table], second: float) -> list[pa.Table]:
    """The rows from the last sample before a moment on."""
    before = [moment for moment in moments_of(tables) if moment < second]
    return [table.filter(_seconds(table["at"]) >= before[-1]) for table in tables] if before else list(tables)


def at_moment(tables: Iterable[pa.Table], second: float) -> list[pa.Table]:
    """The rows of one sample."""
    return [table.filter(_seconds(table["at"]) == second) for table in tables if table.num_rows]


def most_of_hours(table: pa.Table, until_s: float) -> pa.Table:
    """Rows of ``group_sample``, sorted; those of a group in an hour before a moment are one: that with the most lag."""
    at_s, lag = _seconds(table["at"]), table["lag"]
    is_over = at_s < until_s
    hour, group = at_s // HOUR_S, ranks(table["consumer_group"])
    rows = np.flatnonzero(is_over & lag.is_valid().to_numpy())
    lags = lag.fill_null(0).to_numpy()[rows]
    order = rows[np.lexsort((rows, -lags, hour[rows], group[rows]))]
    is_first = np.r_[True, (np.diff(hour[order]) != 0) | (np.diff(group[order]) != 0)][: len(order)]
    return table.take(np.sort(np.r_[order[is_first], np.flatnonzero(~is_over)]))


def _window(moments: Numbers, hour: int) -> tuple[int, int] | None:
    """The places of the first and the last sample that tell of an hour; None if none does."""
    begin, end = np.searchsorted(moments, [hour, hour + HOUR_S]).tolist()
    first, last = max(begin - 1, 0), min(end, len(moments) - 1)
    is_told = begin < end or (first < last and moments[last] - moments[first] <= LONGEST_S)
    return (first, last) if is_told else None


def _parts(tables: Sequence[pa.Table]) -> Iterator[list[pa.Table]]:
    """The rows of tables in parts: those of a topic are in one part."""
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


class _Rows(NamedTuple):
    """Rows of ``topic_sample``, sorted by topic, broker and moment, as arrays.

    Attributes:
        topic: place of its name.
        broker: place of its name.
        moment: place of its moment.
        at_s: when the sample was taken, and
        answered_s: when the broker answered, in seconds since 1970.
        queues: number of them.
        written: sum of offsets.
    """

    topic: _Figures
    broker: _Figures
    moment: _Figures
    at_s: _Figures
    answered_s: _Figures
    queues: _Figures
    written: _Figures

    def between(self, first: int, last: int) -> "_Rows":
        """The rows of these samples and of those between them."""
        is_used = (self.moment >= first) & (self.moment <= last)
        return _Rows(*(values[is_used] for values in self))


def _steps(table: pa.Table, moments: Numbers) -> tuple[Sequence[str], _Rows]:
    """The names of topics, and the rows as arrays."""
    names, topic = encoded(table["topic"])
    at_s = _seconds(table["at"])
    rows = _Rows(
        topic=topic.astype(np.int64),
        broker=ranks(table["broker_name"]),
        moment=np.searchsorted(moments, at_s),
        at_s=at_s,
        answered_s=at_s + table["after_s"].to_numpy(),
        queues=table["queues"].to_numpy().astype(np.int64),
        written=table["written"].to_numpy(),
    )
    return names, rows


def _of_hour(every: Sequence[str], rows: _Rows, hour: int) -> pa.Table:
    """What rows tell of the topics in an hour."""
    if not len(rows.topic):
        return encoded_schema(TopicHourSample).empty_table()
    is_used = np.bincount(rows.topic, minlength=len(every)) > 0
    topic, used = (np.cumsum(is_used) - 1)[rows.topic], np.flatnonzero(is_used)
    moment, moments = rows.moment - rows.moment.min(), int(np.ptp(rows.moment)) + 1
    lasts, came = np.diff(rows.answered_s), np.diff(rows.written).astype(np.float64)
    is_known = (np.diff(topic) == 0) & (np.diff(rows.broker) == 0) & (np.diff(rows.queues) == 0) & (came >= 0)
    is_known &= (lasts > 0) & (lasts <= LONGEST_S)
    begins = np.r_[True, (np.diff(topic) != 0) | (np.diff(rows.broker) != 0)]
    brokers = np.bincount(topic[begins], minlength=len(used))
    step = (topic * moments + moment)[1:][is_known]
    # Counted and not sorted: there are few more places than steps.
    parts = np.bincount(step, minlength=len(used) * moments)
    ends, first = np.flatnonzero(parts), np.zeros(len(parts), np.int64)
    first[step[::-1]] = np.arange(len(step))[::-1]
    rate = np.bincount(step, (came / np.where(lasts > 0, lasts, 1))[is_known], len(parts))[ends]
    of_topic, end_s, lasts_s = (values[is_known][first[ends]] for values in (topic[1:], rows.at_s[1:], lasts))
    in_hour = (end_s - lasts_s / 2) // HOUR_S * HOUR_S == hour
    counts = in_hour & (parts[ends] == brokers[of_topic])
    of_topic, lasts_s, rate = of_topic[counts], lasts_s[counts], rate[counts]
    sampled_s = np.bincount(of_topic, lasts_s, len(used))
    most = np.zeros(len(used))
    np.maximum.at(most, of_topic, rate)
    msgs = np.bincount(of_topic, rate * lasts_s, len(used))
    in_samples = np.bincount(topic[rows.at_s // HOUR_S * HOUR_S == hour], minlength=len(used)) > 0
    is_told = np.flatnonzero(in_samples | (sampled_s > 0))
    return _table(hour, every, used[is_told], (sampled_s[is_told], msgs[is_told], most[is_told]))


def _table(hour: int, every: Sequence[str], topic: Integers, figures: Iterable[_Figures]) -> pa.Table:
    at = datetime.fromtimestamp(hour, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    texts = (np.zeros(len(topic), np.int32), [at]), (topic.astype(np.int32), every)
    arrays = [pa.DictionaryArray.from_arrays(code, pa.array(names, pa.string())) for code, names in texts]
    return pa.Table.from_arrays([*arrays, *map(pa.array, figures)], schema=encoded_schema(TopicHourSample))


def _seconds(texts: pa.ChunkedArray) -> Numbers:
    """Moments in seconds since 1970."""
    names, code = encoded(texts)
    seconds: Numbers = np.array([parse_utc(at).timestamp() for at in names], np.float64)[code]
    return seconds


def _used_seconds(texts: pa.ChunkedArray) -> list[float]:
    """The different ones; a part of a table has the texts of all in its dictionary."""
    names, code = encoded(texts)
    return [parse_utc(names[place]).timestamp() for place in np.unique(code).tolist()]
