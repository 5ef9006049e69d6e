"""Findings on uneven loads: ALLOCATION_SKEW, CROSS_TOPIC_SKEW, TRAFFIC_SKEW, LAG_SKEW.

A skew is judged by EXCESS, how far the busiest client is above what whole queues allow; idle clients alone do not make
one (they raise PEAK and FLOOR alike).
"""

from collections.abc import Iterator

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity.assessment.facts import Facts
from rocketmq_capacity.assessment.finding import findings, listed, times
from rocketmq_capacity.assessment.lag import lag_trouble
from rocketmq_capacity.assessment.loads import java_sorted


def rules(facts: Facts) -> Iterator[DataFrame]:
    """Every rule of this family."""
    judged = _judged_groups(facts)
    yield count_skew(facts, judged)
    yield traffic_skew(facts, judged)
    yield lag_skew(facts, judged)


def _judged_groups(facts: Facts) -> DataFrame:
    """Clustering groups that pull all of their topics and do enough, with the loads of today.

    A popped queue counts for each of its readers, so that the least load that whole queues allow says nothing there.
    """
    low = facts.policy.thresholds.LOW_UTILISATION
    use = facts.queues.groupBy("consumer_group").agg(
        F.count("*").alias("all_queues"),
        F.when(F.count("msgs_per_s") == F.count("*"), F.sum("msgs_per_s")).alias("total_msgs_per_s"),
        F.when(F.count("lag") == F.count("*"), F.sum("lag")).alias("total_lag"),
    )
    is_low = (F.col("total_msgs_per_s") < low.min_msgs_per_s) & (F.col("total_lag") < low.min_lag)
    return (
        facts.groups
        .where(F.col("message_request_mode") == "PULL")
        .select("consumer_group", "current_strategy", "distinct_client_ids")
        .join(facts.today_load, "consumer_group")
        .join(use, "consumer_group")
        .where(~F.coalesce(is_low, F.lit(False)))
        .join(facts.settling_groups(), "consumer_group", "left_anti")
    )


def _busiest(facts: Facts, load: str, metric: str) -> DataFrame:
    """The clients that bear the highest load of a group."""
    top = facts.today_load.select("consumer_group", F.col(metric)["max"].alias("top"))
    return (
        facts.today_clients
        .join(top, "consumer_group")
        .where(F.col(load) == F.col("top"))
        .groupBy("consumer_group")
        .agg(java_sorted(F.col("client_id")).alias("busiest"))
    )


def _figures(metric: str) -> dict[str, Column]:
    return {name: F.round(F.col(metric)[name], 4) for name in ("peak", "floor", "excess", "gini", "cv", "max", "min")}


def count_skew(facts: Facts, judged: DataFrame) -> DataFrame:
    """Some clients own more queues than they need to: CROSS_TOPIC_SKEW if every topic is even, else ALLOCATION_SKEW."""
    clients = facts.groups.select("consumer_group", "distinct_client_ids")
    per_client = facts.today.groupBy("consumer_group", "topic", "client_id").agg(F.count("*").alias("own"))
    sizes = facts.queues.groupBy("consumer_group", "topic").agg(F.count("*").alias("queues"))
    uneven = (
        per_client
        .groupBy("consumer_group", "topic")
        .agg(F.max("own").alias("most"))
        .join(sizes, ["consumer_group", "topic"])
        .join(clients, "consumer_group")
        .groupBy("consumer_group")
        .agg(
            F.count_if(F.col("most") > F.ceil(F.col("queues") / F.col("distinct_client_ids"))).alias("uneven_topics"),
            F.count("*").alias("read_topics"),
        )
    )
    rows = judged.join(uneven, "consumer_group").join(_busiest(facts, "queues", "count"), "consumer_group")
    across = F.col("uneven_topics") == 0
    excess, gap = F.col("count")["excess"], F.col("count")["max"] - F.col("count")["min"]
    thresholds = facts.policy.thresholds
    parts = []
    for rule, is_of_kind, bounds in (
        ("CROSS_TOPIC_SKEW", across & (F.col("read_topics") > 1), thresholds.CROSS_TOPIC_SKEW),
        ("ALLOCATION_SKEW", ~(across & (F.col("read_topics") > 1)), thresholds.ALLOCATION_SKEW),
    ):
        flagged = rows.where(is_of_kind & (excess > bounds.excess) & (gap >= bounds.min_gap_queues))
        parts.append(
            findings(
                flagged,
                rule,
                severity=F.when(excess > bounds.critical_excess, "CRITICAL").otherwise("WARNING"),
                consumer_group=True,
                subjects=F.col("busiest"),
                evidence={
                    **_figures("count"),
                    "topics": F.col("read_topics"),
                    "uneven_topics": F.col("uneven_topics"),
                    "current_strategy": F.col("current_strategy"),
                },
                message=F.concat(
                    F.format_string(
                        "The busiest client owns %.0f queues, the least busy %.0f, where %.0f would do for each: ",
                        F.col("count")["max"],
                        F.col("count")["min"],
                        F.ceil(F.col("all_queues") / F.col("distinct_client_ids")).cast("double"),
                    ),
                    listed(F.col("busiest")),
                    F.lit("."),
                ),
            )
        )
    return parts[0].unionByName(parts[1])


def traffic_skew(facts: Facts, judged: DataFrame) -> DataFrame:
    """Some clients receive much more than their share of the messages, and another allocation could help."""
    bounds = facts.policy.thresholds.TRAFFIC_SKEW
    peak, excess = F.col("traffic")["peak"], F.col("traffic")["excess"]
    rows = judged.where((peak > bounds.peak) & (excess > bounds.excess)).join(
        _busiest(facts, "msgs_per_s", "traffic"), "consumer_group"
    )
    return findings(
        rows,
        "TRAFFIC_SKEW",
        severity=F.when(peak > bounds.critical_peak, "CRITICAL").otherwise("WARNING"),
        consumer_group=True,
        subjects=F.col("busiest"),
        evidence={**_figures("traffic"), "msgs_per_s": F.round("total_msgs_per_s", 4)},
        message=F.concat(
            F.lit("The busiest client receives "),
            times(peak),
            F.lit(" times the mean: "),
            listed(F.col("busiest")),
            F.lit("."),
        ),
    )


def lag_skew(facts: Facts, judged: DataFrame) -> DataFrame:
    """The lag lies on few clients and is not under control."""
    bounds = facts.policy.thresholds.LAG_SKEW
    troubled = lag_trouble(facts.tables).where("is_troubled").select("consumer_group")
    peak = F.col("lag")["peak"]
    rows = (
        judged
        .where(peak > bounds.peak)
        .join(troubled, "consumer_group")
        .join(_busiest(facts, "lag", "lag"), "consumer_group")
    )
    return findings(
        rows,
        "LAG_SKEW",
        severity="WARNING",
        consumer_group=True,
        subjects=F.col("busiest"),
        evidence={**_figures("lag"), "lag": F.col("total_lag")},
        message=F.concat(
            F.lit("The client furthest behind has "),
            times(peak),
            F.lit(" times the mean lag: "),
            listed(F.col("busiest")),
            F.lit("."),
        ),
    )
