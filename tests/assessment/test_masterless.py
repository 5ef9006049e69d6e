"""BROKER_LOSS of a broker that has lost its master already, and who still reads its queues."""

from typing import Any

import pytest

from rocketmq_capacity.snapshot.inventory import InventoryBroker, InventoryGroup, InventoryTopic
from tests.assessment.cases import a_group, a_topic, member, pops
from tests.assessment.judge import Judgement, judge
from tests.recommendation.answers import answer
from tests.simulation.clusters import broker, cluster, queues

REFUSES = {"slaveReadEnable": "false", "enableSlaveActingMaster": "false"}
READS = REFUSES | {"slaveReadEnable": "true"}
ON_BOTH = a_topic("t", queues("broker-a", 2), queues("broker-b", 2))
ELSEWHERE = a_topic("elsewhere", queues("broker-a", 2))


def slave(config: dict[str, str] | None, **facts: Any) -> InventoryBroker:
    return InventoryBroker(broker_name="broker-b", broker_id=1, broker_addr="broker-b:10912", config=config, **facts)


def judged(config: dict[str, str] | None, *topics: InventoryTopic, **facts: Any) -> Judgement:
    groups = [readers("g", ON_BOTH, **facts), readers("untouched", ELSEWHERE)]
    return judge(cluster([ON_BOTH, ELSEWHERE], groups, (broker("broker-a"), slave(config))))


def readers(name: str, topic: InventoryTopic, **facts: Any) -> InventoryGroup:
    return a_group(name, [member("c01"), member("c02")], [topic], lag=0, **facts)


@pytest.mark.parametrize(
    ("config", "severity", "status", "words"),
    [
        (REFUSES, "CRITICAL", "UNREAD", "and nobody reads them"),
        (None, "CRITICAL", "UNKNOWN", "and it is unknown whether anybody reads them"),
        (READS, "WARNING", "READ", "and only clients that pull in any order read them"),
    ],
)
def test_a_broker_without_a_master_is_one_finding_and_its_slaves_say_who_reads(
    config: dict[str, str] | None, severity: str, status: str, words: str
) -> None:
    found = judged(config)
    (row,) = [one for one in found.findings if one["rule"] == "BROKER_LOSS" and one["broker_name"] == "broker-b"]

    assert (row["severity"], row["subjects"]) == (severity, ["broker-b"])
    assert (row["evidence"]["topic_names"], row["evidence"]["group_names"]) == (["t"], ["g"])
    assert row["message"] == (
        "broker-b has no master, only 1 slave: nobody can write to its queues of 1 topic (t),"
        f" {words}. They belong to 1 group: g."
    )
    assert found.group("g")["reading_status"] == status
    assert found.group("untouched")["reading_status"] == "READ"


@pytest.mark.parametrize(
    "facts",
    [{"orderly": True}, {"subscriptions": (pops("t"),)}],
    ids=["in order", "pops"],
)
def test_who_locks_or_pops_does_not_read_from_a_slave_that_others_read(facts: dict[str, Any]) -> None:
    assert judged(READS, **facts).group("g")["reading_status"] == "UNREAD"


@pytest.mark.parametrize(
    ("config", "facts", "severity"),
    [
        (READS, {"subscriptions": (pops("t"),)}, "CRITICAL"),
        (READS, {"message_request_mode": "POP"}, "CRITICAL"),
        (READS | {"enableSlaveActingMaster": "true"}, {"subscriptions": (pops("t"),)}, "WARNING"),
        (READS, {}, "WARNING"),
    ],
    ids=["pops the topic", "pops everything", "a slave may act as master", "pulls"],
)
def test_a_slave_that_others_read_is_no_help_to_a_group_that_pops(
    config: dict[str, str], facts: dict[str, Any], severity: str
) -> None:
    found = judged(config, **facts)
    (row,) = [one for one in found.findings if one["rule"] == "BROKER_LOSS" and one["broker_name"] == "broker-b"]

    assert row["severity"] == severity


def test_a_group_that_pops_from_other_brokers_alone_misses_no_master() -> None:
    groups = [readers("g", ON_BOTH), readers("popping", ELSEWHERE, message_request_mode="POP")]
    found = judge(cluster([ON_BOTH, ELSEWHERE], groups, (broker("broker-a"), slave(READS))))
    (row,) = [one for one in found.findings if one["rule"] == "BROKER_LOSS" and one["broker_name"] == "broker-b"]

    assert row["severity"] == "WARNING"


def test_a_broker_without_business_topics_may_lack_a_master() -> None:
    inventory = cluster([ELSEWHERE], [readers("g", ELSEWHERE)], (broker("broker-a"), slave(REFUSES)))

    assert judge(inventory).found("BROKER_LOSS") is None


def test_the_answer_is_to_start_the_master_again() -> None:
    inventory = cluster([ON_BOTH], [readers("g", ON_BOTH)], (broker("broker-a"), slave(REFUSES)))
    rows = [row for row in answer(inventory).all("INVESTIGATE") if "BROKER_LOSS" in row["rules"]]

    assert any("Start the master of broker-b again: broker-b has no master" in row["reason"] for row in rows)


@pytest.mark.parametrize(("config", "is_advised"), [(REFUSES, True), (None, True), (READS, False)])
def test_a_slave_that_is_read_already_needs_no_other_setting(config: dict[str, str] | None, is_advised: bool) -> None:
    inventory = cluster([ON_BOTH], [readers("g", ON_BOTH)], (broker("broker-a"), slave(config)))
    rows = [row for row in answer(inventory).all("INVESTIGATE") if "BROKER_LOSS" in row["rules"]]
    (reason,) = [row["reason"] for row in rows if "Start the master" in row["reason"]]

    assert ("slaveReadEnable=true" in reason) is is_advised
