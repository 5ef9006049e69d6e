"""Loads of every client under every strategy, and what each strategy means for a group."""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, Window

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment import skew
from rocketmq_capacity.contracts.dataset import Dataset

QUEUE: Final = ("topic", "broker_name", "queue_id")
POP: Final = "POP"
BROADCASTING: Final = "BROADCASTING"
LOADS: Final = ("count", "traffic", "lag")


def java_sorted(names: Column) -> Column:
    """The distinct strings of a group as an array in Java's order (UTF-16 code units)."""
    pair = F.struct(F.encode(names, "UTF-16BE").alias("order"), names.alias("name"))
    pairs = F.array_sort(F.collect_set(F.when(names.isNotNull(), pair)))
    return F.transform(pairs, lambda pair: pair["name"])


def readable_queues(topic_queue: DataFrame) -> DataFrame:
    """One row a readable queue of a business topic: topic_queue's columns and ``queue_id``."""
    is_readable = (F.col("perm").bitwiseAND(4) == 4) & (F.col("read_queue_nums") > 0) & (F.col("kind") == "BUSINESS")
    ids = F.explode(F.sequence(F.lit(0), F.col("read_queue_nums") - 1)).alias("queue_id")
    return topic_queue.where(is_readable).select("*", ids)


def weighed_queues(tables: Mapping[type[Dataset], DataFrame], by: list[str]) -> DataFrame:
    """The readable business queues of each clustering group, with what each weighs.

    Shape: snapshot tables -> one row a group and queue: ``by``, consumer_group, topic, broker_name, queue_id,
    msgs_per_s and lag (null where unknown), perm, broker_state, message_request_mode.
    """
    topics = tables[contracts.Subscription].where("kind = 'BUSINESS'")
    rates = tables[contracts.QueueOffset].select(*QUEUE, F.col("put_msgs_per_s").alias("msgs_per_s"))
    lags = tables[contracts.GroupOffset].select("consumer_group", *QUEUE, "lag")
    return (
        topics
        .select(*by, "consumer_group", "topic", "message_request_mode")
        .join(readable_queues(tables[contracts.TopicQueue]), [*by, "topic"])
        .join(rates, list(QUEUE), "left")
        .join(lags, ["consumer_group", *QUEUE], "left")
        .select(*by, "consumer_group", *QUEUE, "msgs_per_s", "lag", "perm", "broker_state", "message_request_mode")
    )


def owned_queues(allocation: DataFrame, queues: DataFrame, by: list[str]) -> DataFrame:
    """Each business queue that a client id owns under a strategy, once; queue -1 spelled out, weights beside it.

    A queue that does not exist (CONFIG) stays, with unknown weights.
    """
    key = [*by, "consumer_group", "topic", "broker_name"]
    is_business = ~F.col("topic").rlike("^%(RETRY|DLQ|LMQ)%")  # RocketMQ's own topics are not allocated at all
    rows = allocation.where((F.col("strategy") != BROADCASTING) & is_business)
    rows = rows.select(*by, "strategy", "consumer_group", *QUEUE, "client_id").distinct()
    weights = queues.select(*key, "queue_id", "msgs_per_s", "lag")
    single = rows.where("queue_id >= 0").join(weights, [*key, "queue_id"], "left")
    every = rows.where("queue_id < 0").drop("queue_id").join(weights, key)
    return single.unionByName(every).withColumn("is_popped", F.col("strategy") == POP)


def client_loads(
    tables: Mapping[type[Dataset], DataFrame], status: DataFrame, owned: DataFrame, by: list[str] | None = None
) -> DataFrame:
    """Every distinct client id of a group under every applicable strategy; idle ones with zeros.

    Shape: -> ``by`` and ``ClientLoad``. A sum that holds an unknown part is unknown.
    """
    key = [*(by or []), "consumer_group", "strategy", "client_id"]
    sums = owned.groupBy(*key).agg(
        F.count("*").alias("queues"), _sum_if_known("msgs_per_s"), _sum_if_known("lag"), F.lit(True).alias("owns")
    )
    clients = tables[contracts.Consumer].select(*(by or []), "consumer_group", "client_id").distinct()
    every = status.where("is_applicable").select(*(by or []), "consumer_group", "strategy")
    return (
        every
        .join(clients, [*(by or []), "consumer_group"])
        .join(sums, key, "left")
        .select(
            *key,
            F.coalesce("queues", F.lit(0)).cast("long").alias("queues"),
            F.when(F.col("owns"), F.col("msgs_per_s")).otherwise(F.lit(0.0)).alias("msgs_per_s"),
            F.when(F.col("owns"), F.col("lag")).otherwise(F.lit(0)).cast("long").alias("lag"),
        )
    )


