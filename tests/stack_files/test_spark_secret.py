"""Spark with the containers' settings: who has the secret computes, and nobody else joins or submits."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.spark.jvm import LOG_SETTINGS
from tests.stack.service import Services
from tests.stack.spark import SPARK_HOME, Spark, jvm_environment, running_spark, with_secret
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

APP: Final = """
from pyspark.sql import SparkSession

with SparkSession.builder.getOrCreate() as session:
    print(session.sparkContext.parallelize(range(10), 2).map(lambda number: number * number).sum())
"""
WITHIN_S: Final = 300.0
REFUSED: Final = "Failed to connect to master"
"""After the first try; there are others for a minute. Source: StandaloneAppClient, Worker, Spark 4.2.0."""
REASONS: Final = ("Unknown challenge message", "Authentication failed")
"""The master's answer to who does not authenticate, or has another secret. Source: AuthRpcHandler, Spark 4.2.0."""


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    with Services(tmp_path_factory.mktemp("services")) as running:
        yield running


@pytest.fixture(scope="module")
def spark(services: Services) -> Iterator[Spark]:
    with running_spark(services) as running:
        yield running


def driver(spark: Spark, settings: Mapping[str, str]) -> list[str]:
    """The command of an app that computes on the cluster."""
    app = spark.folder / "app.py"
    app.write_text(APP, "utf-8")
    given = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    return [str(SPARK_HOME / "bin/spark-submit"), "--master", spark.url, *given, str(app)]


def worker(spark: Spark) -> list[str]:
    """The command of another worker."""
    place = ["--host", "127.0.0.1", "--webui-port", "0", "--work-dir", str(spark.folder / "other-work")]
    return [str(SPARK_HOME / "bin/spark-class"), "org.apache.spark.deploy.worker.Worker", *place, spark.url]


def test_a_driver_with_the_secret_computes(spark: Spark) -> None:
    environment = jvm_environment(spark) | spark.environment
    run = subprocess.run(
        with_secret(driver(spark, {})), env=environment, capture_output=True, text=True, timeout=WITHIN_S, check=False
    )
    assert run.stdout.strip() == "285", run.stderr


def outsiders(spark: Spark) -> dict[str, tuple[Sequence[str], Mapping[str, str]]]:
    """Who has not what it takes: command and environment, by what is wrong."""
    own = spark.environment
    return {
        "no-secret": (driver(spark, {"spark.driver.host": "127.0.0.1"}), {}),
        "another-secret": (with_secret(driver(spark, {})), {**own, "SPARK_SECRET": "0" * 64}),
        "no-encryption": (with_secret(driver(spark, {"spark.network.crypto.enabled": "false"})), own),
        "worker-without-secret": (worker(spark), {}),
    }


def outside(spark: Spark) -> dict[str, str]:
    """An environment without settings and secret, in which Spark logs its warnings."""
    settings = spark.folder / "warnings.properties"
    settings.write_text(LOG_SETTINGS.read_text("utf-8").replace("rootLogger.level = error", "rootLogger.level = warn"))
    environment = jvm_environment(spark)
    # Of a property that is there twice, the last one counts.
    java_options = f"{environment['JDK_JAVA_OPTIONS']} -Dlog4j2.configurationFile={settings.as_uri()}"
    return environment | {"JDK_JAVA_OPTIONS": java_options}


@pytest.mark.parametrize("who", ["no-secret", "another-secret", "no-encryption", "worker-without-secret"])
def test_the_master_refuses(who: str, spark: Spark, services: Services) -> None:
    before = spark.state()
    command, environment = outsiders(spark)[who]
    with services.ending() as ours:
        refused = services.start(who, command, outside(spark) | dict(environment))
        ours.append(refused)

        def is_refused() -> bool:
            told = refused.log.read_text("utf-8")
            return REFUSED in told and any(reason in told for reason in REASONS)

        until(is_refused, WITHIN_S, f"{who} to be refused: {refused.log}")
    after = spark.state()
    assert [len(after[name]) for name in ("activeapps", "completedapps", "workers")] == [
        len(before[name]) for name in ("activeapps", "completedapps", "workers")
    ]


def test_a_command_without_a_secret_does_not_start(spark: Spark, tmp_path: Path) -> None:
    environment = jvm_environment(spark) | {**spark.environment, "SPARK_SECRET": "", "TMPDIR": str(tmp_path)}
    run = subprocess.run(with_secret(["true"]), env=environment, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert "SPARK_SECRET" in run.stderr
    assert list(tmp_path.iterdir()) == []
