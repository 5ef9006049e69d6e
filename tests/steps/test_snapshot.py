"""What the first step stores."""

from pathlib import Path

import pytest

from rocketmq_capacity import tables
from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.fingerprint import fingerprint
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.steps.planning import SNAPSHOT, Planning
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.store.lake import Run
from tests.kills.steps import no_session


@pytest.mark.parametrize("keeps_inventory", [True, False])
def test_a_run_has_the_units_and_if_it_is_kept_the_inventory(tmp_path: Path, keeps_inventory: bool) -> None:
    inventory = read_inventory(sample_inventory())
    run = Run(tmp_path / "run")
    planning = Planning(no_session, run, Policy())

    snapshot(planning, inventory, keeps_inventory=keeps_inventory)

    assert run.inventory.is_file() == keeps_inventory
    assert not keeps_inventory or fingerprint(read_inventory(run.inventory)) == fingerprint(inventory)
    assert planning.number(tables.GroupUnit) == planning.business_groups() > 0


def test_units_of_groups_are_stored_first(tmp_path: Path) -> None:
    planning = Planning(no_session, Run(tmp_path / "run"), Policy())
    later = tables.TopicUnit, tables.ConsumerGroup
    stored: list[tuple[int, int, bool]] = []

    def look() -> None:
        numbers = planning.number(tables.GroupUnit), sum(planning.number(one) for one in later)
        stored.append((*numbers, planning.run.is_committed(SNAPSHOT)))

    snapshot(planning, read_inventory(sample_inventory()), after_groups=look)

    assert stored == [(planning.business_groups(), 0, False)]
    assert all(planning.number(one) > 0 for one in later)
    assert planning.run.is_committed(SNAPSHOT)
