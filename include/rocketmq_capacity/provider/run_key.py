"""A Dag run's name in the lake: one for all its tasks and tries, so that a cleared run finds its snapshot."""

import hashlib
from datetime import UTC, datetime
from typing import Final, Protocol

from rocketmq_capacity.lake import run_id_of

LONGEST_RUN_ID: Final = 120
"""Signs of Airflow's run id that a folder's name, which may have 255 in all, has room for."""


class DagRunLike(Protocol):
    """What is read of Airflow's Dag run."""

    @property
    def run_id(self) -> str:
        """Airflow's name of the run."""

    @property
    def run_after(self) -> datetime:
        """The moment from which the run may start; a run by hand has no other date."""


def run_key(dag_run: DagRunLike, source: str) -> str:
    """The moment the run was due, its id and what it plans, so that keys sort by time and no id names a folder above.

    Example: ``20261120T020000Z-scheduled__2026-11-20T02_00_00_00_00--rocketmq_shop``.
    """
    due = dag_run.run_after.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{due}-{run_name(dag_run.run_id)}--{run_id_of(source)}"


def run_name(run_id: str) -> str:
    """Airflow's run id as it stands in a key; a long one is cut, and told apart by a digest of all of it."""
    name = run_id_of(run_id)
    if len(name) > LONGEST_RUN_ID:
        name = f"{name[:LONGEST_RUN_ID]}_{hashlib.sha256(run_id.encode()).hexdigest()[:12]}"
    return name
