"""Spark's own master with several workers, on loopback."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import pyspark

from rocketmq_capacity.spark.jvm import options
from tests.fixtures.environment import SHORT_LIVED
from tests.fixtures.ports import free_port
from tests.stack.service import Services

CLASS: Final = Path(pyspark.__file__).parent / "bin" / "spark-class"
WELL_WITHIN_S: Final = 300.0


@dataclass(frozen=True)
class Master:
    """A master whose workers have joined it.

    Attributes:
        url: as ``spark.master`` takes it.
        work: holds a folder for each worker, with the output of its executors.
    """

    url: str
    work: Path


@contextmanager
def running_master(services: Services, workers: int, hidden: Sequence[Path] = ()) -> Iterator[Master]:
    """A master and its workers, of one core and 2 GiB each.

    Args:
        services: of which they are.
        workers: how many.
        hidden: folders that are empty for each worker and its executors, as on another machine.

    Errors: StackError where they do not come up.
    """
    port, page = free_port(), free_port()
    master = Master(f"spark://127.0.0.1:{port}", services.folder / "work")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    # Every JVM reads them, the executors' too.
    java_options = {"JDK_JAVA_OPTIONS": f"{options()} {SHORT_LIVED}"}
    environment = {**kept, **java_options, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    names = [f"worker-{number}" for number in range(workers)]

    def is_well() -> bool:
        try:
            told = httpx.get(f"http://127.0.0.1:{page}/json/", trust_env=False).raise_for_status().json()
        except (httpx.HTTPError, ValueError):  # not yet, or not yet that page: "/" is there first, and answers for it
            return False
        return bool(told["aliveworkers"] == workers)

    with services.ending() as ours:
        words = ["org.apache.spark.deploy.master.Master", "--port", str(port), "--webui-port", str(page)]
        ours.append(services.start("master", [str(CLASS), *words, "--host", "127.0.0.1"], environment))
        for name in names:
            (master.work / name).mkdir(parents=True)
            words = ["org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", "2g"]
            words += ["--work-dir", str(master.work / name), "--webui-port", str(free_port()), master.url]
            ours.append(services.start(name, [*apart(hidden), str(CLASS), *words, "--host", "127.0.0.1"], environment))
        ours[-1].wait_until(is_well, WELL_WITHIN_S)
        yield master


def apart(hidden: Sequence[Path]) -> list[str]:
    """A command before a command: for what it starts, these folders are empty, and its own."""
    if not hidden:
        return []
    rights = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    script = 'while [ "$1" != -- ]; do mount -t tmpfs none "$1" || exit 1; shift; done; shift; exec "$@"'
    return ["unshare", *rights, "--mount", "/bin/sh", "-c", script, "sh", *map(str, hidden), "--"]
