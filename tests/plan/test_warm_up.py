"""Spark's Python processes on the driver's machine: started before they have units, with what they will need."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.spark.daemon import IMPORTS, MODULE, daemon_settings

SEEN_IN_WORKERS: Final = """
import sys
from rocketmq_capacity.spark.session import session_under_way
from rocketmq_capacity.spark.units import warm_up

def seen(_):
    import os
    import sys
    import pyspark
    yield os.getppid(), "colorsys" in sys.modules, pyspark.__file__

with session_under_way("seen", 0, modules=["colorsys"]) as session:
    warm_up(session())
    for row in set(session().sparkContext.parallelize(range(4), 4).mapPartitions(seen).collect()):
        print(*row)
    session.end()
"""


@pytest.mark.slow
def test_workers_are_forked_by_one_process_that_has_imported_the_modules_and_the_installed_pyspark() -> None:
    import pyspark

    words = [sys.executable, "-c", SEEN_IN_WORKERS]
    run = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)

    ((_, has_imported, place),) = [line.split() for line in run.stdout.splitlines()]
    assert (has_imported, Path(place)) == ("True", Path(pyspark.__file__))


def on(master: str, **given: str) -> Callable[[str], str | None]:
    """The settings of a session on this master."""
    return {"spark.master": master, **given}.get


def test_the_daemon_is_set_where_tasks_run_on_the_driver_s_machine() -> None:
    settings = {MODULE: "rocketmq_capacity.spark.daemon", f"spark.executorEnv.{IMPORTS}": "one,two"}

    assert daemon_settings(on("local[*]"), sys.executable, ["one", "two"]) == settings
    assert daemon_settings(on("local"), sys.executable, ["one", "two"]) == settings


@pytest.mark.parametrize(
    ("given", "python"),
    [
        (on("spark://10.0.0.1:7077"), sys.executable),
        (on("k8s://https://10.0.0.1:6443"), sys.executable),
        (on("local-cluster[2,1,1024]"), sys.executable),
        (on("local[*]"), "/another/python3"),
        (on("local[*]", **{MODULE: "a.daemon"}), sys.executable),
    ],
)
def test_executors_that_may_lack_the_package_and_daemons_of_a_deployment_are_left_alone(
    given: Callable[[str], str | None], python: str
) -> None:
    assert daemon_settings(given, python, ["one"]) == {}
