"""Names of clusters that the inventory allows, and that are no names for folders of a lake."""

import json
from pathlib import Path
from typing import NoReturn

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory_file import parse_inventory
from rocketmq_capacity.steps.inputs import snapshots
from rocketmq_capacity.steps.plan import plan_snapshots
from rocketmq_capacity.store.lake import Lake


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


@pytest.mark.parametrize("name", ["_prod", "-prod", "prod.eu"])
def test_a_lake_has_a_folder_for_it(tmp_path: Path, name: str) -> None:
    assert Lake(tmp_path).run(name, "20261120T020000Z-a--b").folder == tmp_path / name / "20261120T020000Z-a--b"


@pytest.mark.parametrize("name", [".prod", "..", "a/b", ""])
def test_no_name_leads_out_of_a_lake_or_is_hidden_in_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput):
        Lake(tmp_path).run(name, "20261120T020000Z-a--b")
