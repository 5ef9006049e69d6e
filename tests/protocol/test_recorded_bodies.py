"""Bodies that a real RocketMQ 5.3.3 sent are read for what they say."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from rocketmq_capacity.protocol import request, tolerant_json
from rocketmq_capacity.protocol.body.broker import MessageRequestMode, TopicConfig
from rocketmq_capacity.protocol.body.cluster import BrokerData, QueueData, StaticMapping
from rocketmq_capacity.protocol.body.consumers import ConsumerChannel, HeldQueue, SubscriptionData
from rocketmq_capacity.protocol.body.offsets import GroupProgress, MessageQueue, WrittenOffset
from rocketmq_capacity.protocol.codes import Flag
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.request import Request
from rocketmq_capacity.protocol.tolerant_json import _Reader

RECORDED: Final = Path(__file__).parent / "recorded"
BODIES: Final = sorted(file.name for file in RECORDED.glob("*.txt"))


def answer(name: str, asked: Request[Any]) -> Any:
    body = (RECORDED / f"{name}.txt").read_bytes()
    return asked.answer(Command(0, 1, flag=int(Flag.RESPONSE), body=body))


@pytest.mark.parametrize("name", [name for name in BODIES if not name.startswith("026")])
def test_the_fast_way_reads_every_recorded_body_as_the_whole_grammar_does(name: str) -> None:
    text = (RECORDED / name).read_text("utf-8")
    assert tolerant_json.parse(text) == _Reader(text, 8).document()


def test_brokers_are_listed_by_name_and_id() -> None:
    info = answer("106-cluster-info", request.cluster_info())
    by_name = {broker.broker_name: broker for broker in info.brokers}
    assert by_name["broker-a"] == BrokerData("LabC", "broker-a", {0: "127.0.0.1:21911", 1: "127.0.0.1:24911"})
    assert set(by_name) == set(info.clusters["LabC"]) == {"broker-a", "broker-b", "room1@broker-c"}


def test_topics_are_listed() -> None:
    topics = answer("206-topic-list", request.topic_list()).topics
    assert {"T0", "TStatic", "%RETRY%g_avg", "BenchmarkTest", "rmq_sys_SYNC_BROKER_MEMBER_room1@broker-c"} <= set(
        topics
    )


def test_a_route_has_the_queues_of_each_broker() -> None:
    route = answer("105-route", request.topic_route("T4"))
    assert set(route.queues) == {QueueData("broker-a", 6, 4, 6), QueueData("broker-b", 6, 4, 6)}
    assert {broker.broker_name for broker in route.brokers} == {"broker-a", "broker-b"}
    assert route.static_mappings == ()


def test_a_static_topic_has_logical_queues() -> None:
    route = answer("105-route-of-a-static-topic", request.topic_route("TStatic"))
    assert set(route.static_mappings) == {
        StaticMapping("broker-a", "__global__", 5, (0, 3)),
        StaticMapping("broker-b", "__global__", 5, (1, 2, 4)),
        StaticMapping("room1@broker-c", "__global__", 5, ()),
    }


def test_topic_configurations_carry_order_and_attributes() -> None:
    configs = {config.topic: config for config in answer("021-topic-configs", request.topic_configs())}
    assert configs["T3"] == TopicConfig("T3", 4, 4, 6, order=True, attributes={"message.type": "FIFO"})
    assert configs["T1"] == TopicConfig("T1", 6, 4, 6, order=False, attributes={})
    assert configs["BenchmarkTest"].read_queue_nums == 1_024


def test_groups_are_listed_with_rocketmqs_own() -> None:
    groups = {one.consumer_group: one for one in answer("201-subscription-groups", request.subscription_groups())}
    assert {"g_avg", "g_pop", "g_bc", "g_lite", "TOOLS_CONSUMER", "CID_ONSAPI_OWNER"} <= set(groups)
    assert groups["g_avg"].consume_enable
    assert not groups["g_avg"].consume_message_orderly
    assert groups["g_avg"].consume_broadcast_enable
    assert (groups["g_avg"].retry_queue_nums, groups["g_avg"].retry_max_times) == (1, 16)


def test_the_runtime_is_a_table_of_texts() -> None:
    runtime = answer("028-runtime", request.broker_runtime())
    assert runtime["brokerVersionDesc"] == "V5_3_3"
    assert 0 <= float(runtime["commitLogDiskRatio"]) <= 1
    assert all(isinstance(value, str) for value in runtime.values())


def test_the_configuration_is_a_table_of_texts() -> None:
    config = answer("026-config", request.broker_config())
    assert config["brokerName"] == "broker-a"
    assert config["brokerPermission"] == "6"
    assert config["fileReservedTime"] == "72"
    assert config["storePathRootDir"] == "/data/rocketmq/store-a"
    assert config["defaultPopShareQueueNum"] == "-1"
    assert len(config) > 300


def test_request_modes_name_topic_and_group() -> None:
    modes = answer("402-request-modes", request.message_request_modes())
    assert modes == (MessageRequestMode("T2", "g_pop", "POP", 2),)


def test_topic_offsets_are_keyed_by_queue() -> None:
    stats = answer("202-topic-stats", request.topic_stats("T4"))
    assert sorted(queue.queue_id for queue in stats) == [0, 1, 2, 3, 4, 5]
    assert stats[MessageQueue("T4", "broker-a", 2)] == WrittenOffset(0, 57)
    assert stats[MessageQueue("T4", "broker-a", 4)] == WrittenOffset(0, 0)


def test_group_offsets_are_keyed_by_queue() -> None:
    stats = answer("208-consume-stats", request.consume_stats("g_avg"))
    assert {queue.topic for queue in stats} == {"T0", "T1", "%RETRY%g_avg"}
    assert stats[MessageQueue("%RETRY%g_avg", "broker-a", 0)] == GroupProgress(0, 0, 0)
    read = stats[MessageQueue("T0", "broker-a", 0)]
    assert 0 < read.consumer_offset <= read.broker_offset
    assert read.last_timestamp_ms > 1_795_262_000_000


def test_a_group_that_nobody_knows_has_no_offsets() -> None:
    assert answer("208-consume-stats-of-nobody", request.consume_stats("nobody")) == {}


def test_committed_offsets_are_keyed_by_topic_and_group_without_those_of_broadcasting_clients() -> None:
    committed = answer("043-committed-offsets", request.committed_offsets()).offsets
    assert committed["T0", "g_avg"] == {0: 38, 1: 38, 2: 37, 3: 38}
    assert {group for _, group in committed} == {"g_avg", "g_circle", "g_hash", "g_near", "g_pop", "g_lite"}


def test_connections_have_address_language_and_version() -> None:
    connection = answer("203-connections", request.consumer_connection("g_avg"))
    assert sorted(one.client_id for one in connection.connections) == [f"127.0.0.1@avg{index}" for index in range(3)]
    assert connection.connections[0].language == "JAVA"
    assert connection.connections[0].version == 479
    assert (connection.message_model, connection.consume_type) == ("CLUSTERING", "CONSUME_PASSIVELY")
    assert connection.consume_from_where == "CONSUME_FROM_LAST_OFFSET"
    assert SubscriptionData("T1", "TAG", "*") in connection.subscriptions
    assert isinstance(connection.connections[0], ConsumerChannel)


def test_client_ids_may_be_of_any_script() -> None:
    assert answer("038-client-ids", request.consumer_ids("g_near")).client_ids == ("127.0.0.1@near0-中文",)


def test_a_push_client_reports_its_settings_and_queues() -> None:
    info = answer("307-push-client", request.consumer_running_info("g_avg", "127.0.0.1@avg0"))
    assert info.properties["allocateMessageQueueStrategy"].startswith(
        "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@"
    )
    assert info.properties["PROP_THREADPOOL_CORE_SIZE"] == "20"
    assert {queue.topic for queue in info.queues} == {"T0", "T1", "%RETRY%g_avg"}
    assert info.pop_queues == ()
    assert info.statuses["T0"].consume_ok_msgs_per_s is not None


def test_a_client_reports_the_state_of_each_queue() -> None:
    info = answer("307-orderly-client-of-a-non-ascii-id", request.consumer_running_info("g_near", "near0"))
    assert info.held.keys() == set(info.queues)
    assert info.held[MessageQueue("T4", "broker-a", 1)] == HeldQueue(
        dropped=False,
        locked=True,
        cached_msgs=0,
        last_locked_ms=1795262211361,
        last_pulled_ms=1795262231654,
        last_consumed_ms=1795262231654,
    )


@pytest.mark.parametrize(
    ("told", "held"),
    [
        ({"cachedMsgCount": 2, "transactionMsgCount": 1}, HeldQueue(cached_msgs=3)),
        ({"droped": True, "waitAckCount": 4, "lastPopTimestamp": 7}, HeldQueue(dropped=True, last_pulled_ms=7)),
        ({"droped": 0, "locked": None, "cachedMsgCount": "2", "lastPullTimestamp": -1}, HeldQueue()),
        (None, HeldQueue()),
    ],
)
def test_what_another_client_does_not_tell_of_a_queue_is_unknown(told: Any, held: HeldQueue) -> None:
    body = json.dumps({"mqTable": {'{"brokerName":"a","queueId":0,"topic":"T"}': told}}).encode()
    asked = request.consumer_running_info("g", "c")
    info = asked.answer(Command(0, 1, flag=int(Flag.RESPONSE), body=body))
    assert dict(info.held) == {MessageQueue("T", "a", 0): held}


def test_a_pop_client_reports_whole_brokers() -> None:
    info = answer("307-pop-client", request.consumer_running_info("g_pop", "127.0.0.1@pop0"))
    assert set(info.pop_queues) == {
        MessageQueue("T2", broker_name, -1) for broker_name in ("broker-a", "broker-b", "room1@broker-c")
    }
    assert {queue.topic for queue in info.queues} == {"%RETRY%g_pop"}


def test_a_lite_pull_client_reports_its_filter_and_no_threads() -> None:
    info = answer("307-lite-pull-client", request.consumer_running_info("g_lite", "127.0.0.1@lite0@STREAM"))
    assert info.subscriptions == (SubscriptionData("T5", "TAG", "a || b"),)
    assert "PROP_THREADPOOL_CORE_SIZE" not in info.properties
    assert len(info.queues) == 24
