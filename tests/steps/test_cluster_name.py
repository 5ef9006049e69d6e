"""Names of clusters that the inventory allows, and that are no names for folders of a lake."""

import json
from pathlib import Path
from typing import NoReturn

import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory_file import parse_inventory
from rocketmq_capacity.steps.inputs import snapshots
from rocketmq_capacity.steps.plan import plan_snapshots


class SparkIsAskedFor(Exception):
    """The snapshot is stored, and the next step begins."""


def no_spark() -> NoReturn:
    raise SparkIsAskedFor


@pytest.mark.parametrize("name", ["_prod", "-prod", ".prod", ".."])
def test_a_cluster_of_any_allowed_name_is_planned(tmp_path: Path, name: str) -> None:
    cluster = {**json.loads(sample_inventory().read_bytes()), "cluster_name": name}
    inventory = parse_inventory(json.dumps(cluster).encode(), source="inventory.json")
    out = tmp_path / "plans" / "out"
    out.mkdir(parents=True)

    with pytest.raises(SparkIsAskedFor):
        plan_snapshots(no_spark, snapshots(inventory), Policy(), out)

    assert list(tmp_path.iterdir()) == [out.parent]
    assert list(out.parent.iterdir()) == [out]
