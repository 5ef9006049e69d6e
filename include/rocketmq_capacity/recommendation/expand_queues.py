"""EXPAND_QUEUES: more queues, equal on all writable brokers, where the simulation shows that they help.

Against idle clients, of the layouts that leave fewer of them and no group of the topic worse off: the one with the
fewest idle clients, an even one before another, then the smallest. Against remainders that add up over topics: the
next multiple of the clients. Against unequal brokers: what the largest of them has.
"""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, Window

from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answers, counted, listed, sentences
from rocketmq_capacity.recommendation.cases import CASE, Cases, topic_cases
from rocketmq_capacity.recommendation.effects import Effects
from rocketmq_capacity.recommendation.facts import Facts
from rocketmq_capacity.recommendation.layouts import ACTION, IDLE, UNEQUAL, UNEVEN, smallest_for
from rocketmq_capacity.recommendation.queue_changes import queue_changes, uncomputed_groups
from rocketmq_capacity.recommendation.raise_read_queues import RULE as READ_LESS_THAN_WRITE

UNCOMPUTED: Final = " cannot be simulated, since what the clients run cannot be computed"
ONLINE: Final = (
    "Run it while every group of the topic is online: each starts a new queue at its first message only while"
    " that is still in memory."
)


def expansion_cases(facts: Facts, tried: DataFrame) -> Cases:
    """A case for each layout: every writable broker with that many read and write queues."""
    layouts = tried.select(CASE, "topic", "per_broker").distinct()
    places = facts.places.where("is_changeable").select("topic", "broker_name")
    queues = layouts.join(places, "topic").select(
        CASE,
        "topic",
        "broker_name",
        F.col("per_broker").alias("read_queue_nums"),
        F.col("per_broker").alias("write_queue_nums"),
    )
    return topic_cases(facts, queues)


def judged_layouts(facts: Facts, tried: DataFrame, effects: Effects) -> DataFrame:
    """``tried`` with its case's effects, and ``refusal``: why the layout does not answer its rule, or null."""
    asking = effects.of_group.select(CASE, "consumer_group", "before", "after")
    is_rule = {rule: F.col("rule") == rule for rule in (IDLE, UNEVEN, UNEQUAL)}
    fewer_idle = F.col("after.idle") < F.col("before.idle")
    step = 1 - facts.policy.thresholds.CHANGE_STRATEGY.min_improvement
    more_even = F.col("after.count")["excess"] <= F.col("before.count")["excess"] * step
    refusal = F.coalesce(
        F.when(~is_rule[UNEQUAL] & (F.col("before").isNull() | F.col("after").isNull()), F.lit(UNCOMPUTED)),
        F.when(is_rule[IDLE] & ~fewer_idle, F.lit(" would leave as many clients without any queue")),
        F.when(is_rule[UNEVEN] & ~F.coalesce(more_even, F.lit(False)), F.lit(" would not make it even")),
        F.when(F.size("worse") > 0, F.concat(F.lit(" would make it worse for "), listed(F.col("worse")))),
    )
    layout = F.concat(counted(F.col("per_broker"), "queue", "queues"), F.lit(" on each broker"))
    return (
        tried
        .join(effects.of_case, CASE, "left")
        .join(asking, [CASE, "consumer_group"], "left")
        .withColumn("refusal", F.concat(layout, refusal))
    )


def expand_queues(facts: Facts, judged: DataFrame, safety: DataFrame) -> DataFrame:
    """One recommendation for each topic that more queues help."""
    chosen = _chosen(judged)
    rows = chosen.join(_changes(facts, chosen, safety), CASE)
    # Its command would set fewer queues again, if it were run after this one.
    raised = facts.found(READ_LESS_THAN_WRITE).select("topic").distinct().withColumn("is_raised", F.lit(True))
    not_now = preflight.reasons(
        F.when(F.col("is_raised"), F.lit("RAISE_READ_QUEUES of the topic comes first, and then another plan")),
        preflight.offline_groups(F.col("offline")),
        uncomputed_groups(),
    )
    rows = rows.join(raised, "topic", "left").withColumn("forbids", F.concat("forbids", not_now))
    is_manual = (F.size("forbids") > 0) | F.col("is_ordered")
    nothing = F.array()
    return answers(
        rows,
        ACTION,
        topic=True,
        target=F.col("per_broker"),
        is_manual=is_manual,
        reason=sentences(
            _why(),
            F.when(F.col("is_ordered"), F.lit(preflight.ORDERED)).otherwise(F.lit(ONLINE)),
            preflight.blocked(F.col("forbids")),
        ),
        rules=F.when(F.col("is_unequal"), F.array_append("rules", F.lit(UNEQUAL))).otherwise(F.col("rules")),
        commands=preflight.commented(F.col("commands"), is_manual),
        before={"queues": F.col("queues_before"), "groups": F.coalesce("groups_before", nothing)},
        after={"queues": F.col("queues_after"), "groups": F.coalesce("groups_after", nothing)},
    )


