"""The oracle answers with RocketMQ's own classes: cases whose answers are known by hand."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracle.fleet_benchmark import time_official_classes
from tests.oracle.java_oracle import Case, JavaOracle, OracleError, OracleUnavailable, Queue, Refusal
from tests.oracle.maven_project import MavenProject
from tests.oracle.requirement import started_or_skipped

pytestmark = pytest.mark.java

EIGHT = [("broker-a", i) for i in range(8)]


@pytest.fixture(scope="module")
def oracle() -> Iterator[JavaOracle]:
    started = started_or_skipped(JavaOracle().start)
    yield started
    started.close()


def owned(oracle: JavaOracle, case: Case) -> list[list[tuple[str, int]]]:
    """(broker name, queue id) of each client in Java's order."""
    (allocation,) = oracle.allocate([case])
    return [[(q.broker_name, q.queue_id) for q in queues] for queues in allocation.owned if isinstance(queues, list)]


def test_avg_gives_contiguous_blocks_and_the_remainder_to_the_first(oracle: JavaOracle) -> None:
    got = owned(oracle, Case("AVG", EIGHT, ["c3", "c1", "c2"]))

    assert [[i for _, i in queues] for queues in got] == [[0, 1, 2], [3, 4, 5], [6, 7]]


def test_avg_by_circle_deals_the_queues_out_in_turn(oracle: JavaOracle) -> None:
    got = owned(oracle, Case("AVG_BY_CIRCLE", EIGHT, ["c1", "c2", "c3"]))

    assert [[i for _, i in queues] for queues in got] == [[0, 3, 6], [1, 4, 7], [2, 5]]


def test_a_repeated_client_id_is_kept_and_owns_the_share_of_the_first_twice(oracle: JavaOracle) -> None:
    (allocation,) = oracle.allocate([Case("AVG", EIGHT, ["c2", "c1", "c1", "c3"])])

    assert allocation.client_ids == ["c1", "c1", "c2", "c3"]
    assert [[q.queue_id for q in queues or []] for queues in allocation.owned if not isinstance(queues, Refusal)] == [
        [0, 1],
        [0, 1],
        [4, 5],
        [6, 7],
    ]


def test_lists_are_sorted_by_utf_16_code_units(oracle: JavaOracle) -> None:
    beyond, within = "\U00010000", "\uffff"

    (allocation,) = oracle.allocate([Case("AVG", [(within, 0), (beyond, 0)], [within, beyond])])

    assert allocation.client_ids == [beyond, within]
    assert [queue.broker_name for queue in allocation.queues] == [beyond, within]


def test_a_half_of_a_surrogate_pair_survives_the_way_there_and_back(oracle: JavaOracle) -> None:
    (allocation,) = oracle.allocate([Case("AVG", [("b", 0)], ["\ud800x"])])

    assert allocation.client_ids == ["\ud800x"]


def test_consistent_hash_gives_every_queue_exactly_once(oracle: JavaOracle) -> None:
    got = owned(oracle, Case("CONSISTENT_HASH", EIGHT, ["c1", "c2", "c3"]))

    assert sorted(queue for queues in got for queue in queues) == EIGHT


def test_consistent_hash_without_virtual_nodes_gives_nothing(oracle: JavaOracle) -> None:
    assert owned(oracle, Case("CONSISTENT_HASH", EIGHT, ["c1"], virtual_nodes=0)) == [[]]


def test_machine_room_sees_only_brokers_of_its_rooms(oracle: JavaOracle) -> None:
    queues = [("hz@broker-a", 0), ("sh@broker-b", 0), ("broker-c", 0), ("hz@broker-a", 1)]

    got = owned(oracle, Case("MACHINE_ROOM", queues, ["c1", "c2"], machine_rooms=["hz"]))

    assert got == [[("hz@broker-a", 0)], [("hz@broker-a", 1)]]


def test_machine_room_whose_rooms_are_not_set_throws(oracle: JavaOracle) -> None:
    (allocation,) = oracle.allocate([Case("MACHINE_ROOM", [("hz@broker-a", 0)], ["c1"])])

    assert [refusal.java_class for _, refusal in allocation.refusals()] == ["java.lang.NullPointerException"]


@pytest.mark.parametrize("inner", ["AVG", "AVG_BY_CIRCLE"])
def test_nearby_keeps_a_room_to_itself_and_shares_a_room_without_clients(oracle: JavaOracle, inner: str) -> None:
    case = Case(
        f"MACHINE_ROOM_NEARBY-{inner}",
        [("a", 0), ("a", 1), ("b", 0), ("b", 1)],
        ["c1", "c2"],
        broker_rooms={"a": "hz", "b": "empty"},
        client_rooms={"c1": "hz", "c2": "sh"},
    )

    assert owned(oracle, case) == [[("a", 0), ("a", 1), ("b", 0)], [("b", 1)]]


