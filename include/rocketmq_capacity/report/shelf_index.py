"""The index of a lake's reports: the summaries of all of them in one file, so that a list need not open each.

The file is only a copy. Every entry has a stamp of the files that it was made from; an entry whose stamp no longer fits
is read anew, and the file is written again. A lake that cannot be written to is indexed in memory alone.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

from rocketmq_capacity.report.publish import PLAN, SUMMARY
from rocketmq_capacity.report.summary_file import PlanSummary
from rocketmq_capacity.store.lake import RUN_ID, Lake, Run, write_whole

INDEX: Final = ".reports.json"
"""In the lake; no cluster can be called so."""
FORMAT: Final = "rocketmq-capacity/report-index/1"
Stamp = tuple[int, ...]
"""Times (ns) and sizes of the files that an entry was made from."""


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A published run; without a summary where that cannot be read."""

    stamp: Stamp
    summary: PlanSummary | None


Entries = dict[str, dict[str, Entry]]
"""By cluster and run id."""


class _IndexFile(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal["rocketmq-capacity/report-index/1"] = FORMAT
    clusters: Entries


_known: Final[dict[Path, Entries]] = {}
"""What this process knows of each lake; a whole one is replaced by a whole one, so that threads need no lock."""


def summaries(
    lake: Lake, clusters: list[str], read: Callable[[Run], PlanSummary | None]
) -> Iterator[tuple[str, str, PlanSummary]]:
    """The summary of every published run of these clusters that can be read: cluster, run id, summary.

    Args:
        lake: where the runs are.
        clusters: names of its folders.
        read: gives the summary of a run, or None where it has none that can be read.
    """
    old = _known.get(lake.root)
    if old is None:
        old = _stored(lake.root / INDEX)
    new: Entries = dict(old)
    is_same = lake.root in _known
    for cluster in clusters:
        had, has = old.get(cluster, {}), {}
        for run_id, stamp in _stamps(lake.root / cluster):
            entry = had.get(run_id)
            if entry is None or entry.stamp != stamp:
                entry = Entry(stamp, read(Run(lake.root / cluster / run_id)))
                is_same = False
            has[run_id] = entry
        is_same = is_same and len(had) == len(has)
        new[cluster] = has
    if not is_same:
        there = {name: new[name] for name in new if name in clusters or (lake.root / name).is_dir()}
        if there != old or lake.root not in _known:
            _keep(lake.root, there, is_stored=there == old)
        new = there
    for cluster in clusters:
        for run_id, entry in new.get(cluster, {}).items():
            if entry.summary is not None:
                yield cluster, run_id, entry.summary


def _keep(root: Path, entries: Entries, *, is_stored: bool) -> None:
    _known[root] = entries
    if not is_stored:
        with suppress(OSError):
            write_whole(root / INDEX, msgspec.json.encode(_IndexFile(clusters=entries)))


def _stored(file: Path) -> Entries:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_IndexFile).clusters
    except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return {}


def _stamps(folder: Path) -> Iterator[tuple[str, Stamp]]:
    """The published runs of a cluster, each with its stamp; a link in the place of a folder is none."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if RUN_ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                    yield entry.name, _stamp(entry.path)


def _stamp(folder: str) -> Stamp:
    """Errors: OSError where the run is not published, or its report is a link.

    ``os.stat`` of a text takes a third of what a `Path` takes, and a list asks it three thousand times.
    """
    manifest = os.stat(f"{folder}/steps/publish.json")  # noqa: PTH116  # see above
    if not stat.S_ISDIR(os.lstat(f"{folder}/report").st_mode):
        raise NotADirectoryError(folder)
    try:
        told = os.stat(f"{folder}/report/{SUMMARY}")  # noqa: PTH116  # see above
    except FileNotFoundError:
        told = os.stat(f"{folder}/report/{PLAN}")  # noqa: PTH116  # see above
    return manifest.st_mtime_ns, told.st_mtime_ns, told.st_size, told.st_ino
