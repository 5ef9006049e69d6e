"""CHANGE_STRATEGY: another way to share the same queues out. A change of the clients' code, so there is no command.

Best is, by the policy's strategies that apply: fewest queues without a reader, then with two, then fewest idle clients,
then most findings answered, then (clients that differ) what most of them run, then the least EXCESS. A strategy that
is better by less than the policy's min_improvement answers nothing.
"""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, Window

from rocketmq_capacity import contracts
from rocketmq_capacity.recommendation.answer import answers, figures, sentences
from rocketmq_capacity.recommendation.effects import Effects, is_worse
from rocketmq_capacity.recommendation.facts import POP, Facts

ACTION: Final = "CHANGE_STRATEGY"
MIXED: Final = "MIXED_STRATEGIES"
ORPHAN: Final = "ORPHAN_QUEUE"
IDLE: Final = "IDLE_CONSUMERS"
COUNT_SKEWS: Final = ("ALLOCATION_SKEW", "CROSS_TOPIC_SKEW")
TRAFFIC_SKEW: Final = "TRAFFIC_SKEW"
READ_ONLY_IDLE: Final = "READ_ONLY_IDLE"
OTHER_CAUSES: Final = ("DUPLICATE_CLIENT_ID", "SUBSCRIPTION_MISMATCH")
"""What has to be mended first: until then no strategy shares out well."""
NEARBY: Final = "MACHINE_ROOM_NEARBY"


def change_strategy(facts: Facts, effects: Effects) -> DataFrame:
    """One recommendation for each group that another strategy of the policy would do better for."""
    tried = _tried(facts, effects)
    idle, orphans, twice = (F.col(f"after.{name}") for name in ("idle", "orphan_queues", "doubly_owned_queues"))
    excess, traffic = F.col("after.count")["excess"], F.col("after.traffic")["excess"]
    asks_count = F.exists("found", lambda rule: rule.isin(MIXED, *COUNT_SKEWS))
    by_need = [F.when(asks_count, excess).otherwise(traffic), F.when(asks_count, traffic).otherwise(excess)]
    order = [
        orphans,
        twice,
        idle,
        -F.size("answered"),
        F.col("is_mixed") & ~F.col("is_majority"),
        *(F.round(load, 6).asc_nulls_last() for load in by_need),
        F.col("place"),
    ]
    best = (
        tried
        .withColumn("answered", _answered(facts))
        .where((F.size("answered") > 0) & ~is_worse(facts.policy.thresholds.ALLOCATION_SKEW.excess))
        .withColumn("rank", F.row_number().over(Window.partitionBy("consumer_group").orderBy(*order)))
        .where("rank = 1")
    )
    return answers(
        best,
        ACTION,
        consumer_group=True,
        target=F.col("strategy"),
        reason=sentences(
            _why(),
            F.lit(
                "Set it in the clients' code (setAllocateMessageQueueStrategy) and change all clients in one go: while"
                " they differ, their shares overlap and leave queues to nobody."
            ),
        ),
        rules=F.col("answered"),
        before={"strategy": F.col("current_strategy"), **_shown("before")},
        after={"strategy": F.col("strategy"), **_shown("after")},
    )


def _tried(facts: Facts, effects: Effects) -> DataFrame:
    """Groups with such findings beside each strategy that applies: ``found``, ``before``, ``after``, ``place``."""
    cause = F.get_json_object("evidence", "$.cause")
    by_strategy = (F.col("rule") != ORPHAN) | ~F.coalesce(cause.isin(*OTHER_CAUSES), F.lit(False))
    found = (
        facts
        .found(MIXED, ORPHAN, IDLE, *COUNT_SKEWS, TRAFFIC_SKEW, READ_ONLY_IDLE)
        .where(by_strategy)
        .groupBy("consumer_group")
        .agg(F.collect_set("rule").alias("found"))
        .withColumn("is_mixed", F.array_contains("found", MIXED))
    )
    others = facts.finding.where(F.col("rule").isin(*OTHER_CAUSES)).select("consumer_group").distinct()
    ready = found.where("is_mixed").unionByName(found.where("NOT is_mixed").join(others, "consumer_group", "left_anti"))
    pulling = facts.clustering().where("message_request_mode = 'PULL' OR is_orderly").select("consumer_group")
    strategies: list[str] = list(facts.policy.strategies)
    after = F.struct(
        F.size("idle_clients").alias("idle"),
        F.size("orphan_queues").alias("orphan_queues"),
        F.size("doubly_owned_queues").alias("doubly_owned_queues"),
        F.col("count"),
        F.col("traffic"),
    )
    loads = facts.strategy_load.where(F.col("is_applicable") & (F.col("strategy") != POP)).select(
        "consumer_group", "strategy", after.alias("after")
    )
    today = effects.today.select(
        "consumer_group", F.struct("idle", "orphan_queues", "doubly_owned_queues", "count", "traffic").alias("before")
    )
    place = F.array_position(F.array(*map(F.lit, strategies)), F.col("strategy"))
    return (
        ready
        .join(pulling, "consumer_group")
        .join(facts.group_status.select("consumer_group", "current_strategy"), "consumer_group")
        .join(_majority(facts), "consumer_group", "left")
        .join(today, "consumer_group")
        .join(loads, "consumer_group")
        .where(F.col("strategy") != _computed(F.col("current_strategy"), strategies))
        .withColumns({
            "place": place,
            "is_majority": F.coalesce(F.col("strategy") == _computed(F.col("majority"), strategies), F.lit(False)),
        })
    )


