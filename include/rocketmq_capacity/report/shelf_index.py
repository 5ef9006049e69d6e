"""The index of a lake's reports: all their summaries in one file, so that a list need not open each report.

The file is only a copy. Every entry has a stamp of the files that it was made from. If the stamp has changed, the
report is read again, and the index is written again. If the lake cannot be written to, the index is only in memory.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final, Literal

import msgspec

from rocketmq_capacity.errors import StoreUnreachable
from rocketmq_capacity.report.files import PLAN, SUMMARY
from rocketmq_capacity.report.summary_file import PlanSummary
from rocketmq_capacity.store.lake import RUN_ID, Lake, Run
from rocketmq_capacity.store.place import folders_in, is_local
from rocketmq_capacity.store.published import Stamp, published
from rocketmq_capacity.store.writing import write_whole

INDEX: Final = ".reports.json"
"""The index file in the lake; no cluster can have this name."""
FORMAT: Final = "rocketmq-capacity/report-index/1"
FILES: Final = (SUMMARY, PLAN)
"""What an entry is made from: the summary, or in a report of an early version the plan."""


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
_asked: Final[dict[Path, tuple[float, Mapping[str, Stamp]]]] = {}
"""When a store was last asked for the published runs of a cluster's folder, and what it told."""
ASKED_AGAIN_S: Final = 5.0
"""A page asks some times for the same, and to list a thousand runs takes a store a tenth of a second."""
AT_A_TIME: Final = 16


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
        indexed, stamps = old.get(cluster, {}), _stamps(lake.root / cluster)
        changed = [name for name, stamp in stamps.items() if name not in indexed or indexed[name].stamp != stamp]
        made = _each(read, [Run(lake.root / cluster / name) for name in changed])
        fresh = {name: Entry(stamps[name], summary) for name, summary in zip(changed, made, strict=True)}
        new[cluster] = {name: fresh.get(name) or indexed[name] for name in stamps}
        is_same = is_same and not fresh and len(indexed) == len(stamps)
    if not is_same:
        there = {name: new[name] for name in new if name in {*clusters, *folders_in(lake.root)}}
        if there != old or lake.root not in _known:
            _keep(lake.root, there, is_stored=there == old)
        new = there
    for cluster in clusters:
        for run_id, entry in new.get(cluster, {}).items():
            if entry.summary is not None:
                yield cluster, run_id, entry.summary


def _stamps(cluster: Path) -> Mapping[str, Stamp]:
    """The published runs of a cluster's folder, each with its stamp; of a store as some seconds ago."""
    moment, held = _asked.get(cluster, (-inf, {}))
    if is_local(cluster) or monotonic() - moment > ASKED_AGAIN_S:
        held = {name: stamp for name, stamp in published(cluster, FILES) if RUN_ID.fullmatch(name)}
        _asked[cluster] = monotonic(), held
    return held


def _each(read: Callable[[Run], PlanSummary | None], runs: list[Run]) -> list[PlanSummary | None]:
    """The summary of each run; a store answers to many at a time."""
    if not runs or is_local(runs[0].folder):
        return list(map(read, runs))
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        return list(threads.map(read, runs))


def _keep(root: Path, entries: Entries, *, is_stored: bool) -> None:
    _known[root] = entries
    if not is_stored:
        # A read-only folder, a full disk, a store that lets this process only read: the next list is made anew.
        with suppress(OSError, StoreUnreachable):
            write_whole(root / INDEX, msgspec.json.encode(_IndexFile(clusters=entries)))


def _stored(file: Path) -> Entries:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_IndexFile).clusters
    except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return {}
