"""A Dag run's name in the lake: one for all its tasks and tries, so that a cleared run finds its snapshot."""

from datetime import UTC, datetime
from typing import Protocol

from rocketmq_capacity.store.lake import run_id_of, run_name


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
