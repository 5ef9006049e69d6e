"""Days of samples of a fleet, as the app ``sample`` leaves them: a row for each hour; the traffic of a week's hours."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.steps.sample import SMALL
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.samples import SAMPLE, sampled_day
from rocketmq_capacity.tables.arrow import table_of_columns
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.sample import (
    SAMPLES,
    BrokerSample,
    GroupSample,
    MemberSample,
    TopicHourSample,
    TopicSample,
)

DAYS: Final = 90
EVERY_S: Final = 300
OF_AN_HOUR: Final = 3_600 // EVERY_S
OF_A_DAY: Final = 24 * OF_AN_HOUR
SEED: Final = 7
CHANGES_EVERY: Final = 50
"""Of so many groups one has another member in the afternoon."""
_Numbers = npt.NDArray[Any]


def write_days(lake: Path, inventory: Inventory) -> Path:
    """Write the days before an inventory, and the day that it is of until its moment; gives the cluster's folder."""
    random = np.random.default_rng(SEED)
    taken = inventory.taken_at_utc
    topics = [(one.topic, queues) for one in inventory.topics for queues in one.queues or ()]
    topics = sorted(topics, key=lambda one: (one[0], one[1].broker_name))
    ends = np.full(len(topics), 1_000_000_000)
    each_msgs = random.uniform(0, 40 * EVERY_S, len(topics))
    for number in range(DAYS):
        midnight = taken.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS - 1 - number)
        moments = [midnight + timedelta(seconds=EVERY_S * place) for place in range(OF_A_DAY)]
        moments = [moment for moment in moments if moment < taken]
        share = np.array([_share(moment) for moment in moments])
        noise = random.uniform(0.8, 1.2, (len(topics), len(moments)))
        written = ends[:, None] + np.cumsum((each_msgs[:, None] * share * noise).astype(np.int64), axis=1)
        _write_day(Lake(lake), inventory, moments, topics, ends, written, random)
        ends = written[:, -1]
    return lake / inventory.cluster_name


def _share(moment: datetime) -> float:
    """How much of the traffic of the busiest hours comes then."""
    of_hour = 0.55 + 0.45 * np.sin((moment.hour + moment.minute / 60 - 14) / 24 * 2 * np.pi)
    return float(of_hour * (0.5 if moment.weekday() >= 5 else 1.0))


def _write_day(
    lake: Lake,
    inventory: Inventory,
    moments: Sequence[datetime],
    topics: Sequence[Any],
    before: _Numbers,
    written: _Numbers,
    random: np.random.Generator,
) -> None:
    at = [moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in moments]
    day = sampled_day(lake, inventory.cluster_name, at[0][:10])
    brokers = sorted({one.broker_name for one in inventory.brokers})
    groups = sorted(group.consumer_group for group in inventory.consumer_groups)
    _add(
        day,
        BrokerSample,
        at=_moments(at, len(brokers)),
        broker_name=_repeated(brokers, len(at)),
        cluster_name=_repeated([inventory.cluster_name], len(brokers) * len(at)),
        has_answered=np.ones(len(brokers) * len(at), bool),
    )
    hours = len(at) // OF_AN_HOUR
    is_over = np.arange(len(at)) < hours * OF_AN_HOUR
    names, first = np.unique([topic for topic, _ in topics], return_index=True)
    came = np.add.reduceat(np.diff(written, axis=1, prepend=before[:, None]), first)[:, is_over]
    of_hours = came.reshape(len(names), hours, OF_AN_HOUR)
    begins = at[::OF_AN_HOUR][:hours]
    _add(
        day,
        TopicHourSample,
        at=_moments(begins, len(names)),
        topic=_repeated(names.tolist(), hours),
        sampled_s=np.full(len(names) * hours, 3_600.0),
        msgs=of_hours.sum(axis=2).ravel().astype(float),
        most_msgs_per_s=of_hours.max(axis=2).ravel() / EVERY_S,
    )
    left = at[max(hours * OF_AN_HOUR - 1, 0) :]
    _add(
        day,
        TopicSample,
        at=_moments(left, len(topics)),
        topic=_repeated([topic for topic, _ in topics], len(left)),
        broker_name=_repeated([queues.broker_name for _, queues in topics], len(left)),
        after_s=np.full(len(topics) * len(left), 2.5),
        queues=pa.array(np.repeat([queues.write_queue_nums or 0 for _, queues in topics], len(left)), pa.int32()),
        written=written[:, -len(left) :].ravel(),
    )
    kept = [*begins, *at[hours * OF_AN_HOUR :]]
    lag = (random.exponential(500, (len(groups), 1)) * random.uniform(0, 2, (len(groups), len(kept)))).astype(np.int64)
    _add(day, GroupSample, at=_moments(kept, len(groups)), consumer_group=_repeated(groups, len(kept)), lag=lag.ravel())
    stretches = list(chain.from_iterable(_members(inventory, at, brokers[0])))
    columns = dict(zip(MemberSample.__struct_fields__, zip(*stretches, strict=True), strict=True))
    _add(day, MemberSample, **{name: list(values) for name, values in columns.items()})
    day.commit(SAMPLE, [dataset.dataset_name() for dataset in SAMPLES if dataset.dataset_name() in day.under_way])


def _members(inventory: Inventory, at: Sequence[str], broker: str) -> Any:
    """The stretches of each group that has clients."""
    for number, group in enumerate(sorted(inventory.consumer_groups, key=lambda one: one.consumer_group)):
        ids = tuple(sorted(one.client_id for one in group.clients or ()))
        if ids and number % CHANGES_EVERY == 0 and len(at) > OF_A_DAY // 2:
            noon = OF_A_DAY // 2
            yield [
                (group.consumer_group, at[0], at[noon - 1], broker, ids),
                (group.consumer_group, at[noon], at[-1], broker, ids[1:]),
            ]
        elif ids:
            yield [(group.consumer_group, at[0], at[-1], broker, ids)]


def _add(day: Run, dataset: type[Dataset], **columns: Any) -> None:
    day.reopen(dataset.dataset_name())
    add_file(day, dataset, table_of_columns(dataset, columns), **SMALL)


def _moments(at: Sequence[str], times: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.tile(np.arange(len(at), dtype=np.int32), times), pa.array(at))


def _repeated(names: Sequence[str], times: int) -> pa.Array:
    known = sorted(set(names))
    place = {name: number for number, name in enumerate(known)}
    codes = np.array([place[name] for name in names], np.int32)
    return pa.DictionaryArray.from_arrays(np.repeat(codes, times), pa.array(known))
