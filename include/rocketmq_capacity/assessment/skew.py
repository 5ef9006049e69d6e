"""How unevenly a load lies on the clients of a group.

For x_1..x_n with mean m: PEAK = max/m, FLOOR = the least PEAK that whole queues allow, EXCESS = PEAK/FLOOR,
GINI = sum_i (2i-n-1) x_(i) / (n sum x) over ascending x, CV = population standard deviation / m.
"""

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, Window


def with_metrics(vectors: DataFrame, key: list[str]) -> DataFrame:
    """The contract's METRICS of every vector; null under two clients, without load, or where a part is unknown.

    Shape: one row a client with ``key``, ``x`` its load (double, null: unknown), ``least_max``, the load that the
    busiest client must at least have, and ``even``, the even share of it (null: the mean of x) -> one row a key with
    ``metrics``.
    """
    in_order = Window.partitionBy(*key).orderBy("x", "client_id")
    totals = (
        vectors
        .withColumn("i", F.row_number().over(in_order))
        .groupBy(*key)
        .agg(
            F.count("*").alias("n"),
            F.count("x").alias("known"),
            F.sum("x").alias("total"),
            F.max("x").alias("max"),
            F.min("x").alias("min"),
            F.stddev_pop("x").alias("deviation"),
            F.sum(F.col("i") * F.col("x")).alias("ranked"),
            F.max("least_max").alias("least_max"),
            F.max("even").alias("even"),
        )
    )
    is_defined = (F.col("n") >= 2) & (F.col("known") == F.col("n")) & (F.col("total") > 0) & (F.col("least_max") > 0)
    return totals.where(is_defined).select(*key, _metrics().alias("metrics"))


def _metrics() -> Column:
    n, total = F.col("n"), F.col("total")
    mean = total / n
    peak, floor = F.col("max") / mean, F.col("least_max") / F.coalesce(F.col("even"), mean)
    values = {
        "peak": peak,
        "floor": floor,
        "excess": peak / floor,
        "gini": (2 * F.col("ranked") - (n + 1) * total) / (n * total),
        "cv": F.col("deviation") / mean,
        "max": F.col("max"),
        "min": F.col("min"),
        "mean": mean,
    }
    return F.create_map(*(item for name, value in values.items() for item in (F.lit(name), value)))
