"""The command line as everybody runs it; before its Spark session ends, it tells how many SQL executions there were.

    python -m tests.benchmarks.command_line FILE plan --inventory …

The number goes into FILE. Nothing else differs from ``python -m rocketmq_capacity``.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from rocketmq_capacity.cli import main


def count_at_the_end(file: Path) -> None:
    """Have the session write into the file how many SQL executions it has had, just before it stops."""
    stop = SparkSession.stop

    def count_and_stop(session: SparkSession) -> None:
        store = session._jsparkSession.sharedState().statusStore()
        file.write_text(str(store.executionsCount()), encoding="ascii")
        stop(session)

    # There is nothing of Spark's own that is told of its end in Python.
    SparkSession.stop = count_and_stop  # type: ignore[method-assign, assignment]  # in place of its own


if __name__ == "__main__":
    count_at_the_end(Path(sys.argv.pop(1)))
    main()
