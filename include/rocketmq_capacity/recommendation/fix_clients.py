"""FIX_CLIENT_ID and FIX_SUBSCRIPTION: clients of a group that are set up wrongly. The commands only look."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.recommendation.answer import answers, listed, sentences
from rocketmq_capacity.recommendation.cases import ALL_SUBSCRIBE, CASE, EACH_AN_ID, Cases, case_id, group_cases
from rocketmq_capacity.recommendation.commands import consumer_connection, consumer_status
from rocketmq_capacity.recommendation.effects import Effects, shown
from rocketmq_capacity.recommendation.facts import Facts

DUPLICATE: Final = "DUPLICATE_CLIENT_ID"
MISMATCH: Final = "SUBSCRIPTION_MISMATCH"
ORPHAN: Final = "ORPHAN_QUEUE"
COUNT_SKEWS: Final = ("ALLOCATION_SKEW", "CROSS_TOPIC_SKEW")
BARE_PID: Final = (4, 8)
"""Java clients up to this version (major, minor) take the process id alone as their instance name."""


def fixing_cases(facts: Facts) -> list[Cases]:
    """A case for each group: every consumer with an id of its own, or all with one set of subscriptions."""
    treatments = {DUPLICATE: EACH_AN_ID, MISMATCH: ALL_SUBSCRIBE}
    return [
        group_cases(treatment, facts.finding.where(F.col("rule") == rule).join(facts.clustering(), "consumer_group"))
        for rule, treatment in treatments.items()
    ]


def fix_client_id(facts: Facts, effects: Effects, addresses: DataFrame) -> DataFrame:
    """One recommendation for each group with consumers that share an id."""
    version = F.regexp_extract
    major, minor = (version("version", r"\AV(\d+)_(\d+)", part).try_cast("int") for part in (1, 2))
    # In a comparison of structs null is the least: what names no version is not an old one.
    is_old = (
        (F.col("language") == "JAVA")
        & minor.isNotNull()
        & (F.struct(major.alias("a"), minor.alias("b")) <= F.struct(*map(F.lit, BARE_PID)))
    )
    old = facts.tables[contracts.Consumer].where(is_old).select("consumer_group").distinct()
    rows = _rows(facts, effects, DUPLICATE, EACH_AN_ID, addresses).join(
        old.withColumn("has_old", F.lit(True)), "consumer_group", "left"
    )
    return answers(
        rows,
        "FIX_CLIENT_ID",
        consumer_group=True,
        target=F.col("subjects"),
        reason=sentences(
            F.concat(
                F.lit("Give each consumer an id of its own (instanceName or clientIP in its set-up); now shared: "),
                listed(F.col("subjects")),
                F.lit("."),
            ),
            F.when(
                F.col("has_old"),
                F.lit("Java clients before 4.9.0 use their process id alone, which repeats: upgrade them."),
            ),
            _effect(),
        ),
        rules=_rules(DUPLICATE),
        commands=F.transform(
            "addresses", lambda address: consumer_connection(F.col("nameserver"), F.col("consumer_group"), address)
        ),
        before=shown("before"),
        after=shown("after"),
    )


def fix_subscription(facts: Facts, effects: Effects, addresses: DataFrame) -> DataFrame:
    """One recommendation for each group whose clients subscribe differently."""
    return answers(
        _rows(facts, effects, MISMATCH, ALL_SUBSCRIBE, addresses),
        "FIX_SUBSCRIPTION",
        consumer_group=True,
        target=F.col("subjects"),
        reason=sentences(
            F.concat(
                F.lit("Let every client subscribe to the same topics with the same filters; other than most: "),
                listed(F.col("subjects")),
                F.lit(". Two kinds of consumers belong in two groups."),
            ),
            _effect(),
        ),
        rules=_rules(MISMATCH),
        commands=F.array(consumer_status(F.col("nameserver"), F.col("consumer_group"))),
        before=shown("before"),
        after=shown("after"),
    )


def _rows(facts: Facts, effects: Effects, rule: str, treatment: str, addresses: DataFrame) -> DataFrame:
    """One row a finding with its effect, and ``also``: rules of the group that the same mistake may explain."""
    cause = F.get_json_object("evidence", "$.cause")
    is_kin = F.col("rule").isin(*COUNT_SKEWS) | ((F.col("rule") == ORPHAN) & (cause == rule))
    also = facts.finding.where(is_kin).groupBy("consumer_group").agg(F.collect_set("rule").alias("also"))
    rows = (
        facts.finding
        .where(F.col("rule") == rule)
        .select("consumer_group", "subjects")
        .withColumn(CASE, case_id(treatment, F.col("consumer_group")))
        .join(effects.of_group, [CASE, "consumer_group"], "left")
        .join(also, "consumer_group", "left")
        .join(addresses, "consumer_group", "left")
        .withColumn("addresses", F.coalesce("addresses", F.array().cast("array<string>")))
        .withColumn("is_evener", F.col("after.count")["excess"] < F.col("before.count")["excess"])
    )
    return facts.with_doubt(rows)


def _rules(rule: str) -> Column:
    """The rule, an orphan that it causes, and a skew that goes with it."""
    fewer_orphans = F.coalesce(F.col("after.orphan_queues") < F.col("before.orphan_queues"), F.lit(True))
    evener = F.coalesce("is_evener", F.lit(False))
    kin = F.filter(
        F.coalesce("also", F.array().cast("array<string>")),
        lambda other: F.when(other == ORPHAN, fewer_orphans).otherwise(evener),
    )
    return F.concat(F.array(F.lit(rule)), kin)


def _effect() -> Column:
    return F.when(
        F.col("before").isNotNull() & F.col("after").isNotNull(),
        F.format_string(
            "Queues that nobody reads go from %d to %d, those read twice from %d to %d.",
            F.col("before.orphan_queues"),
            F.col("after.orphan_queues"),
            F.col("before.doubly_owned_queues"),
            F.col("after.doubly_owned_queues"),
        ),
    )
