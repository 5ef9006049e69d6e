"""A check before a run begins: executors on other machines see the lake as the driver does, and can write there."""

import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final
from uuid import uuid4

from pyspark import SparkContext
from pyspark.errors import PySparkException

from rocketmq_capacity.errors import ExecutorsUnfit, printable
from rocketmq_capacity.store.place import CHECK, errors_in_one_line
from rocketmq_capacity.store.writing import make_folder

TASKS: Final = 4
"""Of the check: on a small cluster each executor gets one."""
LONGEST: Final = 300
"""Characters of what an executor said."""


def check_executors(context: SparkContext, lake: Path) -> None:
    """Have executors read a small file of the driver's in the lake, and write one of their own; both are deleted.

    Errors: ExecutorsUnfit naming what is wrong: another version of Python, a package that is missing, a lake that is
    another folder there, or that refuses them. StoreUnreachable if the driver itself cannot write.
    """
    given = lake / f"{CHECK}{uuid4().hex}"
    expected = [lake / f"{given.name}-{number}" for number in range(TASKS)]
    with errors_in_one_line(lake):
        make_folder(lake)
        given.write_bytes(b"")
        try:
            _look(context, given)
            unseen = [place for place in expected if not place.exists()]
        finally:
            for place in (given, *expected):
                with suppress(FileNotFoundError):
                    place.unlink()
    if unseen:
        raise _unfit(f"what they write to {lake} is not there for the driver; expected one lake for both")


def _look(context: SparkContext, given: Path) -> None:
    try:
        # Spark itself refuses workers with another version of Python, in a traceback.
        said = context.parallelize(range(TASKS), TASKS).mapPartitions(partial(_seen, given)).collect()
    except Exception as error:  # py4j's error of a task that failed has no type of its own
        if not isinstance(error, PySparkException) and "Job aborted" not in str(error):
            raise
        raise _unfit(_reason(error)) from None
    problem = next((one for one in said if one), None)
    if problem is not None:
        raise _unfit(problem)


def _seen(given: Path, numbers: Iterator[int]) -> Iterator[str]:
    """What is wrong for this executor, in words; empty if nothing is."""
    for number in numbers:
        where = f"{platform.node()} with Python {sys.version_info.major}.{sys.version_info.minor}"
        try:
            if not given.exists():
                yield f"{where} does not see what the driver wrote to {given.parent}; expected one lake for both"
                continue
            (given.parent / f"{given.name}-{number}").write_bytes(b"")
            yield ""
        except Exception as error:
            yield f"{where} cannot write to {given.parent}: {error}"[:LONGEST]


def _unfit(problem: str) -> ExecutorsUnfit:
    return ExecutorsUnfit(f"Spark's executors: {printable(' '.join(problem.split()))}")


def _reason(error: Exception) -> str:
    """The line of a worker's traceback, in an error of Spark's, that says why."""
    lines = [line.strip() for line in str(error).splitlines()]
    reasons = [line for line in lines if "Error" in line and not line.startswith(("at ", "File ", "Caused by"))]
    return (reasons[0] if reasons else lines[0])[:LONGEST]
