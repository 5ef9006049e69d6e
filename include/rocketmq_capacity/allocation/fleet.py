"""What every strategy starts from: a row a group, with its consumers and its topics' queues in Java's order."""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, Window, WindowSpec

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation import machine_room
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset

CLUSTERING: Final = "CLUSTERING"
BROADCASTING: Final = "BROADCASTING"


def fleet_of(tables: Mapping[type[Dataset], DataFrame], policy: Policy, by: list[str] | None = None) -> DataFrame:
    """The business groups, ranked once; lists in a row spare every strategy the joins.

    Shape: the snapshot's tables -> one row a group: ``by``, consumer_group, is_broadcasting, is_orderly, the columns of
    :func:`_consumers` and :func:`_topics`, which are null where the group has none.
    ``by`` names columns that stand in topic_queue, consumer, consumer_group and subscription beside the contract's and
    keep whole variants of the cluster apart (what-ifs side by side).
    """
    by = by or []
    group = [*by, "consumer_group"]
    model = F.coalesce("message_model", F.lit(CLUSTERING))  # RocketMQ's default
    return (
        tables[contracts.ConsumerGroup]
        .where(F.col("kind") == "BUSINESS")
        .select(*group, (model == BROADCASTING).alias("is_broadcasting"), "is_orderly")
        .join(_consumers(tables[contracts.Consumer], group).hint("shuffle_hash"), group, "left")
        .join(_topics(tables, policy, by).hint("shuffle_hash"), group, "left")
    )


def java_order(name: str) -> Column:
    """Sort key of a string column: UTF-16 code units, as ``String.compareTo``; the string itself sorts otherwise."""
    return F.encode(F.col(name), "UTF-16BE")


def _consumers(consumer: DataFrame, group: list[str]) -> DataFrame:
    """The client ids of each group in rebalance order, equal ones kept.

    Shape: consumers -> one row a group: ``group``; lists by place: ``client_ids``, ``client_rooms``, ``only_topics``
    (null where every consumer reads all topics of the group) and ``copies`` (null where no id stands twice);
    ``consumer_without_room``, the first that has none.

    ``copies`` counts the consumers that take what falls to a place: ``List.indexOf`` finds the first of equal ids, so
    that all of them take what is the first one's and nobody what is a later one's (0).
    Source: RebalanceImpl.rebalanceByTopic, rocketmq-all-5.3.3.
    """
    entry = F.struct(java_order("client_id").alias("order"), "client_id", "room", "only_topics")
    listed = consumer.groupBy(*group).agg(
        F.sort_array(F.collect_list(entry)).alias("listed"),
        F.count("only_topics").alias("with_own_topics"),
        _first_without_room("client_id").alias("without_room"),
    )
    return listed.select(
        *group,
        F.col("listed.client_id").alias("client_ids"),
        F.col("listed.room").alias("client_rooms"),
        F.when(F.col("with_own_topics") > 0, F.col("listed.only_topics")).alias("only_topics"),
        _copies(F.col("listed")).alias("copies"),
        F.col("without_room.name").alias("consumer_without_room"),
    )


def _copies(listed: Column) -> Column:
    ids = listed["client_id"]

    def here(entry: Column, place: Column) -> Column:
        # By the list itself: Spark would draw the list of ids out of it anew for every place.
        own_id = entry["client_id"]
        equal = F.size(F.filter(listed, lambda other: other["client_id"] == own_id))
        return (
            F
            .when(F.get(listed, place - 1)["client_id"] == own_id, 0)
            .when(F.get(listed, place + 1)["client_id"] == own_id, equal)
            .otherwise(1)
        )

    return F.when(F.size(F.array_distinct(ids)) < F.size(ids), F.transform(listed, here))


def _first_without_room(name: str) -> Column:
    """An aggregate: struct<order, name> of the first in Java's order whose room is null, or null."""
    return F.min(F.when(F.col("room").isNull(), F.struct(java_order(name).alias("order"), F.col(name).alias("name"))))


def _topics(tables: Mapping[type[Dataset], DataFrame], policy: Policy, by: list[str]) -> DataFrame:
    """The topics that each group allocates: those with readable queues, without RocketMQ's own and excluded ones.

    Shape: subscription and topic_queue -> one row a group: ``by``, consumer_group; topics: array<struct<topic,
    is_retry, share int, queues int, kept_queues int, brokers>>, where ``share`` is POP's number and the rest is of
    :func:`_brokers`; ``broker_without_room``, the first of them all that has none.
    """
    planned = tables[contracts.Subscription].where(~F.col("kind").isin("SYSTEM", "EXCLUDED"))
    brokers = _brokers(tables[contracts.TopicQueue], by, policy.machine_rooms or ())
    is_retry = (F.col("kind") == "RETRY").alias("is_retry")
    entry = F.struct("topic", is_retry, F.col("pop_share_queue_num").alias("share"), "queues", "kept_queues", "brokers")
    return (
        planned
        .join(brokers, [*by, "topic"])
        .groupBy(*by, "consumer_group")
        .agg(F.collect_list(entry).alias("topics"), F.min("without_room")["name"].alias("broker_without_room"))
    )


def _brokers(topic_queue: DataFrame, by: list[str], machine_rooms: tuple[str, ...]) -> DataFrame:
    """The readable queues of each topic by broker, with their ranks in rebalance order (topic, brokerName, queueId).

    Readable: perm & 4 and at least one read queue; nobody checks that a master is alive.

    Shape: topic_queue -> one row a topic: ``by``, topic, ``queues`` of the topic and ``kept_queues`` of the brokers
    that MACHINE_ROOM sees; ``without_room``, struct<order, name> of the first broker that has none; brokers in order:
    array<struct<rank, broker_name, room, readable, kept_rank, room_rank, room_queues>>. ``rank`` is that of the
    broker's queue 0, ``kept_rank`` the same over the brokers that MACHINE_ROOM sees (null elsewhere), ``room_rank`` and
    ``room_queues`` over the broker's room.
    Source: MQClientInstance.topicRouteData2TopicSubscribeInfo, MessageQueue.compareTo, rocketmq-all-5.3.3.
    """
    read = F.col("read_queue_nums")
    is_kept = machine_room.is_kept(F.col("broker_name"), machine_rooms) if machine_rooms else F.lit(False)
    topic = Window.partitionBy(*by, "topic")
    room = Window.partitionBy(*by, "topic", "room")
    before = (Window.unboundedPreceding, Window.currentRow)
    kept = F.when(is_kept, read).otherwise(0)

    def rank(readable: Column, scope: WindowSpec) -> Column:
        running = F.sum(readable).over(scope.orderBy(java_order("broker_name")).rowsBetween(*before))
        return (running - readable).cast("int")

    ranked = topic_queue.where((F.col("perm").bitwiseAND(4) == 4) & (read > 0)).select(
        *by,
        "topic",
        "broker_name",
        "room",
        read.alias("readable"),
        kept.alias("kept"),
        F.struct(
            rank(read, topic).alias("rank"),
            "broker_name",
            "room",
            read.alias("readable"),
            F.when(is_kept, rank(kept, topic)).alias("kept_rank"),
            rank(read, room).alias("room_rank"),
            F.sum(read).over(room).cast("int").alias("room_queues"),
        ).alias("broker"),
    )
    return ranked.groupBy(*by, "topic").agg(
        F.sum("readable").cast("int").alias("queues"),
        F.sum("kept").cast("int").alias("kept_queues"),
        _first_without_room("broker_name").alias("without_room"),
        F.sort_array(F.collect_list("broker")).alias("brokers"),
    )
