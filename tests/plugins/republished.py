"""A run whose plan has been approved and is published again, by the real step, in a process that comes to an end."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rocketmq_capacity import tables
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.steps.planning import ALLOCATE, ASSESS, RECOMMEND, SNAPSHOT, Planning
from rocketmq_capacity.steps.publish import publish
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.tables.arrow import table_of
from tests.report.from_rows import REPORTED, Built, typed

CHANGES: Final = frozenset({"open", "os.rename"})
"""What Python tells its audit hooks of before a file is written, or put in its place."""


def planned(lake: Path, run_id: str, rows: Built) -> Run:
    """A run that has everything but its report."""
    run = Lake(lake).run(rows["cluster"][0]["cluster_name"], run_id)
    beside = (tables.ClientLoad, tables.GroupSize, tables.GroupFailure, tables.TopicFailure)
    for dataset in (*REPORTED, *beside):
        run.new_tables(dataset.dataset_name())
        add_file(run, dataset, table_of(dataset, typed(dataset, rows)))
    for step in (SNAPSHOT, ALLOCATE, ASSESS, RECOMMEND):
        run.commit(step, [])
    return run


def publish_run(run: Run) -> None:
    """The last step of a run."""
    publish(Planning(_no_session, run, Policy()))


def publish_until(folder: Path, change: int, how: str) -> None:
    """Publish the run; at its so many-eth change of a file below the folder it is killed, or the disk refuses."""
    stop: Callable[[], Any] = {"killed": _kill, "refused": _refuse}[how]
    seen = 0

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event in CHANGES and str(arguments[0]).startswith(str(folder)) and not _only_reads(event, arguments):
            seen += 1
            if seen == change:
                stop()

    sys.addaudithook(look)
    publish_run(Run(folder))


def _only_reads(event: str, arguments: tuple[Any, ...]) -> bool:
    return event == "open" and {"w", "x"}.isdisjoint(str(arguments[1]))


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _refuse() -> None:
    raise OSError(28, "No space left on device")


def _no_session() -> Any:
    raise AssertionError("publishing computes nothing")
