"""The Spark session, set up for the size of the work."""

import os
import sys
from collections.abc import Mapping
from typing import Final

from pyspark.sql import SparkSession

SMALL: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",  # re-planning costs more than it saves on a few thousand rows
    "spark.sql.codegen.wholeStage": "false",  # compiling Java for each of many small plans costs more than it saves
}
"""A cluster of up to some hundred topics: time goes to planning, not to rows."""

SMALL_JVM: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A short-lived JVM: no second compiler, no parallel collector."""


def start_session(name: str, settings: Mapping[str, str] = SMALL) -> SparkSession:
    """A session of the master that the environment names, else of all local cores; reused where one runs."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
