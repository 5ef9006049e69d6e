"""The steps of a run, and a folder that is written whole, as functions of paths."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.store import whole_folder as module
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.whole_folder import whole_folder
from tests.kills.without_spark import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def do(step: str, run: Run, session: "Callable[[], SparkSession]") -> None:
    """A step of a run of the sample."""
    planning = Planning(session, run, Policy())
    if step == "snapshot":
        snapshot(planning, read_inventory(sample_inventory()))
        return
    getattr(import_module(f"rocketmq_capacity.steps.{step}"), step)(planning)


def do_without_spark(step: str, folder: Path) -> None:
    """The same in the folder of a run, without a JVM: a try that is killed."""
    session: Any = Session()
    do(step, Run(folder), lambda: session)


def take_snapshot(folder: Path) -> None:
    """The first step of a run, from the sample."""
    do("snapshot", Run(folder), no_session)


def publish_run(folder: Path) -> None:
    """The last step of a run."""
    do("publish", Run(folder), no_session)


def write_folder(place: Path, text: str, overwrite: bool) -> None:
    """A folder of two files in two folders, each of them with this text."""
    with whole_folder(place, overwrite=overwrite) as folder:
        for name in ("plan.json", "tables/part-0"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)


def write_folder_in_two_steps(place: Path, text: str, overwrite: bool) -> None:
    """The same, as on a file system that cannot exchange two folders in one step."""
    module._exchanged = lambda *_: False
    write_folder(place, text, overwrite)


def no_session() -> NoReturn:
    raise AssertionError("this needs no Spark")
