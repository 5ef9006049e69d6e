"""The command line as everybody runs it; before its Spark session ends, it tells how many SQL executions there were.

    python -m tests.benchmarks.command_line FILE plan --inventory …

The number goes into FILE. Nothing else differs from ``python -m rocketmq_capacity``.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from pyspark.sql import SparkSession

from rocketmq_capacity.cli import main


@contextmanager
def count_at_the_end(file: Path) -> Iterator[None]:
    """Have the session write into the file how many SQL executions it has had, just before it stops."""
    stop = SparkSession.stop

    def count_and_stop(session: SparkSession) -> None:
        store = session._jsparkSession.sharedState().statusStore()
        file.write_text(str(store.executionsCount()), encoding="ascii")
        stop(session)

    # Spark calls nothing in Python when a session ends.
    with patch.object(SparkSession, "stop", count_and_stop):
        yield


if __name__ == "__main__":
    with count_at_the_end(Path(sys.argv.pop(1))):
        main()
