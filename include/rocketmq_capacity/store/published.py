"""Which runs of a cluster are published, each with a stamp that changes when it is published again.

In a folder the stamp is made of the run's files. A store has no cheap way to ask about the files of a thousand runs. So
a published run has a mark there, and one request lists the marks of a cluster: ``<cluster_name>/.published/<run_id>``.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final
from uuid import uuid4

from rocketmq_capacity.store.place import errors_in_one_line, is_local, listed
from rocketmq_capacity.store.writing import write_whole

MARKS: Final = ".published"
"""The folder of the marks beside a cluster's runs; no run can have this name."""
Stamp = tuple[int, ...]
"""Times (ns), sizes and numbers of the files that are asked about; of a store's mark, a digest."""


def published(cluster: Path, files: Sequence[str]) -> Iterator[tuple[str, Stamp]]:
    """The published runs of a cluster's folder, each with its stamp; a link is not a run's folder.

    Args:
        cluster: the folder.
        files: in the report's folder; the first that is there belongs to the stamp.
    """
    if not is_local(cluster):
        yield from ((name, _digest(about)) for name, about in listed(cluster / MARKS).items())
        return
    with suppress(OSError), os.scandir(cluster) as entries:  # a folder that is gone has no runs
        for entry in entries:
            with suppress(OSError):  # a run that is not published, or was deleted meanwhile
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    yield entry.name, _stamp(entry.path, files)


def mark(run: Path) -> None:
    """Note in a store that the run of this folder is published; each mark differs from all others."""
    if not is_local(run):
        write_whole(_mark_of(run), uuid4().hex.encode())


def unmark(run: Path) -> None:
    """Note in a store that the run of this folder is not published, or not any more."""
    if not is_local(run):
        with suppress(FileNotFoundError), errors_in_one_line(run):
            _mark_of(run).unlink()


def _mark_of(run: Path) -> Path:
    return run.parent / MARKS / run.name


def _digest(about: object) -> Stamp:
    return (int.from_bytes(sha256(repr(about).encode()).digest()[:7]),)


def _stamp(run: str, files: Sequence[str]) -> Stamp:
    """Times and sizes of the run's files.

    Errors: OSError if the run is not published, or if its report is a link.
    """
    manifest = _state(f"{run}/steps/publish.json")
    if not stat.S_ISDIR(os.lstat(f"{run}/report").st_mode):
        raise NotADirectoryError(run)
    *wanted, last = files
    for name in wanted:
        with suppress(FileNotFoundError):
            return _stamp_of(manifest, _state(f"{run}/report/{name}"))
    return _stamp_of(manifest, _state(f"{run}/report/{last}"))


def _stamp_of(manifest: os.stat_result, file: os.stat_result) -> Stamp:
    return manifest.st_mtime_ns, file.st_mtime_ns, file.st_size, file.st_ino


def _state(path: str) -> os.stat_result:
    """As ``Path.stat``, which takes three times as long: a list of 1,000 reports needs 3,000 calls."""
    return os.stat(path)  # noqa: PTH116  # a third of the time of Path.stat
