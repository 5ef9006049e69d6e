"""A strategy class that is not RocketMQ's, in a jar, as a deployment adds it to those of RocketMQ's client."""

import os
import zipfile
from pathlib import Path
from typing import Final

from tests.oracle.java_oracle import PROJECT

OWN: Final = "capacity.own.ReversedCircle"


def own_jars(folder: Path) -> list[str]:
    """A jar with the class in the folder, and the jars of RocketMQ's client with what they need.

    Errors: OracleUnavailable without Java, Maven or Maven Central.
    """
    classes, *others = PROJECT.classpath().split(os.pathsep)
    jar = folder / "own.jar"
    with zipfile.ZipFile(jar, "w") as packed:
        for file in sorted(Path(classes, "capacity", "own").glob("*.class")):
            packed.write(file, f"capacity/own/{file.name}")
    return [str(jar), *others]
