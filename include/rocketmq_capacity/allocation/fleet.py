"""What every strategy starts from: consumers and queues in Java's order, ranked once for the whole fleet."""

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, Window, WindowSpec

from rocketmq_capacity.allocation import machine_room


def java_order(name: str) -> Column:
    """Sort key of a string column: UTF-16 code units, as ``String.compareTo``; the string itself sorts otherwise."""
    return F.encode(F.col(name), "UTF-16BE")


def ranked_members(consumer: DataFrame, by: list[str]) -> DataFrame:
    """The group's client ids in rebalance order, equal ones kept.

    Shape: consumers -> one row a consumer: ``by``, consumer_group, client_id, only_topics, room; ``index`` its place
    in the sorted list, ``first_index`` the place of the first equal id (what ``List.indexOf`` finds),
    ``first_room_index`` the same in the list of its room, ``clients`` the list's length, ``copies`` how often the id
    stands.
    Source: RebalanceImpl.rebalanceByTopic, rocketmq-all-5.3.3.
    """
    group = Window.partitionBy(*by, "consumer_group")
    room = Window.partitionBy(*by, "consumer_group", "room")
    ordered = group.orderBy(java_order("client_id"))
    return consumer.select(
        *by,
        "consumer_group",
        "client_id",
        "only_topics",
        "room",
        (F.row_number().over(ordered) - 1).alias("index"),
        (F.rank().over(ordered) - 1).alias("first_index"),
        (F.rank().over(room.orderBy(java_order("client_id"))) - 1).alias("first_room_index"),
        F.count("*").over(group).cast("int").alias("clients"),
        F.count("*").over(Window.partitionBy(*by, "consumer_group", "client_id")).cast("int").alias("copies"),
    )


def only_readable(topic_queue: DataFrame) -> DataFrame:
    """The rows whose queues consumers see: perm & 4 and at least one read queue; no check that a master is alive.

    Source: MQClientInstance.topicRouteData2TopicSubscribeInfo, rocketmq-all-5.3.3.
    """
    return topic_queue.where((F.col("perm").bitwiseAND(4) == 4) & (F.col("read_queue_nums") > 0))


def ranked_queues(topic_queue: DataFrame, by: list[str], machine_rooms: tuple[str, ...]) -> DataFrame:
    """The readable queues of each topic by broker, with their ranks in rebalance order (topic, brokerName, queueId).

    Shape: topic_queue -> one row a topic and broker with readable queues: ``by``, topic, broker_name, room,
    ``readable`` its queues, ``rank`` the rank of its queue 0, ``queues`` of the topic; ``kept_rank``/``kept_queues``
    the same over the brokers that MACHINE_ROOM sees (null elsewhere), ``room_rank``/``room_queues`` over its room.
    Source: MessageQueue.compareTo, rocketmq-all-5.3.3.
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

    return only_readable(topic_queue).select(
        *by,
        "topic",
        "broker_name",
        "room",
        read.alias("readable"),
        rank(read, topic).alias("rank"),
        F.sum(read).over(topic).cast("int").alias("queues"),
        F.when(is_kept, rank(kept, topic)).alias("kept_rank"),
        F.sum(kept).over(topic).cast("int").alias("kept_queues"),
        rank(read, room).alias("room_rank"),
        F.sum(read).over(room).cast("int").alias("room_queues"),
    )
