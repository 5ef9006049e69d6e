"""The clients and queues of a run, in the few columns that decide what clients ask of brokers."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.client_costs import CostClient, CostGroup, CostPlace, CostProducer, CostRead, Fleet
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.rows import Record, records_of

Tables = Callable[[type[Dataset], Sequence[str]], pa.Table]
"""Returns some columns of a dataset of a run."""


def fleet_of(tables_of: Tables) -> Fleet:
    """The clients and queues of a run; each is read once."""
    return Fleet(
        groups=_records(tables_of, tables.ConsumerGroup, CostGroup),
        reads=_records(tables_of, tables.Subscription, CostRead),
        clients=_records(tables_of, tables.Consumer, CostClient),
        producers=_records(tables_of, tables.Producer, CostProducer),
        places=_records(tables_of, tables.TopicQueue, CostPlace),
        rates=_rates(tables_of(tables.QueueOffset, ["topic", "broker_name", "put_msgs_per_s"])),
    )


def _records(tables_of: Tables, dataset: type[Dataset], kind: type[Record]) -> Iterator[Record]:
    return records_of(tables_of(dataset, kind._fields), kind)


def _rates(queues: pa.Table) -> Mapping[tuple[str, str], float | None]:
    """Messages a second written to each topic on each broker; None if that of a queue is unknown."""
    if not queues.num_rows:
        return {}
    whole = pc.ScalarAggregateOptions(skip_nulls=False)
    sums = queues.group_by(["topic", "broker_name"]).aggregate([("put_msgs_per_s", "sum", whole)])
    names = zip(sums["topic"].to_pylist(), sums["broker_name"].to_pylist(), strict=True)
    return dict(zip(names, sums["put_msgs_per_s_sum"].to_pylist(), strict=True))
