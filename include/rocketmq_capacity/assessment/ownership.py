"""Findings on who reads what: ORPHAN_QUEUE, IDLE_CONSUMERS, READ_ONLY_IDLE."""

from collections.abc import Iterator
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import DataFrame, Window

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment.facts import Facts
from rocketmq_capacity.assessment.finding import counted, findings, listed, queue_label
from rocketmq_capacity.assessment.loads import POP, QUEUE, java_sorted

WRITE: Final = 2
"""PermName.PERM_WRITE."""


def rules(facts: Facts) -> Iterator[DataFrame]:
    """Every rule of this family."""
    yield orphan_queue(facts)
    yield idle_consumers(facts)
    yield read_only_idle(facts)


def orphan_queue(facts: Facts) -> DataFrame:
    """Readable queues of a running group that no client of it owns today."""
    pulled = facts.queues.where(F.col("message_request_mode") != POP)
    lost = (
        facts.today_load
        .select("consumer_group", F.explode("orphan_queues").alias("queue"))
        .select("consumer_group", "queue.*")
        .join(pulled.select("consumer_group", *QUEUE, "msgs_per_s", "lag"), ["consumer_group", *QUEUE])
    )
    causes = (
        facts
        .tables[contracts.Consumer]
        .groupBy("consumer_group")
        .agg(
            (F.count("*") > F.count_distinct("client_id")).alias("repeats"),
            (F.count("only_topics") > 0).alias("differs"),
        )
    )
    strategy = F.col("current_strategy")
    cause = (
        F
        .when(F.col("repeats"), "DUPLICATE_CLIENT_ID")
        .when(strategy == "MIXED", "MIXED_STRATEGIES")
        .when(F.col("differs"), "SUBSCRIPTION_MISMATCH")
        .otherwise(F.concat(F.lit("strategy "), strategy))
    )
    rows = (
        lost
        .groupBy("consumer_group", "topic")
        .agg(
            F.array_sort(F.collect_list(queue_label())).alias("labels"),
            F.count("*").alias("orphans"),
            F.when(F.count("lag") == F.count("*"), F.sum("lag")).alias("lag"),
            F.when(F.count("msgs_per_s") == F.count("*"), F.sum("msgs_per_s")).alias("msgs_per_s"),
        )
        .join(pulled.groupBy("consumer_group", "topic").agg(F.count("*").alias("queues")), ["consumer_group", "topic"])
        .join(causes, "consumer_group")
        .join(facts.groups.select("consumer_group", "current_strategy"), "consumer_group")
        .join(facts.settling_groups(), "consumer_group", "left_anti")
    )
    return findings(
        rows,
        "ORPHAN_QUEUE",
        severity="CRITICAL",
        consumer_group=True,
        topic=True,
        subjects=F.col("labels"),
        evidence={
            "orphans": F.col("orphans"),
            "queues": F.col("queues"),
            "lag": F.col("lag"),
            "msgs_per_s": F.round("msgs_per_s", 4),
            "current_strategy": strategy,
            "cause": cause,
        },
        message=F.concat(
            F.format_string("Nobody reads %d of ", "orphans"),
            counted(F.col("queues"), "queue"),
            F.lit(": "),
            listed(F.col("labels")),
            F.lit("."),
        ),
    )


