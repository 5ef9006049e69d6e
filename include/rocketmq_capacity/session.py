"""The Spark session, and its settings by the size of the work."""

import os
import sys
from collections.abc import Mapping
from typing import Final

from py4j.java_gateway import java_import
from pyspark.sql import SparkSession

ALWAYS: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}

SMALL: Final[Mapping[str, str]] = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.execution.useHashAggregateExec": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.optimizer.disableHints": "true",
}
"""A few thousand rows: the time goes to planning and to starting tasks, so that each query is one task over one
partition (``steps.Planning`` reads so), without exchange, broadcast, re-planning or compiled Java."""

LARGE: Final[Mapping[str, str]] = {
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.execution.useHashAggregateExec": "true",
    "spark.sql.autoBroadcastJoinThreshold": str(64 * 1024**2),
    "spark.sql.optimizer.disableHints": "false",
}
"""Millions of rows: the time goes to the rows."""


QUICK_START: Final[Mapping[str, str]] = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
}
"""A JVM for seconds of work: no second compiler, no parallel collector."""


OFTEN_NAMED: Final = (
    "org.apache.spark.api.python.PythonUtils",
    "org.apache.spark.sql.api.python.PythonSQLUtils",
    "org.apache.spark.sql.functions",
)
"""Classes that PySpark names thousands of times in a plan; py4j looks for what is not imported by its full name in
every jar, each time."""


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
    for name in OFTEN_NAMED:
        java_import(session.sparkContext._jvm, name)
    return session


def set_size(session: SparkSession, *, is_small: bool) -> None:
    """Set the session up for a small or a large piece of work; takes effect from the next query on."""
    for key, value in (SMALL if is_small else LARGE).items():
        session.conf.set(key, value)
