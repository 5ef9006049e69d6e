"""The index of a lake's reports: all their summaries in one file, so that a list need not open each report.

The file is only a copy. Every entry has a stamp of the files that it was made from. If the stamp has changed, the
report is read again, and the index is written again. If the lake cannot be written to, the index is only in memory.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

from rocketmq_capacity.report.files import PLAN, SUMMARY
from rocketmq_capacity.report.summary_file import PlanSummary
from rocketmq_capacity.store.lake import RUN_ID, Lake, Run
from rocketmq_capacity.store.writing import write_whole

INDEX: Final = ".reports.json"
"""The index file in the lake; no cluster can have this name."""
FORMAT: Final = "rocketmq-capacity/report-index/1"
Stamp = tuple[int, ...]
"""Times (ns) and sizes of the files that an entry was made from."""


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A published run; its summary is None if it cannot be read."""

    stamp: Stamp
    summary: PlanSummary | None


Entries = dict[str, dict[str, Entry]]
"""By cluster and run id."""


class _IndexFile(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal["rocketmq-capacity/report-index/1"] = FORMAT
    clusters: Entries


_known: Final[dict[Path, Entries]] = {}
"""The index of each lake in this process. It is only replaced as a whole, so that threads need no lock."""


def summaries(
    lake: Lake, clusters: list[str], read: Callable[[Run], PlanSummary | None]
) -> Iterator[tuple[str, str, PlanSummary]]:
    """The summary of every published run of these clusters that can be read: cluster, run id, summary.

    Args:
        lake: where the runs are.
        clusters: names of its folders.
        read: gives the summary of a run, or None if it cannot be read.
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
        with suppress(OSError):  # a read-only folder or a full disk: the next list is made anew
            write_whole(root / INDEX, msgspec.json.encode(_IndexFile(clusters=entries)))


def _stored(file: Path) -> Entries:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_IndexFile).clusters
    except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return {}


def _stamps(folder: Path) -> Iterator[tuple[str, Stamp]]:
    """The published runs of a cluster, each with its stamp; a link is not a run's folder."""
    with suppress(OSError), os.scandir(folder) as entries:  # a folder that is gone has no runs
        for entry in entries:
            with suppress(OSError):  # a run that is not published, or was deleted meanwhile
                if RUN_ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                    yield entry.name, _stamp(entry.path)


def _stamp(folder: str) -> Stamp:
    """Times and sizes of the run's files.

    Errors: OSError if the run is not published, or if its report is a link.
    """
    manifest = _state(f"{folder}/steps/publish.json")
    if not stat.S_ISDIR(os.lstat(f"{folder}/report").st_mode):
        raise NotADirectoryError(folder)
    try:
        file = _state(f"{folder}/report/{SUMMARY}")
    except FileNotFoundError:
        file = _state(f"{folder}/report/{PLAN}")
    return manifest.st_mtime_ns, file.st_mtime_ns, file.st_size, file.st_ino


def _state(path: str) -> os.stat_result:
    """As ``Path.stat``, which takes three times as long: a list of 1,000 reports needs 3,000 calls."""
    return os.stat(path)  # noqa: PTH116  # a third of the time of Path.stat
