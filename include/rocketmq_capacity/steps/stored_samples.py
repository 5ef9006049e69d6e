"""What the samples in a cluster's folder of the lake tell of the days before a snapshot."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pyarrow as pa

from rocketmq_capacity.errors import BadInput, one_line, shown
from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.joined_samples import encoded_schema
from rocketmq_capacity.snapshot.past_samples import SampledDay, with_sampled_days
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.samples import sampled_days
from rocketmq_capacity.tables.arrow import arrow_schema
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.sample import BrokerSample, GroupSample, MemberSample, TopicHourSample, TopicSample
from rocketmq_capacity.tables.source import read_files


def with_stored_samples(inventory: Inventory, folder: Path, thresholds: Thresholds) -> Inventory:
    """The inventory with what the folder's samples tell of hours and members; unchanged if it has none.

    A file that cannot be read is set aside, with a warning.

    Errors: BadInput for samples of another cluster, and if a folder is a link.
    """
    days, window = thresholds.PROVISION.sampled_days, thresholds.REBALANCE_FREQUENCY.window_h
    now = inventory.taken_at_utc
    first = str((now - max(timedelta(days=days, hours=1), timedelta(hours=window))).date())
    stored = [day for day in sampled_days(folder) if first <= day.folder.name <= str(now.date())]
    if not stored:
        return inventory

    def read() -> Iterator[SampledDay]:
        for day in stored:
            _check_cluster(day, inventory.cluster_name)
            yield SampledDay(
                *(read_tables(day, dataset) for dataset in (TopicSample, TopicHourSample, GroupSample, MemberSample))
            )

    return with_sampled_days(inventory, read(), most_days=days, window_h=window)


def readable(file: Path, dataset: type[Dataset]) -> pa.Table | str:
    """The rows of a file of samples; in words why it cannot be read, where it is none of ours."""
    schema = arrow_schema(dataset)
    names = [field.name for field in schema if pa.types.is_string(field.type)]
    try:
        table = read_files([file], read_dictionary=names)  # each text once
        return table.cast(encoded_schema(dataset))
    except (OSError, ValueError) as error:  # Arrow's errors are ValueErrors
        return one_line(error)


def read_tables(day: Run, dataset: type[Dataset]) -> list[pa.Table]:
    """The rows of a day's dataset, a table a file; a file that cannot be read is set aside, with a warning."""
    tables = []
    for file in day.listed(dataset.dataset_name()):
        read = readable(file, dataset)
        if isinstance(read, str):
            logging.getLogger(__name__).warning("%s is set aside: %s", file, read)
        else:
            tables.append(read)
    return tables


def _check_cluster(day: Run, cluster_name: str) -> None:
    for table in read_tables(day, BrokerSample):
        for name in table["cluster_name"].unique().to_pylist():
            if name != cluster_name:
                problem = f"is {shown(name)}; expected {cluster_name!r}, the planned cluster"
                raise BadInput(str(day.folder), "cluster_name", problem)
