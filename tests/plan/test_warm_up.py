"""Spark's Python processes, started before they have units."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
def test_spark_s_processes_import_what_they_will_need(spark: "SparkSession") -> None:
    from pyspark.errors import PythonException

    from rocketmq_capacity.spark.units import warm_up

    warm_up(spark, "colorsys")
    with pytest.raises(PythonException, match="No module named 'no_such_module'"):
        warm_up(spark, "colorsys", "no_such_module")
