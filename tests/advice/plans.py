"""Plans of many fleets by one Spark session."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.spark.jvm import options
from rocketmq_capacity.spark.session import SETTINGS
from rocketmq_capacity.steps.inputs import history_of, snapshots
from rocketmq_capacity.steps.plan import plan_snapshots
from tests.advice.fleet import Fleet


@contextmanager
def session() -> Iterator[SparkSession]:
    """A local session, as the tests have one."""
    builder = SparkSession.builder.appName("advice").master("local[2]")
    settings = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.config("spark.driver.extraJavaOptions", options()).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def plan_of(spark: SparkSession, fleet: Fleet) -> dict[str, Any]:
    """The plan of a fleet, by way of the files that the command line takes."""
    with tempfile.TemporaryDirectory(prefix="advice-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        fleet.write(folder)
        own = spark.newSession()
        for setting, value in SETTINGS.items():
            if setting.startswith("spark.sql."):
                own.conf.set(setting, str(value))
        inventory = read_inventory(folder / "inventory.json")
        taken = snapshots(inventory, history_of(folder / "history", inventory))
        out = folder / "out"
        out.mkdir()
        plan_snapshots(lambda: own, taken, read_policy(folder / "policy.yaml"), out)
        plan: dict[str, Any] = msgspec.json.decode((out / "plan.json").read_bytes())
        return plan
