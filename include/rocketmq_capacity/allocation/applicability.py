"""Which strategies RocketMQ could run for a group; what it throws on is not applicable, with its reason."""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation import machine_room, machine_room_nearby, pop
from rocketmq_capacity.allocation.fleet import java_order, only_readable
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset

CONFIG: Final = "CONFIG"


def possible_strategies(policy: Policy) -> list[str]:
    """The strategies of the policy that some group can run; the others lack what the policy would have to say."""
    lacking = {
        machine_room.NAME: policy.machine_rooms is None,
        CONFIG: not policy.config_assignments,
        **dict.fromkeys(machine_room_nearby.INNER, policy.rooms is None),
    }
    return [name for name in policy.strategies if not lacking.get(name, False)]


def planned_groups(tables: Mapping[type[Dataset], DataFrame], *, broadcasting: bool) -> DataFrame:
    """The business groups that broadcast, or those that do not (an unknown model is RocketMQ's default, clustering)."""
    model = F.coalesce(F.col("message_model"), F.lit("CLUSTERING"))
    is_wanted = (model == "BROADCASTING") == F.lit(broadcasting)
    return tables[contracts.ConsumerGroup].where((F.col("kind") == "BUSINESS") & is_wanted)


def planned_topics(tables: Mapping[type[Dataset], DataFrame]) -> DataFrame:
    """The subscriptions that are allocated: all but RocketMQ's own topics and what the policy excludes."""
    return tables[contracts.Subscription].where(~F.col("kind").isin("SYSTEM", "EXCLUDED"))


def strategy_status(
    tables: Mapping[type[Dataset], DataFrame], policy: Policy, by: list[str] | None = None
) -> DataFrame:
    """Shape: the snapshot's tables -> ``by`` and ``StrategyStatus``: a row for each clustering group and strategy."""
    group = [*(by or []), "consumer_group"]
    queues = (
        planned_topics(tables)
        .select(*group, "topic")
        .join(only_readable(tables[contracts.TopicQueue]), [*(by or []), "topic"])
    )
    status = (
        planned_groups(tables, broadcasting=False)
        .select(*group, "is_orderly")
        .join(queues.groupBy(*group).agg(_first_without_room("broker_name").alias("queues")), group, "left")
        .join(
            tables[contracts.Consumer].groupBy(*group).agg(_first_without_room("client_id").alias("clients")),
            group,
            "left",
        )
    )
    reasons = F.array(
        *(F.struct(F.lit(name).alias("strategy"), _reason(name, policy).alias("reason")) for name in policy.strategies)
    )
    return status.select(*group, F.inline(reasons)).select(
        *group, "strategy", F.col("reason").isNull().alias("is_applicable"), "reason"
    )


def _first_without_room(name: str) -> Column:
    """A struct that is null where there are no rows; its member is null where every name has a machine room."""
    roomless = F.when(F.col("room").isNull(), F.struct(java_order(name).alias("order"), F.col(name).alias("name")))
    return F.struct(F.min(roomless)["name"].alias("without_room"))


def _reason(strategy: str, policy: Policy) -> Column:
    """Why RocketMQ would throw, or null."""
    return F.coalesce(
        F.when(F.col("clients").isNull(), F.lit("the group has no clients (cidAll is null or cidAll empty)")),
        F.when(
            F.col("queues").isNull(), F.lit("none of its topics has a readable queue (mqAll is null or mqAll empty)")
        ),
        _own_reason(strategy, policy),
    )


def _own_reason(strategy: str, policy: Policy) -> Column:
    none = F.lit(None).cast("string")
    if strategy == machine_room.NAME and policy.machine_rooms is None:
        return F.lit("the policy has no machine_rooms (consumeridcs)")
    if strategy in machine_room_nearby.INNER:
        if policy.rooms is None:
            return F.lit("the policy has no rooms")
        broker, client = F.col("queues.without_room"), F.col("clients.without_room")
        return F.coalesce(
            F.when(broker.isNotNull(), F.concat(F.lit("Machine room is null for broker "), broker)),
            F.when(client.isNotNull(), F.concat(F.lit("Machine room is null for consumer id "), client)),
        )
    if strategy == CONFIG:
        groups = list(policy.config_assignments)
        is_listed = F.col("consumer_group").isin(groups) if groups else F.lit(False)
        return F.when(~is_listed, F.lit("the policy has no config_assignments for this group"))
    if strategy == pop.NAME:
        why = "orderly consumers always rebalance themselves: RocketMQ does not let them pop"
        return F.when(F.col("is_orderly"), F.lit(why))
    return none