def _majority(facts: Facts) -> DataFrame:
    """What most clients of a group report, the first by name among equals: ``majority``, ``running``, ``reporting``."""
    counts = (
        facts
        .tables[contracts.Consumer]
        .where("allocate_strategy IS NOT NULL")
        .groupBy("consumer_group", "allocate_strategy")
        .agg(F.count("*").alias("clients"))
    )
    most = F.min(F.struct(-F.col("clients"), F.col("allocate_strategy").alias("name"), "clients"))
    return (
        counts
        .groupBy("consumer_group")
        .agg(most.alias("most"), F.sum("clients").alias("reporting"))
        .select(
            "consumer_group", F.col("most.name").alias("majority"), F.col("most.clients").alias("running"), "reporting"
        )
    )


def _computed(strategy: Column, strategies: list[str]) -> Column:
    """A reported strategy as the policy computes it: NEARBY's inner strategy cannot be seen, so the policy's stands."""
    nearby = next((name for name in strategies if name.startswith(f"{NEARBY}-")), NEARBY)
    return F.when(strategy == NEARBY, F.lit(nearby)).otherwise(strategy)


def _answered(facts: Facts) -> Column:
    """The rules among ``found`` that the strategy answers."""
    step = 1 - facts.policy.thresholds.CHANGE_STRATEGY.min_improvement

    def falls(name: str) -> Column:
        return F.col(f"after.{name}") < F.col(f"before.{name}")

    def evens(load: str) -> Column:
        return F.col(f"after.{load}")["excess"] <= F.col(f"before.{load}")["excess"] * step

    is_answered = {
        MIXED: F.lit(True),  # of those that are not worse any will do
        ORPHAN: falls("orphan_queues"),
        IDLE: falls("idle"),
        **dict.fromkeys(COUNT_SKEWS, evens("count")),
        TRAFFIC_SKEW: evens("traffic"),
        # The client that owns dead queues alone is the one that receives nothing.
        READ_ONLY_IDLE: F.col("after.traffic")["min"] > F.col("before.traffic")["min"],
    }
    each = [F.when(F.array_contains("found", rule) & condition, rule) for rule, condition in is_answered.items()]
    return F.filter(F.array(*each), lambda rule: rule.isNotNull())


def _shown(side: str) -> dict[str, Column]:
    load = F.col(side)
    return {
        "idle": load["idle"],
        "orphan_queues": load["orphan_queues"],
        "doubly_owned_queues": load["doubly_owned_queues"],
        "count": figures(load["count"]),
        "traffic": figures(load["traffic"]),
    }


def _why() -> Column:
    strategy = F.col("strategy")
    do = F.when(F.col("running") == 1, "does").otherwise("do")
    mixed = F.format_string("Let every client run %s, as %d of %d %s", strategy, "running", "reporting", do)
    today = F.when(F.col("current_strategy") == "MIXED", "different ones").otherwise(F.col("current_strategy"))
    instead = F.format_string("Let every client run %s instead of %s", strategy, today)
    gains = [
        _gain("queues that nobody reads", F.col("before.orphan_queues"), F.col("after.orphan_queues"), "%d"),
        _gain("queues read twice", F.col("before.doubly_owned_queues"), F.col("after.doubly_owned_queues"), "%d"),
        _gain("idle clients", F.col("before.idle"), F.col("after.idle"), "%d"),
        _gain("EXCESS by queues", F.col("before.count")["excess"], F.col("after.count")["excess"], "%.2f"),
        _gain("EXCESS by messages", F.col("before.traffic")["excess"], F.col("after.traffic")["excess"], "%.2f"),
    ]
    told = F.array_join(F.filter(F.array(*gains), lambda gain: gain.isNotNull()), ", ")
    start = F.when(F.col("is_mixed") & F.col("is_majority"), mixed).otherwise(instead)
    return F.concat(start, F.when(told != "", F.concat(F.lit(": "), told)).otherwise(""), F.lit("."))


def _gain(what: str, before: Column, after: Column, form: str) -> Column:
    differs = F.abs(before - after) >= (1 if form == "%d" else 0.005)
    go = "go" if form == "%d" else "goes"
    return F.when(differs, F.format_string(f"{what} {go} from {form} to {form}", before, after))