def helped_groups(judged: DataFrame) -> DataFrame:
    """The groups whose finding more queues answer. Shape: -> rule, consumer_group."""
    good = judged.where("refusal IS NULL AND consumer_group IS NOT NULL")
    return good.join(_chosen(judged).select(CASE), CASE).select("rule", "consumer_group").distinct()


def refusals(facts: Facts, layouts: DataFrame, judged: DataFrame) -> DataFrame:
    """Why a topic is given no more queues against idle clients.

    Shape: -> one row a topic and rule: topic, rule, ``refusal`` (a sentence).
    """
    bounds = facts.policy.thresholds.EXPAND_QUEUES
    tried = (
        judged
        .where(F.col("rule") == IDLE)
        .groupBy("topic")
        .agg(
            F.max(F.col("refusal").isNull()).alias("any_good"),
            F.array_sort(F.collect_set("refusal")).alias("refused"),
        )
    )
    clients = facts.group_status.select("consumer_group", F.col("distinct_client_ids").alias("clients"))
    wanted = facts.found(IDLE).join(clients, "consumer_group").groupBy("topic").agg(F.max("clients").alias("clients"))
    smallest = smallest_for(F.col("clients"), bounds.headroom)
    why = (
        F
        .when(F.col("refused").isNotNull(), F.array_join("refused", "; "))
        .when(F.col("brokers").isNull(), F.lit("on no broker can it be both read and written"))
        .when(~F.col("is_known"), F.lit("how many it has is not known"))
        .when(smallest > bounds.max_queues_per_broker, F.format_string("%d on each broker would be needed", smallest))
        .otherwise(F.lit("it has as many as it needs"))
    )
    return (
        wanted
        .join(layouts, "topic", "left")
        .join(tried, "topic", "left")
        .where("any_good IS NULL OR NOT any_good")
        .select(
            "topic",
            F.lit(IDLE).alias("rule"),
            F.concat(F.lit("More queues would not do: "), why, F.lit(".")).alias("refusal"),
        )
    )


def _chosen(judged: DataFrame) -> DataFrame:
    """The best layout of each topic, with the ``rules`` that it answers and who is ``asking`` by the first."""
    first = Window.partitionBy("topic").orderBy(
        F.col("rule") != IDLE, F.col("rule") != UNEVEN, "idle_after", ~F.col("is_even"), "per_broker", "consumer_group"
    )
    return (
        # Any of the layouts makes the brokers equal.
        judged
        .withColumn("is_unequal", F.max(F.col("rule") == UNEQUAL).over(Window.partitionBy("topic")))
        .where("refusal IS NULL")
        .withColumn("rules", F.collect_set("rule").over(Window.partitionBy(CASE)))
        .withColumn("asking", F.array_sort(F.collect_set("consumer_group").over(Window.partitionBy(CASE, "rule"))))
        .withColumn("place", F.row_number().over(first))
        .where("place = 1")
        .drop("place", "consumer_group", "before", "after")
    )


def _changes(facts: Facts, chosen: DataFrame, safety: DataFrame) -> DataFrame:
    can = F.col("is_changeable")
    layouts = (
        chosen
        .select(CASE, "topic", "per_broker")
        .join(facts.places, "topic")
        .withColumns({
            "new_read": F.when(can, F.col("per_broker")).otherwise(F.col("read_queue_nums")),
            "new_write": F.when(can, F.col("per_broker")).otherwise(F.col("write_queue_nums")),
        })
    )
    return queue_changes(facts, layouts, safety)


def _why() -> Column:
    layout = F.concat(counted(F.col("per_broker"), "queue", "queues"), F.lit(" on each writable broker"))
    return (
        F
        .when(
            F.col("rule") == IDLE,
            F.concat(
                layout,
                F.lit(": idle clients of its groups go from "),
                F.col("idle_before"),
                F.lit(" to "),
                F.col("idle_after"),
                F.lit(", and no group is worse off."),
            ),
        )
        .when(
            F.col("rule") == UNEVEN,
            F.concat(
                layout,
                F.lit(", in all a multiple of the clients of "),
                listed(F.col("asking")),
                F.lit(": no remainder is left."),
            ),
        )
        .otherwise(
            F.concat(layout, F.lit(", as many as on the largest: the load spreads evenly, and no group is worse off."))
        )
    )
