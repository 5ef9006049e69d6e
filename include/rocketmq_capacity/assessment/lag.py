"""Lag over time: how it grew, and whether it is under control (Burrow's rules over the last samples of a queue)."""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import DataFrame, Window

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.dataset import Dataset

WINDOW: Final = 10
"""Samples that a verdict looks at, and needs (Burrow's own window)."""

_QUEUE: Final = ("consumer_group", "topic", "broker_name", "queue_id")


def _last_samples(tables: Mapping[type[Dataset], DataFrame]) -> DataFrame:
    """The last samples of each queue with their lag, null where an offset is unknown.

    Only of business topics that the group subscribes: offsets outlive a subscription, and retry topics come and go.
    """
    subscribed = tables[contracts.Subscription].where("kind = 'BUSINESS'").select("consumer_group", "topic")
    recent = F.row_number().over(Window.partitionBy(*_QUEUE).orderBy(F.col("at_s").desc()))
    behind = F.col("broker_offset") - F.col("consumer_offset")
    lag = F.when(behind.isNotNull(), F.greatest(behind, F.lit(0)))
    return (
        tables[contracts.OffsetSample]
        .join(subscribed, ["consumer_group", "topic"], "left_semi")
        .withColumns({"recent": recent, "lag": lag})
        .where(F.col("recent") <= WINDOW)
    )


def lag_growth(tables: Mapping[type[Dataset], DataFrame]) -> DataFrame:
    """Per group: ``lag_growth`` from the first to the last of the samples, and ``lag_now``, in messages.

    Null where a queue has fewer than two samples, or an offset of its first or last one is unknown.
    """
    per_queue = (
        _last_samples(tables)
        .groupBy(*_QUEUE)
        .agg(
            F.max_by("lag", "at_s").alias("last"),
            F.min_by("lag", "at_s").alias("first"),
            F.count("*").alias("samples"),
        )
    )
    growth = F.when(F.col("samples") >= 2, F.col("last") - F.col("first"))
    return (
        per_queue
        .withColumn("growth", growth)
        .groupBy("consumer_group")
        .agg(
            F.when(F.count("growth") == F.count("*"), F.sum("growth")).alias("lag_growth"),
            F.when(F.count("last") == F.count("*"), F.sum("last")).alias("lag_now"),
        )
    )


def lag_trouble(tables: Mapping[type[Dataset], DataFrame]) -> DataFrame:
    """The groups with a queue whose lag is not under control: it went back, stands still, or its lag never fell.

    A queue with fewer samples than the window, or an unknown offset among them, has no verdict.
    Shape: -> one row a group with at least one verdict: consumer_group, ``is_troubled``.
    Source: Burrow, core/internal/evaluator/caching.go (its rules STOP, STALL, REWIND and WARN; none is OK).
    """
    in_time = Window.partitionBy(*_QUEUE).orderBy("at_s")
    steps = _last_samples(tables).withColumns({
        "offset_step": F.col("consumer_offset") - F.lag("consumer_offset").over(in_time),
        "lag_step": F.col("lag") - F.lag("lag").over(in_time),
    })
    per_queue = steps.groupBy(*_QUEUE).agg(
        (F.count("lag") == WINDOW).alias("has_verdict"),
        (F.min("lag") > 0).alias("always_behind"),
        (F.min("offset_step") < 0).alias("went_back"),
        (F.max("offset_step") == 0).alias("stood_still"),
        (F.min("lag_step") >= 0).alias("never_fell"),
    )
    behind = F.col("always_behind") & (F.col("stood_still") | F.col("never_fell"))
    return (
        per_queue
        .where("has_verdict")
        .groupBy("consumer_group")
        .agg(F.max(F.col("went_back") | behind).alias("is_troubled"))
    )
