from typing import Any

import pytest

from rocketmq_capacity.plan_file.troubled_broker import CanRead, LostMasterOutlook, SlowBrokerOutlook
from rocketmq_capacity.producers.generation import GENERATIONS, generation_of
from rocketmq_capacity.simulation.outlook import named_brokers, outlook
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.tables import Broker, TopicQueue

LOSE: dict[str, Any] = {"change": "lose_master", "broker_name": "broker-b"}
SLOW: dict[str, Any] = {"change": "slow_broker", "broker_name": "broker-b", "latency_ms": 800, "for_s": 60}
READS = {"slaveReadEnable": "true"}
ACTS = {"enableSlaveActingMaster": "true"}


def scenario(*changes: dict[str, Any]) -> Scenario:
    return Scenario.model_validate({"name": "what if", "changes": list(changes)})


def place(topic: str = "pay", perm: int | None = 6, write: int | None = 3, **more: Any) -> TopicQueue:
    return TopicQueue(
        topic=topic,
        kind="BUSINESS",
        broker_name="broker-b",
        read_queue_nums=4,
        write_queue_nums=write,
        perm=perm,
        broker_state=more.get("broker_state", "MASTER"),
        has_answered=True,
    )


def slave(config: dict[str, str] | None, broker_id: int = 1) -> Broker:
    return Broker(broker_name="broker-b", broker_id=broker_id, config=config, has_answered=True)


def entry_of(change: dict[str, Any], *brokers: Broker, places: tuple[TopicQueue, ...] = (place(),)) -> Any:
    (entry,) = outlook(scenario(change), places, brokers)
    return entry


@pytest.mark.parametrize(
    ("config", "pull", "in_order", "pop"),
    [
        (READS, True, None, None),
        (READS | {"enableSlaveActingMaster": "false"}, True, False, False),
        ({"slaveReadEnable": "false"} | ACTS, False, False, None),
        ({"slaveReadEnable": "false", "enableSlaveActingMaster": "false"}, False, False, False),
        (READS | ACTS, True, None, None),
        ({}, None, None, None),
        (None, None, None, None),
    ],
)
def test_who_reads_without_a_master_goes_by_what_the_first_slave_says(
    config: dict[str, str] | None, pull: bool | None, in_order: bool | None, pop: bool | None
) -> None:
    entry = entry_of(LOSE, slave(READS | ACTS, 2), slave(config))
    assert entry.can_read == CanRead(pull=pull, pull_in_order=in_order, pop=pop)
    assert (entry.replicas, entry.is_writable, entry.has_new_master) == (2, False, False)


def test_a_broker_without_slaves_is_read_by_nobody() -> None:
    entry = entry_of(LOSE)
    assert entry.can_read == CanRead(pull=False, pull_in_order=False, pop=False)
    assert (entry.replicas, entry.is_writable) == (0, False)


def test_a_broker_with_a_new_master_is_read_and_written_by_everybody() -> None:
    entry = entry_of(LOSE, slave({"enableControllerMode": "true"}, 0), slave({}, 2))
    assert entry.can_read == CanRead(pull=True, pull_in_order=True, pop=True)
    assert (entry.has_new_master, entry.is_writable) == (True, True)


@pytest.mark.parametrize(
    ("places", "readable", "writable"),
    [
        ((place(), place("ship")), 8, 6),
        ((place(perm=4),), 4, 0),
        ((place(perm=2),), 0, 3),
        ((place(broker_state="MASTERLESS"),), 4, 0),
        ((place(write=None),), 4, None),
        ((), 0, 0),
    ],
)
def test_the_queues_are_those_before_the_change(
    places: tuple[TopicQueue, ...], readable: int, writable: int | None
) -> None:
    for change in (LOSE, SLOW):
        entry = entry_of(change, places=places)
        assert (entry.readable_queues, entry.writable_queues) == (readable, writable)


def test_each_generation_avoids_a_slow_broker_for_another_time() -> None:
    assert [(each.back_off_ms, each.most_sends_per_thread) for each in entry_of(SLOW).producers] == [
        (30_000, 2),
        (30_000, 2),
        (2_000, 22),
    ]
    assert [each.avoided_for_s_afterwards for each in entry_of(SLOW).producers] == [30.8, 30.8, 2.8]


def test_nobody_avoids_a_broker_that_is_hardly_slow() -> None:
    producers = entry_of(SLOW | {"latency_ms": 549}).producers
    assert {each.back_off_ms for each in producers} == {0}
    assert {each.most_sends_per_thread for each in producers} == {None}


def test_a_message_that_takes_as_long_as_a_send_may_fails_and_counts_as_an_error() -> None:
    entry = entry_of(SLOW | {"latency_ms": 3_000})
    assert entry.fails
    assert [each.back_off_ms for each in entry.producers] == [600_000, 600_000, 10_000]
    assert not entry_of(SLOW | {"latency_ms": 2_999}).fails


def test_only_these_changes_name_brokers_and_each_has_its_entry_in_order() -> None:
    changes = scenario(SLOW, {"change": "lose_broker", "broker_name": "broker-a"}, LOSE)
    assert named_brokers(changes) == ["broker-b", "broker-b"]
    assert [type(one) for one in outlook(changes, [place()], [slave({})])] == [SlowBrokerOutlook, LostMasterOutlook]


@pytest.mark.parametrize(
    ("version", "place_of"),
    [("V4_9_7", 0), ("V4_9_8", 1), ("V5_0_0", 0), ("V5_1_3", 0), ("V5_1_4", 2), ("V5_3_3", 2), ("V3_5_8", 0)],
)
def test_a_version_has_one_generation(version: str, place_of: int) -> None:
    assert generation_of(version) is GENERATIONS[place_of]


@pytest.mark.parametrize("version", [None, "", "V5_1", "V5_0_0_SNAPSHOT", "HIGHER_VERSION"])
def test_what_is_no_release_has_no_generation(version: str | None) -> None:
    assert generation_of(version) is None
