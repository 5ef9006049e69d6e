"""How a topic may grow: layouts with more queues, to be simulated.

A layout is one number of queues on every writable broker, at least what the largest of them has: a topic never shrinks.
"""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity.recommendation.cases import CASE, case_id
from rocketmq_capacity.recommendation.facts import Facts

ACTION: Final = "EXPAND_QUEUES"
IDLE: Final = "IDLE_CONSUMERS"
UNEVEN: Final = "CROSS_TOPIC_SKEW"
UNEQUAL: Final = "TOPIC_COVERAGE"
EVEN_MULTIPLES: Final = (1, 2)
"""Queues a client that are tried beside the least number."""
READ: Final = 4


def topic_layouts(facts: Facts) -> DataFrame:
    """One row a business topic with writable brokers.

    Shape: -> topic, ``brokers`` (writable), ``least`` (queues of the largest of them), ``fixed`` (readable queues
    elsewhere), ``is_unequal``, ``is_behind`` (a broker has fewer than ``least``), ``is_known``.
    """
    can = F.col("is_changeable")
    is_read_elsewhere = ~can & (F.col("perm").bitwiseAND(READ) == READ)
    larger = F.when(can, F.greatest("read_queue_nums", "write_queue_nums"))
    smaller = F.when(can, F.least("read_queue_nums", "write_queue_nums"))
    is_unknown = can & (F.col("read_queue_nums").isNull() | F.col("write_queue_nums").isNull())
    return (
        facts.places
        .where("kind = 'BUSINESS'")
        .groupBy("topic")
        .agg(
            F.count_if(can).cast("int").alias("brokers"),
            F.max(larger).alias("least"),
            F.coalesce(F.sum(F.when(is_read_elsewhere, F.col("read_queue_nums"))), F.lit(0)).cast("int").alias("fixed"),
            (F.max(larger) > F.min(larger)).alias("is_unequal"),
            (F.max(larger) > F.min(smaller)).alias("is_behind"),
            (~F.max(is_unknown)).alias("is_known"),
        )
        .where("brokers > 0")
    )


def tried_layouts(facts: Facts, layouts: DataFrame) -> DataFrame:
    """The layouts to simulate.

    Shape: -> one row a topic, rule, group that asks (null: the topic's own) and number of queues: case_id, topic, rule,
    consumer_group, ``per_broker``, ``is_even`` (its queues are a multiple of the clients).
    """
    bounds = facts.policy.thresholds.EXPAND_QUEUES
    asked = _demands(facts).join(layouts.where("is_known"), "topic")
    per_broker = F.col("per_broker")
    changes = (per_broker > F.col("least")) | F.col("is_behind")
    is_within = (per_broker <= bounds.max_queues_per_broker) | (per_broker == F.col("least"))
    is_even = (per_broker * F.col("brokers") + F.col("fixed")) % F.col("clients") == 0
    return (
        asked
        .withColumn("per_broker", F.explode(F.array_distinct(_tries(bounds.headroom))))
        .where(changes & is_within & (per_broker >= F.col("least")))
        .select(
            case_id(ACTION, F.col("topic"), per_broker).alias(CASE),
            "topic",
            "rule",
            "consumer_group",
            "per_broker",
            F.coalesce(is_even, F.lit(True)).alias("is_even"),
        )
    )


def smallest_for(clients: Column, headroom: float) -> Column:
    """Queues on each broker that are at least needed for so many clients."""
    lacking = F.ceil(clients * (1 + headroom)) - F.col("fixed")
    return F.greatest(F.col("least"), F.ceil(lacking / F.col("brokers"))).cast("int")


def _demands(facts: Facts) -> DataFrame:
    """Who asks for more queues: topic, rule, consumer_group, clients."""
    found = facts.found(IDLE, UNEVEN).select("rule", "consumer_group", F.col("topic").alias("named"))
    groups = facts.group_status.select("consumer_group", "topics", F.col("distinct_client_ids").alias("clients"))
    of_groups = found.join(groups, "consumer_group")
    idle = of_groups.where(F.col("rule") == IDLE).withColumn("topic", F.col("named"))
    uneven = of_groups.where(F.col("rule") == UNEVEN).withColumn("topic", F.explode("topics"))
    columns = ("topic", "rule", "consumer_group", "clients")
    nobody = F.lit(None).cast("string").alias("consumer_group")
    unequal = facts.found(UNEQUAL).where("topic IS NOT NULL").select("topic", "rule").distinct()
    return (
        idle
        .select(*columns)
        .unionByName(uneven.select(*columns))
        .unionByName(unequal.select("topic", "rule", nobody, F.lit(None).cast("int").alias("clients")))
    )


def _tries(headroom: float) -> Column:
    """Numbers of queues on each broker to try, by rule; nulls and doubles may be among them."""
    brokers, fixed, clients, least = (F.col(name) for name in ("brokers", "fixed", "clients", "least"))
    smallest = smallest_for(clients, headroom)
    evens = [clients * k - fixed for k in EVEN_MULTIPLES]
    multiples = [
        F.when((even % brokers == 0) & (even / brokers >= smallest), (even / brokers).cast("int")) for even in evens
    ]
    # Within as many steps as there are clients there is a multiple of them, if there is one at all.
    is_multiple = F.filter(F.sequence(least, least + clients), lambda n: (n * brokers + fixed) % clients == 0)
    next_multiple = F.get(is_multiple, F.lit(0))
    return (
        F
        .when(F.col("rule") == IDLE, F.array(smallest, *multiples))
        .when(F.col("rule") == UNEVEN, F.array(next_multiple))
        .otherwise(F.when(F.col("is_unequal"), F.array(least)))
    )
