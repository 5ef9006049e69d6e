"""The stage: every group, topic and strategy in one Spark plan."""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation import avg, consistent_hash, pop
from rocketmq_capacity.allocation.applicability import (
    CONFIG,
    planned_groups,
    planned_topics,
    possible_strategies,
    strategy_status,
)
from rocketmq_capacity.allocation.fleet import ranked_members, ranked_queues
from rocketmq_capacity.allocation.machine_room_nearby import INNER, WHOLE_GROUP
from rocketmq_capacity.allocation.registry import OWNER
from rocketmq_capacity.batches import MapBatches, in_executors
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.side_by_side import side_by_side

BROADCASTING: Final = "BROADCASTING"


def as_it_is(frame: DataFrame) -> DataFrame:
    """Settle nothing: whoever uses the frame computes it."""
    return frame


def allocate(
    tables: Mapping[type[Dataset], DataFrame],
    policy: Policy,
    by: list[str] | None = None,
    settle: Callable[[DataFrame], DataFrame] = as_it_is,
    settle_status: Callable[[DataFrame], DataFrame] = as_it_is,
    map_batches: MapBatches = in_executors,
) -> DataFrame:
    """Who owns what under every applicable strategy of the policy, and what broadcasting consumers read.

    Shape: the snapshot's tables -> ``Allocation``: one row a queue and consumer. ``by`` names columns that stand in
    topic_queue, consumer, consumer_group and subscription beside the contract's and keep whole variants of the cluster
    apart (what-ifs side by side); they stand first in the result. ``settle`` gives the same frame, so that what several
    strategies start from is planned and computed once; ``settle_status`` does so with the ``StrategyStatus`` of these
    tables, for a caller who keeps it. ``map_batches`` runs Python over rows and settles what comes of them.
    """
    return _Fleet(tables, policy, by or [], settle, settle_status, map_batches).allocation()


