"""TOPIC_UNREAD: a topic with traffic to which no group subscribes."""

from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryFailure, InventoryGroup, InventoryProxy
from tests.assessment.cases import a_group, a_topic, members
from tests.assessment.judge import Row, judge
from tests.recommendation.answers import answer
from tests.recommendation.cases import broker
from tests.simulation.clusters import cluster, queues, reads

RUNTIME = {"putMessageAverageSize": "1024.0"}
BROKERS = tuple(broker(name, runtime=RUNTIME, config={"fileReservedTime": "72"}) for name in ("broker-a", "broker-b"))
PAY = a_topic("pay")
READ = a_group("g_pay", members(2), [PAY])


def fleet(*groups: InventoryGroup, rate: float | None = 50.0, **facts: Any) -> Inventory:
    """The topic ``audit`` with eight queues, beside a topic that is read."""
    both = [(name, number) for name in ("broker-a", "broker-b") for number in range(4)]
    audit = a_topic("audit", rates=dict.fromkeys(both, rate))
    return replace(cluster([PAY, audit], [READ, *groups], BROKERS), **facts)


def found(inventory: Inventory, **policy: Any) -> list[Row]:
    judged = judge(inventory, Policy.model_validate(policy))
    return [one for one in judged.findings if one["rule"] == "TOPIC_UNREAD"]


def test_a_topic_with_traffic_that_nobody_subscribes_to_is_found_with_its_volume() -> None:
    (one,) = found(fleet())

    assert (one["severity"], one["topic"], one["subjects"]) == ("WARNING", "audit", ["audit"])
    assert one["evidence"] == {
        "msgs_per_s": 400.0,
        "bytes_per_day": 400 * 1024 * 86_400,
        "kept_hours": 72,
        "producers": None,
    }
    assert one["message"] == (
        "400 messages a second, 33,750 MiB a day are written to it, and no group subscribes to it: they are deleted"
        " unread."
    )


def test_it_is_answered_by_looking_and_by_asking_alone() -> None:
    told = answer(fleet())

    (card,) = told.all(topic="audit")
    assert (card["action"], card["is_manual"], card["rules"]) == ("INVESTIGATE", False, ["TOPIC_UNREAD"])
    assert card["reason"].startswith("Ask the producers of audit who is meant to read it")
    assert [line.split()[1] for line in card["commands"]] == ["topicStatus", "statsAll", "producer", "producer"]


@pytest.mark.parametrize(
    ("rate", "is_found"), [(0.125, True), (0.1249, False), (0.0, False), (None, False)], ids=["1", "below", "0", "?"]
)
def test_from_a_message_a_second_on_it_is_worth_a_word(rate: float | None, is_found: bool) -> None:
    assert bool(found(fleet(rate=rate))) is is_found


def test_the_floor_is_the_policys() -> None:
    assert found(fleet(), thresholds={"TOPIC_UNREAD": {"min_msgs_per_s": 400.1}}) == []
    assert found(fleet(), exclude={"topics": ["^audit$"]}) == []


@pytest.mark.parametrize(
    "reader",
    [
        a_group("offline", [], [a_topic("audit")], subscriptions=()),
        a_group("broadcasting", members(1), [], subscriptions=(reads("audit"),), message_model="BROADCASTING"),
        a_group("filtering", members(1), [], subscriptions=(reads("audit", "only_this"),)),
    ],
    ids=lambda group: group.consumer_group,
)
def test_a_group_that_subscribes_or_has_offsets_reads_it(reader: InventoryGroup) -> None:
    assert found(fleet(reader)) == []


def test_an_excluded_group_reads_too_and_one_of_rocketmqs_own_does_not() -> None:
    excluded = a_group("tool_export", members(1), [], subscriptions=(reads("audit"),))
    assert found(fleet(excluded), exclude={"consumer_groups": ["^tool_"]}) == []
    own = a_group("TOOLS_CONSUMER", members(1), [], subscriptions=(reads("audit"),))
    assert len(found(fleet(own))) == 1


def test_where_somebody_may_read_it_unseen_nothing_is_said() -> None:
    silent = InventoryFailure(broker_addr="broker-b:10911", request="GET_CONSUMER_CONNECTION_LIST", error="timed out")
    unknown = InventoryGroup(consumer_group="unknown")
    proxy = InventoryProxy(proxy_addr="proxy:8080", mode="CLUSTER")
    proxy_silent = InventoryFailure(broker_addr="proxy:8080", request="GET_CONSUMER_CONNECTION_LIST", error="timed out")
    heartbeats = a_topic("DefaultHeartBeatSyncerTopic", queues("broker-a", 1))

    assert found(fleet(failures=(silent,))) == []
    assert found(fleet(unknown)) == []
    assert found(fleet(proxies=(proxy,), failures=(proxy_silent,))) == []
    assert found(fleet(topics=(*fleet().topics, heartbeats))) == []
    assert len(found(fleet(proxies=(proxy,), topics=(*fleet().topics, heartbeats)))) == 1


def test_a_volume_that_one_broker_does_not_tell_is_unknown() -> None:
    (one,) = found(fleet(brokers=(BROKERS[0], broker("broker-b", runtime={"putMessageAverageSize": "0.0"}))))

    assert (one["evidence"]["bytes_per_day"], one["evidence"]["kept_hours"]) == (None, 72)
    assert one["message"].startswith("400 messages a second are written to it")
