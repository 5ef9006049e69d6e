"""The command line as everybody runs it; before its Spark session ends, it tells what Spark has done.

    python -m tests.benchmarks.command_line FILE plan --inventory …

The number of SQL executions and the tasks go into FILE. Nothing else differs from ``python -m rocketmq_capacity``.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from pyspark.sql import SparkSession

from rocketmq_capacity.cli import main
from tests.benchmarks.driver import SparkWork, Task


@contextmanager
def told_at_the_end(file: Path) -> Iterator[None]:
    """Have the session write into the file what it has done, just before it stops."""
    stop = SparkSession.stop

    def tell_and_stop(session: SparkSession) -> None:
        executions = session._jsparkSession.sharedState().statusStore().executionsCount()
        file.write_bytes(msgspec.json.encode(SparkWork(executions, list(_tasks(session)))))
        stop(session)

    # Spark calls nothing in Python when a session ends.
    with patch.object(SparkSession, "stop", tell_and_stop):
        yield


def _tasks(session: SparkSession) -> Iterator[Task]:
    """All tasks, as Spark's own store has them."""
    context: Any = session.sparkContext._jsc
    store = context.sc().statusStore()
    numbers = context.sc().statusTracker()
    for stage in sorted(_stages(numbers)):
        tasks = store.taskList(stage, 0, 2**31 - 1)
        for index in range(tasks.size()):
            task = tasks.apply(index)
            begun_at = task.launchTime().getTime() / 1000
            yield Task(stage, begun_at, begun_at + task.duration().get() / 1000)


def _stages(tracker: Any) -> Iterator[int]:
    for job in tracker.getJobIdsForGroup(None):
        yield from tracker.getJobInfo(job).get().stageIds()


if __name__ == "__main__":
    with told_at_the_end(Path(sys.argv.pop(1))):
        main()
