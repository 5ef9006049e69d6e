"""The stage: every group, topic and strategy in one Spark plan."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation import avg, consistent_hash, pop
from rocketmq_capacity.allocation.applicability import CONFIG, possible_strategies, reason
from rocketmq_capacity.allocation.fleet import BROADCASTING
from rocketmq_capacity.allocation.machine_room_nearby import sorted_by_room, where_room_stands
from rocketmq_capacity.allocation.registry import OWNER
from rocketmq_capacity.batches import MapBatches, in_executors
from rocketmq_capacity.config import Policy

EVERY_QUEUE: Final = -1
"""The queue id that RocketMQ writes where a consumer pops all queues of a broker."""


def allocate(
    fleet: DataFrame, policy: Policy, by: list[str] | None = None, map_batches: MapBatches = in_executors
) -> DataFrame:
    """Who owns what under every applicable strategy of the policy, and what broadcasting consumers read.

    Shape: ``fleet_of`` the snapshot's tables -> ``Allocation``: one row a queue and consumer, after the columns ``by``
    that the fleet was made with. ``map_batches`` runs Python over rows.
    """
    group = [*(by or []), "consumer_group"]
    strategies = possible_strategies(policy)
    reads = _reading(fleet, policy, group, strategies)
    hashed = reads
    if consistent_hash.NAME in strategies:
        owners = consistent_hash.owners(fleet, group, policy.consistent_hash.virtual_nodes, map_batches)
        hashed = reads.join(F.broadcast(owners), [*group, "topic"], "left")
    columns = [*(by or []), *contracts.Allocation.spark_schema().names]
    queue = [*group, "topic", "broker_name"]
    allocation = (
        _slots(hashed)
        .select(*queue, "client_ids", "takers", F.inline(F.array(*_shares(strategies))))
        .select(*queue, "queue_id", "strategy", "client_ids", "takers", F.explode("places").alias("place"))
        .where("place IS NOT NULL")
        .select(
            *queue,
            "queue_id",
            "strategy",
            F.explode(_takers_of(F.pmod("place", F.size("client_ids")))).alias("client_id"),
        )
        .select(*columns)
    )
    return allocation.unionByName(_configured(reads, policy, columns)) if CONFIG in strategies else allocation


def _reading(fleet: DataFrame, policy: Policy, group: list[str], strategies: list[str]) -> DataFrame:
    """One row a group and topic, with who takes what falls to each place.

    Shape: a row a group -> ``group``, the topic's columns, ``client_ids``, ``copies``, ``takers`` (:func:`_takers`);
    ``rooms`` and ``room_places``, the places room by room; ``applies``, a struct of a boolean by strategy;
    ``is_broadcasting``.
    """
    applies = [(~F.col("is_broadcasting") & reason(name, policy).isNull()).alias(name) for name in strategies]
    kept = [*group, "is_broadcasting", "client_ids", "only_topics", "copies"]
    of_rooms = [F.col("by_room.room").alias("rooms"), F.col("by_room.place").alias("room_places")]
    return (
        fleet
        .where("client_ids IS NOT NULL AND topics IS NOT NULL")
        .withColumns({"applies": F.struct(*applies), "by_room": sorted_by_room(F.col("client_rooms"))})
        .select(*kept, "applies", *of_rooms, F.inline("topics"))
        .withColumn("takers", _takers())
        .drop("only_topics")
    )


def _takers() -> Column:
    """At each place the ids of its copies that subscribe the topic; null where each id stands once and reads all."""
    client_ids, only_topics, copies = F.col("client_ids"), F.col("only_topics"), F.col("copies")

    def reader(client_id: Column, topics: Column) -> Column:
        return F.when(topics.isNull() | F.array_contains(topics, F.col("topic")), client_id)

    def of_each(client_id: Column, place: Column) -> Column:
        times = F.coalesce(F.get(copies, place), F.lit(1))
        equal_ids = F.array_repeat(client_id, times)
        readers = F.array_compact(F.zip_with(equal_ids, F.slice(only_topics, place + 1, times), reader))
        return F.when(only_topics.isNull(), equal_ids).otherwise(readers)

    return F.when(only_topics.isNotNull() | copies.isNotNull(), F.transform(client_ids, of_each))


def _takers_of(place: Column) -> Column:
    return F.coalesce(F.get("takers", place), F.array(F.get("client_ids", place)))


def _slots(reads: DataFrame) -> DataFrame:
    """One row a group and queue: what the strategies are functions of.

    Shape: :func:`_reading` -> its columns, the broker's, ``queue_id``, and ``queue``, ``kept_queue``, ``room_queue``:
    the queue's rank in the topic, over the brokers that MACHINE_ROOM sees, and in its room; ``clients``, how many
    consumers there are; ``in_room``, where those of the broker's room stand in ``room_places``.
    """
    in_room = where_room_stands(F.col("rooms"), F.col("room"))
    by_broker = reads.select("*", F.inline("brokers")).withColumn("in_room", in_room)
    by_queue = by_broker.select("*", F.explode(F.sequence(F.lit(0), F.col("readable") - 1)).alias("queue_id"))
    return by_queue.withColumns({
        "queue": F.col("rank") + F.col("queue_id"),
        "kept_queue": F.col("kept_rank") + F.col("queue_id"),
        "room_queue": F.col("room_rank") + F.col("queue_id"),
        "clients": F.size("client_ids"),
    })


def _shares(strategies: list[str]) -> list[Column]:
    """Of a slot: struct<strategy string, queue_id int, places array<int>>, the places of those who share the queue."""
    queue_id, everyone = F.col("queue_id"), F.sequence(F.lit(0), F.col("clients") - 1)

    def share(strategy: str, applies: Column, queue_id: Column, places: Column) -> Column:
        return F.struct(
            F.lit(strategy).alias("strategy"), queue_id.alias("queue_id"), F.when(applies, places).alias("places")
        )

    shares = [share(BROADCASTING, F.col("is_broadcasting"), queue_id, everyone)]
    shares += [
        share(name, F.col("applies")[name], queue_id, F.array(OWNER[name]())) for name in strategies if name in OWNER
    ]
    if pop.NAME in strategies:
        applies, is_retry = F.col("applies")[pop.NAME], F.col("is_retry")
        pops_all = pop.pops_every_broker(F.col("share"), F.col("clients"))
        some = pop.owner_places(F.col("queue"), F.col("queues"), F.col("clients"), F.col("share"), F.col("copies"))
        # A retry topic is never popped: QueryAssignmentProcessor gives it the mode PULL, whatever its group's is.
        pulled_or_some = F.when(is_retry, F.array(OWNER[avg.NAME]())).when(~pops_all, some)
        shares.append(share(pop.NAME, applies, queue_id, pulled_or_some))
        is_first = queue_id == 0
        shares.append(share(pop.NAME, applies & ~is_retry & pops_all & is_first, F.lit(EVERY_QUEUE), everyone))
    return shares


def _configured(reads: DataFrame, policy: Policy, columns: list[str]) -> DataFrame:
    """The lists of the policy, unchecked, as AllocateMessageQueueByConfig returns them."""
    rows = [
        (group, client_id, queue.topic, queue.broker_name, queue.queue_id)
        for group, clients in policy.config_assignments.items()
        for client_id, queues in clients.items()
        for queue in queues
    ]
    schema = "consumer_group string, client_id string, topic string, broker_name string, queue_id int"
    listed = reads.sparkSession.createDataFrame(rows, schema)
    return (
        reads
        .where(F.col("applies")[CONFIG])
        .withColumn("client_id", F.explode(F.coalesce(F.flatten("takers"), F.col("client_ids"))))
        .join(F.broadcast(listed), ["consumer_group", "client_id", "topic"])
        .withColumn("strategy", F.lit(CONFIG))
        .select(*columns)
    )
