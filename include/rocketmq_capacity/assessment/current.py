"""The strategy that each group really uses, and so who owns what today."""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment.loads import POP, QUEUE
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset

MIXED: Final = "MIXED"
OBSERVED: Final = "OBSERVED"


def current_strategies(tables: Mapping[type[Dataset], DataFrame], allocation: DataFrame, policy: Policy) -> DataFrame:
    """What each clustering group runs, and how that is known.

    As its clients report it (different ones: MIXED); else the first strategy of the policy that gives each client just
    what it reports to own; else the policy's entry for the group; else its default.

    Shape: -> one row a clustering business group: consumer_group, current_strategy, current_strategy_source.
    """
    reported = (
        tables[contracts.Consumer]
        .where("allocate_strategy IS NOT NULL")
        .groupBy("consumer_group")
        .agg(F.collect_set("allocate_strategy").alias("reported"))
    )
    groups = tables[contracts.ConsumerGroup].where("kind = 'BUSINESS'")
    groups = groups.where(F.coalesce("message_model", F.lit("CLUSTERING")) != "BROADCASTING")
    of_policy = _lookup(policy.current_strategies.by_group, F.col("consumer_group"))
    known = F.array(
        _known(
            F.when(F.size("reported") == 1, F.element_at("reported", 1)).when(F.size("reported") > 1, F.lit(MIXED)),
            "reported",
        ),
        _known(F.col("observed"), "observed"),
        _known(of_policy, "policy"),
        _known(F.lit(policy.current_strategies.default), "default"),
    )
    first = F.filter(known, lambda answer: answer["strategy"].isNotNull())[0]
    return (
        groups
        .select("consumer_group")
        .join(reported, "consumer_group", "left")
        .join(_observed(tables, allocation, policy), "consumer_group", "left")
        .select(
            "consumer_group",
            first["strategy"].alias("current_strategy"),
            first["source"].alias("current_strategy_source"),
        )
    )


def client_strategies(tables: Mapping[type[Dataset], DataFrame], current: DataFrame, policy: Policy) -> DataFrame:
    """What each client runs: what it reports, else its group's, else (its group is MIXED) what the policy says.

    Shape: -> consumer_group, client_id, runs: the strategy as the policy computes it.
    """
    of_group = F.when(F.col("current_strategy") != MIXED, F.col("current_strategy"))
    of_policy = _lookup(policy.current_strategies.by_group, F.col("consumer_group"))
    runs = F.coalesce("own", of_group, of_policy, F.lit(policy.current_strategies.default))
    return (
        tables[contracts.Consumer]
        .groupBy("consumer_group", "client_id")
        .agg(F.min("allocate_strategy").alias("own"))
        .join(current, "consumer_group")
        .select("consumer_group", "client_id", computed_name(runs, policy).alias("runs"))
    )


def known_today(
    tables: Mapping[type[Dataset], DataFrame], runs: DataFrame, status: DataFrame, policy: Policy
) -> DataFrame:
    """The groups whose owners of today are known, and how.

    Predicted where every strategy that is in use applies; else as observed, where every client reported what it owns.
    Shape: -> consumer_group, is_predicted.
    """
    applies = status.where("is_applicable").select(
        "consumer_group", F.col("strategy").alias("runs"), F.lit(True).alias("ok")
    )
    predicted = (
        runs
        .join(applies, ["consumer_group", "runs"], "left")
        .groupBy("consumer_group")
        .agg((F.count("ok") == F.count("*")).alias("is_predicted"))
    )
    if POP not in policy.strategies:
        pops = tables[contracts.ConsumerGroup].where(
            "message_request_mode <> 'PULL' AND NOT coalesce(is_orderly, false)"
        )
        predicted = predicted.join(pops, "consumer_group", "left_anti")
    observed = tables[contracts.Consumer].groupBy("consumer_group").agg(F.min("has_owned_queues").alias("is_observed"))
    return (
        runs
        .select("consumer_group")
        .distinct()
        .join(predicted, "consumer_group", "left")
        .join(observed, "consumer_group")
        .select("consumer_group", F.coalesce("is_predicted", F.lit(False)).alias("is_predicted"), "is_observed")
        .where("is_predicted OR is_observed")
        .drop("is_observed")
    )


