"""Lines of Spark and its JVM that have nothing to do with a plan, wherever they are written."""

import re
from typing import Final

_NOISE: Final = re.compile(
    r"WARNING: Using incubator modules: "  # Spark asks for jdk.incubator.vector in every JVM
    r"|(?:NOTE: )?Picked up \w*JAVA\w*OPTIONS: "
    r"|SLF4J: "
    # Of a JVM that was started without our log4j2.properties:
    r"|Using Spark's default log4j profile: "
    r"|Setting default log level to "
    r"|To adjust logging level use "
    r"|[\d/]+ [\d:]+ WARN (?:NativeCodeLoader|Utils): "
)


def is_noise(line: str) -> bool:
    """Whether a line can be left out, because it is written at every start."""
    return not line.strip() or _NOISE.match(line) is not None
