"""Finds a run by its id alone: an orchestrator names its runs before any broker has said what the cluster is called."""

from rocketmq_capacity.errors import BadInput, DatasetMissing
from rocketmq_capacity.lake import RUN_ID, Lake, Run
from rocketmq_capacity.snapshot.inventory import read_inventory


def stored_run(lake: Lake, run_id: str) -> Run | None:
    """The run of that id whose snapshot is stored, or None.

    Errors: BadInput for an id that is no plain folder name, or that runs of two clusters share.
    """
    if not RUN_ID.fullmatch(run_id):
        raise BadInput("--run-id", "", f"is {run_id!r}; expected letters, digits, '_', '.' and '-', at most 255")
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

    Runs are looked through by their ids from the last to the first, since an orchestrator's ids begin with their time.

    Errors: BadInput where a stored inventory has been spoiled.
    """
    taken_at = read_inventory(run.inventory).taken_at_utc
    for other in reversed(list(lake.runs(run.folder.parent.name))):
        if other != run and not other.what_if.exists() and read_inventory(other.inventory).taken_at_utc < taken_at:
            return other
    return None
