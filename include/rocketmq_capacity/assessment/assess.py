"""The stage: loads of every strategy, what each group runs today, and every finding."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial, reduce

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment import balance, layout, membership, ownership, trust
from rocketmq_capacity.assessment.current import (
    client_strategies,
    current_allocation,
    current_strategies,
    known_today,
    observed_allocation,
)
from rocketmq_capacity.assessment.facts import Facts
from rocketmq_capacity.assessment.loads import (
    POP,
    client_loads,
    java_sorted,
    owned_queues,
    strategy_loads,
    weighed_queues,
)
from rocketmq_capacity.assessment.provision import provision_status
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.side_by_side import side_by_side

TODAY = "TODAY"
"""Stands for the strategy in frames of what holds today, where clients may run different ones."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the stage writes."""

    client_load: DataFrame
    strategy_load: DataFrame
    group_status: DataFrame
    finding: DataFrame


def assess(
    tables: Mapping[type[Dataset], DataFrame],
    allocation: DataFrame,
    status: DataFrame,
    policy: Policy,
    allocate: Callable[[Mapping[type[Dataset], DataFrame]], DataFrame],
    settle: Callable[[DataFrame], DataFrame],
    earlier: DataFrame | None = None,
) -> Assessment:
    """Judge a snapshot.

    Args:
        tables: the snapshot's tables by contract.
        allocation: who owns what under every strategy (``Allocation``).
        status: which strategies apply (``StrategyStatus``).
        policy: thresholds, and what groups are said to run.
        allocate: snapshot tables -> ``Allocation``: what the allocation would be with other consumers.
        settle: gives the same frame, so that what is used many times is planned and computed once.
        earlier: ``Finding`` of the run before, if there was one.
    """
    queues, current = side_by_side(
        lambda: settle(weighed_queues(tables, [])), lambda: settle(current_strategies(tables, allocation, policy))
    )
    runs = client_strategies(tables, current, policy)
    owned, known, groups = side_by_side(
        lambda: settle(owned_queues(allocation.unionByName(observed_allocation(tables)), queues, [])),
        lambda: settle(known_today(tables, runs, status, policy)),
        lambda: settle(_groups(tables, queues, current)),
    )
    client_load, today = side_by_side(
        lambda: settle(client_loads(tables, status, owned)),
        lambda: settle(current_allocation(tables, runs, known, owned)),
    )

    def found() -> DataFrame:
        today_clients, today_load = loads_today(tables, known, queues, today, settle)
        facts = Facts(tables, policy, groups, queues, today, settle(today_load), today_clients, earlier)
        return _findings(facts, settle)

    def owned_after(fewer: Mapping[type[Dataset], DataFrame]) -> DataFrame:
        after = settle(owned_queues(settle(allocate(fewer)), queues, []))
        return settle(current_allocation(fewer, client_strategies(fewer, current, policy), known, after))

    finding, provision, strategy_load = side_by_side(
        found,
        lambda: settle(provision_status(tables, today, owned_after, policy)),
        lambda: settle(strategy_loads(tables, status, queues, owned, client_load)),
    )
    return Assessment(client_load, strategy_load, groups.join(provision, "consumer_group"), finding)


def loads_of_variants(
    variants: Mapping[type[Dataset], DataFrame],
    allocation: DataFrame,
    group_status: DataFrame,
    status: DataFrame,
    policy: Policy,
    by: list[str],
    settle: Callable[[DataFrame], DataFrame],
) -> DataFrame:
    """What groups would own in changed clusters while they go on running what they run today.

    Args:
        variants: snapshot tables whose topic_queue, consumer, consumer_group and subscription hold the columns ``by``.
        allocation: ``Allocation`` of the variants, with ``by``.
        group_status: ``GroupStatus`` of the cluster as it is.
        status: ``StrategyStatus`` of the cluster as it is.
        policy: what groups are said to run.
        by: the columns that keep the variants apart.
        settle: as for :func:`assess`.

    Shape: -> ``by`` and ``StrategyLoad``, of the groups whose strategy is known and computed; strategy is TODAY.
    """
    current = group_status.select("consumer_group", "current_strategy")
    runs = client_strategies(variants, current, policy)
    queues, known = side_by_side(
        lambda: settle(weighed_queues(variants, by)),
        lambda: settle(known_today(variants, runs, status, policy).where("is_predicted")),
    )
    owned = settle(owned_queues(allocation, queues, by))
    today = settle(current_allocation(variants, runs, known, owned, by))
    return loads_today(variants, known, queues, today, settle, by)[1]


def loads_today(
    tables: Mapping[type[Dataset], DataFrame],
    known: DataFrame,
    queues: DataFrame,
    today: DataFrame,
    settle: Callable[[DataFrame], DataFrame],
    by: list[str] | None = None,
) -> tuple[DataFrame, DataFrame]:
    """``ClientLoad`` and ``StrategyLoad`` of what holds today, under the strategy :data:`TODAY`."""
    group = [*(by or []), "consumer_group"]
    status = (
        tables[contracts.ConsumerGroup]
        .select(*group)
        .join(known.select("consumer_group"), "consumer_group")
        .select(
            *group,
            F.lit(TODAY).alias("strategy"),
            F.lit(True).alias("is_applicable"),
            F.lit(None).cast("string").alias("reason"),
        )
    )
    as_today = today.withColumn("strategy", F.lit(TODAY))
    clients = settle(client_loads(tables, status, as_today, by))
    return clients, strategy_loads(tables, status, queues, as_today, clients, by)


def _findings(facts: Facts, settle: Callable[[DataFrame], DataFrame]) -> DataFrame:
    families = (membership.rules, ownership.rules, layout.rules, balance.rules, trust.snapshot_incomplete)
    rules = side_by_side(*(partial(_settled_rules, family, facts, settle) for family in families))
    found = settle(reduce(DataFrame.unionByName, rules))
    return reduce(DataFrame.unionByName, [found, *trust.suspect_snapshot(facts, found)])


def _settled_rules(
    family: Callable[[Facts], Iterable[DataFrame]], facts: Facts, settle: Callable[[DataFrame], DataFrame]
) -> DataFrame:
    return settle(reduce(DataFrame.unionByName, family(facts)))


def _groups(tables: Mapping[type[Dataset], DataFrame], queues: DataFrame, current: DataFrame) -> DataFrame:
    """``GroupStatus`` without the provision."""
    business = tables[contracts.Subscription].where("kind = 'BUSINESS'")
    topics = business.groupBy("consumer_group").agg(java_sorted(F.col("topic")).alias("topics"))
    pulled = (
        queues
        .where(F.col("message_request_mode") != POP)
        .groupBy("consumer_group", "topic")
        .agg(F.count("*").alias("n"))
    )
    largest = pulled.groupBy("consumer_group").agg(F.max("n").cast("int").alias("largest"))
    is_bounded = (F.coalesce("message_model", F.lit("CLUSTERING")) == "CLUSTERING") & (
        F.col("message_request_mode") != POP
    )
    return (
        tables[contracts.ConsumerGroup]
        .where("kind = 'BUSINESS'")
        .join(topics, "consumer_group", "left")
        .join(largest, "consumer_group", "left")
        .join(current, "consumer_group", "left")
        .select(
            "consumer_group",
            "message_model",
            "message_request_mode",
            "connections",
            "distinct_client_ids",
            F.coalesce("topics", F.array().cast("array<string>")).alias("topics"),
            F.when(is_bounded, F.coalesce("largest", F.lit(0))).alias("max_useful_clients"),
            "current_strategy",
            "current_strategy_source",
        )
    )
