"""Tables read as the rows that the report is made of."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocketmq_capacity import tables
from rocketmq_capacity.errors import DatasetMissing
from rocketmq_capacity.report import plan
from rocketmq_capacity.report.losses import GroupAfter, TopicAfter
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.steps.reported_rows import owned_queues, queue_lags, records, rows, rows_of_groups, rows_of_plan
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.dataset import Dataset, Queue
from tests.report.from_rows import REPORTED, plan_bytes, plan_of, typed
from tests.report.varied_cluster import varied_rows

BUILT = varied_rows(12)
LOADS = typed(tables.ClientLoad, BUILT)


def stored(folder: Path, dataset: type[Dataset], held: Sequence[Any], files: int = 1, **changes: pa.DataType) -> Run:
    """A run that has these rows, in so many files, some columns of another Arrow type."""
    run = Run(folder)
    table = table_of(dataset, held)
    for name, kind in changes.items():
        table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    run.new_tables(dataset.dataset_name())
    for number in range(files):
        chosen = pa.array(range(number, len(held), files), pa.int64())
        add_file(run, dataset, table.take(chosen))
    return run


@pytest.mark.parametrize("dataset", [*REPORTED, tables.ClientLoad], ids=lambda dataset: dataset.dataset_name())
@pytest.mark.parametrize("batch", [1, 7, 5_000])
def test_rows_are_read_as_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dataset: type[Dataset], batch: int
) -> None:
    monkeypatch.setattr("rocketmq_capacity.tables.rows.BATCH_ROWS", batch)
    held = typed(dataset, BUILT)

    assert list(rows(stored(tmp_path, dataset, held), dataset)) == held


def test_queues_are_in_their_rows_and_texts_may_be_encoded(tmp_path: Path) -> None:
    one = typed(tables.StrategyLoad, BUILT)[0]
    held = [
        tables.StrategyLoad(
            **{name: getattr(one, name) for name in one.__struct_fields__}
            | {"orphan_queues": queues, "idle_clients": ("c", "a")}
        )
        for queues in ((), (Queue("b", "x", 2), Queue("a", "y", 1)), (), (Queue("c", "z", 0),))
    ]
    words = pa.dictionary(pa.int32(), pa.string())

    run = stored(tmp_path, tables.StrategyLoad, held, strategy=words, reason=words)

    assert list(rows(run, tables.StrategyLoad)) == held


def test_the_plan_of_stored_tables_is_that_of_their_rows(tmp_path: Path) -> None:
    for dataset in (*REPORTED, tables.GroupFailure, tables.TopicFailure):
        held = typed(dataset, BUILT)
        stored(tmp_path, dataset, held, files=min(3, max(1, len(held))))

    assert plan_bytes(plan.plan_of(rows_of_plan(Run(tmp_path)), Policy())) == plan_bytes(plan_of(BUILT))


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_owners_are_read_of_the_groups_asked_for_under_the_strategy_of_each(tmp_path: Path, kind: pa.DataType) -> None:
    held = [
        tables.Allocation(
            strategy=strategy, consumer_group=group, topic="pay", broker_name="a", queue_id=0, client_id="c"
        )
        for strategy in ("AVG", "CONFIG")
        for group in ("g1", "g2", "g3")
    ]
    run = stored(tmp_path, tables.Allocation, held, files=2, consumer_group=kind, strategy=kind)
    lags = [
        tables.GroupOffset(consumer_group=group, kind="BUSINESS", topic="pay", broker_name="a", queue_id=0, lag=3)
        for group in ("g1", "g2")
    ]
    stored(tmp_path, tables.GroupOffset, lags)

    found = owned_queues(run, {"g1": "AVG", "g3": "CONFIG"})

    assert sorted(found) == [("g1", "AVG", "pay", "a", 0, "c"), ("g3", "CONFIG", "pay", "a", 0, "c")]
    assert queue_lags(run, ["g2"]) == [("g2", "pay", "a", 0, 3)]
    assert not owned_queues(run, {})
    assert not queue_lags(run, [])


def test_a_run_without_owners_or_offsets_has_no_picture_of_them(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert not owned_queues(run, {"g1": "AVG"})
    assert not queue_lags(run, ["g1"])


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_of_client_load_only_the_rows_of_the_groups_asked_for_are_read(tmp_path: Path, kind: pa.DataType) -> None:
    run = stored(tmp_path, tables.ClientLoad, LOADS, files=2, consumer_group=kind)
    groups = sorted({load.consumer_group for load in LOADS})[2:4]

    found = rows_of_groups(run, tables.ClientLoad, groups)

    assert len(found) > 1
    assert sorted(map(repr, found)) == sorted(repr(load) for load in LOADS if load.consumer_group in groups)
    assert rows_of_groups(run, tables.ClientLoad, ()) == []


def test_a_run_of_an_earlier_version_is_published_without_the_tables_that_only_the_page_shows(tmp_path: Path) -> None:
    for dataset in REPORTED:
        if dataset not in (tables.FindingSince, tables.RecommendedTransition):
            stored(tmp_path, dataset, typed(dataset, BUILT))

    assert rows_of_plan(Run(tmp_path)).finding_since == ()
    assert rows_of_plan(Run(tmp_path)).recommended_transition == ()
    assert rows_of_groups(Run(tmp_path), tables.GroupFailure, ["g"]) == []
    assert list(records(Run(tmp_path), tables.TopicFailure, TopicAfter)) == []


def test_a_table_that_no_plan_can_be_without_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DatasetMissing) as error:
        rows_of_plan(Run(tmp_path))

    assert str(error.value) == (
        f"{tmp_path}: has no dataset cluster: an earlier version of this program planned it; plan the cluster again"
    )


def test_some_columns_are_read_as_named_tuples(tmp_path: Path) -> None:
    held = typed(tables.TopicFailure, BUILT)
    run = stored(tmp_path, tables.TopicFailure, held, files=2)

    found = sorted(records(run, tables.TopicFailure, TopicAfter))

    assert found == sorted(TopicAfter._make(getattr(row, name) for name in TopicAfter._fields) for row in held)


def test_a_column_that_an_earlier_version_did_not_write_is_null(tmp_path: Path) -> None:
    held = [one for one in typed(tables.GroupFailure, BUILT) if one.verdict is not None][:3]
    run = stored(tmp_path, tables.GroupFailure, held)
    (file,) = run.table(tables.GroupFailure.dataset_name()).glob("*.parquet")
    pq.write_table(pq.read_table(file).drop_columns(["verdict"]), file)

    found = list(records(run, tables.GroupFailure, GroupAfter))

    assert [(one.consumer_group, one.verdict) for one in found] == [(one.consumer_group, None) for one in held]
