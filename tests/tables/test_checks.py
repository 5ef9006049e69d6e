"""The checks of tables: what breaks a contract is named, and a step that wrote it does not finish."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from rocketmq_capacity import tables
from rocketmq_capacity.errors import ContractBroken
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.checks import CHECKED_BYTES, CHECKED_ROWS, check, check_stored, check_written


def share(queue_id: int = 0, topic: str = "t_order", expected: float = 0.5) -> tables.ProducerShare:
    return tables.ProducerShare(
        topic=topic,
        broker_name="broker-a",
        queue_id=queue_id,
        expected_ratio=expected,
        measured_ratio=None,
        broker_expected_ratio=1.0,
        broker_measured_ratio=None,
        put_msgs_per_s=None,
    )


def shares(*rows: tables.ProducerShare) -> pa.Table:
    return table_of(tables.ProducerShare, rows or (share(0), share(1)))


def with_column(name: str, values: pa.Array) -> pa.Table:
    table = shares()
    return table.set_column(table.schema.get_field_index(name), name, values)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (shares(share(0), share(-2)), r"queue_id: breaks greater_than_or_equal_to\(-1\): .*'queue_id': -2"),
        (shares(share(3), share(3)), r"topic, broker_name, queue_id: rows have the same key: .*'queue_id': 3"),
        (shares(share(0, expected=1.5)), r"expected_ratio: breaks less_than_or_equal_to\(1.*\): .*1\.5"),
        (shares(share(0, expected=float("nan"))), "expected_ratio: breaks .*nan"),
        (shares().drop_columns("broker_name"), "has no column broker_name"),
        (shares().append_column("more", pa.array([1, 2])), "has a column that it must not have: 'more'"),
        (with_column("queue_id", pa.array(["0", "1"])), "queue_id: has type String; expected .*Int32"),
        (with_column("topic", pa.array([None, "t"], pa.string())), "topic: breaks not_nullable: .*'topic': None"),
    ],
    ids=[
        "below its range",
        "a key twice",
        "above its range",
        "not a number",
        "lacks one",
        "has one more",
        "type",
        "null",
    ],
)
def test_a_table_that_breaks_its_contract_is_named_with_column_check_and_row(table: pa.Table, problem: str) -> None:
    check(tables.ProducerShare, shares())
    with pytest.raises(ContractBroken, match=f"^producer_share: {problem}"):
        check(tables.ProducerShare, table)


def test_a_word_that_is_not_allowed_is_named() -> None:
    loss = tables.TopicFailure(
        topic="t",
        failure="BROKER",
        lost="broker-a",
        msgs_per_s=None,
        readable_queues=1,
        writable_queues=None,
        was_readable=True,
        was_writable=None,
    )
    check(tables.TopicFailure, table_of(tables.TopicFailure, [loss]))
    with pytest.raises(ContractBroken, match=r"^topic_failure: failure: breaks isin\(.*'failure': 'METEOR'"):
        check(tables.TopicFailure, table_of(tables.TopicFailure, [structs.replace(loss, failure="METEOR")]))


def test_a_step_that_writes_a_broken_table_does_not_finish(tmp_path: Path) -> None:
    run = Lake(tmp_path).run("C1", "r1")
    planning = Planning(lambda: pytest.fail("needs no Spark"), run, Policy())
    with planning.step("assess", writes=[tables.ProducerShare]):
        planning.add(tables.ProducerShare, [share(0)])
    assert run.is_committed("assess")
    with (
        pytest.raises(ContractBroken, match=r"^producer_share: queue_id"),
        planning.step("assess", writes=[tables.ProducerShare]),
    ):
        planning.add(tables.ProducerShare, [share(-2)])
    assert not run.is_committed("assess")


def test_every_row_of_a_large_table_is_checked(tmp_path: Path) -> None:
    rows = [share(queue_id) for queue_id in range(CHECKED_ROWS)]
    files = [tmp_path / "part-0.parquet", tmp_path / "part-1.parquet"]
    pq.write_table(shares(*rows), files[0])
    check_written(tables.ProducerShare, files[:1])
    pq.write_table(shares(share(0, "t_pay"), share(-2, "t_pay")), files[1])
    with pytest.raises(ContractBroken, match=r"^producer_share: queue_id: .*t_pay"):
        check_written(tables.ProducerShare, files)


def test_units_are_checked_few_at_a_time_and_two_of_one_name_are_found(tmp_path: Path) -> None:
    text = "x" * (CHECKED_BYTES // 2)
    units = [tables.GroupUnit(consumer_group=name, facts=text, observations="{}", sampled="{}") for name in "abca"]
    files = [tmp_path / f"part-{number}.parquet" for number in range(4)]
    for file, unit in zip(files, units, strict=True):
        pq.write_table(table_of(tables.GroupUnit, [unit]), file)
    check_written(tables.GroupUnit, files[:3])
    with pytest.raises(ContractBroken, match=r"^group_unit: consumer_group: rows have the same key"):
        check_written(tables.GroupUnit, files)


def test_a_stored_table_that_was_changed_by_hand_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "part-0.parquet"
    pq.write_table(shares(), file)
    check_stored(tables.ProducerShare, [file])
    for table, problem in (
        (shares(share(1), share(1)), "rows have the same key"),
        (with_column("queue_id", pa.array([0, 1], pa.int64())), "queue_id: has type Int64"),
        (shares().drop_columns("expected_ratio"), "has no column expected_ratio"),
    ):
        pq.write_table(table, file)
        with pytest.raises(ContractBroken, match=f"^producer_share: .*{problem}"):
            check_stored(tables.ProducerShare, [file])
    file.write_bytes(b"no Parquet")
    with pytest.raises(ContractBroken, match="cannot be read"):
        check_stored(tables.ProducerShare, [file])


def test_a_stored_table_may_lack_a_column_that_an_earlier_version_did_not_have(tmp_path: Path) -> None:
    finding = tables.FindingSince(rule="LAG_STATE", since="2026-11-24T00:00:00Z")
    table = table_of(tables.FindingSince, [finding]).drop_columns("least_severity")
    file = tmp_path / "part-0.parquet"
    pq.write_table(table, file)
    check_stored(tables.FindingSince, [file])
