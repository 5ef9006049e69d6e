"""Candidate changes as variants of the cluster, all simulated in one go.

A case is one change with every group that it touches. Its variant of the snapshot holds those groups with all their
business topics; the first case, :data:`BEFORE`, changes nothing and holds every group.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, Window

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.recommendation.facts import POP, READ_WRITE, Facts, master_brokers
from rocketmq_capacity.side_by_side import side_by_side

CASE: Final = "case_id"
BEFORE: Final = "BEFORE"
EACH_AN_ID: Final = "EACH_AN_ID"
ALL_SUBSCRIBE: Final = "ALL_SUBSCRIBE"
ALL_POP: Final = "ALL_POP"
GROUP_TREATMENTS: Final = (EACH_AN_ID, ALL_SUBSCRIBE, ALL_POP)
"""Changes of a whole group, by the ``treatment`` of its case."""


@dataclass(frozen=True, slots=True)
class Cases:
    """Candidate changes of one family.

    Attributes:
        groups: the groups of each case: case_id, treatment, consumer_group.
        queues: queue counts to be set, on brokers that have the topic or not: case_id, topic, broker_name,
            read_queue_nums, write_queue_nums.
        removed: clients to be taken out: case_id, consumer_group, client_id.
    """

    groups: DataFrame
    queues: DataFrame | None = None
    removed: DataFrame | None = None


def case_id(action: str, *names: Column) -> Column:
    """The key of a case; names cannot run into one another."""
    return F.concat(F.lit(action), F.to_json(F.array(*(name.cast("string") for name in names))))


def topic_cases(facts: Facts, queues: DataFrame) -> Cases:
    """Cases that change queue counts (as ``Cases.queues``): each with every group that has clients on its topic."""
    changed = queues.select(CASE, "topic").distinct()
    groups = (
        facts
        .tables[contracts.Subscription]
        .where("kind = 'BUSINESS'")
        .select("consumer_group", "topic")
        .join(facts.clustering().where("connections > 0").select("consumer_group"), "consumer_group")
        .join(changed, "topic")
        .select(CASE, F.lit("QUEUES").alias("treatment"), "consumer_group")
        .distinct()
    )
    columns = (CASE, "topic", "broker_name", "read_queue_nums", "write_queue_nums")
    return Cases(groups, queues=queues.select(*columns))


def group_cases(treatment: str, groups: DataFrame) -> Cases:
    """One case for each group of the frame."""
    return Cases(
        groups.select(
            case_id(treatment, F.col("consumer_group")).alias(CASE),
            F.lit(treatment).alias("treatment"),
            "consumer_group",
        )
    )


def variants(facts: Facts, families: Iterable[Cases]) -> tuple[Mapping[type[Dataset], DataFrame], DataFrame]:
    """The snapshot tables of all cases side by side, and the groups of each case.

    Shape: -> topic_queue, consumer, consumer_group and subscription with ``case_id``; case_id, consumer_group.
    """
    families = list(families)
    before = (
        facts
        .clustering()
        .where("connections > 0")
        .select(F.lit(BEFORE).alias(CASE), F.lit(BEFORE).alias("treatment"), "consumer_group")
    )
    groups = reduce(DataFrame.unionByName, (before, *(family.groups for family in families)))
    groups = facts.settle(groups)
    subscription = facts.settle(_subscriptions(facts, groups))
    queues = [family.queues for family in families if family.queues is not None]
    removed = [family.removed for family in families if family.removed is not None]
    group, consumer, topic_queue = side_by_side(
        lambda: facts.settle(_groups(facts, groups)),
        lambda: facts.settle(_consumers(facts, groups, removed)),
        lambda: facts.settle(_topic_queues(facts, subscription, queues)),
    )
    frames = {
        contracts.Subscription: subscription,
        contracts.ConsumerGroup: group,
        contracts.Consumer: consumer,
        contracts.TopicQueue: topic_queue,
    }
    return frames, groups.select(CASE, "consumer_group")


def _subscriptions(facts: Facts, groups: DataFrame) -> DataFrame:
    """The business subscriptions of each case's groups; retry topics weigh nothing and are left out."""
    names = contracts.Subscription.spark_schema().names
    popped = F.col("treatment") == ALL_POP
    share = facts.policy.thresholds.SWITCH_TO_POP.pop_share_queue_num
    return (
        facts
        .tables[contracts.Subscription]
        .where("kind = 'BUSINESS'")
        .join(groups, "consumer_group")
        .withColumn("pop_share_queue_num", F.when(popped, share).otherwise(F.col("pop_share_queue_num")))
        .withColumn("message_request_mode", F.when(popped, POP).otherwise(F.col("message_request_mode")))
        .select(CASE, *names)
    )


