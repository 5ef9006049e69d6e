"""BAD_VERSION."""

import json
from typing import Any

import msgspec
import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, InventoryBroker
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.checks import check
from tests.assessment.cases import a_group, a_topic, member
from tests.assessment.judge import Row, judge
from tests.fixtures.plain_plan import plain_plan
from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster
from tests.simulation.clusters import broker, cluster

OWN_NAME, PID, PID_AND_TIME = "10.0.0.1@orders", "10.0.0.1@4711", "10.0.0.1@4711#1700000000"


def _java(client_id: str, version: str | None, **facts: Any) -> Client:
    return member(client_id, language="JAVA", version=version, **facts)


_OLD_AND_NEW = [_java(PID, "V4_8_0"), _java("10.0.0.2@7#1", "V5_3_3"), member("go", language="GO")]


def _found(clients: list[Client], policy: Policy | None = None, **facts: Any) -> Row | None:
    """What is found of a group of these clients."""
    topic = a_topic("pay")
    inventory = cluster([topic], [a_group("g", clients, [topic], **facts)], (broker("broker-a"), broker("broker-b")))
    return judge(inventory, policy).found("BAD_VERSION")


def _issues(found: Row | None) -> list[int]:
    """The numbers of the faults that are named."""
    faults = [] if found is None else found["evidence"]["faults"]
    return [int(fault["issue"].removeprefix("apache/rocketmq#")) for fault in faults]


def test_a_fault_is_named_with_its_issue_its_versions_and_the_clients_that_have_it() -> None:
    found = _found(_OLD_AND_NEW)

    assert found is not None
    assert (found["severity"], found["subjects"]) == ("WARNING", [PID])
    evidence = found["evidence"]
    assert (evidence["clients"], evidence["versions"], evidence["upgrade_to"]) == (1, ["V4_8_0"], ["V4_9_8"])
    (fault,) = evidence["faults"]
    assert fault | {"what": ""} == {
        "issue": "apache/rocketmq#2730",
        "pull_request": "apache/rocketmq#2731",
        "what": "",
        "faulty": [{"first_version": "V3_0_0", "last_version": "V4_8_0", "fixed_in": "V4_9_0"}],
        "versions": ["V4_8_0"],
        "clients": 1,
        "client_ids": [PID],
        "group_names": ["g"],
    }
    assert found["message"].startswith("1 client runs V4_8_0 with known faults: ")


@pytest.mark.parametrize(
    ("version", "issues"),
    [
        ("V3_5_8", [2730]),
        ("V4_5_2", [2477, 2730]),
        ("V4_6_0", [2477, 2730, 2732]),
        ("V4_7_1", [2477, 2730, 2732]),
        ("V4_8_0", [2730, 2732]),
        ("V4_9_0", []),
    ],
)
def test_each_fault_has_its_first_and_its_last_version(version: str, issues: list[int]) -> None:
    client = _java(PID, version, allocate_strategy="MACHINE_ROOM")

    assert _issues(_found([client], consume_type="CONSUME_ACTIVELY")) == issues


@pytest.mark.parametrize(
    ("language", "version"),
    [
        ("JAVA", None),
        ("JAVA", "HIGHER_VERSION"),
        ("JAVA", "V4_7_1_SNAPSHOT"),
        ("JAVA", "seven"),
        (None, "V4_7_1"),
        ("GO", "V4_7_1"),
        ("CPP", "V4_7_1"),
    ],
)
def test_other_languages_and_versions_that_say_nothing_have_no_known_fault(
    language: str | None, version: str | None
) -> None:
    client = member(PID, language=language, version=version, allocate_strategy="MACHINE_ROOM")

    assert _found([client]) is None


def test_what_a_grpc_client_says_is_the_version_of_another_library() -> None:
    assert _found([_java(PID, "V5_1_4", protocol="GRPC")]) is None


@pytest.mark.parametrize("facts", [{"allocate_strategy": "AVG"}, {"allocate_strategy": "MACHINE_ROOM_NEARBY"}, {}])
def test_the_fault_of_machine_room_is_of_those_who_use_it(facts: dict[str, str]) -> None:
    assert 2477 not in _issues(_found([_java(OWN_NAME, "V4_7_1", **facts)]))


def test_a_group_uses_what_the_policy_says_where_its_clients_say_nothing() -> None:
    policy = Policy.model_validate({"current_strategies": {"g": "MACHINE_ROOM"}, "machine_rooms": ["hz"]})

    assert 2477 in _issues(_found([_java(OWN_NAME, "V4_7_1")], policy))


@pytest.mark.parametrize(
    ("client_id", "has"),
    [
        (PID, True),
        (f"{PID}@unit", True),
        (PID_AND_TIME, False),
        (OWN_NAME, False),
        ("10.0.0.1", False),
        ("fe80::1@4711", True),
    ],
)
def test_only_an_id_that_ends_with_the_bare_process_id_can_repeat(client_id: str, has: bool) -> None:
    assert (2730 in _issues(_found([_java(client_id, "V4_8_0")]))) is has


def test_a_broadcasting_group_does_not_divide_queues() -> None:
    assert (
        _found(
            [_java(PID, "V4_7_1", allocate_strategy="MACHINE_ROOM")],
            message_model="BROADCASTING",
            consume_type="CONSUME_ACTIVELY",
        )
        is None
    )


@pytest.mark.parametrize(
    ("version", "issues"),
    [("V4_9_4", [5465]), ("V4_9_5", []), ("V5_0_0", [])],
)
def test_an_old_client_that_consumes_in_order_waits_before_it_reads_what_it_has_locked(
    version: str, issues: list[int]
) -> None:
    found = _found([_java(PID_AND_TIME, version)], orderly=True)

    assert _issues(found) == issues
    assert found is None or (found["severity"], found["evidence"]["upgrade_to"]) == ("INFO", ["V4_9_8"])


