"""The two sides of a comparison: rows of the tables it reads, in plain Python and in Spark."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyspark.sql.types as T

from rocketmq_capacity.contracts.allocation import Allocation
from rocketmq_capacity.contracts.strategy_load import StrategyLoad
from rocketmq_capacity.contracts.subscription import Subscription
from rocketmq_capacity.contracts.topic_queue import TopicQueue

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from rocketmq_capacity.contracts.dataset import Dataset

LOAD = ("consumer_group", "strategy", "is_applicable", "idle_clients", "count", "traffic")
METRICS = {"peak": 1.5, "floor": 1.0}


@dataclass
class Side:
    """What one side's tables say. Shapes: see the comments."""

    queues: dict[tuple[str, str], tuple[int | None, int | None]] = field(default_factory=dict)
    """(topic, broker) -> (read_queue_nums, perm)."""
    reads: set[tuple[str, str]] = field(default_factory=set)
    """(group, topic)."""
    owners: list[tuple[str, str, str, str, int, str]] = field(default_factory=list)
    """(strategy, group, topic, broker, queue_id, client_id), as in allocation."""
    loads: dict[tuple[str, str], tuple[bool, list[str]]] = field(default_factory=dict)
    """(group, strategy) -> (is_applicable, idle clients)."""

    @classmethod
    def of_many(cls, sides: Mapping[str, "Side"]) -> "Side":
        """Sides of one group and one topic each, side by side: groups and topics take the names that are given."""
        every = cls()
        for name, side in sides.items():
            every.queues |= {(name, broker): layout for (_, broker), layout in side.queues.items()}
            every.reads |= {(name, name) for _ in side.reads}
            every.owners += [(strategy, name, name, b, i, client) for strategy, _, _, b, i, client in side.owners]
            every.loads |= {(name, strategy): load for (_, strategy), load in side.loads.items()}
        return every

    def tables(self, spark: "SparkSession") -> Mapping[type["Dataset"], "DataFrame"]:
        """The datasets that a comparison reads, with the columns that it may read."""
        loads = [(g, s, ok, idle, METRICS, None) for (g, s), (ok, idle) in self.loads.items()]
        reads = [(g, t, kind_of(t)) for g, t in sorted(self.reads)]
        queues = [(t, b, n, perm, kind_of(t)) for (t, b), (n, perm) in self.queues.items()]
        return {
            Allocation: rows(spark, Allocation, self.owners),
            StrategyLoad: rows(spark, StrategyLoad, loads, LOAD),
            Subscription: rows(spark, Subscription, reads, ("consumer_group", "topic", "kind")),
            TopicQueue: rows(spark, TopicQueue, queues, ("topic", "broker_name", "read_queue_nums", "perm", "kind")),
        }

    def readable(self, group: str) -> set[tuple[str, str, int]]:
        """The readable business queues of a group, told anew from the definition."""
        return {
            (topic, broker, queue_id)
            for (topic, broker), (count, perm) in self.queues.items()
            if (group, topic) in self.reads and kind_of(topic) == "BUSINESS" and perm is not None and perm & 4
            for queue_id in range(count or 0)
        }

    def owners_of(self, group: str, strategy: str, queue: tuple[str, str, int]) -> list[str]:
        """Who owns a queue: the sorted client ids, under POP each once."""
        topic, broker, queue_id = queue
        ids = [
            row[5] for row in self.owners if row[:4] == (strategy, group, topic, broker) and row[4] in (queue_id, -1)
        ]
        return sorted(set(ids)) if strategy == "POP" else sorted(ids)


def kind_of(topic: str) -> str:
    return "RETRY" if topic.startswith("%RETRY%") else "BUSINESS"


def rows(
    spark: "SparkSession", dataset: type["Dataset"], of: Iterable[Sequence[Any]], names: Sequence[str] | None = None
) -> "DataFrame":
    """A frame of one partition with these columns of a contract; without names, all of them."""
    contract = dataset.spark_schema()
    schema = contract if names is None else T.StructType([contract[name] for name in names])
    return spark.createDataFrame([tuple(row) for row in of], schema).coalesce(1)
