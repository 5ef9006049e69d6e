"""How a family of answers writes a recommendation: one row of the contract ``Recommendation``."""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

ID_DIGITS: Final = 12
"""Hexadecimal digits of an id: 48 bits tell apart what one plan holds."""
DECIMALS: Final = 4
"""Of a metric, as in the plan file."""
METRICS: Final = ("peak", "floor", "excess", "gini", "cv")
"""The metrics of a load that the plan file shows."""
LISTED: Final = 5
"""Names in a sentence before it counts the rest."""


def answers(
    rows: DataFrame,
    action: str,
    *,
    target: Column,
    reason: Column,
    rules: Column,
    commands: Column | None = None,
    is_manual: Column | None = None,
    before: Mapping[str, Column] | None = None,
    after: Mapping[str, Column] | None = None,
    consumer_group: bool = False,
    topic: bool = False,
) -> DataFrame:
    """One recommendation for each row; the flags say which of the row's own columns it names.

    Shape: any rows -> ``Recommendation``. ``target`` is what tells it from other recommendations of the same action,
    group and topic: broker, target values. Equal inputs give equal ids.
    """
    absent = F.lit(None).cast("string")
    group_name = F.col("consumer_group") if consumer_group else absent
    topic_name = F.col("topic") if topic else absent
    identity = F.struct(
        F.lit(action).alias("action"), group_name.alias("group"), topic_name.alias("topic"), target.alias("target")
    )
    return rows.select(
        F.substring(F.sha2(_json(identity), 256), 1, ID_DIGITS).alias("id"),
        F.lit(action).alias("action"),
        group_name.alias("consumer_group"),
        topic_name.alias("topic"),
        (F.lit(False) if is_manual is None else is_manual).alias("is_manual"),
        reason.alias("reason"),
        F.array_sort(F.array_distinct(rules)).alias("rules"),
        (F.array().cast("array<string>") if commands is None else commands).alias("commands"),
        _object(before).alias("before"),
        _object(after).alias("after"),
    )


def figures(metrics: Column) -> Column:
    """A load's metrics as the plan shows them; null where they are not defined."""
    shown = F.struct(*(F.round(metrics[name], DECIMALS).alias(name) for name in METRICS))
    return F.when(metrics.isNotNull(), shown)


def listed(names: Column) -> Column:
    """The first names of an array for a sentence: ``a, b and 4 more``."""
    more = F.size(names) - LISTED
    return F.concat(
        F.array_join(F.slice(names, 1, LISTED), ", "),
        F.when(more > 0, F.format_string(" and %d more", more)).otherwise(""),
    )


def counted(number: Column, one: str, many: str) -> Column:
    """``1 queue``, ``2 queues``."""
    return F.concat(number.cast("string"), F.when(number == 1, f" {one}").otherwise(f" {many}"))


def sentences(*parts: Column) -> Column:
    """Parts that are not null, with a space between."""
    return F.concat_ws(" ", *parts)


def java_sorted(names: Column) -> Column:
    """The distinct strings of a group as an array in Java's order (UTF-16 code units)."""
    pairs = F.array_sort(F.collect_set(F.struct(F.encode(names, "UTF-16BE").alias("order"), names.alias("name"))))
    return F.transform(pairs, lambda pair: pair["name"])


def _object(members: Mapping[str, Column] | None) -> Column:
    if not members:
        return F.lit("{}")
    return _json(F.struct(*(value.alias(name) for name, value in members.items())))


def _json(value: Column) -> Column:
    return F.to_json(value, {"ignoreNullFields": "false"})
