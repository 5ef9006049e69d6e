"""The names for the lists of a what-if's form, from small and large snapshots."""

from pathlib import Path

import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.simulation.fitting import Fitting, mismatch_by_own_process
from rocketmq_capacity.simulation.known_names import ClusterNames, all_names_in, names_in
from rocketmq_capacity.snapshot.outline import LARGEST, LARGEST_APART

POLICY = "rooms: {brokers: [{pattern: '^(?P<room>broker)-'}], clients: []}\n"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """The sample, as large as that of a fleet."""
    file = tmp_path / "inventory.json"
    file.write_bytes(sample_inventory().read_bytes().ljust(LARGEST + 1))
    return file


def test_a_large_snapshot_gives_the_names_of_a_small_one(large: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")

    names = all_names_in(large, policy)

    assert names == all_names_in(sample_inventory(), policy)
    assert "room1@broker-c" in names.brokers
    assert names.rooms == ("broker",)
    assert names_in(large, policy) == ClusterNames()  # a Dag file is parsed often, and reads no such file


def test_names_are_those_of_the_file_as_it_is_now(large: Path) -> None:
    assert "broker-b" in all_names_in(large, None).brokers

    large.write_bytes(large.read_bytes().replace(b'"broker-b"', b'"broker-z"').rstrip().ljust(LARGEST + 2))

    assert "broker-z" in all_names_in(large, None).brokers


def test_a_snapshot_beyond_all_limits_or_none_gives_no_names(tmp_path: Path) -> None:
    file = tmp_path / "inventory.json"
    with file.open("wb") as sparse:
        sparse.truncate(LARGEST_APART + 1)

    assert all_names_in(file, None) == all_names_in(tmp_path / "missing.json", None) == ClusterNames()


def test_a_wrong_name_is_found_in_a_large_snapshot(large: Path) -> None:
    scenario = "name: x\nchanges: [{change: lose_broker, broker_name: brokr-b}]"

    problem = mismatch_by_own_process(
        Fitting(inventory=str(large), scenario=scenario, policy=None, policy_changes="", source="the form's scenario")
    )

    assert "the nearest broker is 'broker-b'" in problem
