"""Spark's Python daemon on the driver's machine: it imports once what all its workers need, and then forks them.

Spark's own daemon takes PySpark from an archive, which keeps no byte code, so each start compiles it anew; and each
worker imports the rest for itself. Together that is two seconds of a small plan.

It is used only on the driver's machine (`daemon_settings`): other machines may get the package only with a task.
Source: PythonUtils.sparkPythonPath and PythonWorkerFactory.startDaemon, Spark 4.2.0; pyspark/daemon.py.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

MODULE: Final = "spark.python.daemon.module"
"""The setting for the module that Spark starts as its daemon."""
IMPORTS: Final = "ROCKETMQ_CAPACITY_IMPORTS"
"""The environment variable for the modules that the daemon imports: their names with commas."""


def daemon_settings(given: Callable[[str], str | None], python: str, modules: Iterable[str]) -> dict[str, str]:
    """The settings with which a session has this daemon.

    Empty where the daemon may be missing, and where the deployment has one of its own.

    Args:
        given: the session's settings so far.
        python: the interpreter of the workers.
        modules: those that the daemon imports, with the functions that workers run.
    """
    master = given("spark.master") or ""
    is_here = master == "local" or master.startswith("local[")
    is_installed = python == sys.executable and Path(__file__).is_file()
    if given(MODULE) is not None or not is_here or not is_installed:
        return {}
    return {MODULE: __name__, f"spark.executorEnv.{IMPORTS}": ",".join(modules)}


def without_archives(path: Sequence[str]) -> list[str]:
    """A path without the archives of a PySpark that is on it as a package too; both are the same code."""
    packages = [Path(folder, "pyspark") for folder in path if folder]
    unpacked = [package for package in packages if (package / "__init__.py").is_file()]
    return [entry for entry in path if not any(map(Path(entry).is_relative_to, unpacked))]


def main(environment: Mapping[str, str] = os.environ) -> None:
    """Run as Spark's daemon."""
    sys.path[:] = without_archives(sys.path)
    from pyspark.daemon import manager

    from rocketmq_capacity.collector import collect_seldom

    import_module("pyspark.worker")
    for name in filter(None, environment.get(IMPORTS, "").split(",")):
        import_module(name)
    collect_seldom()
    manager()


if __name__ == "__main__":
    main()
