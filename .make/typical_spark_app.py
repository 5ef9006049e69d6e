"""Touches what the Spark apps of the plan touch, so that the class archive made from its run fits them all."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F


def unchanged(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """The rows as they are, by way of Arrow and a Python worker."""
    yield from batches


def main(scratch: Path) -> None:
    """Write, read, rank, hash, aggregate, join and fetch a few rows of parquet in a folder under ``scratch``."""
    spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        spark.range(1000).select(
            (F.col("id") % 7).cast("string").alias("consumer_group"),
            F.col("id").cast("int").alias("queue_id"),
            F.md5(F.col("id").cast("string")).alias("hash"),
            F.array(F.col("id")).alias("subjects"),
            F.current_timestamp().alias("taken_at"),
        ).write.parquet(f"{folder}/rows")
        rows = spark.read.parquet(f"{folder}/rows")
        counts = rows.groupBy("consumer_group").agg(F.count("*").alias("queues"), F.max("hash"), F.collect_set("hash"))
        order = Window.partitionBy("consumer_group").orderBy("queue_id")
        ranked = rows.withColumn("rank", F.row_number().over(order))
        joined = ranked.mapInPandas(unchanged, ranked.schema).join(counts, "consumer_group")
        share = F.expr("try_divide(rank, queues)").alias("share")
        joined.select("consumer_group", F.explode("subjects"), share).write.parquet(f"{folder}/joined")
        spark.read.parquet(f"{folder}/joined").orderBy("share").toPandas()
        spark.createDataFrame([("1", 1)], "consumer_group string, rank int").join(rows, "consumer_group").collect()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
