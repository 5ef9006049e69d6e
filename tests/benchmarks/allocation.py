"""The allocation of a fleet beside the official classes, called once for each client, and beside bare writing."""

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rocketmq_capacity.jvm import SMALL_BYTES
from rocketmq_capacity.lake import Lake
from tests.benchmarks.fleet import CLUSTER, ROOMS, Fleet, official_lines, write_tables
from tests.benchmarks.memory import run_measured
from tests.oracle.fleet_benchmark import FleetTiming, time_official_classes

STRATEGIES: Final = (
    *("AVG", "AVG_BY_CIRCLE", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY-AVG", "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE"),
    *("CONSISTENT_HASH", "POP"),
)
"""All but CONFIG, whose class gives back a list that it was given."""

TIME_LIMIT_S: Final = 3600
RUN_ID: Final = "fleet"


@dataclass(frozen=True, slots=True)
class Ours:
    """What the planner took for all strategies together: each pass, the bare writing of the rows, and memory."""

    seconds: tuple[float, ...]
    floor_seconds: tuple[float, ...]
    rows: Mapping[str, int]
    peak_bytes: int

    @property
    def later(self) -> float:
        """The median pass on a warm JVM, as that of the official classes is."""
        return _warm(self.seconds)

    @property
    def floor(self) -> float:
        """The median of bare writing, as warm."""
        return _warm(self.floor_seconds)


def _warm(passes: Sequence[float]) -> float:
    return statistics.median(passes[len(passes) // 2 :])


def policy_of(strategies: tuple[str, ...]) -> dict[str, Any]:
    """The policy under which a benchmark's fleet is allocated, as its file holds it."""
    rooms = {"brokers": [{"pattern": "^(?P<room>[^@]+)@"}], "clients": []}
    return {"strategies": list(strategies), "machine_rooms": list(ROOMS), "rooms": rooms}


def time_ours(fleet: Fleet, strategies: tuple[str, ...], *, is_small: bool = False) -> Ours:
    """Allocate the fleet in a Spark session of its own, several times."""
    with tempfile.TemporaryDirectory(prefix="rocketmq-bench-") as folder:
        lake, policy = Path(folder) / "lake", Path(folder) / "policy.yaml"
        policy.write_text(json.dumps(policy_of(strategies)))  # JSON is YAML
        run = Lake(lake).run(CLUSTER, RUN_ID)
        write_tables(fleet, run.tables)
        run.inventory.write_bytes(b"" if is_small else b" " * SMALL_BYTES)  # its size alone is looked at
        run.begin("snapshot")
        run.commit("snapshot", [])
        command = [sys.executable, "-m", "tests.benchmarks.spark_allocation", str(lake), RUN_ID, str(policy)]
        out, peak_bytes = run_measured(command, dict(os.environ), time_limit_s=TIME_LIMIT_S)
    told = json.loads(out.splitlines()[-1])
    return Ours(tuple(told["seconds"]), tuple(told["floor_seconds"]), told["rows"], peak_bytes)


def time_theirs(fleet: Fleet, strategies: tuple[str, ...]) -> Iterator[FleetTiming]:
    """The official classes on as many threads as there are cores, one strategy after the other."""
    with tempfile.TemporaryDirectory(prefix="rocketmq-bench-") as folder:
        for strategy in strategies:
            file = Path(folder) / "fleet.jsonl"
            with file.open("w", encoding="utf-8") as lines:
                lines.writelines(f"{line}\n" for line in official_lines(fleet, with_shares=strategy == "POP"))
            params = {"machine_rooms": list(ROOMS)} if strategy == "MACHINE_ROOM" else {}
            yield time_official_classes(file, strategy, threads=os.cpu_count() or 1, params=params)
