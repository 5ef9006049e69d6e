"""The settings that Spark's driver JVM is started with, before there is a session.

A deployment's own settings win. Spark puts ``spark.driver.extraJavaOptions`` after the options that are set here. The
heap is an environment variable; ``spark.driver.memory``, ``--driver-memory`` and a value that is already set override
it.
Source: SparkSubmitCommandBuilder.buildSparkSubmitCommand, Spark 4.2.0.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

OPTIONS: Final = "spark.driver.defaultJavaOptions"
"""The setting for the options."""
HEAP: Final = "SPARK_DRIVER_MEMORY"
"""The environment variable for the heap."""

ADDRESS: Final = "SPARK_LOCAL_IP"
"""The environment variable for the address that Spark listens on."""
DEPLOYED: Final = (ADDRESS, "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "SPARK_MASTER", "MASTER")
"""Variables of a deployment that may name another master, or another address."""
LOOPBACK: Final = "127.0.0.1"

LEAST_HEAP_MIB: Final = 1024
HEAP_PER_INVENTORY: Final = 1
"""Additional bytes of heap for a byte of inventory: the JVM passes units on and keeps none."""
MOST_OF_MACHINE: Final = 0.5
"""Ratio of the machine's memory: Python workers and the report need the rest."""

CLASS_ARCHIVE: Final = Path(sys.prefix) / "share" / "rocketmq-capacity" / "spark.jsa"
"""An archive of Spark's loaded classes, if the set-up has made one. It saves some seconds of each start."""

LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")
"""What Spark's driver logs, unless the deployment configures it."""


def java_program() -> str | None:
    """The program that Spark starts; None if there is none. Source: bin/spark-class, Spark 4.2.0."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java")


def options() -> str:
    """The options of every JVM of Spark.

    A JVM without memory ends; otherwise the driver would wait for ever for its dead threads. The JVM only reads units
    and spreads them; Python computes. So its second compiler would take more time than it saves: with only the first
    one, the JVM of a small plan needs half of the time.
    """
    chosen = ["-XX:+ExitOnOutOfMemoryError", "-XX:TieredStopAtLevel=1"]
    if CLASS_ARCHIVE.is_file():
        chosen += [f"-XX:SharedArchiveFile={CLASS_ARCHIVE}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
    if LOG_SETTINGS.is_file() and not _has_log_settings():
        chosen.append(f"-Dlog4j2.configurationFile={LOG_SETTINGS.as_uri()}")
    return " ".join(chosen)


def _has_log_settings() -> bool:
    """Whether the deployment configures what Spark logs."""
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
    """The variables to start the JVM with; what the deployment has set stays as it is.

    A local Spark listens on loopback alone: no other machine has anything to ask of it.
    """
    chosen = {} if given.get(HEAP) else {HEAP: heap(inventory_bytes)}
    return chosen if any(given.get(name) for name in DEPLOYED) else {**chosen, ADDRESS: LOOPBACK}
