"""The lake, its runs, their datasets, and which of them are committed. Only this module knows paths.

A run's datasets are in the run's own folder::

    LAKE/<cluster_name>/<run_id>/inventory.json          the snapshot as it was taken
                                 tables/<dataset>/       parquet
                                 steps/<step>.json       manifest of a finished step, written last
                                 report/                 the report: all files of report/publish.py
                                 history.json            of a live cluster only: which earlier runs it uses
                                 what_if.json            of a what-if only: its changes, and the run that it changes
                                 approval.json           a person's answer to the recommendations, once there is one
    LAKE/<cluster_name>/.accepted/                       risks that people have accepted, see acceptances.py

Commit by manifest: readers trust a dataset only if the manifest of the step that wrote it is there. No folder is ever
renamed. A retry of a step writes its datasets again, then its manifest. The report is not a dataset: once it is
published it stays published, and publishing again replaces its files one by one.
"""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from filelock import FileLock, Timeout

from rocketmq_capacity.errors import BadInput, DatasetMissing, RunBusy, shown

RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
CLUSTER_FOLDER: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}")
"""Names of clusters. One with a dot in front would be a hidden folder, or a parent folder."""
WAIT_S: Final = 60.0
"""Seconds to wait for the lock. A driver whose JVM is gone ends within seconds; one whose task was killed may go on."""


class _Manifest(msgspec.Struct, frozen=True):
    """The content of a step's manifest."""

    step: str
    datasets: list[str]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one cluster, with all its paths."""

    folder: Path

    @property
    def inventory(self) -> Path:
        """The stored snapshot. A repeated run plans from it."""
        return self.folder / "inventory.json"

    @property
    def what_if(self) -> Path:
        """The changes of a what-if, and the run that it changes. Missing if the run is a plan."""
        return self.folder / "what_if.json"

    @property
    def history(self) -> Path:
        """The earlier runs that the run uses; missing if it uses none of the lake's."""
        return self.folder / "history.json"

    @property
    def approval(self) -> Path:
        """The answer of the person who was asked; missing until there is one."""
        return self.folder / "approval.json"

    @property
    def report(self) -> Path:
        """The folder that people read."""
        return self.folder / "report"

    @property
    def tables(self) -> Path:
        """The folder of all datasets."""
        return self.folder / "tables"

    def table(self, dataset: str) -> Path:
        """The folder of a dataset."""
        return self.tables / dataset

    def export(self, folder: Path) -> None:
        """Move report and tables into a folder of their own, without the files that only Spark needs."""
        for file in self.report.iterdir():
            Path(file).replace(folder / file.name)
        for file in self.tables.glob("*/*.parquet"):
            (folder / "tables" / file.parent.name).mkdir(parents=True, exist_ok=True)
            Path(file).replace(folder / "tables" / file.parent.name / file.name)

    def snapshot_bytes(self) -> int:
        """Size of the stored inventory; 0 before there is one."""
        return self.inventory.stat().st_size if self.inventory.exists() else 0

    def new_table(self, dataset: str) -> Path:
        """The empty folder of a dataset.

        An executor that has outlived its driver may still write into it. Its files are hidden and stay hidden.
        """
        shutil.rmtree(self.table(dataset), ignore_errors=True)
        self.table(dataset).mkdir(parents=True, exist_ok=True)
        return self.table(dataset)

    @contextmanager
    def alone(self, wait_s: float = WAIT_S) -> Iterator[None]:
        """Work on the run while no other process does: a killed task may leave a driver that still writes.

        The lock ends with its process, in whatever way that ends.

        Errors: :class:`RunBusy` if another process has not ended when the time is up.
        """
        lock = FileLock(self.folder / ".lock", preserve_lock_file=True)
        try:
            lock.acquire(timeout=wait_s)
        except Timeout:
            problem = "another process still works on this run; expected that it ends, or is ended, before the next try"
            raise RunBusy(f"{self.folder}: {problem}") from None
        try:
            yield
        finally:
            lock.release()

    def begin(self, step: str) -> None:
        """Delete the step's manifest and make its folders: its datasets are about to be replaced."""
        self._manifest(step).unlink(missing_ok=True)
        self._manifest(step).parent.mkdir(parents=True, exist_ok=True)

    def commit(self, step: str, datasets: Sequence[str]) -> None:
        """Write the manifest: the step is finished, and these datasets are complete, on the disk too."""
        for dataset in datasets:
            sync(self.table(dataset))
        write_whole(self._manifest(step), json.dumps({"step": step, "datasets": sorted(datasets)}).encode() + b"\n")

    def require(self, step: str) -> None:
        """Errors: :class:`DatasetMissing` if the step has not finished in this run."""
        if self._committed(step) is None:
            raise DatasetMissing(f"{self.folder}: the step {step} has not finished in this run; run it first")

    def datasets(self, step: str) -> list[str]:
        """The names of the datasets that a finished step has written. Errors: as :meth:`require`."""
        self.require(step)
        return self._committed(step) or []

    def is_committed(self, step: str) -> bool:
        """Whether the step has finished."""
        return self._committed(step) is not None

    def _committed(self, step: str) -> list[str] | None:
        """What the step's manifest lists; None if there is no whole manifest of this step."""
        try:
            manifest = msgspec.json.decode(self._manifest(step).read_bytes(), type=_Manifest)
        except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
            return None
        return manifest.datasets if manifest.step == step else None

    def _manifest(self, step: str) -> Path:
        return self.folder / "steps" / f"{step}.json"


@dataclass(frozen=True, slots=True)
class Lake:
    """A folder of clusters and their runs."""

    root: Path

    def run(self, cluster: str, run_id: str) -> Run:
        """The run of this name. Errors: :class:`BadInput` for a name that is not a plain folder name."""
        for what, name, allowed in (("--cluster", cluster, CLUSTER_FOLDER), ("--run-id", run_id, RUN_ID)):
            if not allowed.fullmatch(name):
                raise BadInput(what, "", f"is {shown(name)}; expected letters, digits, '_', '.' and '-', at most 255")
        return Run(self.root / cluster / run_id)

    def runs(self, cluster: str) -> Iterator[Run]:
        """The published runs of a cluster, by run id."""
        for folder in sorted((self.root / cluster).glob("*")):
            if (run := Run(folder)).is_committed("publish"):
                yield run


def write_whole(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file, given as one or in parts, so that readers see the whole new file or the old one."""
    write_together(path.parent, {path.name: data})


def write_together(folder: Path, contents: Mapping[str, bytes | Iterable[bytes]]) -> None:
    """Write files of a folder by their names, each as :func:`write_whole` does; a name may have a folder before it.

    All are written next to the old files before the first is replaced. If one cannot be written, all stay as they were.
    They are replaced in the given order. They are written in the opposite order, so that what comes first may take
    longest to make.
    """
    parts = {name: (folder / name).with_name(f".{Path(name).name}.part") for name in contents}
    for part in parts.values():
        part.parent.mkdir(parents=True, exist_ok=True)
    try:
        for name, data in reversed(list(contents.items())):
            with parts[name].open("wb") as file:
                file.writelines([data] if isinstance(data, bytes) else data)
                file.flush()
                os.fsync(file.fileno())
        for name, part in parts.items():
            Path(part).replace(folder / name)
        for inside in {part.parent for part in parts.values()}:
            sync(inside, deep=False)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def sync(folder: Path, *, deep: bool = True) -> None:
    """Wait until a folder is on the disk, with what is in it if ``deep``: power may be lost at any time."""
    if deep:
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                sync(entry)
            elif entry.is_file():
                _sync(entry)
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
