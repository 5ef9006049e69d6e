"""The Spark session, and its settings by the size of the work."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any, Final
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame

from rocketmq_capacity.jvm import QUICK, THROUGHPUT, driver_options

ALWAYS: Final[Mapping[str, str]] = {
    "spark.driver.extraJavaOptions": THROUGHPUT,
    "spark.executor.extraJavaOptions": THROUGHPUT,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # A large plan is some hundred generated classes; of Spark's own 100 the oldest are gone when they come again.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # A sort or a hash table of a handful of rows takes a page too; Spark's own size, up to 64m, goes by the heap.
    "spark.buffer.pageSize": "1m",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}

SMALL: Final[Mapping[str, str]] = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.execution.replaceHashWithSortAgg": "true",
    "spark.sql.maxSinglePartitionBytes": str(2**63 - 1),
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.optimizer.disableHints": "true",
}
"""A few thousand rows: the time goes to planning and to starting tasks, so that each query is one task over one
partition (``steps.Planning`` reads so), without exchange, broadcast, re-planning or compiled Java."""

LARGE: Final[Mapping[str, str]] = {
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "64k",
    "spark.sql.files.openCostInBytes": "64k",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.execution.replaceHashWithSortAgg": "false",
    "spark.sql.maxSinglePartitionBytes": str(128 * 1024**2),
    "spark.sql.autoBroadcastJoinThreshold": str(64 * 1024**2),
    "spark.sql.optimizer.disableHints": "false",
}
"""Millions of rows: the time goes to the rows."""


OFTEN_ASKED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "functions": (
        "org.apache.spark.sql.functions",
        (
            *("array", "array_join", "array_sort", "coalesce", "col", "collect_list", "concat", "count", "element_at"),
            *("explode", "floor", "format_string", "lit", "max", "min", "not", "replace", "round", "size", "struct"),
            *("sum", "to_json", "when"),
        ),
    ),
    "PythonUtils": ("org.apache.spark.api.python.PythonUtils", ("toSeq",)),
    "PythonSQLUtils": (
        "org.apache.spark.sql.api.python.PythonSQLUtils",
        ("fn", "lambdaFunction", "readArrowStreamFromFile", "toDataFrame", "unresolvedNamedLambdaVariable"),
    ),
}
"""What PySpark asks the JVM for thousands of times in a plan: a question each, and a name without its package is looked
for in every jar. By the short name: the class, and its methods."""


def start_session(name: str, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session of the master that the environment names, else of all local cores; reused where one runs.

    ``settings`` of the JVM count where this call starts it.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    for key, value in {**ALWAYS, **(settings or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    _remember_often_asked(session.sparkContext._jvm)
    return session


@contextmanager
def session_under_way(name: str, *, is_small: bool) -> Iterator[Callable[[], SparkSession]]:
    """A session that starts while the body goes on, and ends with the body; the callable waits for it."""
    with ThreadPoolExecutor(1) as pool:
        session = pool.submit(_quick_session if is_small else start_session, name)
        try:
            yield session.result
        finally:
            session.result().stop()


@contextmanager
def session_if_asked(name: str) -> Iterator[Callable[[], SparkSession]]:
    """A session that starts when the body first asks for it, and ends with the body; most such bodies never do."""
    with ExitStack() as at_the_end:

        @cache
        def session() -> SparkSession:
            started = start_session(name)
            at_the_end.callback(started.stop)
            return started

        yield session


def set_size(session: SparkSession, *, is_small: bool) -> None:
    """Set the session up for a small or a large piece of work; takes effect from the next query on."""
    if _sizes.get(session) != is_small:
        for key, value in (SMALL if is_small else LARGE).items():
            session.conf.set(key, value)
        _sizes[session] = is_small


_sizes: Final[WeakKeyDictionary[SparkSession, bool]] = WeakKeyDictionary()
"""What each session is set up for: it is asked before every query."""


def _quick_session(name: str) -> SparkSession:
    """A session for seconds of work, in a JVM that ends with it."""
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICK)  # the JVM that only puts Spark's command together
    session = start_session(name, {"spark.driver.extraJavaOptions": driver_options(is_small=True)})
    # The JVM's end lets go of everything; else the driver would say so of each of twenty thousand objects.
    client = session.sparkContext._gateway._gateway_client  # type: ignore[union-attr]  # there since it runs
    client.gateway_property.enable_memory_management = False
    DataFrame.join = _join_in_one_partition  # type: ignore[method-assign]  # acts on small plans alone
    return session


_pyspark_join: Final = DataFrame.join


def _join_in_one_partition(self: DataFrame, other: Any, on: Any = None, how: Any = None) -> Any:
    """A join of a small plan, whose result Spark takes for what it is: one partition.

    Of an inner join it says "the one partition of the left, or that of the right", and shuffles that for the next join.
    Source: EnsureRequirements (preferSinglePartition) and ShuffledJoin.outputPartitioning, Spark 4.2.0.
    """
    joined = _pyspark_join(self, other, on, how)
    return joined.coalesce(1) if how in {None, "inner"} and _sizes.get(self.sparkSession) else joined


def _remember_often_asked(jvm: Any) -> None:
    """Let the driver's view of the JVM answer by itself what it is asked for all the time."""
    for short, (full, methods) in OFTEN_ASKED.items():
        owner = getattr(jvm, full)
        for name in methods:
            setattr(owner, name, getattr(owner, name))
        for asked_for in (short, full):
            setattr(jvm, asked_for, owner)
