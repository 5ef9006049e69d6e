"""BROKER_DISK, and whether one more broker is recommended."""

import json
from typing import Any

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker, InventoryFailure
from tests.assessment.cases import a_topic
from tests.assessment.judge import Row, judge
from tests.recommendation.answers import Answers, answer, options
from tests.simulation.clusters import cluster, queues


def full(name: str, ratio: str | None, setting: str | None = None, **facts: Any) -> InventoryBroker:
    """A broker with so much of its disk used."""
    usual: dict[str, Any] = {
        "broker_addr": f"{name}:10911",
        "broker_perm": 6,
        "runtime": None if ratio is None else {"commitLogDiskRatio": ratio},
        "config": None if setting is None else {"diskMaxUsedSpaceRatio": setting},
    }
    return InventoryBroker(broker_name=name, **usual | facts)


def of(*brokers: InventoryBroker, failures: tuple[InventoryFailure, ...] = ()) -> Inventory:
    names = {one.broker_name for one in brokers if not one.broker_id}
    return cluster([a_topic("pay", *(queues(name) for name in sorted(names)), rates={})], [], brokers, failures)


def found(inventory: Inventory, policy: Policy | None = None) -> list[Row]:
    return [row for row in judge(inventory, policy).findings if row["rule"] == "BROKER_DISK"]


def answered(*brokers: InventoryBroker, **facts: Any) -> Answers:
    return answer(of(*brokers, **facts))


@pytest.mark.parametrize(
    ("ratio", "setting", "severity"),
    [
        ("0.75", None, None),
        ("0.76", None, "WARNING"),
        ("0.76", "80", None),
        ("0.51", "50", "WARNING"),
        ("0.85", None, "WARNING"),
        ("0.86", None, "CRITICAL"),
        ("0.86", "95", "CRITICAL"),
        ("0.12", "5", "WARNING"),
        ("0.76", "eighty", "WARNING"),
        ("-1", None, None),
        ("NaN", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_a_disk_is_too_full_above_the_brokers_own_bound(
    ratio: str | None, setting: str | None, severity: str | None
) -> None:
    rows = found(of(full("broker-a", ratio, setting), full("broker-b", "0.2")))

    assert [row["severity"] for row in rows] == ([] if severity is None else [severity])


def test_the_policy_has_the_bound_of_a_broker_that_does_not_tell_its_own() -> None:
    policy = Policy.model_validate({"thresholds": {"BROKER_DISK": {"warning_ratio": 0.5, "critical_ratio": 0.6}}})
    rows = found(of(full("broker-a", "0.55"), full("broker-b", "0.61")), policy)

    assert [(row["broker_name"], row["severity"]) for row in rows] == [
        ("broker-a", "WARNING"),
        ("broker-b", "CRITICAL"),
    ]


def test_the_disk_of_the_consume_queues_and_that_of_a_slave_count_too() -> None:
    cramped = {"commitLogDiskRatio": "0.1", "consumeQueueDiskRatio": "0.8"}
    slave = full("broker-a", "0.9", broker_id=1, broker_addr="broker-a:10912")
    (master,) = found(of(full("broker-a", None, runtime=cramped)))
    (only,) = found(of(full("broker-a", "0.1"), slave))

    assert (master["subjects"], master["evidence"]["used_ratio"]) == (["broker-a:10911"], 0.8)
    assert (only["subjects"], only["evidence"]["is_slave"]) == (["broker-a:10912"], True)


def test_the_full_disks_of_a_master_and_its_slave_are_one_finding() -> None:
    slave = full("broker-a", "0.9", broker_id=1, broker_addr="broker-a:10912")
    (row,) = found(of(full("broker-a", "0.8"), slave, full("broker-b", "0.2")))

    assert (row["severity"], row["broker_name"]) == ("CRITICAL", "broker-a")
    assert row["subjects"] == ["broker-a:10911", "broker-a:10912"]
    assert row["evidence"]["used_ratio"] == 0.9
    assert [(one["is_slave"], one["used_ratio"]) for one in row["evidence"]["disks"]] == [(False, 0.8), (True, 0.9)]
    assert row["message"].startswith(
        "80.0 % of the disk of broker-a:10911 and 90.0 % of the disk of broker-a:10912 are used"
    )


@pytest.mark.parametrize(("ratios", "more"), [(("0.76", "0.8"), 1), (("0.9", "0.9"), 1), (("0.95",) * 5, 2)])
def test_brokers_are_added_where_none_has_room(ratios: tuple[str, ...], more: int) -> None:
    every = [full(f"broker-{number}", ratio) for number, ratio in enumerate(ratios)]
    row = answered(*every).one("ADD_BROKER")

    assert (row["before"]["brokers"], row["after"]["brokers"]) == (len(every), len(every) + more)
    assert row["before"]["used_ratio"] == float(max(ratios))
    assert row["after"]["used_ratio"] == pytest.approx(float(max(ratios)) * len(every) / (len(every) + more), abs=1e-4)
    assert row["after"]["used_ratio"] <= 0.75
    assert (row["rules"], row["is_manual"], row["commands"]) == (["BROKER_DISK"], True, [])
    steps = json.loads(row["steps"])
    assert [step["title"] for step in steps] == ["Start the broker", "Spread the topics", "See that disks empty"]
    assert all(step["expect"] and step["checks"] and step["way_back"] for step in steps)
    assert all(
        check["command"].split()[1] in ("clusterList", "topicRoute", "brokerStatus")
        for step in steps
        for check in step["checks"]
    )


def test_a_broker_with_room_takes_topics_before_one_is_added() -> None:
    told = answered(full("broker-a", "0.9"), full("broker-b", "0.2"))

    assert told.all("ADD_BROKER") == []
    row = told.one("INVESTIGATE")
    assert row["reason"].startswith("Spread the topics of the full brokers to those that have room (broker-b)")
    assert [line.split()[1] for line in row["commands"]] == ["clusterList", "brokerStatus"]
    assert options(row["commands"][1])["-b"] == "broker-a:10911"


def test_room_on_a_broker_that_nobody_may_write_to_is_no_room() -> None:
    assert answered(full("broker-a", "0.9"), full("broker-b", "0.2", broker_perm=4)).one("ADD_BROKER")


def test_without_the_disk_of_one_broker_it_is_undecided() -> None:
    told = answered(full("broker-a", "0.9"), full("broker-b", None))

    assert told.all("ADD_BROKER") == []
    assert told.one("INVESTIGATE")["reason"].startswith(
        "UNDECIDED whether another broker would help: it is unknown how full the disk of broker-b is."
    )


def test_an_incomplete_snapshot_adds_no_broker() -> None:
    silent = InventoryFailure(broker_addr="broker-b:10911", request="GET_ALL_TOPIC_CONFIG", error="timed out")
    told = answered(full("broker-a", "0.9"), full("broker-b", "0.9"), failures=(silent,))

    assert told.all("ADD_BROKER") == []
    assert "UNDECIDED" in told.one("INVESTIGATE")["reason"]
