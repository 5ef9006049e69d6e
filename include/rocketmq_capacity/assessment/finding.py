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


def listed(names: Column, most: int = 5) -> Column:
    """The first names of an array for a sentence: ``a, b, c and 4 more``."""
    more = F.size(names) - most
    return F.concat(
        F.array_join(F.slice(names, 1, most), ", "),
        F.when(more > 0, F.format_string(" and %d more", more)).otherwise(""),
    )
