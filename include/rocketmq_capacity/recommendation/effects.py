"""What the simulated cases do to each group: before beside after, and who would be worse off."""

from dataclasses import dataclass

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity.recommendation.answer import figures
from rocketmq_capacity.recommendation.cases import BEFORE, CASE
from rocketmq_capacity.recommendation.facts import Facts

TOLERANCE = 1e-9
"""Of a ratio that was added up in another order."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What came out of the simulation.

    Attributes:
        today: one row a group that could be computed, as it is: consumer_group, and the columns of :func:`_side`.
        of_group: the same, a row a case and group: case_id, consumer_group, ``before`` and ``after`` (structs of
            :func:`_side`), ``is_worse``.
        of_case: one row a case: case_id, ``groups_before``/``groups_after`` (arrays for the plan), ``idle_before``/
            ``idle_after`` over all groups, ``worse`` (groups that would be worse off), ``uncomputed`` (groups of the
            case of which nothing could be computed).
    """

    today: DataFrame
    of_group: DataFrame
    of_case: DataFrame


def effects(facts: Facts, outcome: DataFrame, groups: DataFrame) -> Effects:
    """Before beside after.

    Args:
        facts: for the bound of EXCESS.
        outcome: ``StrategyLoad`` of every case, with ``case_id``.
        groups: the groups of each case: case_id, consumer_group.
    """
    measured = facts.settle(outcome.select(CASE, "consumer_group", _side().alias("after")))
    today = measured.where(F.col(CASE) == BEFORE).select("consumer_group", F.col("after").alias("before"))
    target = facts.policy.thresholds.ALLOCATION_SKEW.excess
    of_group = facts.settle(
        groups
        .where(F.col(CASE) != BEFORE)
        .join(measured, [CASE, "consumer_group"], "left")
        .join(today, "consumer_group", "left")
        .withColumn("is_worse", is_worse(target))
    )
    return Effects(today.select("consumer_group", "before.*"), of_group, facts.settle(_of_case(of_group)))


def _side() -> Column:
    """A group in one case: its clients without a queue, queues without a reader or with two, and its skew."""

    def size(names: str) -> Column:
        # May be null by its type: of a group that cannot be computed the whole side is, and Arrow refuses a null struct
        # whose parts may not be null.
        return F.when(F.col(names).isNotNull(), F.size(names))

    return F.struct(
        size("idle_clients").alias("idle"),
        size("orphan_queues").alias("orphan_queues"),
        size("doubly_owned_queues").alias("doubly_owned_queues"),
        F.col("count"),
        F.col("traffic"),
    )


def is_worse(target_excess: float) -> Column:
    """Whether ``after`` has more orphans, double readers or idle clients, or more EXCESS than before and allowed."""
    rises = [
        F.col(f"after.{name}") > F.col(f"before.{name}") for name in ("orphan_queues", "doubly_owned_queues", "idle")
    ]
    before, after = F.col("before.count")["excess"], F.col("after.count")["excess"]
    skews = after > F.greatest(F.coalesce(before, F.lit(1.0)), F.lit(target_excess)) + TOLERANCE
    worse = F.coalesce(skews, F.lit(False))
    for rise in rises:
        worse |= F.coalesce(rise, F.lit(False))
    return worse


def shown(side: str) -> dict[str, Column]:
    """The figures of one side (``before`` or ``after``) as the plan shows them."""
    return {
        "idle": F.col(f"{side}.idle"),
        "orphan_queues": F.col(f"{side}.orphan_queues"),
        "doubly_owned_queues": F.col(f"{side}.doubly_owned_queues"),
        "count": figures(F.col(f"{side}.count")),
    }


def _of_case(of_group: DataFrame) -> DataFrame:
    sides = {
        side: F.struct("consumer_group", *(value.alias(name) for name, value in shown(side).items()))
        for side in ("before", "after")
    }
    is_known = F.col("before").isNotNull() & F.col("after").isNotNull()
    pair = F.when(is_known, F.struct("consumer_group", *(value.alias(side) for side, value in sides.items())))
    return (
        of_group
        .groupBy(CASE)
        .agg(
            F.array_sort(F.collect_list(pair)).alias("pairs"),
            F.sum(F.when(is_known, F.col("before.idle"))).alias("idle_before"),
            F.sum(F.when(is_known, F.col("after.idle"))).alias("idle_after"),
            F.array_sort(F.collect_list(F.when(F.col("is_worse"), F.col("consumer_group")))).alias("worse"),
            F.array_sort(F.collect_list(F.when(~is_known, F.col("consumer_group")))).alias("uncomputed"),
        )
        .select(
            CASE,
            F.transform("pairs", lambda pair: pair["before"]).alias("groups_before"),
            F.transform("pairs", lambda pair: pair["after"]).alias("groups_after"),
            "idle_before",
            "idle_after",
            "worse",
            "uncomputed",
        )
    )
