"""Which strategies RocketMQ could run for a group; what it throws on is not applicable, with its reason."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity.allocation import machine_room, machine_room_nearby, pop
from rocketmq_capacity.config import Policy

CONFIG: Final = "CONFIG"


def possible_strategies(policy: Policy) -> list[str]:
    """The strategies of the policy that some group can run; the others lack what the policy would have to say."""
    lacking = {
        machine_room.NAME: policy.machine_rooms is None,
        CONFIG: not policy.config_assignments,
        **dict.fromkeys(machine_room_nearby.INNER, policy.rooms is None),
    }
    return [name for name in policy.strategies if not lacking.get(name, False)]


def strategy_status(fleet: DataFrame, policy: Policy, by: list[str] | None = None) -> DataFrame:
    """Shape: a row a group -> ``by`` and ``StrategyStatus``: a row for each clustering group and strategy."""
    group = [*(by or []), "consumer_group"]
    reasons = F.array(
        *(F.struct(F.lit(name).alias("strategy"), reason(name, policy).alias("reason")) for name in policy.strategies)
    )
    return (
        fleet
        .where("NOT is_broadcasting")
        .select(*group, F.inline(reasons))
        .select(*group, "strategy", F.col("reason").isNull().alias("is_applicable"), "reason")
    )


def reason(strategy: str, policy: Policy) -> Column:
    """Why RocketMQ would throw for a clustering group of the fleet, or null."""
    return F.coalesce(
        F.when(F.col("client_ids").isNull(), F.lit("the group has no clients (cidAll is null or cidAll empty)")),
        F.when(
            F.col("topics").isNull(), F.lit("none of its topics has a readable queue (mqAll is null or mqAll empty)")
        ),
        _own_reason(strategy, policy),
    )


def _own_reason(strategy: str, policy: Policy) -> Column:
    if strategy == machine_room.NAME and policy.machine_rooms is None:
        return F.lit("the policy has no machine_rooms (consumeridcs)")
    if strategy in machine_room_nearby.INNER:
        if policy.rooms is None:
            return F.lit("the policy has no rooms")
        return F.coalesce(
            F.concat(F.lit("Machine room is null for broker "), F.col("broker_without_room")),
            F.concat(F.lit("Machine room is null for consumer id "), F.col("consumer_without_room")),
        )
    if strategy == CONFIG:
        groups = list(policy.config_assignments)
        is_listed = F.col("consumer_group").isin(groups) if groups else F.lit(False)
        return F.when(~is_listed, F.lit("the policy has no config_assignments for this group"))
    if strategy == pop.NAME:
        why = "orderly consumers always rebalance themselves: RocketMQ does not let them pop"
        return F.when(F.col("is_orderly"), F.lit(why))
    return F.lit(None).cast("string")
