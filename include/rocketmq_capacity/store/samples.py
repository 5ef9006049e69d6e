"""The samples of a cluster between its plans, by day; see :mod:`~rocketmq_capacity.store.lake` for the files.

A day is like a run of one step. Each sample adds a file to each of its datasets, and the manifest lists it too. Many
files of a dataset become one, at the latest when the day is over. A day without samples has no folder.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.place import folders_in
from rocketmq_capacity.store.retention import delete_run
from rocketmq_capacity.store.writing import refuse_link

SAMPLES: Final = ".samples"
"""The folder of a cluster's days."""
SAMPLE: Final = "sample"
"""The step of a day."""
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def sampled_day(lake: Lake, cluster: str, day: str) -> Run:
    """A day of a cluster, such as ``2026-11-20``, with samples or without.

    Errors: BadInput for a cluster's name that is no plain folder name, or whose folder is a link.
    """
    return Run(_days_in(lake.run(cluster, day).folder.parent) / day)


def sampled_days(folder: Path) -> list[Run]:
    """The days in a cluster's folder that have samples, the first one first. Errors: BadInput if a folder is a link."""
    days = _days_in(folder)
    names = filter(_DAY.fullmatch, folders_in(days))
    return [day for name in names if (day := Run(days / name)).is_committed(SAMPLE)]


def _days_in(folder: Path) -> Path:
    """The folder of the days in a cluster's folder. Errors: BadInput if one of them is a link."""
    days = folder / SAMPLES
    for place in (folder, days):
        refuse_link(place)
    return days


def forget(days: Iterable[Run]) -> None:
    """Delete days; one that a process works on, or that has links, is kept."""
    for day in days:
        delete_run(day)
