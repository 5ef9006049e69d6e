"""The official classes timed over a whole fleet, for the benchmark."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.oracle.java_oracle import PROJECT, OracleError

WARM_UP_S: Final = 5.0

_JVM: Final = ("-Xms1g", "-Xmx4g", "-XX:+UseParallelGC")


@dataclass(frozen=True, slots=True)
class FleetTiming:
    """One pass over the fleet: allocate() once for each client and topic."""

    strategy: str
    threads: int
    seconds: float
    calls: int
    rows: int
    failed_calls: int


def time_official_classes(
    fleet: Path,
    strategy: str,
    *,
    threads: int,
    sorts: bool = False,
    params: Mapping[str, Any] | None = None,
    warm_up_s: float = WARM_UP_S,
) -> FleetTiming:
    """Run the official class for every client of the fleet, once.

    ``fleet`` is a file of JSON lines, topics before the groups that name them: ``{"topic", "queues": [[broker_name,
    read_queue_nums]]}``, ``{"consumer_group", "client_ids", "topics"}`` (a group may have its own ``config``), and,
    for the room strategies, ``{"broker_rooms": {}}`` and ``{"client_rooms": {}}``, each on a line. ``params`` are named
    as in ``java_oracle.Case``. With ``sorts`` each call sorts its two lists first, inside the clock, as each client
    does.

    Errors: OracleUnavailable; OracleError if the JVM fails; subprocess.TimeoutExpired past the time limit.
    """
    request = json.dumps({"strategy": strategy, **(params or {})})
    arguments = (str(fleet), request, str(threads), str(warm_up_s), str(sorts).lower())
    command = PROJECT.command("capacity.oracle.FleetBenchmark", *arguments, jvm=_JVM)
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600.0, check=False)
    if done.returncode != 0:
        raise OracleError(f"the fleet benchmark failed: {done.stderr.strip()}")
    return FleetTiming(**json.loads(done.stdout))
