"""What samples between snapshots tell of the days before: rates of topics by hour, and members that came and went."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.snapshot.inventory import HourlyRates, Inventory, InventoryGroup, SampledMembers, parse_utc
from rocketmq_capacity.snapshot.joined_samples import joined
from rocketmq_capacity.snapshot.past_rates import hour_of
from rocketmq_capacity.snapshot.sampled_groups import SampledGroups, encoded
from rocketmq_capacity.snapshot.sampled_hours import hour_s, moments_of, since_last_before, topic_hours
from rocketmq_capacity.snapshot.seconds import HOUR_S
from rocketmq_capacity.tables.sample import MemberSample

LEAST_S: Final = HOUR_S / 2
"""The shortest part of an hour whose samples tell the hour's rate."""


class SampledDay(NamedTuple):
    """The tables of a day's samples, one or more of each dataset, in the order of time."""

    topics: Sequence[pa.Table] = ()
    hours: Sequence[pa.Table] = ()
    groups: Sequence[pa.Table] = ()
    members: Sequence[pa.Table] = ()


def with_sampled_days(
    inventory: Inventory, days: Iterable[SampledDay], *, most_days: int, window_h: float
) -> Inventory:
    """The inventory; its topics have their rates by hour, and its groups what they had not read and who they were.

    So a what-if has them as well. Hours count that are over when the snapshot is taken.

    Args:
        inventory: the one that is planned.
        days: days of samples of the same cluster, the first one first.
        most_days: days before the snapshot, for what is known by hour.
        window_h: hours before it, for members that came and went.
    """
    now = inventory.taken_at_utc
    until_s = hour_s(now.timestamp())
    first_s = until_s - most_days * 24 * HOUR_S
    rates, hours = _Rates(first_s, most_days * 24), SampledGroups(first_s, until_s)
    since = (now - timedelta(hours=window_h)).isoformat()
    members: list[pa.Table] = []
    for day in days:
        rates.add_day(day)
        for groups in day.groups:
            hours.add_lags(groups)
        stretches = joined(MemberSample, day.members)
        hours.add_members(stretches)
        members.append(stretches.filter(pc.greater_equal(stretches["last_at"].cast(pa.string()), since)))
    rates.end()
    hourly, of_groups, changes = dict(rates.by_topic()), dict(hours.by_group()), _stretches(members, now, window_h)
    topics = (replace(topic, hourly=hourly.get(topic.topic)) for topic in inventory.topics)
    groups = (
        replace(group, past_members=_changed(group, changes), hourly=of_groups.get(group.consumer_group))
        for group in inventory.consumer_groups
    )
    return replace(inventory, topics=tuple(topics), consumer_groups=tuple(groups))


def _changed(
    group: InventoryGroup, stretches: Mapping[str, tuple[SampledMembers, ...]]
) -> tuple[SampledMembers, ...] | None:
    """The stretches of a group whose members changed between samples, or since the last one."""
    members = stretches.get(group.consumer_group, ())
    now = {client.client_id for client in group.clients or ()}
    return members if len(members) > 1 or any({*one.client_ids} != now for one in members) else None


class _Rates:
    """What is known of topics in each hour; table after table is added.

    Args:
        first_s: when the first hour begins, in seconds since 1970.
        hours: their number.
    """

    def __init__(self, first_s: int, hours: int) -> None:
        self._first_s, self._hours = first_s, hours
        self._until_s = first_s + hours * HOUR_S
        self._names: dict[str, int] = {}
        self._added: list[tuple[Integers, Numbers]] = []
        self._counted: set[int] = set()
        self._left: list[pa.Table] = []

    def add_day(self, day: SampledDay) -> None:
        """Add what is stored of hours, and of the other samples the hours that are over with the last one."""
        for table in day.hours:
            self._counted.update(hour_of(moment) for moment in table["at"].unique().to_pylist())
            self._add(table)
        rows = [*self._left, *day.topics]
        if moments := moments_of(rows):
            newest = hour_s(moments[-1])
            self._count(rows, hour_s(moments[0]), newest)
            self._left = since_last_before(rows, newest)

    def end(self) -> None:
        """Add the hour of the last sample, if it is over."""
        if moments := moments_of(self._left):
            self._count(self._left, hour_s(moments[0]), self._until_s)

    def _count(self, rows: Sequence[pa.Table], first_s: int, until_s: int) -> None:
        hours = range(max(first_s, self._first_s), min(until_s, self._until_s), HOUR_S)
        self._add(topic_hours(rows, [hour for hour in hours if hour not in self._counted]))
        self._counted.update(hours)

    def _add(self, table: pa.Table) -> None:
        names, topic = encoded(table["topic"])
        moments, at = encoded(table["at"])
        hours = np.array([(hour_of(moment) - self._first_s) // HOUR_S for moment in moments], np.int64)[at]
        places = np.array([self._names.setdefault(name, len(self._names)) for name in names], np.int64)[topic]
        is_used = (hours >= 0) & (hours < self._hours)
        figures = np.array([table[name].to_numpy() for name in ("sampled_s", "msgs", "most_msgs_per_s")])
        self._added.append((places[is_used] * self._hours + hours[is_used], figures[:, is_used]))

    def by_topic(self) -> Iterator[tuple[str, HourlyRates]]:
        """The rates of each topic of which some are known, in every hour up to the snapshot."""
        sums = np.zeros((3, len(self._names) * self._hours))
        for place, figures in self._added:
            sums[:, place] = figures
        sampled_s, msgs, most = sums.reshape(3, len(self._names), self._hours)
        is_known = sampled_s >= LEAST_S
        means = _known(msgs / np.where(is_known, sampled_s, 1), is_known)
        mosts = _known(most, is_known)
        first_at = datetime.fromtimestamp(self._first_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for name, row in self._names.items():
            if is_known[row].any():
                yield (
                    name,
                    HourlyRates(
                        first_at=first_at,
                        mean_msgs_per_s=tuple(means[row].tolist()),
                        most_msgs_per_s=tuple(mosts[row].tolist()),
                    ),
                )


def _known(values: Numbers, is_known: Flags) -> npt.NDArray[np.object_]:
    known = values.round(3).astype(object)
    known[~is_known] = None
    return known


def _stretches(tables: Sequence[pa.Table], now: datetime, window_h: float) -> dict[str, tuple[SampledMembers, ...]]:
    """By group the stretches of the last hours with other members each, as one broker told them."""
    since, until = now.timestamp() - window_h * HOUR_S, now.timestamp()
    stretches: dict[str, list[tuple[str, SampledMembers]]] = {}
    for row in joined(MemberSample, tables).to_pylist():
        if parse_utc(row["last_at"]).timestamp() >= since and parse_utc(row["first_at"]).timestamp() < until:
            members = SampledMembers(
                first_at=row["first_at"], last_at=row["last_at"], client_ids=tuple(row["client_ids"])
            )
            stretches.setdefault(row["consumer_group"], []).append((row["broker_name"], members))
    return {group: tuple(_of_last_broker(rows)) for group, rows in stretches.items()}


def _of_last_broker(rows: Sequence[tuple[str, SampledMembers]]) -> Iterator[SampledMembers]:
    last, _ = rows[-1]
    return (told for broker_name, told in rows if broker_name == last)
