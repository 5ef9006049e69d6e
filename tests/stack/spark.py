"""Spark's own small cluster on loopback: a standalone master and one worker, with the settings of the containers."""

import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pyspark

from rocketmq_capacity.spark.jvm import LOG_SETTINGS, options
from tests.fixtures.environment import ROOT, SHORT_LIVED
from tests.fixtures.ports import free_port
from tests.stack.service import Services

SPARK_HOME: Final = Path(pyspark.__file__).parent
WITH_SECRET: Final = ROOT / ".make/compose/spark.sh"
DEFAULTS: Final = ROOT / ".make/compose/spark-defaults.conf"
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
        folder: everything that Spark reads and writes here.
        secret: what master, worker and drivers share.
    """

    port: int
    pages: tuple[str, str]
    folder: Path
    secret: str = field(repr=False)

    @property
    def events(self) -> Path:
        """The folder of the apps' event logs, of which Spark makes the pages of an app."""
        return self.folder / "events"

    @property
    def work(self) -> Path:
        """The worker's folder, with the output of every executor."""
        return self.folder / "work"

    @property
    def temporary(self) -> Path:
        """For what lives as long as an app."""
        return self.folder / "tmp"

    @property
    def settings(self) -> Path:
        """As the image's folder of settings, with what differs on this machine."""
        return self.folder / "conf"

    @property
    def url(self) -> str:
        """As ``spark-submit --master`` takes it."""
        return f"spark://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a container with the secret has in its environment."""
        return {"SPARK_CONF_DIR": str(self.settings), "SPARK_SECRET": self.secret}

    def driver_options(self) -> str:
        """``SPARK_SUBMIT_OPTS``: where drivers put what lives as long as they."""
        return f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} -Djava.io.tmpdir={self.temporary}"

    def make_folders(self) -> None:
        """Make the folders, and write the settings."""
        for folder in (self.events, self.work, self.temporary, self.settings):
            folder.mkdir(parents=True)
        own = {
            # An app without a limit takes every core, and a second one waits for as long as the first runs.
            "spark.cores.max": "1",
            "spark.executor.cores": "1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": self.events.as_uri(),
            "spark.eventLog.compress": "false",
        }
        # Of a name that is there twice, the last line counts.
        lines = [DEFAULTS.read_text("utf-8"), *(f"{name} {value}\n" for name, value in own.items())]
        (self.settings / DEFAULTS.name).write_text("".join(lines), "utf-8")
        shutil.copy(LOG_SETTINGS, self.settings)

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
    spark = Spark(free_port(), pages, services.folder / "spark", secrets.token_hex(32))
    spark.make_folders()
    java = "org.apache.spark.deploy.{0}.{1} --host 127.0.0.1 --port {2} --webui-port {3}"
    space = f" --cores {CORES} --memory {MEMORY_G}g --work-dir {spark.work} {spark.url}"
    commands = {
        "spark-master": java.format("master", "Master", spark.port, master_page),
        "spark-worker": java.format("worker", "Worker", free_port(), worker_page) + space,
    }
    with services.ending() as ours:
        for name, words in commands.items():
            command = [str(SPARK_HOME / "bin" / "spark-class"), *words.split()]
            ours.append(services.start(name, with_secret(command), jvm_environment(spark) | spark.environment))
        ours[-1].wait_until(spark.is_well, WELL_WITHIN_S)
        yield spark


def with_secret(command: Sequence[str]) -> list[str]:
    """The command as the containers start it, with the secret in its settings."""
    return ["sh", str(WITH_SECRET), *command]


def jvm_environment(spark: Spark) -> dict[str, str]:
    """The environment of a JVM of that Spark, without settings and secret."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "AIRFLOW"))}
    return {
        **kept,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        # Every JVM reads it, the executors' too.
        "JDK_JAVA_OPTIONS": f"{options()} {SHORT_LIVED} -Djava.io.tmpdir={spark.temporary}",
        "SPARK_LOCAL_DIRS": str(spark.temporary),
        "TMPDIR": str(spark.temporary),
    }
