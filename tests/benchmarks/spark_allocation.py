"""What the benchmark times in a process of its own: one lake run of a fleet, allocated, and the floor.

    python -m tests.benchmarks.spark_allocation LAKE RUN_ID POLICY

The run has the fleet's tables. Prints one JSON object: seconds of each pass, and rows by strategy.
"""

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Final

from rocketmq_capacity import contracts
from rocketmq_capacity.config import read_policy
from rocketmq_capacity.lake import Lake
from rocketmq_capacity.session import start_session
from rocketmq_capacity.steps.allocate import allocate
from rocketmq_capacity.steps.planning import Planning
from tests.benchmarks.fleet import CLUSTER

PASSES: Final = 40
"""In the first half of them the JVM is still busy with compiling."""
DRIVER_MEMORY: Final = "4g"


def main(lake: Path, run_id: str, policy: Path) -> None:
    """Allocate some times in one session, then write the same rows without computing them."""
    spark = start_session("benchmark", {"spark.driver.memory": DRIVER_MEMORY})
    planning = Planning(lambda: spark, Lake(lake).run(CLUSTER, run_id), read_policy(policy))
    seconds = []
    for _ in range(PASSES):
        start = time.perf_counter()
        allocate(planning)
        seconds.append(time.perf_counter() - start)

    rows = planning.read(contracts.Allocation)
    floor = []
    for _ in range(PASSES):
        shutil.rmtree(lake / "floor", ignore_errors=True)
        start = time.perf_counter()
        rows.write.parquet(str(lake / "floor"))
        floor.append(time.perf_counter() - start)

    by_strategy = {row["strategy"]: row["count"] for row in rows.groupBy("strategy").count().collect()}
    sys.stdout.write(json.dumps({"seconds": seconds, "floor_seconds": floor, "rows": by_strategy}) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
