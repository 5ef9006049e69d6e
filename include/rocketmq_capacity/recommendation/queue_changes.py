"""New queue counts of a topic, broker by broker: the commands that set them, what forbids these, before and after."""

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import listed
from rocketmq_capacity.recommendation.cases import CASE
from rocketmq_capacity.recommendation.commands import placeholder, update_topic
from rocketmq_capacity.recommendation.facts import Facts


def queue_changes(facts: Facts, layouts: DataFrame, safety: DataFrame) -> DataFrame:
    """What each case would do to its topic.

    Args:
        facts: for the name server.
        layouts: every place of each case's topic: case_id, columns of ``Facts.places``, ``new_read``, ``new_write``.
        safety: ``preflight.topic_safety``.

    Shape: -> one row a case: case_id, ``is_ordered``, ``offline``, ``forbids``, ``commands`` (of the brokers that
    change, by name), ``queues_before`` and ``queues_after`` (of all brokers, for the plan).
    """
    changes = (F.col("new_read") != F.col("read_queue_nums")) | (F.col("new_write") != F.col("write_queue_nums"))
    broker, topic = F.col("broker_name"), F.col("topic")
    unknown = {name: placeholder(F.concat(F.lit(f"{name} of "), topic)) for name in ("perm", "order")}
    command = update_topic(
        F.col("nameserver"),
        F.col("address"),
        topic,
        (F.col("new_read"), F.col("new_write")),
        F.coalesce(F.col("own_perm").cast("string"), unknown["perm"]),
        F.coalesce(F.col("order"), unknown["order"]),
    )
    queues = {
        side: F.struct(broker, read.alias("read_queue_nums"), write.alias("write_queue_nums"))
        for side, read, write in (
            ("before", F.col("read_queue_nums"), F.col("write_queue_nums")),
            ("after", F.col("new_read"), F.col("new_write")),
        )
    }
    lines = F.array_sort(F.collect_list(F.when(changes, F.struct(broker, command.alias("line")))))
    return (
        facts
        .with_doubt(layouts)
        .join(safety, "topic")
        .groupBy(CASE, "is_ordered", "order", "offline", F.col("forbids").alias("of_topic"))
        .agg(
            F.flatten(F.array_sort(F.collect_list(F.when(changes, preflight.unsafe_place())))).alias("of_places"),
            F.transform(lines, lambda line: line["line"]).alias("commands"),
            *(F.array_sort(F.collect_list(struct)).alias(f"queues_{side}") for side, struct in queues.items()),
        )
        .withColumn("forbids", F.concat("of_topic", preflight.reasons(preflight.unknown_order()), "of_places"))
        .drop("of_topic", "of_places", "order")
    )


def uncomputed_groups() -> Column:
    """Why a change may not be made although it looks well: groups that could not be simulated; or null."""
    names = F.col("uncomputed")
    return F.when(
        F.size(names) > 0,
        F.concat(F.lit("what these groups of the topic would own cannot be computed: "), listed(names)),
    )