def idle_consumers(facts: Facts) -> DataFrame:
    """Clients of a group that own no queue of its pulled topics; the topic named is the one with the most queues."""
    modes = facts.tables[contracts.Subscription].where("kind = 'BUSINESS' AND message_request_mode <> 'POP'")
    sizes = facts.queues.groupBy("consumer_group", "topic").agg(F.count("*").alias("queues"))
    pulled = (
        modes.select("consumer_group", "topic").join(sizes, ["consumer_group", "topic"], "left").fillna(0, ["queues"])
    )
    largest = F.row_number().over(Window.partitionBy("consumer_group").orderBy(F.col("queues").desc(), F.col("topic")))
    largest_topic = pulled.withColumn("place", largest).where("place = 1").drop("place")
    busy = facts.today.where(F.col("message_request_mode") != POP).select("consumer_group", "client_id").distinct()
    # Where today's owners are unknown nobody is called idle, but for a group that has no queue at all.
    known = facts.today_load.select("consumer_group", F.lit(True).alias("is_known"))
    idle = (
        facts
        .tables[contracts.Consumer]
        .select("consumer_group", "client_id")
        .distinct()
        .join(busy, ["consumer_group", "client_id"], "left_anti")
        .groupBy("consumer_group")
        .agg(java_sorted(F.col("client_id")).alias("ids"))
    )
    rows = (
        facts.groups
        .where(F.coalesce("message_model", F.lit("CLUSTERING")) == "CLUSTERING")
        .where(F.col("message_request_mode") != POP)
        .join(largest_topic, "consumer_group")
        .join(known, "consumer_group", "left")
        .where("is_known OR queues = 0")
        .join(facts.settling_groups(), "consumer_group", "left_anti")
        .join(idle, "consumer_group")
        .withColumn("idle", F.size("ids"))
        .join(facts.tables[contracts.Topic].select("topic", "is_ordered"), "topic", "left")
    )
    share = F.col("idle") / F.col("distinct_client_ids")
    return findings(
        rows,
        "IDLE_CONSUMERS",
        severity=F.when(share >= facts.policy.thresholds.IDLE_CONSUMERS.critical_ratio, "CRITICAL").otherwise(
            "WARNING"
        ),
        consumer_group=True,
        topic=True,
        subjects=F.col("ids"),
        evidence={
            "clients": F.col("distinct_client_ids"),
            "queues": F.col("queues"),
            "idle": F.col("idle"),
            "idle_ratio": F.round(share, 4),
            "max_useful_clients": F.col("max_useful_clients"),
            "ordered": F.col("is_ordered"),
        },
        message=F.concat(
            F.format_string("%d of ", "idle"),
            counted(F.col("distinct_client_ids"), "client"),
            F.when(F.col("idle") == 1, " owns").otherwise(" own"),
            F.lit(" no queue; the group's largest topic has "),
            counted(F.col("queues"), "readable queue"),
            F.lit("."),
        ),
    )


def read_only_idle(facts: Facts) -> DataFrame:
    """Clients whose every queue stands on a broker that takes no messages, and is read to its end.

    That is a read-only broker or one without a master; of a broker that is not in the snapshot nothing is known.
    """
    is_dead = (F.col("perm").bitwiseAND(WRITE) == 0) | (F.col("broker_state") == "MASTERLESS")
    is_done = is_dead & (F.col("lag_now") == 0)
    state = facts.queues.select("consumer_group", *QUEUE, "perm", "broker_state", F.col("lag").alias("lag_now"))
    per_client = (
        facts.today
        .join(state, ["consumer_group", *QUEUE], "left")
        .withColumn("is_done", F.coalesce(is_done & (F.col("message_request_mode") != POP), F.lit(False)))
        .groupBy("consumer_group", "client_id")
        .agg(
            F.min("is_done").alias("is_idle"),
            F.count("*").alias("queues"),
            F.collect_set("broker_name").alias("brokers"),
        )
        .where("is_idle")
    )
    rows = per_client.groupBy("consumer_group").agg(
        java_sorted(F.col("client_id")).alias("ids"),
        F.sum("queues").alias("queues"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("brokers")))).alias("brokers"),
    )
    return findings(
        rows,
        "READ_ONLY_IDLE",
        severity="WARNING",
        consumer_group=True,
        subjects=F.col("ids"),
        evidence={"clients": F.size("ids"), "queues": F.col("queues"), "brokers": F.col("brokers")},
        message=F.concat(
            counted(F.size("ids"), "client"),
            F.when(F.size("ids") == 1, " owns").otherwise(" own"),
            F.lit(" only queues that receive nothing and are read to their end, on "),
            listed(F.col("brokers")),
            F.lit("."),
        ),
    )