def test_nearby_throws_at_a_client_without_a_room(oracle: JavaOracle) -> None:
    case = Case("MACHINE_ROOM_NEARBY-AVG", [("a", 0)], ["c1"], broker_rooms={"a": "hz"})

    (allocation,) = oracle.allocate([case])

    assert allocation.owned == [
        Refusal("java.lang.IllegalArgumentException", "Machine room is null for consumer id c1"),
    ]


def test_config_gives_the_lists_unchecked_and_null_without_one(oracle: JavaOracle) -> None:
    lists = {"c1": [("topic", "b", 0), ("topic", "nowhere", 9), ("other", "b", 0)]}

    (allocation,) = oracle.allocate([Case("CONFIG", [("b", 0)], ["c1", "c2"], config=lists)])

    assert allocation.owned == [[Queue("topic", "b", 0), Queue("topic", "nowhere", 9), Queue("other", "b", 0)], None]


def test_pop_without_a_share_number_gives_every_client_every_broker(oracle: JavaOracle) -> None:
    got = owned(oracle, Case("POP", [("a", 0), ("a", 1), ("b", 0)], ["c1", "c2", "c3"]))

    assert got == [[("a", -1), ("b", -1)]] * 3


def test_pop_with_a_share_number_adds_the_shares_of_the_next_clients(oracle: JavaOracle) -> None:
    got = owned(oracle, Case("POP", EIGHT, ["c1", "c2", "c3", "c4"], pop_share_queue_num=1))

    assert [[i for _, i in queues] for queues in got] == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7], [0, 1, 6, 7]]


def test_no_queues_are_refused_as_the_client_refuses_them(oracle: JavaOracle) -> None:
    (allocation,) = oracle.allocate([Case("AVG", [], ["c1"])])

    assert allocation.owned == [Refusal("java.lang.IllegalArgumentException", "mqAll is null or mqAll empty")]


def test_thousands_of_cases_are_answered_in_order(oracle: JavaOracle) -> None:
    seeded = random.Random(7)
    cases = [
        Case("AVG", [(f"b{i}", i) for i in range(seeded.randint(1, 20))], [f"c{case}-{i}" for i in range(3)])
        for case in range(3000)
    ]

    answers = oracle.allocate(cases)

    assert [answer.client_ids for answer in answers] == [list(case.client_ids) for case in cases]
    assert [len(answer.rows()) for answer in answers] == [len(case.queues) for case in cases]


def test_an_unknown_strategy_is_an_error_and_the_oracle_goes_on(oracle: JavaOracle) -> None:
    with pytest.raises(OracleError, match="unknown strategy NEAREST"):
        oracle.allocate([Case("NEAREST", EIGHT, ["c1"])])

    assert owned(oracle, Case("AVG", [("b", 0)], ["c1"])) == [[("b", 0)]]


@pytest.mark.parametrize("sorts", [False, True])
def test_the_fleet_benchmark_calls_the_class_once_for_each_client_and_topic(tmp_path: Path, sorts: bool) -> None:
    fleet = tmp_path / "fleet.jsonl"
    lines = [
        {"topic": "t1", "queues": [["broker-a", 4], ["broker-b", 4]]},
        {"topic": "t2", "queues": [["broker-a", 3]]},
        {"consumer_group": "g1", "client_ids": [f"c{i}" for i in range(100)], "topics": ["t1", "t2"]},
        {"consumer_group": "g2", "client_ids": ["c0", "c0"], "topics": ["t2"]},
    ]
    fleet.write_text("".join(json.dumps(line) + "\n" for line in lines))

    timing = started_or_skipped(lambda: time_official_classes(fleet, "AVG", threads=2, warm_up_s=0.1, sorts=sorts))

    assert (timing.calls, timing.rows, timing.failed_calls) == (202, 8 + 3 + 2 * 2, 0)


def test_a_machine_without_maven_gives_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "java").chmod(0o755)
    (tmp_path / "pom.xml").write_text("<project/>")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    with pytest.raises(OracleUnavailable, match=r"^no mvn in the PATH"):
        MavenProject(tmp_path).classpath()


def test_a_machine_without_java_gives_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    with pytest.raises(OracleUnavailable, match=r"^no java in JAVA_HOME"):
        MavenProject(tmp_path).classpath()


def test_without_java_a_test_is_skipped_with_the_reason() -> None:
    def lacking() -> JavaOracle:
        raise OracleUnavailable("no java in the PATH")

    with pytest.raises(pytest.skip.Exception, match="no java"):
        started_or_skipped(lacking)
