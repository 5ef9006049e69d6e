"""The stage's second half: what a scenario does to every group, read from the plans before and after it."""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity.contracts.allocation import Allocation
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.contracts.finding import Finding
from rocketmq_capacity.contracts.scenario_effect import ScenarioEffect
from rocketmq_capacity.contracts.strategy_load import StrategyLoad
from rocketmq_capacity.contracts.subscription import Subscription
from rocketmq_capacity.contracts.topic_queue import TopicQueue

Tables = Mapping[type[Dataset], DataFrame]

POP: Final = "POP"
BROADCASTING: Final = "BROADCASTING"
READ: Final = 4
"""PermName.PERM_READ."""
STRATEGY: Final = ("consumer_group", "strategy")
PLACE: Final = ("consumer_group", "topic", "broker_name")
FINDING: Final = ("rule", "consumer_group", "topic", "broker_name", "subjects")
"""What makes two findings the same, whatever their figures."""


def compare(before: Tables, after: Tables) -> DataFrame:
    """One row for each group and each strategy that can be run after the changes.

    A queue has moved when it is readable, of a business topic that the group reads, on both sides, and the client ids
    that own it differ: as a multiset, since equal ids are several consumers, and under POP, where clients share
    queues, as a set. A queue that nobody owns counts as owned by nobody.

    Shape: allocation, strategy_load, subscription and topic_queue of both sides -> ``ScenarioEffect``. No side's
    tables need to be of the same groups.
    """
    kept = _kept_queues(before, after)
    of_group = kept.groupBy("consumer_group").agg(F.sum("kept").alias("all_kept"))
    was = _applicable(before, "before").withColumn("was_applicable", F.lit(True))
    moved_queues = F.when(F.col("was_applicable"), F.coalesce("moved", F.lit(0)))
    return (
        _applicable(after, "after")
        .join(was, list(STRATEGY), "left")
        .join(_moved_queues(before, after, kept), list(STRATEGY), "left")
        .join(of_group, "consumer_group", "left")
        .withColumns({
            "moved_queues": moved_queues.cast("int"),
            "moved_ratio": F.try_divide(moved_queues.cast("double"), F.col("all_kept")),
        })
        .select(*ScenarioEffect.spark_schema().names)
    )


def findings_added(before: DataFrame, after: DataFrame) -> DataFrame:
    """The findings that are there after the changes and were not before. Shape: twice ``Finding`` -> ``Finding``."""
    return _only_in(after, before)


def findings_cleared(before: DataFrame, after: DataFrame) -> DataFrame:
    """The findings that were there before the changes and are not after. Shape: twice ``Finding`` -> ``Finding``."""
    return _only_in(before, after)


def _applicable(tables: Tables, side: str) -> DataFrame:
    """Groups, the strategies that can be run for them, and what each means: ``side``_idle, _count and _traffic."""
    return (
        tables[StrategyLoad]
        .where("is_applicable")
        .select(
            *STRATEGY,
            F.size("idle_clients").alias(f"{side}_idle"),
            F.col("count").alias(f"{side}_count"),
            F.col("traffic").alias(f"{side}_traffic"),
        )
    )


def _readable(tables: Tables, name: str) -> DataFrame:
    """How many queues of a topic consumers see on a broker: topic, broker_name, kind and ``name``, above 0."""
    is_readable = (F.col("perm").bitwiseAND(READ) == READ) & (F.col("read_queue_nums") > 0)
    rows = tables[TopicQueue].where(is_readable)
    return rows.select("topic", "broker_name", "kind", F.col("read_queue_nums").alias(name))


def _kept_queues(before: Tables, after: Tables) -> DataFrame:
    """How many business queues a group reads on both sides: one row a group, topic and broker; ``kept`` above 0.

    Queue ids count from 0, so that the queues on both sides are the first ones of the smaller number.
    """

    def read_by_groups(tables: Tables, name: str) -> DataFrame:
        topics = tables[Subscription].where("kind = 'BUSINESS'").select("consumer_group", "topic")
        queues = _readable(tables, name).where("kind = 'BUSINESS'").drop("kind")
        return topics.join(queues, "topic")

    on_both = read_by_groups(before, "had").join(read_by_groups(after, "has"), list(PLACE))
    return on_both.select(*PLACE, F.least("had", "has").alias("kept"))


def _moved_queues(before: Tables, after: Tables, kept: DataFrame) -> DataFrame:
    """How many of the kept queues have other owners: one row a group and strategy with any, ``moved`` above 0."""
    queue = ["strategy", *PLACE, "queue_id"]
    differ = _owners(before, "had_owners").join(_owners(after, "has_owners"), queue, "full")
    return (
        differ
        .where(~F.col("had_owners").eqNullSafe(F.col("has_owners")))
        .join(kept, list(PLACE))
        .where("queue_id < kept")
        .groupBy(*STRATEGY)
        .agg(F.count("*").alias("moved"))
    )


def _owners(tables: Tables, name: str) -> DataFrame:
    """Who owns each queue that anybody owns, as a digest: strategy, group, queue and ``name``.

    Queue -1 becomes every readable queue of its broker after the digest is made, not before: a thousand clients that
    each pop four thousand queues are one digest on four thousand rows.
    """
    ids = F.array_sort(F.collect_list("client_id"))
    owners = F.when(F.col("strategy") == POP, F.array_distinct(ids)).otherwise(ids)
    nowhere = F.array().cast("array<int>")
    popped = F.when(F.col("readable") > 0, F.sequence(F.lit(0), F.col("readable") - 1)).otherwise(nowhere)
    return (
        tables[Allocation]
        .where(F.col("strategy") != BROADCASTING)
        .groupBy("strategy", *PLACE, "queue_id")
        .agg(F.sha2(F.to_json(owners), 256).alias(name))
        .join(_readable(tables, "readable").drop("kind"), ["topic", "broker_name"], "left")
        .withColumn("queue_id", F.explode(F.when(F.col("queue_id") < 0, popped).otherwise(F.array("queue_id"))))
        .select("strategy", *PLACE, "queue_id", name)
    )


def _only_in(findings: DataFrame, others: DataFrame) -> DataFrame:
    """The findings that have no equal among the others; equal means the same rule about the same things."""
    left, right = findings.alias("left"), others.alias("right")
    is_same = F.lit(True)
    for name in FINDING:
        is_same &= F.col(f"left.{name}").eqNullSafe(F.col(f"right.{name}"))
    return left.join(right, is_same, "left_anti").select(*Finding.spark_schema().names)
