"""The step of a sample: its tables become files of its day, whose files are put together; old days are deleted."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import RunBusy
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.collect import CollectOptions
from rocketmq_capacity.snapshot.collect_sample import ClusterSample, sample_now
from rocketmq_capacity.snapshot.joined_samples import joined
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.steps.stored_samples import readable
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.samples import SAMPLE, forget, sampled_day, sampled_days
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.checks import check
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.sample import (
    SAMPLES,
    SampleFailure,
)
from rocketmq_capacity.wording import counted

READ_SAMPLE: Final = "READ_SAMPLE"
"""In place of a request: a file of the lake that cannot be read."""
LOST: Final = "is missing, or has another size"
MOST_FILES: Final = 36
"""Of a dataset of the day under way: three hours of samples every five minutes."""
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
        _join(day, MOST_FILES)
    if is_first:
        days = sampled_days(lake.root / sample.cluster_name)
        for other in (one for one in days if one != day):
            with suppress(RunBusy), other.alone(wait_s=0):  # then the next day does it
                _join(other, 1)
        forget(one for one in days[:-keep_days] if one != day)
    return day


def _add(day: Run, sample: ClusterSample) -> None:
    lost = [_unreadable(day, file, LOST) for dataset in SAMPLES for file in day.reopen(dataset.dataset_name())]
    failures = [*sample.failures, *lost]
    rows: Sequence[Sequence[Dataset]] = (sample.brokers, sample.topics, sample.groups, sample.members, failures)
    for dataset, dataset_rows in zip(SAMPLES, rows, strict=True):
        if dataset_rows:
            table = table_of(dataset, dataset_rows)
            check(dataset, table)
            add_file(day, dataset, table, **SMALL)
    day.commit(SAMPLE, [dataset.dataset_name() for dataset in SAMPLES])


def _join(day: Run, most_files: int) -> None:
    """Put the files of each dataset together if one has more; a file that cannot be read is a row of failures."""
    names = [dataset.dataset_name() for dataset in SAMPLES]
    if all(len(day.listed(name)) <= most_files for name in names):
        return
    failures: list[SampleFailure] = []
    for dataset, name in zip(SAMPLES, names, strict=True):  # that of the failures comes last
        failures += [_unreadable(day, file, LOST) for file in day.reopen(name)]
        tables = []
        for file in (day.table(name) / one for one in sorted(day.under_way[name])):
            read = readable(file, dataset)
            if isinstance(read, str):
                failures.append(_unreadable(day, file.name, read))
            else:
                tables.append(read)
        if dataset is SampleFailure:
            tables.append(table_of(SampleFailure, failures))
        day.under_way[name] = {}
        table = joined(dataset, tables)
        if table.num_rows:
            add_file(day, dataset, table, **SMALL)
    day.commit(SAMPLE, names)
    for name in names:
        day.sweep(name)


def _unreadable(day: Run, file: str, problem: str) -> SampleFailure:
    return SampleFailure(at=f"{day.folder.name}T00:00:00Z", broker_addr=file, request=READ_SAMPLE, error=problem)
