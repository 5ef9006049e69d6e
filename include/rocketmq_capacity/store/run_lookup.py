"""Finds a run by its id: an orchestrator names its runs before any broker has said the cluster's name."""

import logging
from datetime import datetime

import msgspec

from rocketmq_capacity.errors import BadInput, DatasetMissing, shown
from rocketmq_capacity.store.lake import RUN_ID, Lake, Run
from rocketmq_capacity.store.run_key import is_of_source


class _Snapshot(msgspec.Struct):
    """The moment of a stored inventory; everything else in it is skipped."""

    taken_at: str


def stored_run(lake: Lake, run_id: str) -> Run | None:
    """The run of that id whose snapshot is stored, or None.

    Errors: BadInput for an id that is not a plain folder name, or that runs of two clusters have.
    """
    if not RUN_ID.fullmatch(run_id):
        raise BadInput("--run-id", "", f"is {shown(run_id)}; expected letters, digits, '_', '.' and '-', at most 255")
    found = sorted(run.folder for folder in lake.root.glob(f"*/{run_id}") if (run := Run(folder)).inventory.is_file())
    if len(found) > 1:
        clusters = ", ".join(folder.parent.name for folder in found)
        raise BadInput("--run-id", "", f"{run_id} is a run of more than one cluster ({clusters}); expected one")
    return Run(found[0]) if found else None


def existing_run(lake: Lake, run_id: str) -> Run:
    """The run of that id. Errors: DatasetMissing if no snapshot of it is stored, else as :func:`stored_run`."""
    run = stored_run(lake, run_id)
    if run is None:
        raise DatasetMissing(f"{lake.root}: no snapshot of a run {run_id} is stored; run the step snapshot first")
    return run


def latest_of_source(lake: Lake, source: str) -> Run | None:
    """The last run of a source, by its key, whose snapshot is stored; None if there is none."""
    found = (Run(folder) for folder in lake.root.glob("*/*") if is_of_source(folder.name, source))
    ordered = sorted(found, key=lambda run: run.folder.name, reverse=True)
    return next((run for run in ordered if run.is_committed("snapshot") and run.inventory.is_file()), None)


def run_before(lake: Lake, run: Run) -> Run | None:
    """The published run of the same cluster with the latest snapshot before this one's, or None; never a what-if.

    Errors: BadInput if a stored inventory is damaged.
    """
    return next(iter(earlier_runs(lake, run, _taken_at(run), 1)), None)


def earlier_runs(lake: Lake, run: Run, taken_at: datetime, most: int) -> list[Run]:
    """The last published runs of a cluster with earlier snapshots, oldest first; never a what-if.

    The search goes by ids from the last to the first, because an orchestrator's ids begin with their time. A run whose
    stored snapshot is damaged is set aside, with a warning.

    Args:
        lake: where the runs are.
        run: of the cluster; it may be without a snapshot yet.
        taken_at: the moment of its snapshot.
        most: the most runs to return.
    """
    found: list[Run] = []
    for other in reversed(list(lake.runs(run.folder.parent.name))):
        if len(found) == most:
            break
        if other != run and not other.what_if.exists() and _is_before(other, taken_at):
            found.append(other)
    return found[::-1]


def _is_before(run: Run, taken_at: datetime) -> bool:
    """Whether a run's snapshot is from before this moment; False if it is damaged, which never stops a later run."""
    try:
        return _taken_at(run) < taken_at
    except BadInput as error:
        logging.getLogger(__name__).warning("%s is set aside: %s", run.folder, error)
        return False


def _taken_at(run: Run) -> datetime:
    """When the stored snapshot was taken. Errors: BadInput if the file is damaged."""
    try:
        # Read, not mapped: a file that shrinks meanwhile would end the process.
        stored = msgspec.json.decode(run.inventory.read_bytes(), type=_Snapshot)
        taken_at = datetime.fromisoformat(stored.taken_at)
        if taken_at.tzinfo is None:
            raise ValueError(f"taken_at is {taken_at.isoformat()!r}, without a time zone")
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        problem = f"is not a stored inventory ({error}); expected what the step snapshot wrote"
        raise BadInput(str(run.inventory), "", problem) from None
    return taken_at
