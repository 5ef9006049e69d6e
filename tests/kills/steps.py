"""Steps that need no Spark, and a folder that is written whole, as functions of paths."""

from pathlib import Path
from typing import NoReturn

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.steps.publish import publish
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.store import whole_folder as module
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.whole_folder import whole_folder


def take_snapshot(folder: Path) -> None:
    """The first step of a run, from the sample."""
    snapshot(Planning(no_session, Run(folder), Policy()), read_inventory(sample_inventory()))


def publish_run(folder: Path) -> None:
    """The last step of a run."""
    publish(Planning(no_session, Run(folder), Policy()))


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