def strategy_loads(
    tables: Mapping[type[Dataset], DataFrame],
    status: DataFrame,
    queues: DataFrame,
    owned: DataFrame,
    loads: DataFrame,
    by: list[str] | None = None,
) -> DataFrame:
    """What each strategy means for each group. Shape: -> ``by`` and ``StrategyLoad``.

    Queues that are popped (``owned.is_popped``) may have several readers: that is what POP means.
    """
    group = [*(by or []), "consumer_group"]
    key = [*group, "strategy"]
    idle = loads.groupBy(*key).agg(java_sorted(F.when(F.col("queues") == 0, F.col("client_id"))).alias("idle_clients"))
    skewed = (
        skew
        .with_metrics(_vectors(loads, queues, group), [*key, "load"])
        .groupBy(*key)
        .agg(*(F.max_by("metrics", F.when(F.col("load") == name, 1)).alias(name) for name in LOADS))
    )
    nothing = F.array().cast("array<struct<topic:string,broker_name:string,queue_id:int>>")
    return (
        status
        .join(idle, key, "left")
        .join(skewed, key, "left")
        .join(_orphans(status, queues, owned, group), key, "left")
        .join(_doubly_owned(tables, owned, group), key, "left")
        .select(
            *key,
            "is_applicable",
            "reason",
            F.coalesce("idle_clients", F.array().cast("array<string>")).alias("idle_clients"),
            F.coalesce("orphan_queues", nothing).alias("orphan_queues"),
            F.coalesce("doubly_owned_queues", nothing).alias("doubly_owned_queues"),
            "count",
            "traffic",
            "lag",
        )
    )


def _vectors(loads: DataFrame, queues: DataFrame, group: list[str]) -> DataFrame:
    """One row a group, strategy, client and load: ``x``, and ``least_max``, what the busiest must at least bear.

    That is ceil(queues / clients) for the count, and for a weighted load the heavier of the heaviest queue and an even
    share (the bound of longest-processing-time scheduling); null where a part of the load is unknown. ``even`` is what
    FLOOR divides it by: queues / clients, whoever owns them; null, the mean, for a weighted load.
    """
    clients = F.count("*").over(Window.partitionBy(*group, "strategy"))
    whole = queues.groupBy(*group).agg(
        F.count("*").alias("all_queues"),
        *(_sum_if_known(name, f"all_{name}") for name in ("msgs_per_s", "lag")),
        F.max("msgs_per_s").alias("max_msgs_per_s"),
        F.max("lag").alias("max_lag"),
    )

    def load(name: str, x: str, least_max: Column, even: Column) -> Column:
        values = {"x": F.col(x), "least_max": least_max, "even": even}
        return F.struct(
            F.lit(name).alias("load"), *(value.cast("double").alias(column) for column, value in values.items())
        )

    def weighted(name: str) -> Column:
        return F.when(
            F.col(f"all_{name}").isNotNull(), F.greatest(F.col(f"max_{name}"), F.col(f"all_{name}") / F.col("clients"))
        )

    share = F.col("all_queues") / F.col("clients")
    return (
        loads
        .withColumn("clients", clients)
        .join(whole, group)
        .select(
            *group,
            "strategy",
            "client_id",
            F.inline(
                F.array(
                    load("count", "queues", F.ceil(share), share),
                    load("traffic", "msgs_per_s", weighted("msgs_per_s"), F.lit(None)),
                    load("lag", "lag", weighted("lag"), F.lit(None)),
                )
            ),
        )
    )


def _sum_if_known(name: str, alias: str | None = None) -> Column:
    """The sum of a column, null where any part of it is null."""
    return F.when(F.count(name) == F.count("*"), F.sum(name)).alias(alias or name)


def _orphans(status: DataFrame, queues: DataFrame, owned: DataFrame, group: list[str]) -> DataFrame:
    """Readable business queues that nobody owns."""
    slots = status.where("is_applicable").select(*group, "strategy").join(queues.select(*group, *QUEUE), group)
    free = slots.join(owned.select(*group, "strategy", *QUEUE), [*group, "strategy", *QUEUE], "left_anti")
    return free.groupBy(*group, "strategy").agg(F.sort_array(F.collect_list(F.struct(*QUEUE))).alias("orphan_queues"))


def _doubly_owned(tables: Mapping[type[Dataset], DataFrame], owned: DataFrame, group: list[str]) -> DataFrame:
    """Queues that more than one consumer reads; under POP that is what is meant, so it is not counted."""
    copies = tables[contracts.Consumer].groupBy(*group, "client_id").agg(F.count("*").alias("copies"))
    readers = (
        owned
        .where("NOT is_popped")
        .join(copies, [*group, "client_id"])
        .groupBy(*group, "strategy", *QUEUE)
        .agg(F.sum("copies").alias("consumers"))
    )
    return (
        readers
        .where("consumers > 1")
        .groupBy(*group, "strategy")
        .agg(F.sort_array(F.collect_list(F.struct(*QUEUE))).alias("doubly_owned_queues"))
    )
