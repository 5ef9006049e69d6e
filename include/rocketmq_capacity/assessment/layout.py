"""Findings on how topics lie on brokers: READ_LESS_THAN_WRITE, TOPIC_COVERAGE, HOT_QUEUE."""

from collections.abc import Iterator
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment.facts import Facts
from rocketmq_capacity.assessment.finding import counted, findings, listed, queue_label, times
from rocketmq_capacity.contracts.topic_queue import LOGICAL_BROKER_PREFIX

READ: Final = 4
"""PermName.PERM_READ."""
WRITE: Final = 2
"""PermName.PERM_WRITE."""


def rules(facts: Facts) -> Iterator[DataFrame]:
    """Every rule of this family."""
    yield read_less_than_write(facts)
    yield topic_coverage(facts)
    yield undeclared_topic(facts)
    yield hot_queue(facts)


def _business_queues(facts: Facts) -> DataFrame:
    return facts.tables[contracts.TopicQueue].where("kind = 'BUSINESS'")


def read_less_than_write(facts: Facts) -> DataFrame:
    """Queues [read, write) of a broker receive messages that no consumer sees; ``stranded`` is how many stand there.

    Stranded is counted for the group that is furthest behind, of those with an offset: max_offset - max(its offset,
    min_offset), and from min_offset where no group has one. It is null where offsets of such a queue are unknown.
    """
    narrow = _business_queues(facts).where("read_queue_nums < write_queue_nums")
    hidden = narrow.join(facts.tables[contracts.QueueOffset], ["topic", "broker_name"]).where(
        "queue_id >= read_queue_nums"
    )
    offsets = facts.tables[contracts.GroupOffset].select(
        "consumer_group", "topic", "broker_name", "queue_id", "consumer_offset"
    )
    furthest = offsets.groupBy("topic", "broker_name", "queue_id").agg(
        F.min("consumer_offset").alias("consumer_offset")
    )
    is_known = F.col("max_offset").isNotNull() & F.col("min_offset").isNotNull()
    left_over = F.col("max_offset") - F.greatest("consumer_offset", "min_offset")
    stranded = (
        hidden
        .join(furthest, ["topic", "broker_name", "queue_id"], "left")
        .withColumn("left_over", F.when(is_known, F.greatest(left_over, F.lit(0))))
        .groupBy("topic", "broker_name")
        .agg(
            F.count_if(F.col("queue_id") < F.col("write_queue_nums")).alias("told"),
            F.when(F.count("left_over") == F.count("*"), F.sum("left_over")).alias("stranded"),
        )
    )
    all_told = F.col("told") == F.col("write_queue_nums") - F.col("read_queue_nums")
    rows = narrow.join(stranded, ["topic", "broker_name"], "left")
    gap = F.col("write_queue_nums") - F.col("read_queue_nums")
    return findings(
        rows,
        "READ_LESS_THAN_WRITE",
        severity="CRITICAL",
        topic=True,
        broker_name=True,
        subjects=F.array("broker_name"),
        evidence={
            "read_queue_nums": F.col("read_queue_nums"),
            "write_queue_nums": F.col("write_queue_nums"),
            "stranded": F.when(all_told, F.col("stranded")),
        },
        message=F.concat(
            F.lit("Consumers cannot see "),
            counted(gap, "queue"),
            F.lit(" that producers write to (read "),
            F.col("read_queue_nums").cast("string"),
            F.lit(", write "),
            F.col("write_queue_nums").cast("string"),
            F.lit(")."),
        ),
    )


def topic_coverage(facts: Facts) -> DataFrame:
    """A topic is absent on a broker of the cluster that can be read and written, or has unequal queue counts.

    Unknown counts are not unequal ones, and a static topic's queues lie on brokers in a way of their own.
    """
    both = READ | WRITE
    masters = (
        facts
        .tables[contracts.Broker]
        .where((F.col("broker_id") == 0) & (F.coalesce("broker_perm", F.lit(both)).bitwiseAND(both) == both))
        .select("broker_name")
    )
    queues = _business_queues(facts).where(~F.col("broker_name").startswith(LOGICAL_BROKER_PREFIX))
    missing = (
        queues
        .select("topic")
        .distinct()
        .crossJoin(F.broadcast(masters))
        .join(queues, ["topic", "broker_name"], "left_anti")
        .groupBy("topic")
        .agg(F.array_sort(F.collect_list("broker_name")).alias("missing"))
    )
    is_counted = F.col("read_queue_nums").isNotNull() & F.col("write_queue_nums").isNotNull()
    counts = F.when(is_counted, F.struct("read_queue_nums", "write_queue_nums"))
    layout = F.struct("broker_name", "read_queue_nums", "write_queue_nums")
    rows = (
        queues
        .groupBy("topic")
        .agg(
            F.count("*").alias("brokers"),
            F.count_distinct(counts).alias("layouts"),
            F.array_sort(F.collect_list(layout)).alias("layout"),
        )
        .join(missing, "topic", "left")
        .withColumn("missing", F.coalesce("missing", F.array().cast("array<string>")))
        .where((F.size("missing") > 0) | (F.col("layouts") > 1))
    )
    is_absent = F.size("missing") > 0
    return findings(
        rows,
        "TOPIC_COVERAGE",
        severity=F.when(is_absent, "WARNING").otherwise("INFO"),
        topic=True,
        subjects=F.when(is_absent, F.col("missing")).otherwise(F.transform("layout", lambda q: q["broker_name"])),
        evidence={"brokers": F.col("brokers"), "missing": F.col("missing"), "layout": F.col("layout")},
        message=F.when(
            is_absent,
            F.concat(
                F.lit("It stands on "),
                counted(F.col("brokers"), "broker"),
                F.lit(" and is absent on "),
                listed(F.col("missing")),
                F.lit("."),
            ),
        ).otherwise(F.lit("Its brokers have different numbers of queues.")),
    )


