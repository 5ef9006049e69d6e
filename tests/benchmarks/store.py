"""A lake in an object store beside one in a folder: the apps of a plan, and the list of a thousand reports."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from rocketmq_capacity.report.shelf import Search, Shelf, latest_first
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.place import place_of
from tests.benchmarks.apps import AppsTiming, time_apps
from tests.fixtures.s3 import BUCKET, served
from tests.plugins.stored_reports import CLUSTER, copied, put_days

REPORTS: Final = 1_000
ASKED: Final = 5
"""Times that a list is asked for when it is warm; the least counts."""


@dataclass(frozen=True, slots=True)
class StoreTiming:
    """The apps with each lake.

    Attributes:
        folder: with a lake in a folder of this machine.
        store: with one in an S3 server on this machine.
    """

    folder: AppsTiming
    store: AppsTiming

    @property
    def ratio(self) -> float:
        """How much longer the store takes."""
        return self.store.seconds / self.folder.seconds


def time_store(inventory: Path, policy: Path | None = None) -> StoreTiming:
    """The apps on an inventory, with an empty lake each."""
    with tempfile.TemporaryDirectory() as home, _server(Path(home)) as variables:
        in_folder = time_apps(inventory, f"{home}/lake", policy)
        return StoreTiming(in_folder, time_apps(inventory, f"s3://{BUCKET}/{uuid4().hex}", policy, variables))


def time_lists() -> tuple[float, float]:
    """Seconds of the warm list of many reports: in a folder, and in the store."""
    with tempfile.TemporaryDirectory() as home:
        folder, stored = Path(home) / "lake", Path(home) / "s3" / BUCKET / "lake"
        (first,) = put_days(folder, 1)
        for number in range(1, REPORTS):
            copied(first, number)
        shutil.copytree(folder, stored)
        marks = stored / CLUSTER / ".published"
        marks.mkdir()
        for run in folder.glob(f"{CLUSTER}/*"):
            (marks / run.name).write_text(uuid4().hex)
        with _server(Path(home)) as variables:
            os.environ.update(variables)
            return _warm(folder), _warm(place_of(f"s3://{BUCKET}/lake"))


def _warm(lake: Path) -> float:
    shelf = Shelf(Lake(lake), "plans")
    return min(_seconds(lambda: latest_first([shelf], Search())) for _ in range(ASKED + 1))


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


@contextmanager
def _server(home: Path) -> Iterator[dict[str, str]]:
    (home / "s3" / BUCKET).mkdir(parents=True, exist_ok=True)
    with served(home / "s3") as server:
        yield server.environment