@pytest.mark.parametrize("version", ["V4_7_1", "V4_9_4", "V5_1_3", "V5_1_4"])
def test_a_fault_of_producers_is_none_of_consumers(version: str) -> None:
    assert _found([_java(OWN_NAME, version), _java(PID_AND_TIME, version)]) is None


def test_two_versions_in_the_same_groups_are_two_findings_that_are_stored_both() -> None:
    topic = a_topic("pay")
    each = [_java("10.0.0.1@1", "V4_7_1"), _java("10.0.0.2@2", "V4_8_0")]
    judged = judge(cluster([topic], [a_group(name, each, [topic]) for name in ("g", "h")]))
    rows = [found for found in judged.findings if found["rule"] == "BAD_VERSION"]

    assert [(row["consumer_group"], row["evidence"]["version"]) for row in rows] == [(None, "V4_7_1"), (None, "V4_8_0")]
    check(Finding, table_of(Finding, [Finding(**row | {"evidence": "{}", "queues": ()}) for row in rows]))


def test_a_version_is_one_finding_whatever_number_of_groups_has_it() -> None:
    topic = a_topic("pay")
    groups = [
        a_group(f"g{n:02}", [_java(f"10.0.0.{n}@1", "V4_8_0"), _java(f"10.0.0.{n}@2", "V4_8_0")], [topic])
        for n in range(60)
    ]
    old = a_group("old", [_java(PID, "V4_5_2")], [topic])
    judged = judge(cluster([topic], [*groups, old], (broker("broker-a"), broker("broker-b"))))
    each = [found for found in judged.findings if found["rule"] == "BAD_VERSION"]

    assert [found["evidence"]["version"] for found in each] == ["V4_5_2", "V4_8_0"]
    assert (each[0]["consumer_group"], each[0]["subjects"]) == ("old", [PID])
    assert (each[1]["consumer_group"], each[1]["subjects"]) == (None, [f"g{n:02}" for n in range(50)])
    assert (each[1]["evidence"]["clients"], each[1]["evidence"]["consumer_groups"]) == (120, 60)
    assert each[1]["message"].startswith("120 clients of 60 groups run V4_8_0 with known faults: ")


def test_a_version_has_one_answer_and_one_line() -> None:
    topic = a_topic("pay")
    versions = ("V4_8_0", "V4_8_0", "V4_5_2", "V4_5_2")
    groups = [a_group(f"g{n}", [_java(f"10.0.0.{n}@1", one)], [topic]) for n, one in enumerate(versions)]
    plan = plain_plan(cluster([topic], groups, (broker("broker-a"), broker("broker-b"))))
    answers = [one for one in plan.recommendations if one.rules == ("BAD_VERSION",)]

    assert sorted(json.loads(one.before)["version"] for one in answers) == ["V4_5_2", "V4_8_0"]
    assert len({one.id for one in answers}) == 2
    made = plan_of({
        "cluster": [a_cluster()],
        "finding": [msgspec.to_builtins(one) for one in plan.findings if one.rule == "BAD_VERSION"],
        "recommendation": [msgspec.to_builtins(one) for one in answers],
    })
    assert [(cause.title, len(cause.findings), cause.action) for cause in made.causes] == [
        ("Upgrade the clients of version V4_5_2", 1, "INVESTIGATE"),
        ("Upgrade the clients of version V4_8_0", 1, "INVESTIGATE"),
    ]


def test_the_version_to_upgrade_to_has_none_of_the_other_faults() -> None:
    found = _found([_java(PID, "V4_7_1")])

    assert found is not None
    assert found["evidence"]["faults"][0]["faulty"][0]["fixed_in"] == "V4_9_0"
    assert found["evidence"]["upgrade_to"] == ["V4_9_8"]


def test_an_issue_that_the_policy_ignores_is_not_named() -> None:
    policy = Policy.model_validate({"thresholds": {"BAD_VERSION": {"ignored_issues": [2732, 2730]}}})

    assert _found([_java(PID, "V4_8_0")], policy) is None


def test_a_group_without_clients_runs_no_version() -> None:
    assert _found([]) is None


@pytest.mark.parametrize(
    ("version", "perm", "is_named"),
    [
        ("V4_3_0", 4, True),
        ("V5_1_3", 4, True),
        ("V5_1_3", 2, True),
        ("V5_1_3", 6, False),
        ("V5_1_3", None, False),
        ("V5_1_4", 4, False),
        ("V4_2_0", 4, False),
        (None, 4, False),
    ],
)
def test_a_brokers_fault_matters_where_it_has_a_permission_of_its_own(
    version: str | None, perm: int | None, is_named: bool
) -> None:
    brokers = (
        broker("broker-a"),
        InventoryBroker(broker_name="broker-b", broker_addr="10.0.1.2:10911", broker_perm=perm, version=version),
    )

    found = judge(cluster([a_topic("pay")], [], brokers)).found("BAD_VERSION")

    assert (found is not None) is is_named
    if found:
        assert (found["severity"], found["subjects"], found["consumer_group"]) == ("INFO", ["broker-b"], None)
        assert found["evidence"]["faults"][0]["issue"] == "apache/rocketmq#7149"
        assert found["evidence"]["upgrade_to"] == ["V5_1_4"]


def test_the_policy_ignores_a_brokers_fault_as_well() -> None:
    old = InventoryBroker(broker_name="broker-b", broker_perm=4, version="V5_0_0")
    policy = Policy.model_validate({"thresholds": {"BAD_VERSION": {"ignored_issues": [7149]}}})

    assert judge(cluster([a_topic("pay")], [], (broker("broker-a"), old)), policy).found("BAD_VERSION") is None
