"""A whole plan by the command line, from inventory to report, in a cold process: seconds and memory of each step."""

import shutil
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rocketmq_capacity.report.files import PLAN, REPORT
from tests.benchmarks.driver import Shares, SparkWork, shares
from tests.benchmarks.watched import Watched, watched

COMPUTING: Final = ("snapshot", "allocate", "assess", "recommend")
PARTS: Final = ("read", *COMPUTING, "publish", "end")
"""Of a plan's time: reading policy and inventory; the five steps; putting the folder into place and ending Spark.

Spark starts beside the step ``snapshot``, and allocates while that step makes its tables. What takes longer is part of
``allocate``.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """Of a plan."""

    seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class PlanTiming:
    """What one plan took."""

    parts: dict[str, Part]
    seconds: float
    peak_bytes: int
    processor_s: float
    sql_executions: int
    allocation_rows: dict[str, int]
    """By strategy."""
    page_bytes: int
    plan_bytes: int
    shares: Shares
    """Of the driver and of tasks."""


def time_plan(inventory: Path, policy: Path | None, out: Path, history: Path | None = None) -> PlanTiming:
    """Plan the inventory into the folder ``out``, which is replaced; ``history`` is a folder of earlier days."""
    shutil.rmtree(out, ignore_errors=True)
    told = out.with_name(f"{out.name}.spark")
    command = [sys.executable, "-m", "tests.benchmarks.command_line", str(told), "plan", f"--inventory={inventory}"]
    command += [f"--out={out}", *([f"--policy={policy}"] if policy else [])]
    command += [f"--history={history}"] if history else []
    ends = _Ends(out)
    plan = watched(command, also=ends.look)
    moments = ends.moments(plan)
    parts = {
        name: Part(until - since, plan.peak_bytes(since, until))
        for name, (since, until) in zip(PARTS, pairwise(moments), strict=True)
    }
    page_bytes, plan_bytes = ((out / name).stat().st_size for name in (REPORT, PLAN))
    work = msgspec.json.decode(told.read_bytes(), type=SparkWork)
    # Only from the end of `snapshot` to the beginning of `publish` does the driver wait for tasks.
    waiting = moments[PARTS.index("allocate")], moments[PARTS.index("publish")]
    of_all = shares(plan.seconds, waiting, work.tasks)
    return PlanTiming(
        parts,
        plan.seconds,
        plan.peak_bytes(),
        plan.processor_s,
        work.sql_executions,
        _rows(out),
        page_bytes,
        plan_bytes,
        of_all,
    )


class _Ends:
    """When each step ended, from the times of the files that it leaves: its manifest, while the plan has a lake."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._begun_at: float | None = None
        self._ended_at: dict[str, float] = {}

    def look(self) -> None:
        """Keep what can be seen now."""
        for lake in self._out.parent.glob(f".{self._out.name}.*/.lake.*"):
            try:
                # The lake's one cluster is made when the first step begins.
                if self._begun_at is None and any(lake.iterdir()):
                    self._begun_at = lake.stat().st_mtime
                for manifest in lake.glob("*/*/steps/*.json"):
                    if manifest.stem not in self._ended_at:
                        self._ended_at[manifest.stem] = manifest.stat().st_mtime
            except FileNotFoundError:
                return  # The plan is done, and its lake is gone.

    def moments(self, plan: Watched) -> list[float]:
        """The ends of :data:`PARTS`, behind the beginning of the first."""
        if self._begun_at is None or any(step not in self._ended_at for step in COMPUTING):
            raise SystemExit(f"a step of {self._out.name} was too short to be seen; seen: {sorted(self._ended_at)}")
        published_at = max(file.stat().st_mtime for file in self._out.iterdir() if file.is_file())
        of_steps = (self._ended_at[step] for step in COMPUTING)
        return [plan.begun_at, self._begun_at, *of_steps, published_at, plan.ended_at]


def _rows(out: Path) -> dict[str, int]:
    """How many rows ``allocation`` has under each strategy."""
    strategy = pq.read_table(out / "tables" / "allocation", columns=["strategy"])["strategy"]
    return {row["values"].as_py(): row["counts"].as_py() for row in pc.value_counts(strategy)}
