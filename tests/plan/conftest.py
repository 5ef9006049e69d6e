"""Whole plans in this process: one Spark session for all of them, each with settings of its own."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = Mapping[str, Any]
PlanHere = Callable[..., Path]


@pytest.fixture(scope="session")
def plan_here(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> PlanHere:
    """Plans an inventory by a policy (YAML) with settings of Spark's; gives the folder of the plan."""
    from rocketmq_capacity.settings.policy import read_policy
    from rocketmq_capacity.snapshot.inventory_file import read_inventory
    from rocketmq_capacity.spark.session import SETTINGS
    from rocketmq_capacity.steps.inputs import snapshots
    from rocketmq_capacity.steps.plan import plan_snapshots

    def plan(inventory: Row, policy: str, settings: Mapping[str, object] | None = None) -> Path:
        folder = tmp_path_factory.mktemp("plan")
        (folder / "policy.yaml").write_text(policy)
        (folder / "inventory.json").write_bytes(msgspec.json.encode(inventory))
        session = spark.newSession()
        own = {name: value for name, value in SETTINGS.items() if name.startswith("spark.sql.")}
        for name, value in {**own, **(settings or {})}.items():
            session.conf.set(name, str(value))
        out = folder / "out"
        out.mkdir()
        taken = snapshots(read_inventory(folder / "inventory.json"))
        plan_snapshots(lambda: session, taken, read_policy(folder / "policy.yaml"), out)
        return out

    return plan
