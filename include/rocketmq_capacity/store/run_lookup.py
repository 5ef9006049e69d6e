"""Finds a run by its id: an orchestrator names its runs before any broker has said the cluster's name."""

import logging
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

import msgspec

from rocketmq_capacity.errors import BadInput, DatasetMissing, shown
from rocketmq_capacity.store.lake import RUN_ID, Lake, Run
from rocketmq_capacity.store.place import errors_in_one_line
from rocketmq_capacity.store.run_key import is_of_source


class _Snapshot(msgspec.Struct):
    """The moment of a stored inventory; everything else in it is skipped."""

    taken_at: str


class _OwnPolicy(msgspec.Struct):
    """Whether a run with a policy of its own is a trial; everything else in the file is skipped."""

    is_trial: bool


def stored_run(lake: Lake, run_id: str) -> Run | None:
    """The run of that id whose snapshot is stored, or None.

    Errors: BadInput for an id that is not a plain folder name, or that runs of two clusters have, and for a link in the
    run's folder.
    """
    if not RUN_ID.fullmatch(run_id):
        raise BadInput("--run-id", "", f"is {shown(run_id)}; expected letters, digits, '_', '.' and '-', at most 255")
    runs = [run for run in lake.folders(run_id=run_id) if run.inventory.is_file()]
    if len(runs) > 1:
        clusters = ", ".join(run.folder.parent.name for run in runs)
        raise BadInput("--run-id", "", f"{run_id} is a run of more than one cluster ({clusters}); expected one")
    for run in runs:
        run.refuse_links()
    return runs[0] if runs else None


def existing_run(lake: Lake, run_id: str) -> Run:
    """The run of that id. Errors: DatasetMissing if no snapshot of it is stored, else as :func:`stored_run`."""
    run = stored_run(lake, run_id)
    if run is None:
        raise DatasetMissing(f"{lake.root}: no snapshot of a run {run_id} is stored; run the step snapshot first")
    return run


def latest_of_source(lake: Lake, source: str) -> Run | None:
    """The last run of a source, by its key, whose snapshot is stored; None if there is none."""
    runs = (run for run in lake.folders() if is_of_source(run.folder.name, source))
    ordered = sorted(runs, key=lambda run: run.folder.name, reverse=True)
    return next((run for run in ordered if _is_stored(run)), None)


def _is_stored(run: Run) -> bool:
    return run.is_committed("snapshot") and run.inventory.is_file() and not run.inventory.is_symlink()


def runs_before(lake: Lake, run: Run) -> Iterator[Run]:
    """The published runs of the same cluster with earlier snapshots, the latest first; no what-ifs and no trials.

    Errors: BadInput if the run's own inventory is damaged; another one whose inventory is damaged is set aside.
    """
    yield from _earlier(lake, run, _taken_at(run))


def earlier_runs(lake: Lake, run: Run, taken_at: datetime, most: int) -> list[Run]:
    """The last published runs of a cluster with earlier snapshots, oldest first; never a what-if or a trial.

    A run whose stored snapshot is damaged is set aside, with a warning.

    Args:
        lake: where the runs are.
        run: of the cluster; it may be without a snapshot yet.
        taken_at: the moment of its snapshot.
        most: the most runs to return.
    """
    return list(islice(_earlier(lake, run, taken_at), most))[::-1]


def _earlier(lake: Lake, run: Run, taken_at: datetime) -> Iterator[Run]:
    """The published runs before a moment, from the last id to the first: ids of the Dags begin with their time."""
    for other in reversed(list(lake.runs(run.folder.parent.name))):
        if other != run and not other.what_if.exists() and not is_trial(other) and _is_before(other, taken_at):
            yield other


def is_trial(run: Run) -> bool:
    """Whether a run tries other values of the policy, so that it is nobody's plan of the day; a damaged file is one.

    Errors: StoreUnreachable if the lake is in a store that does not tell.
    """
    try:
        with errors_in_one_line(run.own_policy):
            content = run.own_policy.read_bytes()
        return msgspec.json.decode(content, type=_OwnPolicy).is_trial
    except FileNotFoundError:
        return False
    except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return True


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
        run.refuse_links()
        # Read, not mapped: a file that shrinks meanwhile would end the process.
        stored = msgspec.json.decode(run.inventory.read_bytes(), type=_Snapshot)
        taken_at = datetime.fromisoformat(stored.taken_at)
        if taken_at.tzinfo is None:
            raise ValueError(f"taken_at is {taken_at.isoformat()!r}, without a time zone")
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        problem = f"is not a stored inventory ({error}); expected what the step snapshot wrote"
        raise BadInput(str(run.inventory), "", problem) from None
    return taken_at
