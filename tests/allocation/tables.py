"""The snapshot's tables of a fleet, in Spark."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocketmq_capacity.snapshot.tables import snapshot_tables
from tests.allocation.fleets import Fleet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from rocketmq_capacity.contracts.dataset import Dataset


def tables_of(spark: "SparkSession", fleet: Fleet) -> Mapping[type["Dataset"], "DataFrame"]:
    """One frame a dataset, in one partition."""
    return {
        dataset: spark.createDataFrame(table, schema=dataset.spark_schema()).coalesce(1)
        for dataset, table in snapshot_tables(fleet.inventory, fleet.policy).items()
    }
