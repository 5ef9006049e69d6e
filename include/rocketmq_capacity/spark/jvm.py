"""What Spark's driver JVM is started with: told before there is a session to ask.

Everything here gives way to what a deployment sets itself: the options go where Spark puts those of
``spark.driver.extraJavaOptions`` behind them, and the heap is an environment variable that ``spark.driver.memory``,
``--driver-memory`` and the variable's own value override.
Source: SparkSubmitCommandBuilder.buildSparkSubmitCommand, Spark 4.2.0.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

OPTIONS: Final = "spark.driver.defaultJavaOptions"
"""The setting that the options go into."""
HEAP: Final = "SPARK_DRIVER_MEMORY"
"""The environment variable that the heap goes into."""

LEAST_HEAP_MIB: Final = 1024
HEAP_PER_INVENTORY: Final = 1
"""Bytes of heap beyond the least for a byte of inventory: the JVM passes units on and keeps none."""
MOST_OF_MACHINE: Final = 0.5
"""Of the machine's memory: Python workers and the report need the rest."""

CLASS_ARCHIVE: Final = Path(sys.prefix) / "share" / "rocketmq-capacity" / "spark.jsa"
"""Spark's classes as the JVM has them in memory, where the set-up has made such a file: some seconds off each start."""

LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")
"""What Spark's driver logs, unless the deployment's own configuration of Spark says so."""


def java_program() -> str | None:
    """The program that Spark starts; None where there is none. Source: bin/spark-class, Spark 4.2.0."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java")


def options() -> str:
    """The options of any JVM of Spark's.

    A JVM without memory ends instead of going on with dead threads, on which the driver would wait for ever. The JVM
    only reads units and spreads them; what is computed about them is Python's. So its second compiler would take more
    time than it saves: with the first one alone the JVM of a small plan needs half of the time.
    """
    chosen = ["-XX:+ExitOnOutOfMemoryError", "-XX:TieredStopAtLevel=1"]
    if CLASS_ARCHIVE.is_file():
        chosen += [f"-XX:SharedArchiveFile={CLASS_ARCHIVE}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
    if LOG_SETTINGS.is_file() and not _has_log_settings():
        chosen.append(f"-Dlog4j2.configurationFile={LOG_SETTINGS.as_uri()}")
    return " ".join(chosen)


def _has_log_settings() -> bool:
    """Whether the deployment says itself what Spark logs."""
    folders = [os.environ.get("SPARK_CONF_DIR"), os.environ.get("SPARK_HOME") and f"{os.environ['SPARK_HOME']}/conf"]
    folder = next(filter(None, folders), None)
    return folder is not None and (Path(folder) / LOG_SETTINGS.name).is_file()


def heap(inventory_bytes: int, machine_bytes: int | None = None) -> str:
    """The heap for a plan of an inventory, as Spark writes it: ``1024m``.

    Args:
        inventory_bytes: size of the inventory file.
        machine_bytes: memory of the machine; None: of this one.
    """
    machine_bytes = machine_bytes or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    wanted = LEAST_HEAP_MIB + HEAP_PER_INVENTORY * inventory_bytes // 1024**2
    most = int(machine_bytes * MOST_OF_MACHINE) // 1024**2
    return f"{max(LEAST_HEAP_MIB, min(wanted, most))}m"


def environment(inventory_bytes: int, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables to start the JVM with: none where the deployment has said how large its heap is."""
    return {} if given.get(HEAP) else {HEAP: heap(inventory_bytes)}
