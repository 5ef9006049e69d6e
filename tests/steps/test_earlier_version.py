"""Runs that an earlier version of this program planned, whose tables lack a column of today."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from rocketmq_capacity import tables
from rocketmq_capacity.errors import DatasetMissing, TableDamaged
from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.steps.assess import assess
from rocketmq_capacity.steps.planning import ALLOCATE, ASSESS, RECOMMEND, SNAPSHOT, Planning
from rocketmq_capacity.steps.recommend import recommend
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.steps.what_if import effect
from rocketmq_capacity.store.lake import PUBLISH, Lake
from tests.fixtures.damage import change_a_bit
from tests.kills.steps import no_session

Step = Callable[[Planning], None]


def planned(lake: Path, run_id: str = "r1", *, without: str | None = None) -> Planning:
    """A run with the snapshot's tables, as an earlier version left them: ``group_unit`` without a column."""
    planning = Planning(no_session, Lake(lake).run("C1", run_id), Policy())
    snapshot(planning, read_inventory(sample_inventory()))
    for step in (ALLOCATE, ASSESS, RECOMMEND):
        planning.run.begin(step)
        planning.run.commit(step, [])
    if without is not None:
        for file in planning.files(tables.GroupUnit):
            pq.write_table(pq.read_table(file).drop_columns([without]), file)
        manifest = planning.run.folder / "steps" / "snapshot.json"
        manifest.write_text(json.dumps({"step": SNAPSHOT, "datasets": planning.run.datasets(SNAPSHOT)}))
    return planning


def line(planning: Planning, column: str) -> str:
    return (
        f"{planning.run.folder}: the table group_unit has no column {column}: an earlier version of this program wrote"
        " it; plan the snapshot of this run again"
    )


@pytest.mark.parametrize("column", ["sampled", "observations"])
@pytest.mark.parametrize("step", [assess, recommend])
def test_a_column_that_is_missing_is_named_before_spark_starts(tmp_path: Path, step: Step, column: str) -> None:
    planning = planned(tmp_path, without=column)

    with pytest.raises(DatasetMissing) as error:
        step(planning)

    assert str(error.value) == line(planning, column)


@pytest.mark.parametrize("step", [assess, recommend])
def test_a_file_of_the_right_size_with_other_bytes_is_named(tmp_path: Path, step: Step) -> None:
    planning = planned(tmp_path)
    (file,) = planning.files(tables.GroupUnit)
    file.write_bytes(b"x" * file.stat().st_size)

    with pytest.raises(TableDamaged, match=f"the table group_unit is damaged: {file.name} has other bytes than were"):
        step(planning)


def test_a_bit_that_changed_within_a_table_is_read_as_no_other_figure(tmp_path: Path, spark: SparkSession) -> None:
    """The file is as long as before, and can be read to its end: only the checksum of the page differs."""
    planning = Planning(lambda: spark, planned(tmp_path).run, Policy())
    (file,) = planning.files(tables.GroupUnit)
    change_a_bit(file, "sampled")

    with pytest.raises(TableDamaged, match=f"the table group_unit is damaged: {file.name} has other bytes than were"):
        assess(planning)


@pytest.mark.parametrize("rows", [0, 10**18])
def test_a_manifest_that_counts_other_rows_than_there_are_is_not_believed(tmp_path: Path, rows: int) -> None:
    planning = planned(tmp_path)
    file = planning.run.folder / "steps" / "snapshot.json"
    manifest = json.loads(file.read_bytes())
    (name,) = manifest["files"]["group_unit"]
    held = manifest["files"]["group_unit"][name]["rows"]
    manifest["files"]["group_unit"][name]["rows"] = rows
    file.write_text(json.dumps(manifest))

    with pytest.raises(TableDamaged) as error:
        assess(planning)

    assert str(error.value) == (
        f"{planning.run.folder}: the table group_unit is damaged: {name} has {held:,} rows instead of {rows:,};"
        " expected the files that its step has written; plan the snapshot of this run again"
    )


def test_a_what_if_of_such_a_run_names_the_run_before(tmp_path: Path) -> None:
    before, after = planned(tmp_path, "r1", without="sampled"), planned(tmp_path, "r2")
    scenario = Scenario.model_validate({"name": "twice", "changes": [{"change": "scale_traffic", "factor": 2.0}]})

    with pytest.raises(DatasetMissing) as error:
        effect(before, after, scenario)

    assert str(error.value) == line(before, "sampled")


def test_the_snapshot_can_be_planned_again_and_the_report_published_again(tmp_path: Path) -> None:
    planning = planned(tmp_path, without="sampled")
    with planning.step(PUBLISH, "snapshot", ASSESS):
        pass

    snapshot(planning, read_inventory(planning.run.inventory))

    planning.require("snapshot")
