"""Findings on the snapshot itself: SNAPSHOT_INCOMPLETE, SUSPECT_SNAPSHOT."""

from collections.abc import Iterator

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment.facts import Facts
from rocketmq_capacity.assessment.finding import counted, findings, listed, percent


def snapshot_incomplete(facts: Facts) -> Iterator[DataFrame]:
    """A broker did not answer every request, or queues stand on a broker that the snapshot does not have."""
    bound = facts.policy.thresholds.PROVISION.min_completeness
    failed = facts.tables[contracts.Failure].agg(
        F.count("*").alias("failures"), F.collect_set(F.coalesce("broker_name", "broker_addr")).alias("silent")
    )
    absent = (
        facts
        .tables[contracts.TopicQueue]
        .where("kind = 'BUSINESS' AND broker_state = 'ABSENT'")
        .agg(F.collect_set("broker_name").alias("absent"))
    )
    rows = (
        facts
        .tables[contracts.Cluster]
        .crossJoin(failed)
        .crossJoin(absent)
        .withColumn("brokers", F.array_sort(F.array_union("silent", "absent")))
        .where((F.col("failures") > 0) | (F.size("absent") > 0) | (F.col("completeness_ratio") < 1))
    )
    ratio = F.col("completeness_ratio")
    yield findings(
        rows,
        "SNAPSHOT_INCOMPLETE",
        severity=F.when(ratio < bound, "CRITICAL").when(ratio < 1, "WARNING").otherwise("INFO"),
        subjects=F.col("brokers"),
        evidence={
            "completeness_ratio": F.round(ratio, 4),
            "failures": F.col("failures"),
            "absent_brokers": F.array_sort("absent"),
        },
        message=F.concat(
            F.lit("The snapshot covers "),
            percent(ratio),
            F.lit(" of the queues; not answered or not known: "),
            listed(F.col("brokers")),
            F.lit("."),
        ),
    )


def suspect_snapshot(facts: Facts, found: DataFrame) -> Iterator[DataFrame]:
    """Many groups are flagged that were not in the run before: rather the snapshot is wrong than the cluster."""
    if facts.earlier is None:
        return
    bounds = facts.policy.thresholds.SUSPECT_SNAPSHOT
    key = ["consumer_group", "rule"]
    flagged = found.where("consumer_group IS NOT NULL").select(*key).distinct()
    new = flagged.join(facts.earlier.select(*key).distinct(), key, "left_anti").select("consumer_group").distinct()
    rows = (
        facts.groups
        .agg(F.count("*").alias("groups"))
        .crossJoin(new.agg(F.count("*").alias("newly"), F.array_sort(F.collect_list("consumer_group")).alias("names")))
        .where((F.col("groups") >= bounds.min_groups) & (F.col("newly") / F.col("groups") > bounds.flagged_ratio))
    )
    yield findings(
        rows,
        "SUSPECT_SNAPSHOT",
        severity="WARNING",
        subjects=F.col("names"),
        evidence={"groups": F.col("groups"), "newly_flagged": F.col("newly")},
        message=F.concat(
            F.format_string("%d of ", "newly"),
            counted(F.col("groups"), "group"),
            F.when(F.col("newly") == 1, " is").otherwise(" are"),
            F.lit(" newly flagged since the run before: check the snapshot first."),
        ),
    )
