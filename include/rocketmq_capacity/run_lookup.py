"""Finds a run by its id alone: an orchestrator names its runs before any broker has said what the cluster is called."""

from rocketmq_capacity.errors import BadInput, DatasetMissing
from rocketmq_capacity.lake import RUN_ID, Lake, Run


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