def undeclared_topic(facts: Facts) -> DataFrame:
    """A group subscribes to a topic that no broker has."""
    rows = (
        facts
        .tables[contracts.Subscription]
        .where("kind = 'BUSINESS'")
        .join(facts.groups.select("consumer_group"), "consumer_group")
        .join(facts.tables[contracts.TopicQueue].select("topic").distinct(), "topic", "left_anti")
        .groupBy("topic")
        .agg(F.array_sort(F.collect_set("consumer_group")).alias("groups"))
    )
    return findings(
        rows,
        "TOPIC_COVERAGE",
        severity="WARNING",
        topic=True,
        subjects=F.col("groups"),
        evidence={"brokers": F.lit(0), "consumer_groups": F.col("groups")},
        message=F.concat(
            F.lit("No broker has this topic, but groups subscribe to it: "), listed(F.col("groups")), F.lit(".")
        ),
    )


def hot_queue(facts: Facts) -> DataFrame:
    """Producers send much more to some queues of a topic than to others (keys, or a broker that others avoid).

    Looked at are the queues that producers see: writable, with a master, ids below write_queue_nums.
    Source: MQClientInstance.topicRouteData2TopicPublishInfo, rocketmq-all-5.3.3.
    """
    bounds = facts.policy.thresholds.HOT_QUEUE
    is_writable = (
        (F.col("perm").bitwiseAND(WRITE) == WRITE)
        & (F.col("write_queue_nums") > 0)
        & (F.col("broker_state") == "MASTER")
    )
    ids = F.explode(F.sequence(F.lit(0), F.col("write_queue_nums") - 1)).alias("queue_id")
    rates = facts.tables[contracts.QueueOffset].select(
        "topic", "broker_name", "queue_id", F.col("put_msgs_per_s").alias("rate")
    )
    queues = (
        _business_queues(facts)
        .where(is_writable)
        .select("topic", "broker_name", ids)
        .join(rates, ["topic", "broker_name", "queue_id"], "left")
    )
    topics = queues.groupBy("topic").agg(
        F.count("*").alias("queues"),
        F.when(F.count("rate") == F.count("*"), F.sum("rate")).alias("total"),
        F.max("rate").alias("hottest"),
    )
    peak, share = F.col("hottest") * F.col("queues") / F.col("total"), F.col("hottest") / F.col("total")
    is_hot = (
        (F.col("total") >= facts.policy.thresholds.LOW_UTILISATION.min_msgs_per_s)
        & (F.col("total") > 0)
        & (peak > bounds.peak)
        & (share > bounds.share_factor / F.col("queues"))
    )
    hot = (
        topics.where(is_hot).join(queues, "topic").where(F.col("rate") * F.col("queues") / F.col("total") > bounds.peak)
    )
    rows = (
        hot
        .groupBy("topic", "queues", "total", "hottest")
        .agg(
            F.array_sort(
                F.collect_list(F.struct((-F.col("rate")).alias("order"), queue_label().alias("label"), "rate"))
            ).alias("hot")
        )
        .join(facts.tables[contracts.Topic].select("topic", "message_type"), "topic")
    )
    labels = F.transform("hot", lambda q: q["label"])
    return findings(
        rows,
        "HOT_QUEUE",
        severity="WARNING",
        topic=True,
        subjects=F.array_sort(labels),
        evidence={
            "queues": F.col("queues"),
            "peak": F.round(peak, 4),
            "share": F.round(share, 4),
            "msgs_per_s": F.round("total", 4),
            "hottest": F.transform(
                F.slice("hot", 1, 5),
                lambda q: F.struct(q["label"].alias("queue"), F.round(q["rate"], 4).alias("msgs_per_s")),
            ),
            "message_type": F.col("message_type"),
        },
        message=F.concat(
            F.format_string("The busiest of its %d queues receives ", "queues"), times(peak), F.lit(" times the mean.")
        ),
    )
