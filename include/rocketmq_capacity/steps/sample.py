"""The step of a sample: its tables become files of its day, whose files are put together; old days are deleted."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import RunBusy
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.collect import CollectOptions
from rocketmq_capacity.snapshot.collect_sample import ClusterSample, sample_now
from rocketmq_capacity.snapshot.inventory import parse_utc
from rocketmq_capacity.snapshot.joined_samples import joined
from rocketmq_capacity.snapshot.past_rates import hour_of
from rocketmq_capacity.snapshot.sampled_hours import (
    at_moment,
    hour_s,
    moments_of,
    most_of_hours,
    since_last_before,
    topic_hours,
)
from rocketmq_capacity.snapshot.seconds import HOUR_S
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.steps.stored_samples import read_tables, readable
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.samples import SAMPLE, forget, sampled_day, sampled_days
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.checks import check
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.sample import (
    SAMPLES,
    BrokerSample,
    GroupSample,
    MemberSample,
    SampleFailure,
    TopicHourSample,
    TopicSample,
)
from rocketmq_capacity.wording import counted

READ_SAMPLE: Final = "READ_SAMPLE"
"""In place of a request: a file of the lake that cannot be read."""
LOST: Final = "is missing, or has another size"
MOST_FILES: Final = 12
"""Of a dataset of the day under way: an hour of samples every five minutes."""
DAY_S: Final = 24 * HOUR_S
SMALL: Final[dict[str, Any]] = {"compression": "zstd", "dictionary_pagesize_limit": 2**24}
"""Of Arrow's writer, for a day's file. A day has few different names, and its rows are sorted by them."""


def take_sample(nameserver: str, policy: Policy, settings: ConnectionSettings) -> ClusterSample:
    """A sample of the cluster behind the name servers. Errors: as :func:`sample_now`."""
    return sample_now([nameserver], options=CollectOptions(limit_s=policy.samples.limit_s, settings=settings))


def in_a_few_words(sample: ClusterSample) -> str:
    """How much a sample has."""
    held = (
        counted(len({one.topic for one in sample.topics}), "topic"),
        counted(len(sample.groups), "group"),
        counted(sum(len(one.client_ids) for one in sample.members), "client"),
        counted(sum(one.has_answered for one in sample.brokers), "broker"),
        counted(len(sample.failures), "failure"),
    )
    return f"{sample.cluster_name}, {sample.at}: {', '.join(held)}"


def store_sample(lake: Lake, sample: ClusterSample, keep_days: int) -> Run:
    """Add a sample to its day. With the first one of a day, days but the last ``keep_days`` with samples are deleted.

    They are counted, and not told by a clock: one that is wrong deletes no more than one that is right.

    Errors: RunBusy if another process has not stored its sample in time.
    """
    day = sampled_day(lake, sample.cluster_name, sample.at[:10])
    is_first = not day.is_committed(SAMPLE)
    with day.alone():
        _add(day, sample)
        if any(len(day.listed(dataset.dataset_name())) > MOST_FILES for dataset in SAMPLES):
            _join(day, sampled_days(lake.root / sample.cluster_name), is_over=False)
    if is_first:
        days = sampled_days(lake.root / sample.cluster_name)
        for other in (one for one in days if one != day):
            with suppress(RunBusy), other.alone(wait_s=0):  # then the next day does it
                if any(len(other.listed(dataset.dataset_name())) > 1 for dataset in SAMPLES):
                    _join(other, days, is_over=True)
        forget(one for one in days[:-keep_days] if one != day)
    return day


def _add(day: Run, sample: ClusterSample) -> None:
    lost = [_unreadable(day, file, LOST) for dataset in SAMPLES for file in day.reopen(dataset.dataset_name())]
    rows: dict[type[Dataset], Sequence[Dataset]] = {
        BrokerSample: sample.brokers,
        TopicSample: sample.topics,
        GroupSample: sample.groups,
        MemberSample: sample.members,
        SampleFailure: [*sample.failures, *lost],
    }
    for dataset, dataset_rows in rows.items():
        if dataset_rows:
            table = table_of(dataset, dataset_rows)
            check(dataset, table)
            add_file(day, dataset, table, **SMALL)
    day.commit(SAMPLE, [dataset.dataset_name() for dataset in SAMPLES])


def _join(day: Run, days: Sequence[Run], *, is_over: bool) -> None:
    """Put the files of each dataset together, and of hours that are over only what a plan needs.

    A file that cannot be read is a row of failures.

    Args:
        day: the day.
        days: all days of the cluster: hours need the samples around midnight.
        is_over: whether all hours of the day are over; else that of its last sample is not.
    """
    names = [dataset.dataset_name() for dataset in SAMPLES]
    failures: list[SampleFailure] = []
    tables: dict[type[Dataset], list[pa.Table]] = {dataset: [] for dataset in SAMPLES}
    for dataset, name in zip(SAMPLES, names, strict=True):
        failures += [_unreadable(day, file, LOST) for file in day.reopen(name)]
        for file in (day.table(name) / one for one in sorted(day.under_way[name])):
            read = readable(file, dataset)
            if isinstance(read, str):
                failures.append(_unreadable(day, file.name, read))
            else:
                tables[dataset].append(read)
    tables[SampleFailure].append(table_of(SampleFailure, failures))
    whole = {dataset: joined(dataset, own) for dataset, own in tables.items()}
    _compact(whole, day, days, is_over=is_over)
    for dataset, name in zip(SAMPLES, names, strict=True):
        day.under_way[name] = {}
        if whole[dataset].num_rows:
            add_file(day, dataset, whole[dataset], **SMALL)
    day.commit(SAMPLE, names)
    for name in names:
        day.sweep(name)


def _compact(whole: dict[type[Dataset], pa.Table], day: Run, days: Sequence[Run], *, is_over: bool) -> None:
    """Of the tables of a day, replace the rows of hours that are over."""
    moments, hours = moments_of([whole[TopicSample]]), whole[TopicHourSample]
    midnight = int(parse_utc(f"{day.folder.name}T00:00:00Z").timestamp())
    until_s = midnight + DAY_S
    if not is_over:
        until_s = hour_s(max([midnight, *moments, *moments_of([whole[GroupSample]])]))
    counted = {hour_of(at) for at in hours["at"].unique().to_pylist()}
    rows = [whole[TopicSample]]
    if not counted:
        rows = [*_neighbour([one for one in days if one.folder.name < day.folder.name], -1), *rows]
    if is_over:
        rows += _neighbour([one for one in days if one.folder.name > day.folder.name], 0)
    more = topic_hours(rows, [hour for hour in range(midnight, until_s, HOUR_S) if hour not in counted])
    whole[TopicHourSample] = joined(TopicHourSample, [hours, more])
    (whole[TopicSample],) = since_last_before([whole[TopicSample]], until_s)
    whole[GroupSample] = most_of_hours(whole[GroupSample], until_s)


def _neighbour(days: Sequence[Run], which: int) -> list[pa.Table]:
    """How far topics are written in the last sample of the day before (-1), or in the first of the day after (0)."""
    tables = read_tables(days[which], TopicSample) if days else []
    moments = moments_of(tables)
    return at_moment(tables, moments[which]) if moments else []


def _unreadable(day: Run, file: str, problem: str) -> SampleFailure:
    return SampleFailure(at=f"{day.folder.name}T00:00:00Z", broker_addr=file, request=READ_SAMPLE, error=problem)
