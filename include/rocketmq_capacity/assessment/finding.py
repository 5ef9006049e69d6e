"""How a rule says what it found: one row of the contract ``Finding``."""

from collections.abc import Mapping

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame


def findings(
    rows: DataFrame,
    rule: str,
    *,
    severity: Column | str,
    subjects: Column,
    evidence: Mapping[str, Column],
    message: Column,
    consumer_group: bool = False,
    topic: bool = False,
    broker_name: bool = False,
) -> DataFrame:
    """One finding for each row; the flags say which of the row's own columns it names.

    Shape: any rows -> ``Finding``. ``evidence`` is written as a JSON object with nulls kept, ``subjects`` sorted.
    """
    absent = F.lit(None).cast("string")
    return rows.select(
        F.lit(rule).alias("rule"),
        (F.lit(severity) if isinstance(severity, str) else severity).alias("severity"),
        (F.col("consumer_group") if consumer_group else absent).alias("consumer_group"),
        (F.col("topic") if topic else absent).alias("topic"),
        (F.col("broker_name") if broker_name else absent).alias("broker_name"),
        subjects.alias("subjects"),
        F.to_json(
            F.struct(*(value.alias(name) for name, value in evidence.items())), {"ignoreNullFields": "false"}
        ).alias("evidence"),
        message.alias("message"),
    )


def queue_label(broker_name: str = "broker_name", queue_id: str = "queue_id") -> Column:
    """A queue among the subjects of a finding that names its topic: ``broker-a:3``."""
    return F.concat_ws(":", broker_name, queue_id)


def counted(number: Column, noun: str) -> Column:
    """A number with its noun: ``1 queue``, ``2 queues``; null where the number is."""
    return F.concat(number.cast("long").cast("string"), F.lit(f" {noun}"), F.when(number == 1, "").otherwise("s"))


def times(figure: Column) -> Column:
    """A factor for a sentence, to two places and no more than it needs: ``4.0``, ``1.55``."""
    return F.round(figure, 2).cast("string")


def percent(ratio: Column) -> Column:
    """A share for a sentence, cut off and not rounded up, so that less than all never reads ``100.0 %``."""
    # A ratio may come as a sum whose last digit is off.
    return F.format_string("%.1f %%", F.floor(F.round(ratio * 1000, 6)) / 10)


def harm(orphans: Column, twice: Column) -> Column:
    """What is wrong with the queues of a group today, as a further sentence; empty where nothing is known to be."""
    unread = F.concat(F.lit("nobody reads "), counted(orphans, "queue"))
    read_twice = F.concat(counted(twice, "queue"), F.when(twice == 1, " is").otherwise(" are"), F.lit(" read twice"))
    both = F.array_compact(F.array(F.when(orphans > 0, unread), F.when(twice > 0, read_twice)))
    return F.when(F.size(both) > 0, F.concat(F.lit(" Now "), F.array_join(both, ", and "), F.lit("."))).otherwise("")


def listed(names: Column, most: int = 5) -> Column:
    """The first names of an array for a sentence: ``a, b, c and 4 more``."""
    more = F.size(names) - most
    return F.concat(
        F.array_join(F.slice(names, 1, most), ", "),
        F.when(more > 0, F.format_string(" and %d more", more)).otherwise(""),
    )
