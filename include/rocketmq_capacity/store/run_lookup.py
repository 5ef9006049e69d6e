"""Finds a run by its id alone: an orchestrator names its runs before any broker has said what the cluster is called."""

from datetime import datetime
from mmap import ACCESS_READ, mmap

import msgspec

from rocketmq_capacity.errors import BadInput, DatasetMissing, shown
from rocketmq_capacity.store.lake import RUN_ID, Lake, Run


class _Snapshot(msgspec.Struct):
    """What a stored inventory says of its time; all else in it is skipped."""

    taken_at: str


def stored_run(lake: Lake, run_id: str) -> Run | None:
    """The run of that id whose snapshot is stored, or None.

    Errors: BadInput for an id that is no plain folder name, or that runs of two clusters share.
    """
    if not RUN_ID.fullmatch(run_id):
        raise BadInput("--run-id", "", f"is {shown(run_id)}; expected letters, digits, '_', '.' and '-', at most 255")
    found = sorted(run.folder for folder in lake.root.glob(f"*/{run_id}") if (run := Run(folder)).inventory.is_file())
    if len(found) > 1:
        clusters = ", ".join(folder.parent.name for folder in found)
        raise BadInput("--run-id", "", f"{run_id} is a run of more than one cluster ({clusters}); expected one")
    return Run(found[0]) if found else None


def existing_run(lake: Lake, run_id: str) -> Run:
    """The run of that id; errors: DatasetMissing where no snapshot of it is stored, else as :func:`stored_run`."""
    run = stored_run(lake, run_id)
    if run is None:
        raise DatasetMissing(f"{lake.root}: no snapshot of a run {run_id} is stored; run the step snapshot first")
    return run


def run_before(lake: Lake, run: Run) -> Run | None:
    """The published run of the same cluster whose snapshot is the last before this one's, or None; never a what-if.

    Errors: BadInput where a stored inventory has been spoiled.
    """
    return next(iter(earlier_runs(lake, run, _taken_at(run), 1)), None)


def earlier_runs(lake: Lake, run: Run, taken_at: datetime, most: int) -> list[Run]:
    """The last published runs of a cluster whose snapshots were taken before, oldest first; never a what-if.

    Runs are looked through by their ids from the last to the first, since an orchestrator's ids begin with their time.

    Args:
        lake: where the runs are.
        run: of the cluster; it may be without a snapshot yet.
        taken_at: the moment of its snapshot.
        most: how many there are at most.

    Errors: BadInput where a stored inventory has been spoiled.
    """
    found: list[Run] = []
    for other in reversed(list(lake.runs(run.folder.parent.name))):
        if len(found) == most:
            break
        if other != run and not other.what_if.exists() and _taken_at(other) < taken_at:
            found.append(other)
    return found[::-1]


def _taken_at(run: Run) -> datetime:
    """When the stored snapshot was taken. Errors: BadInput where the file no longer says it."""
    try:
        with run.inventory.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            taken_at = datetime.fromisoformat(msgspec.json.decode(data, type=_Snapshot).taken_at)
        if taken_at.tzinfo is None:
            raise ValueError(f"taken_at is {taken_at.isoformat()!r}, of no time zone")
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        problem = f"is no stored inventory ({error}); expected what the step snapshot wrote"
        raise BadInput(str(run.inventory), "", problem) from None
    return taken_at
