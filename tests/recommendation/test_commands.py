"""Command lines as Columns agree with Python's shlex, which knows a POSIX shell."""

import random
import re
import shlex
import string

import pyspark.sql.functions as F
from pyspark.sql import SparkSession

from rocketmq_capacity.recommendation.commands import comment, mqadmin, option, quote

CHARACTERS = string.printable + "äß東\x85\u2028\u2029\U0001f600"


def _values(count: int) -> list[str]:
    chance = random.Random(7)
    safe = string.ascii_letters + string.digits + "_@%+=:,./-"
    return [
        "",
        *("".join(chance.choices(chance.choice((CHARACTERS, safe)), k=chance.randint(1, 12))) for _ in range(count)),
    ]


def test_values_are_quoted_as_shlex_quotes_them(spark: SparkSession) -> None:
    values = _values(1000)

    rows = spark.createDataFrame([(value,) for value in values], "value string").select("value", quote(F.col("value")))

    for value, quoted in rows.collect():
        assert quoted == shlex.quote(value)


def test_every_value_comes_out_of_a_command_line_as_it_went_in(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(value,) for value in _values(1000)], "value string")
    line = mqadmin("topicStatus", F.col("value"), option("t", F.col("value")), option("c", 7))

    for value, command in rows.select("value", line).collect():
        words = shlex.split(command)
        each = [[f"{flag}{value}"] if value.startswith("-") else [flag, value] for flag in ("-n", "-t")]
        assert words == ["mqadmin", "topicStatus", *each[0], *each[1], "-c", "7"]


def test_a_comment_stays_one_line(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(value,) for value in _values(1000)], "value string")

    for value, line in rows.select("value", comment(F.col("value"))).collect():
        assert line == "# " + re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]", " ", value)
        assert shlex.split(line, comments=True) == []