def _groups(facts: Facts, groups: DataFrame) -> DataFrame:
    names = contracts.ConsumerGroup.spark_schema().names
    mode = F.when(F.col("treatment") == ALL_POP, POP).otherwise(F.col("message_request_mode"))
    return (
        facts
        .tables[contracts.ConsumerGroup]
        .join(groups, "consumer_group")
        .withColumn("message_request_mode", mode)
        .select(CASE, *names)
    )


def _consumers(facts: Facts, groups: DataFrame, removed: list[DataFrame]) -> DataFrame:
    names = contracts.Consumer.spark_schema().names
    copy = F.row_number().over(Window.partitionBy(CASE, "consumer_group", "client_id").orderBy("consumer_index"))
    # Which ids the copies will get is not known; any that differ show what their queues will be.
    own_id = F.when((F.col("treatment") == EACH_AN_ID) & (F.col("copy") > 1), F.concat("client_id", F.lit("#"), "copy"))
    consumers = (
        facts
        .tables[contracts.Consumer]
        .join(groups, "consumer_group")
        .withColumn("copy", copy)
        .withColumn("client_id", F.coalesce(own_id, "client_id"))
        .withColumn("only_topics", F.when(F.col("treatment") != ALL_SUBSCRIBE, F.col("only_topics")))
        .select(CASE, *names)
    )
    if not removed:
        return consumers
    return consumers.join(reduce(DataFrame.unionByName, removed), [CASE, "consumer_group", "client_id"], "left_anti")


def _topic_queues(facts: Facts, subscription: DataFrame, queues: list[DataFrame]) -> DataFrame:
    names = contracts.TopicQueue.spark_schema().names
    as_it_is = (
        subscription
        .select(CASE, "topic")
        .distinct()
        .join(facts.tables[contracts.TopicQueue], "topic")
        .withColumn("is_there", F.lit(True))
    )
    if not queues:
        return as_it_is.select(CASE, *names)
    changes = reduce(DataFrame.unionByName, queues).select(
        CASE,
        "topic",
        "broker_name",
        F.col("read_queue_nums").alias("new_read"),
        F.col("write_queue_nums").alias("new_write"),
    )
    rooms = master_brokers(facts.tables).select("broker_name", F.col("room").alias("broker_room"))
    key = [CASE, "topic", "broker_name"]
    is_untouched = F.col("is_there") & F.col("new_read").isNull()
    return (
        as_it_is
        .join(changes, key, "full")
        .join(F.broadcast(rooms), "broker_name", "left")
        .select(
            *key,
            F.coalesce("new_read", "read_queue_nums").alias("read_queue_nums"),
            F.coalesce("new_write", "write_queue_nums").alias("write_queue_nums"),
            F.when(is_untouched, F.col("perm")).otherwise(F.coalesce("perm", F.lit(READ_WRITE))).alias("perm"),
            F.coalesce("room", "broker_room").alias("room"),
            F.coalesce("kind", F.lit("BUSINESS")).alias("kind"),
            F.coalesce("broker_state", F.lit("MASTER")).alias("broker_state"),
            F.coalesce("has_answered", F.lit(True)).alias("has_answered"),
        )
        .select(CASE, *names)
    )
