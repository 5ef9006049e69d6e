"""The least that a Spark session costs, as cold processes that start it as a plan does.

    python -m tests.benchmarks.spark_session count               counts one row
    python -m tests.benchmarks.spark_session write FROM TO       reads parquet and writes it again: no more than that

The second prints how many seconds the writing took, once the session was there.
"""

import sys
import time

from rocketmq_capacity.cli import APP_NAME
from rocketmq_capacity.spark.session import session_under_way


def count() -> None:
    """Count one row: the floor of a small plan."""
    with session_under_way(APP_NAME, 0) as session:
        assert session().range(1).count() == 1


def write(source: str, target: str) -> None:
    """Write the rows that are there already: the floor of a large plan."""
    with session_under_way(APP_NAME, 0) as session:
        spark = session()
        begun = time.perf_counter()
        spark.read.parquet(source).write.parquet(target)
        sys.stdout.write(f"{time.perf_counter() - begun}\n")


if __name__ == "__main__":
    if sys.argv[1] == "count":
        count()
    else:
        write(*sys.argv[2:])
