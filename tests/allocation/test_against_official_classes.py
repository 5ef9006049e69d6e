"""Row for row what RocketMQ's own classes give, over thousands of generated cases."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rocketmq_capacity.allocation.applicability import strategy_status
from rocketmq_capacity.allocation.fleet import fleet_of
from rocketmq_capacity.contracts import Allocation, StrategyStatus
from rocketmq_capacity.contracts.dataset import enforce
from rocketmq_capacity.jvm import SMALL_BYTES
from rocketmq_capacity.lake import Run
from rocketmq_capacity.steps.allocate import allocation_of
from rocketmq_capacity.steps.planning import Planning
from tests.allocation.fleets import random_fleet
from tests.allocation.official import Row, never_asked, official_allocation
from tests.allocation.tables import tables_of
from tests.oracle.java_oracle import JavaOracle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.mark.parametrize(
    ("seed", "virtual_nodes", "machine_rooms"),
    [(1, 10, ["hz", "sh"]), (2, 10, ["", "hz", "nowhere"]), (3, 1, []), (4, 0, None)],
)
def test_a_fleet_is_allocated_as_the_official_classes_do(
    spark: "SparkSession",
    java_oracle: JavaOracle,
    tmp_path: Path,
    seed: int,
    virtual_nodes: int,
    machine_rooms: list[str] | None,
) -> None:
    fleet = random_fleet(seed, 250, virtual_nodes=virtual_nodes, machine_rooms=machine_rooms)
    tables = tables_of(spark, fleet)

    expected = official_allocation(fleet, java_oracle)
    small, large = (Planning(lambda: spark, Run(tmp_path / size), fleet.policy) for size in ("small", "large"))
    large.run.folder.mkdir()
    large.run.inventory.write_bytes(b" " * SMALL_BYTES)  # its size alone is looked at
    as_large = _rows(allocation_of(large, tables))
    as_small = _rows(allocation_of(small, tables))
    status = enforce(strategy_status(fleet_of(tables, fleet.policy), fleet.policy), StrategyStatus).collect()

    assert expected.asked > 2000
    assert len(expected.rows) > 10_000
    for got in (as_large, as_small):
        assert _first_of(got - expected.rows) == []
        assert _first_of(expected.rows - got) == []
    refused = {(row.consumer_group, row.strategy) for row in status if not row.is_applicable}
    assert refused == expected.refused | never_asked(fleet)


def _rows(allocation: "DataFrame") -> Counter[Row]:
    return Counter(Row(*row) for row in enforce(allocation, Allocation).collect())


def _first_of(rows: Counter[Row]) -> list[Row]:
    """Few enough to read, of one group."""
    return sorted(rows.elements(), key=lambda row: (row.consumer_group, row.strategy, row))[:20]