class _Fleet:
    """The frames that the strategies share: members ranked by group, queues ranked by topic, and both joined."""

    def __init__(
        self,
        tables: Mapping[type[Dataset], DataFrame],
        policy: Policy,
        by: list[str],
        settle: Callable[[DataFrame], DataFrame],
        settle_status: Callable[[DataFrame], DataFrame],
        map_batches: MapBatches,
    ) -> None:
        self.tables, self.policy, self.by, self.map_batches = tables, policy, by, map_batches
        self.group = [*by, "consumer_group"]
        self.strategies = possible_strategies(policy)
        self.members, self.queues, self.status = side_by_side(
            lambda: settle(ranked_members(tables[contracts.Consumer], by)),
            lambda: settle(ranked_queues(tables[contracts.TopicQueue], by, policy.machine_rooms or ())),
            lambda: settle_status(strategy_status(tables, policy, by)),
        )
        self.topics = planned_topics(tables).select(
            *self.group,
            "topic",
            (F.col("kind") == "RETRY").alias("is_retry"),
            F.col("pop_share_queue_num").alias("share"),
        )
        self.columns = [*by, *contracts.Allocation.spark_schema().names]
        self.queue = [*self.group, "topic", "broker_name", "queue_id"]
        shared = [lambda: settle(self._broker_queues())]
        if consistent_hash.NAME in self.strategies:
            shared.append(self._hashed)
        self.broker_queues, *self.hashed = side_by_side(*shared)

    def allocation(self) -> DataFrame:
        """All parts of the result, of one schema."""
        parts = [lambda: self._owned_by(self._owner_indexes()), self._broadcast]
        if pop.NAME in self.strategies:
            parts.append(self._popped_by_all)
        if CONFIG in self.strategies:
            parts.append(self._configured)
        return reduce(DataFrame.unionByName, side_by_side(*parts)).select(*self.columns)

    def _broker_queues(self) -> DataFrame:
        """One row a group, topic and broker, with ranks, counts and the strategies that apply."""
        applicable = (
            self.status.where("is_applicable").groupBy(*self.group).agg(F.collect_set("strategy").alias("applicable"))
        )
        counts = self.members.groupBy(*self.group).agg(F.max("clients").alias("clients"))
        rows = (
            self.topics
            .join(self.queues, [*self.by, "topic"])
            .join(F.broadcast(applicable), self.group)
            .join(F.broadcast(counts), self.group)
        )
        if not any(name in INNER for name in self.strategies):
            return rows.withColumn("room_clients", F.lit(0))
        in_rooms = self.members.groupBy(*self.group, "room").agg(F.count("*").cast("int").alias("room_clients"))
        return rows.join(F.broadcast(in_rooms), [*self.group, "room"], "left").fillna(0, ["room_clients"])

    def _owner_indexes(self) -> DataFrame:
        """One row a queue and owner: ``group``, topic, broker_name, queue_id, strategy, scope, index.

        ``index`` is the owner's place in the sorted client ids of its scope; only the first of equal ids has owners.
        """
        rows = self.broker_queues
        for hashed in self.hashed:
            rows = rows.join(hashed, [*self.group, "topic", "broker_name"], "left")
        per_queue = rows.withColumn("queue_id", F.explode(F.sequence(F.lit(0), F.col("readable") - 1)))
        slot = per_queue.withColumns({
            "queue": F.col("rank") + F.col("queue_id"),
            "kept_queue": F.col("kept_rank") + F.col("queue_id"),
            "room_queue": F.col("room_rank") + F.col("queue_id"),
        })
        names = [name for name in self.strategies if name in OWNER]
        owners = [
            F.struct(F.lit(name).alias("strategy"), F.when(_applies(name), OWNER[name]()).alias("owner"))
            for name in names
        ]
        if pop.NAME in self.strategies:
            # A retry topic is never popped: QueryAssignmentProcessor gives it the mode PULL, whatever its group's is.
            pulled = F.when(F.col("is_retry") & _applies(pop.NAME), OWNER[avg.NAME]())
            owners.append(F.struct(F.lit(pop.NAME).alias("strategy"), pulled.alias("owner")))
        parts = []
        if owners:
            each = slot.select(*self.queue, F.inline(F.array(*owners)))
            parts.append(each.select(*self.queue, "strategy", "owner.scope", "owner.index"))
        if pop.NAME in self.strategies:
            parts.append(self._popped_in_shares(slot))
        return reduce(DataFrame.unionByName, parts).where("index IS NOT NULL")

    def _popped_in_shares(self, slot: DataFrame) -> DataFrame:
        clients, share = F.col("clients"), F.col("share")
        shared = slot.where(_applies(pop.NAME) & ~F.col("is_retry") & ~pop.pops_every_broker(share, clients))
        owner = avg.owner_index(F.col("queue"), F.col("queues"), clients)
        copies = self.members.where("index = first_index").select(*self.group, F.col("index").alias("owner"), "copies")
        indexes = pop.owner_indexes(F.col("queue"), F.col("queues"), clients, share, F.coalesce("copies", F.lit(1)))
        has_owner = F.col("copies").isNotNull() | (clients > F.col("queues"))
        return (
            shared
            .withColumn("owner", owner)
            .join(F.broadcast(copies), [*self.group, "owner"], "left")
            .where(has_owner)
            .select(
                *self.queue,
                F.lit(pop.NAME).alias("strategy"),
                F.lit(WHOLE_GROUP).alias("scope"),
                F.explode(indexes).alias("index"),
            )
        )

    def _hashed(self) -> DataFrame:
        """One row a group, topic and broker: ``hash_owners``, the owners' indexes under CONSISTENT_HASH."""
        ring = consistent_hash.rings(self.members, self.by, self.policy.consistent_hash.virtual_nodes)
        points = consistent_hash.points(self.queues, self.by)
        clustering = planned_groups(self.tables, broadcasting=False).select(*self.group)
        ringed = self.topics.join(clustering, self.group).join(points, [*self.by, "topic"]).join(ring, self.group)
        return consistent_hash.owners(ringed, [*self.group, "topic"], self.map_batches)

    def _owned_by(self, owners: DataFrame) -> DataFrame:
        """Index → consumers: every copy of the id owns the queue; one that does not read the topic takes nothing."""
        listed = self.members.select(
            *self.group,
            "client_id",
            "only_topics",
            F.lit(WHOLE_GROUP).alias("scope"),
            F.col("first_index").alias("index"),
        )
        if any(name in INNER for name in self.strategies):
            listed = listed.unionByName(
                self.members.where("room IS NOT NULL").select(
                    *self.group,
                    "client_id",
                    "only_topics",
                    F.col("room").alias("scope"),
                    F.col("first_room_index").alias("index"),
                )
            )
        return owners.join(F.broadcast(listed), [*self.group, "scope", "index"]).where(_reads()).select(*self.columns)

    def _broadcast(self) -> DataFrame:
        """Every client with every queue."""
        groups = planned_groups(self.tables, broadcasting=True).select(*self.group)
        readers = self.members.join(groups, self.group).join(self.topics, self.group).where(_reads())
        return (
            readers
            .join(self.queues, [*self.by, "topic"])
            .withColumn("queue_id", F.explode(F.sequence(F.lit(0), F.col("readable") - 1)))
            .withColumn("strategy", F.lit(BROADCASTING))
            .select(*self.columns)
        )

    def _popped_by_all(self) -> DataFrame:
        """Every client pops every broker: queue -1, as RocketMQ writes it."""
        shared = self.broker_queues.where(_applies(pop.NAME) & ~F.col("is_retry"))
        shared = shared.where(pop.pops_every_broker(F.col("share"), F.col("clients")))
        queue = shared.select(
            *self.group, "topic", "broker_name", F.lit(-1).alias("queue_id"), F.lit(pop.NAME).alias("strategy")
        )
        members = self.members.select(*self.group, "client_id", "only_topics")
        return queue.join(members, self.group).where(_reads()).select(*self.columns)

    def _configured(self) -> DataFrame:
        """The lists of the policy, unchecked, as AllocateMessageQueueByConfig returns them."""
        rows = [
            (group, client_id, queue.topic, queue.broker_name, queue.queue_id)
            for group, clients in self.policy.config_assignments.items()
            for client_id, queues in clients.items()
            for queue in queues
        ]
        names = ["consumer_group", "client_id", "topic", "broker_name", "queue_id"]
        types = ["string", "string", "string", "string", "int"]
        schema = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
        listed = self.members.sparkSession.createDataFrame(rows, schema)
        clustering = planned_groups(self.tables, broadcasting=False).select(*self.group)
        readable = self.queues.select(*self.by, "topic").distinct()
        return (
            self.members
            .join(clustering, self.group)
            .join(F.broadcast(listed), ["consumer_group", "client_id"])
            .join(self.topics, [*self.group, "topic"])
            .join(readable, [*self.by, "topic"])
            .where(_reads())
            .withColumn("strategy", F.lit(CONFIG))
            .select(*self.columns)
        )


def _applies(strategy: str) -> Column:
    return F.array_contains("applicable", strategy)


def _reads() -> Column:
    """Whether a member subscribes the topic; ``only_topics`` is null where it reads all of its group's."""
    return F.col("only_topics").isNull() | F.array_contains("only_topics", F.col("topic"))
