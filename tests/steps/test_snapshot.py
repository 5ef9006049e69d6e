"""What the first step stores."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.fingerprint import fingerprint
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.snapshot.units import UNITS_A_TABLE
from rocketmq_capacity.steps.planning import SNAPSHOT, Planning
from rocketmq_capacity.steps.snapshot import MANY_GROUPS, snapshot
from rocketmq_capacity.store.lake import Run
from tests.fixtures.generated import write_fleet
from tests.kills.steps import no_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """How many rows a task gets."""
    yield pa.RecordBatch.from_pydict({"rows": [sum(batch.num_rows for batch in batches)]})


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

    def look(files: Sequence[Path]) -> None:
        assert files == planning.files(tables.GroupUnit)
        numbers = planning.number(tables.GroupUnit), sum(planning.number(one) for one in later)
        stored.append((*numbers, planning.run.is_committed(SNAPSHOT)))

    snapshot(planning, read_inventory(sample_inventory()), after_groups=look)

    assert stored == [(planning.business_groups(), 0, False)]
    assert all(planning.number(one) > 0 for one in later)
    assert planning.run.is_committed(SNAPSHOT)


def test_of_many_groups_the_first_half_is_given_while_the_other_is_made(tmp_path: Path) -> None:
    """Each of their files is given once, in order."""
    planning, inventory = Planning(no_session, Run(tmp_path / "run"), Policy()), read_inventory(sample_inventory())
    groups = tuple(
        replace(group, consumer_group=f"{group.consumer_group}-{copy}")
        for copy in range(MANY_GROUPS // len(inventory.consumer_groups) + 1)
        for group in inventory.consumer_groups
    )
    given: list[tuple[Sequence[Path], int]] = []

    def look(files: Sequence[Path]) -> None:
        given.append((files, planning.number(tables.GroupUnit)))

    snapshot(planning, replace(inventory, consumer_groups=groups), after_groups=look)

    (first, half), (second, whole) = given
    assert [*first, *second] == planning.files(tables.GroupUnit)
    assert half == UNITS_A_TABLE * len(first)
    assert whole == planning.number(tables.GroupUnit)
    assert whole / 3 < half < whole * 2 / 3


@pytest.mark.slow
def test_groups_that_are_one_file_are_shared_out_among_the_cores(tmp_path: Path, spark: "SparkSession") -> None:
    groups = UNITS_A_TABLE * 4 // 5
    write_fleet(tmp_path / "fleet.json", groups, seed=1)
    planning = Planning(lambda: spark, Run(tmp_path / "run"), Policy())
    snapshot(planning, read_inventory(tmp_path / "fleet.json"))
    whole = planning.number(tables.GroupUnit)

    counts = planning.units(tables.GroupUnit, "facts", "observations", "sampled").frame.mapInArrow(rows_of, "rows long")

    rows = [row["rows"] for row in counts.collect()]
    assert len(planning.files(tables.GroupUnit)) == 1
    assert sum(rows) == whole > groups / 2
    assert max(rows) < whole * 2 / 3
