"""What the JVM of a plan is started with, by the size of the work; told before there is a session to ask."""

import sys
from pathlib import Path
from typing import Final

SMALL_BYTES: Final = 4 * 1024**2
"""Stored inventories below this are small: about 2,000 clients or 20,000 queues."""

THROUGHPUT: Final = "-XX:-DontCompileHugeMethods -XX:+UseParallelGC -XX:MetaspaceSize=256m"
"""A JVM for millions of rows. All strategies of a queue are one generated method, longer than what the JVM compiles by
default; nobody waits for an answer while garbage is collected; and the hundreds of generated classes would pass the
default bound of their space again and again, which collects everything."""

QUICK: Final = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC -Dsun.reflect.inflationThreshold=1000000"
"""A JVM for seconds of work: no second compiler, a collector that uses the cores which wait for it, and no class made
for each method that is called by name some twenty times."""

ROOMY: Final = "-Xms1g -Xmn300m -XX:MetaspaceSize=256m"
"""Nearly all that a small plan makes is dead at once, so that a larger young space is collected less often, and costs
fresh pages instead. For the classes as above."""

CLASS_ARCHIVE: Final = Path(sys.prefix) / "share" / "rocketmq-capacity" / "spark.jsa"
"""Spark's classes as the JVM has them in memory, where the set-up has made such a file: some seconds off each start."""


def driver_options(*, is_small: bool) -> str:
    """The options of the driver's JVM for a small or a large plan."""
    return f"{quick_options()} {ROOMY}" if is_small else THROUGHPUT


def quick_options() -> str:
    """The options of any JVM of Spark's that lives for seconds."""
    archive = f" -XX:SharedArchiveFile={CLASS_ARCHIVE} -Xlog:cds=off -Xlog:cds+dynamic=off"
    return QUICK + (archive if CLASS_ARCHIVE.is_file() else "")
