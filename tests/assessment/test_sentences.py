"""The parts of a finding's sentence."""

import pyspark.sql.functions as F
import pytest
from pyspark.sql import Column, SparkSession

from rocketmq_capacity.assessment.finding import counted, harm, listed, percent, times


def said(spark: SparkSession, *sentences: Column) -> list[str | None]:
    """What columns of literals come to."""
    (row,) = spark.range(1).select(*(one.alias(f"s{i}") for i, one in enumerate(sentences))).collect()
    return list(row)


def test_one_is_written_as_one(spark: SparkSession) -> None:
    numbers = (0, 1, 2, 1_234_567, None)

    assert said(spark, *(counted(F.lit(n).cast("long"), "queue") for n in numbers)) == [
        "0 queues",
        "1 queue",
        "2 queues",
        "1234567 queues",
        None,
    ]


def test_less_than_all_never_reads_a_hundred_percent(spark: SparkSession) -> None:
    ratios = (1.0, 0.99999, 0.9496, 0.57, 0.1 + 0.2, 0.0, 1.3)

    assert said(spark, *(percent(F.lit(ratio)) for ratio in ratios)) == [
        "100.0 %",
        "99.9 %",
        "94.9 %",
        "57.0 %",
        "30.0 %",
        "0.0 %",
        "130.0 %",
    ]


def test_a_factor_has_two_places(spark: SparkSession) -> None:
    assert said(spark, *(times(F.lit(x)) for x in (4.0, 1.75, 3.0769))) == ["4.0", "1.75", "3.08"]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a"], "a"),
        (["a", "b", "c", "d", "e"], "a, b, c, d, e"),
        (["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d, e and 2 more"),
    ],
)
def test_a_long_list_ends_with_how_many_more(spark: SparkSession, names: list[str], sentence: str) -> None:
    assert said(spark, listed(F.array(*map(F.lit, names)))) == [sentence]


def test_harm_is_named_where_there_is_some(spark: SparkSession) -> None:
    cases = ((2, 0), (0, 1), (0, 0), (None, None))

    assert said(spark, *(harm(F.lit(a).cast("long"), F.lit(b).cast("long")) for a, b in cases)) == [
        " Now nobody reads 2 queues.",
        " Now 1 queue is read twice.",
        "",
        "",
    ]
