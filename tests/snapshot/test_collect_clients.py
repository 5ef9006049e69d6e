"""Consumers are counted as they run, and what they report is put in the inventory's words."""

from dataclasses import replace

import pytest

from rocketmq_capacity.protocol.body.consumers import (
    ConsumerChannel,
    ConsumerRunningInfo,
    HeldQueue,
    ReportedConsumeStatus,
    SubscriptionData,
)
from rocketmq_capacity.protocol.body.offsets import MessageQueue
from rocketmq_capacity.snapshot.describe_clients import describe_clients, strategy_name, utc_of_ms
from rocketmq_capacity.snapshot.inventory import InventoryOwnedQueue, InventorySubscription

PACKAGE = "org.apache.rocketmq.client.consumer.rebalance"


def channel(client_id: str, port: int, *, version: int | None = 479) -> ConsumerChannel:
    return ConsumerChannel(client_id, f"10.0.0.1:{port}", "JAVA", version)


def running_info(
    properties: dict[str, str] | None = None,
    *,
    subscriptions: tuple[SubscriptionData, ...] = (),
    queues: tuple[MessageQueue, ...] = (),
    pop_queues: tuple[MessageQueue, ...] = (),
    statuses: dict[str, ReportedConsumeStatus] | None = None,
) -> ConsumerRunningInfo:
    return ConsumerRunningInfo(properties or {}, subscriptions, queues, pop_queues, statuses or {})


def test_a_consumer_with_a_channel_to_each_broker_is_one_client() -> None:
    connections = {"b": [channel("c", 2)], "a": [channel("c", 1)], "room1@b": [channel("c", 3)]}
    (client,) = describe_clients(connections, {})
    assert client.seen_on == ("a", "b", "room1@b")
    assert client.client_addr == "10.0.0.1:1"
    assert (client.language, client.version) == ("JAVA", "V5_3_3")


def test_an_id_is_listed_as_often_as_it_has_channels_on_one_broker() -> None:
    connections = {
        "a": [channel("c", 1)],
        "b": [channel("c", 5), channel("c", 4), channel("c", 6)],
        "c": [channel("c", 8), channel("c", 7)],
    }
    clients = describe_clients(connections, {"c": running_info({"PROP_THREADPOOL_CORE_SIZE": "3"})})
    assert [client.seen_on for client in clients] == [("a", "b", "c"), ("b", "c"), ("b",)]
    assert [client.client_addr for client in clients] == ["10.0.0.1:1", "10.0.0.1:5", "10.0.0.1:6"]
    assert [client.consume_threads for client in clients] == [3, None, None]
    assert [client.owned_queues for client in clients] == [(), None, None]


def test_clients_are_in_javas_order_of_their_ids() -> None:
    ids = ["10.0.0.2@x", "10.0.0.10@x", "\U00010000", "\uffff", "Z", "a"]
    clients = describe_clients({"a": [channel(client_id, 1) for client_id in ids]}, {})
    assert [client.client_id for client in clients] == ["10.0.0.10@x", "10.0.0.2@x", "Z", "a", "\U00010000", "\uffff"]


def test_a_client_that_does_not_answer_has_nothing_but_its_connection() -> None:
    (client,) = describe_clients({"a": [channel("c", 1, version=None)]}, {})
    assert (client.version, client.started_at, client.allocate_strategy) == (None, None, None)
    assert (client.subscriptions, client.owned_queues, client.status) == (None, None, None)


