"""Spark's own small cluster on loopback: a standalone master and one worker."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pyspark

from rocketmq_capacity.spark.jvm import options
from tests.fixtures.environment import SHORT_LIVED
from tests.fixtures.ports import free_port
from tests.stack.service import Services

SPARK_HOME: Final = Path(pyspark.__file__).parent
WELL_WITHIN_S: Final = 300.0
CORES: Final = 2
MEMORY_G: Final = 3
"""Two apps at once, each with one core and one executor of 1 GiB."""


@dataclass(frozen=True, slots=True)
class Spark:
    """Where it answers, and what its apps are told.

    Attributes:
        port: of the master.
        pages: the addresses of the master's and the worker's own pages.
        events: the folder of the apps' event logs, of which Spark makes the pages of an app.
        work: the worker's folder, with the output of every executor.
        temporary: for what lives as long as an app.
    """

    port: int
    pages: tuple[str, str]
    events: Path
    work: Path
    temporary: Path

    @property
    def url(self) -> str:
        """As ``spark-submit --master`` takes it."""
        return f"spark://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        """What an operator would put into spark-defaults.conf."""
        return {
            # An app without a limit takes every core, and a second one waits for as long as the first runs.
            "spark.cores.max": "1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": self.events.as_uri(),
            "spark.eventLog.compress": "false",
        }

    def driver_options(self) -> str:
        """``SPARK_SUBMIT_OPTS``: the settings as properties, since a conf folder would rule the class archive out."""
        given = os.environ.get("SPARK_SUBMIT_OPTS", "")
        properties = self.settings | {"java.io.tmpdir": str(self.temporary)}
        return " ".join([given, *(f"-D{name}={value}" for name, value in properties.items())])

    def state(self, page: int = 0) -> dict[str, Any]:
        """What the master (0) or the worker (1) tells of itself."""
        told: dict[str, Any] = httpx.get(f"{self.pages[page]}/json/", trust_env=False).raise_for_status().json()
        return told

    def keep_pages(self, folder: Path) -> None:
        """Write the pages and their JSON into a folder: of the master (0), of the worker (1), and of every app."""
        folder.mkdir()
        apps = [app["id"] for app in self.state()["completedapps"]]
        paths = {"html": "/", "json": "/json/"}
        wanted = {
            f"{number}-{kind}": page + path for number, page in enumerate(self.pages) for kind, path in paths.items()
        }
        wanted |= {app: f"{self.pages[0]}/app/?appId={app}" for app in apps}
        for name, address in wanted.items():
            (folder / name).write_bytes(httpx.get(address, trust_env=False).raise_for_status().content)

    def is_well(self) -> bool:
        """Whether the master knows its worker."""
        try:
            return bool(self.state()["aliveworkers"] == 1)
        except (httpx.HTTPError, ValueError):  # not yet, or not yet that page: "/" is there first, and answers for it
            return False


@contextmanager
def running_spark(services: Services) -> Iterator[Spark]:
    """A master and a worker that has joined it.

    Errors: StackError where they do not come up.
    """
    master_page, worker_page = free_port(), free_port()
    pages = (f"http://127.0.0.1:{master_page}", f"http://127.0.0.1:{worker_page}")
    folders = [services.folder / f"spark-{name}" for name in ("events", "work", "tmp")]
    for folder in folders:
        folder.mkdir()
    spark = Spark(free_port(), pages, *folders)
    java = "org.apache.spark.deploy.{0}.{1} --host 127.0.0.1 --port {2} --webui-port {3}"
    space = f" --cores {CORES} --memory {MEMORY_G}g --work-dir {spark.work} {spark.url}"
    commands = {
        "spark-master": java.format("master", "Master", spark.port, master_page),
        "spark-worker": java.format("worker", "Worker", free_port(), worker_page) + space,
    }
    environment = _environment(os.environ, spark)
    with services.ending() as ours:
        for name, words in commands.items():
            ours.append(services.start(name, _command(words), environment))
        ours[-1].wait_until(spark.is_well, WELL_WITHIN_S)
        yield spark


def _command(words: str) -> list[str]:
    return [str(SPARK_HOME / "bin" / "spark-class"), *words.split()]


def _environment(environment: Mapping[str, str], spark: Spark) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if not name.startswith(("SPARK_", "AIRFLOW"))}
    return {
        **kept,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        # Every JVM reads it, the executors' too.
        "JDK_JAVA_OPTIONS": f"{options()} {SHORT_LIVED} -Djava.io.tmpdir={spark.temporary}",
        "SPARK_LOCAL_DIRS": str(spark.temporary),
    }