def current_allocation(
    tables: Mapping[type[Dataset], DataFrame],
    runs: DataFrame,
    known: DataFrame,
    owned: DataFrame,
    by: list[str] | None = None,
) -> DataFrame:
    """Who owns what today, of the groups in ``known``: each client by what it runs itself, popped topics under POP.

    Shape: rows of ``loads.owned_queues`` and the topic's message_request_mode; POP only where the group is not orderly
    (an orderly consumer always rebalances itself). ``by`` names the columns that keep variants of the cluster apart; a
    group that is only known as observed has rows in the cluster as it is alone.
    """
    by = by or []
    group = [*by, "consumer_group"]
    orderly = tables[contracts.ConsumerGroup].select(*group, F.coalesce("is_orderly", F.lit(False)).alias("is_orderly"))
    is_popped = (F.col("message_request_mode") == POP) & ~F.col("is_orderly")
    modes = (
        tables[contracts.Subscription]
        .where("kind = 'BUSINESS'")
        .join(orderly, group)
        .select(*group, "topic", F.when(is_popped, POP).otherwise("PULL").alias("message_request_mode"))
    )
    runs_now = F.when(F.col("message_request_mode") == POP, POP).otherwise(F.col("runs"))
    predicted = (
        owned
        .join(known.where("is_predicted").select("consumer_group"), "consumer_group")
        .join(runs, ["consumer_group", "client_id"])
        .join(modes, [*group, "topic"])
        .where(F.col("strategy") == runs_now)
        .drop("runs")
    )
    observed = owned.where(F.col("strategy") == OBSERVED).join(
        known.where("NOT is_predicted").select("consumer_group"), "consumer_group"
    )
    return predicted.unionByName(observed.join(modes, [*group, "topic"]))


def observed_allocation(tables: Mapping[type[Dataset], DataFrame]) -> DataFrame:
    """What clients report to own, as an ``Allocation`` under the strategy :data:`OBSERVED`; business topics alone."""
    return (
        tables[contracts.OwnedQueue]
        .where("kind = 'BUSINESS'")
        .select(F.lit(OBSERVED).alias("strategy"), "consumer_group", *QUEUE, "client_id")
    )


def computed_name(strategy: Column, policy: Policy) -> Column:
    """A reported strategy as the policy computes it: NEARBY's inner strategy cannot be seen, so the policy's stands."""
    nearby = next((name for name in policy.strategies if name.startswith("MACHINE_ROOM_NEARBY-")), None)
    if nearby is None:
        return strategy
    return F.when(strategy == "MACHINE_ROOM_NEARBY", F.lit(nearby)).otherwise(strategy)


def _known(strategy: Column, source: str) -> Column:
    return F.struct(strategy.alias("strategy"), F.lit(source).alias("source"))


def _lookup(entries: Mapping[str, str], key: Column) -> Column:
    if not entries:
        return F.lit(None).cast("string")
    pairs = [F.lit(item) for pair in entries.items() for item in pair]
    return F.create_map(*pairs)[key]


def _observed(tables: Mapping[type[Dataset], DataFrame], allocation: DataFrame, policy: Policy) -> DataFrame:
    """The first strategy that gives every client that reported what it owns just that, over the business topics."""
    reporting = tables[contracts.Consumer].where("has_owned_queues").select("consumer_group", "client_id").distinct()
    seen = (
        tables[contracts.OwnedQueue].where("kind = 'BUSINESS'").select("consumer_group", "client_id", *QUEUE).distinct()
    )
    topics = tables[contracts.Topic].where("kind = 'BUSINESS'").select("topic")
    strategies = list(policy.strategies)
    given = (
        allocation
        .where(F.col("strategy").isin(strategies))
        .join(reporting, ["consumer_group", "client_id"])
        .join(topics, "topic")
        .select("strategy", "consumer_group", "client_id", *QUEUE)
        .distinct()
    )
    key = ["consumer_group", "client_id", *QUEUE]
    given_counts = given.groupBy("consumer_group", "strategy").agg(F.count("*").alias("given"))
    both = given.join(seen, key).groupBy("consumer_group", "strategy").agg(F.count("*").alias("both"))
    seen_counts = seen.groupBy("consumer_group").agg(F.count("*").alias("seen"))
    place = F.array_position(F.array(*map(F.lit, strategies)), F.col("strategy"))
    return (
        given_counts
        .join(both, ["consumer_group", "strategy"])
        .join(seen_counts, "consumer_group")
        .where("given = both AND seen = both")
        .groupBy("consumer_group")
        .agg(F.min_by("strategy", place).alias("observed"))
    )
