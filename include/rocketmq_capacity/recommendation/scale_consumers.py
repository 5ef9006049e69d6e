"""SCALE_CONSUMERS: fewer clients, where some own no queue. A change of the deployment, so there is no command."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity.recommendation.answer import answers, counted, listed, sentences
from rocketmq_capacity.recommendation.cases import CASE, Cases, case_id
from rocketmq_capacity.recommendation.effects import Effects, shown
from rocketmq_capacity.recommendation.facts import Facts

ACTION: Final = "SCALE_CONSUMERS"
RULE: Final = "IDLE_CONSUMERS"


def scaling_cases(facts: Facts) -> Cases:
    """A case for each group with idle clients: without them."""
    idle = facts.found(RULE).select(case_id(ACTION, F.col("consumer_group")).alias(CASE), "consumer_group", "subjects")
    return Cases(
        idle.select(CASE, F.lit("CLIENTS").alias("treatment"), "consumer_group"),
        removed=idle.select(CASE, "consumer_group", F.explode("subjects").alias("client_id")),
    )


def scale_consumers(facts: Facts, effects: Effects, refusals: DataFrame) -> DataFrame:
    """One recommendation for each group whose idle clients nobody would miss; says why queues are no alternative."""
    clients = facts.group_status.select("consumer_group", F.col("distinct_client_ids").alias("clients"))
    cases = effects.of_group.where(~F.col("is_worse") & (F.col("after.idle") < F.col("before.idle")))
    rows = (
        facts
        .found(RULE)
        .select("consumer_group", "topic", "subjects")
        .withColumn(CASE, case_id(ACTION, F.col("consumer_group")))
        .join(cases, [CASE, "consumer_group"])
        .join(clients, "consumer_group")
        .join(refusals.where(F.col("rule") == RULE).drop("rule"), "topic", "left")
        .withColumn("gone", F.size("subjects"))
        .withColumn("kept", F.col("clients") - F.col("gone"))
        .where("kept > 0")
    )
    return answers(
        rows,
        ACTION,
        consumer_group=True,
        target=F.col("subjects"),
        reason=sentences(
            F.concat(
                F.format_string("Run %d instead of ", "kept"),
                counted(F.col("clients"), "client", "clients"),
                F.lit(": nobody would miss "),
                listed(F.col("subjects")),
                F.when(F.col("gone") == 1, ", which owns no queue").otherwise(", which own no queue"),
                F.lit(". Scale the deployment down; should other clients go instead, their shares move to "),
                F.when(F.col("gone") == 1, "this one.").otherwise("these."),
            ),
            F.col("refusal"),
        ),
        rules=F.array(F.lit(RULE)),
        before={"clients": F.col("clients"), **shown("before")},
        after={"clients": F.col("kept"), **shown("after")},
    )