def test_what_a_client_reports_is_put_in_the_inventorys_words() -> None:
    info = running_info(
        {
            "PROP_CONSUMER_START_TIMESTAMP": "1795260243501",
            "allocateMessageQueueStrategy": f"{PACKAGE}.AllocateMessageQueueAveragely@49f1cfe7",
            "PROP_THREADPOOL_CORE_SIZE": "20",
            "consumeMessageBatchMaxSize": "2",
            "pullThresholdForQueue": "1000",
            "pullThresholdSizeForQueue": "100",
            "pullThresholdForTopic": "4000",
            "pullThresholdSizeForTopic": "-1",
        },
        subscriptions=(SubscriptionData("ship", "SQL92", "a > 1"), SubscriptionData("pay", "TAG", "*")),
        queues=(MessageQueue("pay", "b", 1), MessageQueue("pay", "a", 10), MessageQueue("pay", "a", 9)),
        pop_queues=(MessageQueue("popped", "a", -1),),
        statuses={"pay": ReportedConsumeStatus(12.5, 40.0, None)},
    )
    (client,) = describe_clients({"a": [channel("c", 1)]}, {"c": info})
    assert client.started_at == "2026-11-21T11:24:03Z"
    assert client.allocate_strategy == "AVG"
    assert (client.consume_threads, client.consume_batch_size) == (20, 2)
    assert (client.pull_threshold_for_queue, client.pull_threshold_size_for_queue_mib) == (1000, 100)
    assert (client.pull_threshold_for_topic, client.pull_threshold_size_for_topic_mib) == (4000, None)
    assert client.subscriptions == (
        InventorySubscription(topic="pay", expression_type="TAG", expression="*"),
        InventorySubscription(topic="ship", expression_type="SQL92", expression="a > 1"),
    )
    assert client.owned_queues == (
        InventoryOwnedQueue(topic="pay", broker_name="a", queue_id=9),
        InventoryOwnedQueue(topic="pay", broker_name="a", queue_id=10),
        InventoryOwnedQueue(topic="pay", broker_name="b", queue_id=1),
        InventoryOwnedQueue(topic="popped", broker_name="a", queue_id=-1),
    )
    assert client.status is not None
    assert (client.status[0].consume_rt_ms, client.status[0].consume_failed_msgs_per_s) == (12.5, None)


def test_a_queue_has_what_its_client_reports_and_when() -> None:
    queue = MessageQueue("pay", "a", 9)
    told = HeldQueue(True, False, 3, 0, 1_795_260_243_501, 1_795_260_240_000)
    info = replace(running_info(queues=(queue,)), held={queue: told})
    (client,) = describe_clients({"a": [channel("c", 1)]}, {"c": info}, answered_at={"c": "2026-11-21T11:24:05Z"})
    assert client.answered_at == "2026-11-21T11:24:05Z"
    assert client.owned_queues == (
        InventoryOwnedQueue(
            topic="pay",
            broker_name="a",
            queue_id=9,
            dropped=True,
            locked=False,
            cached_msgs=3,
            last_locked_at=None,
            last_pulled_at="2026-11-21T11:24:03Z",
            last_consumed_at="2026-11-21T11:24:00Z",
        ),
    )


def test_a_pull_consumer_that_chooses_its_own_queues_owns_unknown_ones() -> None:
    (client,) = describe_clients({"a": [channel("c", 1)]}, {"c": running_info({"registerTopics": "[]"})})
    assert (client.owned_queues, client.allocate_strategy) == (None, "OWN_CHOICE")


@pytest.mark.parametrize("text", ["", "many", "-1", "65537"])
def test_a_setting_that_is_no_count_is_unknown(text: str) -> None:
    info = running_info({"PROP_THREADPOOL_CORE_SIZE": text, "PROP_CONSUMER_START_TIMESTAMP": text})
    (client,) = describe_clients({"a": [channel("c", 1)]}, {"c": info})
    assert client.consume_threads is None


@pytest.mark.parametrize(
    ("reported", "name"),
    [
        (f"{PACKAGE}.AllocateMessageQueueAveragely@1a2b", "AVG"),
        (f"{PACKAGE}.AllocateMessageQueueAveragelyByCircle@1a2b", "AVG_BY_CIRCLE"),
        (f"{PACKAGE}.AllocateMessageQueueByConfig@1", "CONFIG"),
        (f"{PACKAGE}.AllocateMessageQueueByMachineRoom@1", "MACHINE_ROOM"),
        (f"{PACKAGE}.AllocateMachineRoomNearby@1", "MACHINE_ROOM_NEARBY"),
        (f"{PACKAGE}.AllocateMessageQueueConsistentHash@1", "CONSISTENT_HASH"),
        ("com.example.AllocateMessageQueueAveragely@1", "com.example.AllocateMessageQueueAveragely"),
        ("com.example.Mine$$Lambda$14/0x0000@2b", "com.example.Mine$$Lambda$14/0x0000"),
        ("com.example.Named", "com.example.Named"),
        ("", None),
        (None, None),
    ],
)
def test_a_strategy_is_called_as_it_calls_itself_and_an_unknown_one_by_its_class(
    reported: str | None, name: str | None
) -> None:
    assert strategy_name(reported) == name


@pytest.mark.parametrize(
    ("milliseconds", "time"),
    [
        (1_795_260_243_999, "2026-11-21T11:24:03Z"),
        (1_000, "1970-01-01T00:00:01Z"),
        (0, None),
        (-1, None),
        (2**62, None),
    ],
)
def test_a_time_is_utc_in_seconds_and_no_time_is_unknown(milliseconds: int, time: str | None) -> None:
    assert utc_of_ms(milliseconds) == time
