"""What is known of groups in each hour and on each day of the stored days, as tables."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.snapshot.past_rates import hour_of, sampled_hours
from rocketmq_capacity.snapshot.resolved import Resolved
from rocketmq_capacity.snapshot.seconds import HOUR_S
from rocketmq_capacity.vocabulary import BUSINESS

Columns = dict[str, Any]


def group_hours(resolved: Resolved) -> Columns:
    """The columns of ``group_hour``."""
    groups, past = resolved.inventory.consumer_groups, resolved.past_hours
    names: list[tuple[str, int]] = []
    begins = [0 if one.hourly is None else hour_of(one.hourly.first_at) for one in groups]
    taken_at, bounds = resolved.inventory.taken_at_utc, resolved.provision
    places_told = [
        range(0)
        if one.hourly is None
        else sampled_hours(one.hourly.first_at, len(one.hourly.clients), taken_at, bounds)
        for one in groups
    ]
    sampled = {begin + hour * HOUR_S for begin, own in set(zip(begins, places_told, strict=True)) for hour in own}
    hours = sorted({*past.hours, *sampled})
    place = {hour: index for index, hour in enumerate(hours)}
    past_places = [place[hour] for hour in past.hours]
    figures_of_groups: list[Numbers] = [np.zeros((4, 0))]
    codes: list[Integers] = [np.zeros(0, np.int64)]
    for group, reads, begin, hours_told in zip(groups, resolved.reads, begins, places_told, strict=True):
        if resolved.kinds.of_group(group.consumer_group) != BUSINESS:
            continue
        figures = np.full((4, len(hours)), np.nan)
        figures[:2, past_places] = past.courses_of(resolved.business_ratios(reads))
        if group.hourly is not None and hours_told:
            places = [place[begin + hour * HOUR_S] for hour in hours_told]
            reading = np.array([group.hourly.most_lag, group.hourly.clients], np.float64)
            figures[2:, places] = reading[:, hours_told.start : hours_told.stop]
        known = np.flatnonzero(~np.isnan(figures).all(axis=0))
        names.append((group.consumer_group, len(known)))
        figures_of_groups.append(figures[:, known])
        codes.append(known)
    msgs, most, lag, clients = np.concatenate(figures_of_groups, axis=1)
    at = pa.array([datetime.fromtimestamp(hour, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for hour in hours], pa.string())
    return {
        "consumer_group": _repeated(names),
        "at": at.take(pa.array(np.concatenate(codes))),
        "msgs_per_s": _nullable(msgs, pa.float64()),
        "most_msgs_per_s": _nullable(most, pa.float64()),
        "most_lag": _nullable(lag, pa.int64()),
        "clients": _nullable(clients, pa.int32()),
    }


def group_days(resolved: Resolved) -> Columns:
    """The columns of ``group_day``."""
    today = resolved.inventory.taken_at_utc.date()
    names: list[tuple[str, int]] = []
    days: list[str] = []
    msgs: list[float] = []
    for group, reads in zip(resolved.inventory.consumer_groups, resolved.reads, strict=True):
        if resolved.kinds.of_group(group.consumer_group) == BUSINESS:
            days_ago, daily = resolved.past_hours.days_of(resolved.business_ratios(reads))
            names.append((group.consumer_group, len(daily)))
            days += [str(today - timedelta(days=ago)) for ago in days_ago]
            msgs += daily
    return {"consumer_group": _repeated(names), "day": days, "msgs_per_s": msgs}


def _repeated(names: Sequence[tuple[str, int]]) -> pa.Array:
    """Each name so many times."""
    codes = np.repeat(np.arange(len(names)), [times for _, times in names])
    return pa.array([name for name, _ in names], pa.string()).take(pa.array(codes))


def _nullable(values: Numbers, kind: pa.DataType) -> pa.Array:
    is_unknown = np.isnan(values)
    return pa.array(np.where(is_unknown, 0, values), mask=is_unknown).cast(kind)
