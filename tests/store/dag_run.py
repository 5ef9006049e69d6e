"""A Dag run as far as its key is concerned."""

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class DagRun:
    """What Airflow calls a run, and when it was due."""

    run_id: str
    run_after: datetime = datetime(2026, 11, 20, 2, tzinfo=UTC)
