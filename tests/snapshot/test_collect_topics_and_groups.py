"""Topics and groups are put together from what several brokers said, at several moments."""

from dataclasses import replace
from typing import Any

import pytest

from rocketmq_capacity.protocol.body.broker import MessageRequestMode, SubscriptionGroupConfig, TopicConfig
from rocketmq_capacity.protocol.body.cluster import QueueData, StaticMapping, TopicRoute
from rocketmq_capacity.protocol.body.consumers import (
    ConsumerChannel,
    ConsumerConnection,
    ConsumerRunningInfo,
    SubscriptionData,
)
from rocketmq_capacity.protocol.body.offsets import CommittedOffsets, GroupProgress, MessageQueue
from rocketmq_capacity.protocol.body.offsets import WrittenOffset as Written
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts, OffsetsAtMoment
from rocketmq_capacity.snapshot.describe_groups import GroupDescriber
from rocketmq_capacity.snapshot.describe_topics import describe_topics, static_topics
from rocketmq_capacity.snapshot.inventory import GroupSettings, InventoryGroup, InventoryTopic, Sample, TopicQueues
from rocketmq_capacity.vocabulary import CONSUME_FROM_WHERE


def broker(name: str, **answers: Any) -> BrokerFacts:
    return BrokerFacts(name, 0, f"{name}:10911", is_asked_for_all=True, **answers)


def config(topic: str, *, order: bool = False, **attributes: str) -> TopicConfig:
    return TopicConfig(topic, 4, 4, 6, order, {key.replace("_", "."): value for key, value in attributes.items()})


def route(*queues: QueueData, static: tuple[StaticMapping, ...] = ()) -> TopicRoute:
    return TopicRoute(queues, (), static)


def written(at_s: float, broker_name: str, *max_offsets: int) -> OffsetsAtMoment:
    queues = {MessageQueue("pay", broker_name, number): Written(0, last) for number, last in enumerate(max_offsets)}
    return OffsetsAtMoment("2026-11-20T02:00:00Z", written={"pay": (at_s, queues)})


def topic_of(brokers: list[BrokerFacts], *, routes: dict[str, TopicRoute] | None = None) -> InventoryTopic:
    (topic,) = describe_topics(["pay"], routes or {}, brokers)
    return topic


def group_of(brokers: list[BrokerFacts], *, static: tuple[str, ...] = ()) -> InventoryGroup:
    return GroupDescriber(brokers, static).describe("g")


def online(*topics: str, client_ids: tuple[str, ...] = ("c",)) -> dict[str, ConsumerConnection]:
    return {
        "g": ConsumerConnection(
            connections=tuple(ConsumerChannel(client_id, "10.0.0.1:1", "JAVA", 479) for client_id in client_ids),
            subscriptions=tuple(SubscriptionData(topic, "TAG", "*") for topic in topics),
            consume_type="CONSUME_PASSIVELY",
            message_model="CLUSTERING",
        )
    }


def says(**properties: str) -> dict[tuple[str, str], ConsumerRunningInfo]:
    return {("g", "c"): ConsumerRunningInfo(properties, (), (), (), {})}


def test_queues_are_the_routes_with_perm_cut_to_what_an_inventory_allows() -> None:
    queues = (QueueData("b", 4, 8, 6), QueueData("a", 2, 2, 4 | 8))
    assert topic_of([], routes={"pay": route(*queues)}).queues == (
        TopicQueues(broker_name="a", read_queue_nums=2, write_queue_nums=2, perm=4),
        TopicQueues(broker_name="b", read_queue_nums=4, write_queue_nums=8, perm=6),
    )


def test_a_topic_without_a_route_has_no_queues_and_unknown_offsets() -> None:
    topic = topic_of([])
    assert (topic.queues, topic.offsets, topic.order, topic.message_type) == ((), None, None, None)


def test_a_static_topic_has_its_logical_queues_and_no_offsets_of_physical_ones() -> None:
    mappings = (StaticMapping("a", "__global__", 5, (0, 1)), StaticMapping("b", "__global__", 4, (2,)))
    routes = {"pay": route(QueueData("a", 3, 3, 6), static=mappings)}
    topic = topic_of([broker("a", samples=[written(0, "a", 5)])], routes=routes)
    assert topic.queues == (
        TopicQueues(broker_name="__syslo__global__", read_queue_nums=5, write_queue_nums=5, perm=6),
    )
    assert topic.offsets is None
    assert static_topics(routes) == {"pay"}


def test_order_and_type_are_what_any_broker_has_set() -> None:
    brokers = [broker("a", topic_configs=(config("pay"),)), broker("b", topic_configs=(config("pay", order=True),))]
    assert (topic_of(brokers).order, topic_of(brokers).message_type) == (True, "NORMAL")
    typed = broker("c", topic_configs=(config("pay", message_type="FIFO"),))
    assert topic_of([*brokers, typed]).message_type == "FIFO"


def test_rates_are_from_the_first_sample_to_the_last() -> None:
    samples = [written(10.0, "a", 100, 7), written(11.0, "a", 500, 7), written(14.0, "a", 300, 7, 9)]
    offsets = topic_of([broker("a", samples=samples)]).offsets
    assert offsets is not None
    assert [(one.queue_id, one.max_offset, one.put_msgs_per_s) for one in offsets] == [
        (0, 300, 50.0),
        (1, 7, 0.0),
        (2, 9, None),
    ]


def test_one_sample_gives_no_rate_and_neither_does_an_offset_that_went_back() -> None:
    for samples in ([written(1.0, "a", 5)], [written(1.0, "a", 5), written(2.0, "a", 4)]):
        offsets = topic_of([broker("a", samples=samples)]).offsets
        assert offsets is not None
        assert [one.put_msgs_per_s for one in offsets] == [None]


def test_a_broker_that_missed_the_last_sample_has_no_offsets() -> None:
    silent = broker("a", samples=[written(1.0, "a", 5), OffsetsAtMoment("2026-11-20T02:00:05Z")])
    answering = broker("b", samples=[written(1.0, "b", 5), written(2.0, "b", 6)])
    offsets = topic_of([silent, answering]).offsets
    assert offsets is not None
    assert [one.broker_name for one in offsets] == ["b"]
    assert topic_of([silent]).offsets is None


def read(at: str, *consumer_offsets: int, topic: str = "pay") -> OffsetsAtMoment:
    queues = {
        MessageQueue(topic, "a", number): GroupProgress(1_000, offset, 1_795_260_243_501 if offset > 0 else 0)
        for number, offset in enumerate(consumer_offsets)
    }
    return OffsetsAtMoment(at, read={"g": queues})


def test_a_groups_offsets_are_the_last_with_the_earlier_ones_as_samples() -> None:
    samples = [read("2026-11-20T02:00:00Z", 1), read("2026-11-20T02:00:05Z", 2, 0), read("2026-11-20T02:00:10Z", 3, -1)]
    offsets = group_of([broker("a", samples=samples)]).offsets
    assert offsets is not None
    first, second = offsets
    assert (first.consumer_offset, first.last_timestamp) == (3, "2026-11-21T11:24:03Z")
    assert first.samples == (
        Sample(at="2026-11-20T02:00:00Z", broker_offset=1_000, consumer_offset=1),
        Sample(at="2026-11-20T02:00:05Z", broker_offset=1_000, consumer_offset=2),
    )
    assert (second.consumer_offset, second.last_timestamp) == (None, None)
    assert second.samples == (Sample(at="2026-11-20T02:00:05Z", broker_offset=1_000, consumer_offset=0),)


def hiding(committed: CommittedOffsets | None) -> BrokerFacts:
    """A broker with two read and four write queues of ``pay``, the last of them with 90 messages each."""
    sample = read("2026-11-20T02:00:00Z", 5, 6)
    sample.written |= written(0.0, "a", 50, 60, 90, 90).written
    return broker("a", samples=[sample], topic_configs=(TopicConfig("pay", 2, 4, 6, False, {}),), committed=committed)


def unseen(facts: BrokerFacts) -> list[tuple[int, int | None, int | None]]:
    """What the group has on the queues that it cannot see: (id, offset of the broker, its own)."""
    offsets = group_of([facts]).offsets
    assert offsets is not None
    return [(one.queue_id, one.broker_offset, one.consumer_offset) for one in offsets if one.queue_id > 1]


def test_a_group_keeps_the_offsets_of_queues_that_it_could_see_once() -> None:
    assert unseen(hiding(CommittedOffsets({("pay", "g"): {0: 5, 1: 6, 3: 70}, ("pay", "other"): {2: 1}}))) == [
        (3, 90, 70)
    ]


def test_a_queue_that_the_group_never_saw_has_no_offset_and_one_that_nobody_reported_has_an_unknown_one() -> None:
    assert unseen(hiding(CommittedOffsets({("pay", "g"): {0: 5, 1: 6}}))) == []
    assert unseen(hiding(None)) == [(2, 90, None), (3, 90, None)]


def test_offsets_on_static_topics_are_left_out_and_unanswered_ones_are_unknown() -> None:
    facts = broker("a", samples=[read("2026-11-20T02:00:00Z", 1)])
    assert group_of([facts], static=("pay",)).offsets == ()
    assert group_of([broker("a", samples=[OffsetsAtMoment("2026-11-20T02:00:00Z")])]).offsets is None


def test_a_group_that_is_offline_has_no_clients_and_reads_nothing() -> None:
    group = group_of([broker("a", subscription_groups=(SubscriptionGroupConfig("g", True, False),))])
    assert (group.clients, group.subscriptions, group.message_model, group.orderly) == ((), (), None, False)


def test_settings_are_those_of_each_broker_and_brokers_that_agree_stand_together() -> None:
    usual = SubscriptionGroupConfig("g", True, False)
    other = SubscriptionGroupConfig("g", False, True, False, retry_queue_nums=-1, retry_max_times=-1)
    configs = {"a": usual, "b": other, "c": usual}
    group = group_of([broker(name, subscription_groups=(config,)) for name, config in configs.items()])
    alike, different = group.settings or ()

    assert alike == GroupSettings(
        broker_names=("a", "c"),
        consume_enable=True,
        consume_broadcast_enable=True,
        consume_message_orderly=False,
        retry_queue_nums=1,
        retry_max_times=16,
    )
    assert different.broker_names == ("b",)
    assert (different.consume_enable, different.consume_broadcast_enable) == (False, False)
    # RocketMQ does not take such numbers.
    assert (different.retry_queue_nums, different.retry_max_times) == (None, None)
    assert group_of([broker("a", connections=online("pay"))]).settings is None


def test_subscriptions_are_those_of_all_brokers() -> None:
    group = group_of([
        broker("b", connections=online("ship", "pay")),
        broker("a", connections=online("pay", "%RETRY%g")),
    ])
    assert [one.topic for one in group.subscriptions or ()] == ["%RETRY%g", "pay", "ship"]
    assert group.message_model == "CLUSTERING"


@pytest.mark.parametrize(
    ("configured", "says_orderly", "orderly"),
    [
        (False, "false", False),
        (False, "true", True),
        (True, "false", False),
        (True, "true", True),
        (True, "", True),
        (None, "true", True),
        (None, "false", False),
        (None, "", None),
    ],
)
def test_a_remoting_client_decides_whether_it_consumes_in_order_and_the_groups_setting_counts_if_it_says_nothing(
    configured: bool | None, says_orderly: str, orderly: bool | None
) -> None:
    configs = () if configured is None else (SubscriptionGroupConfig("g", True, configured),)
    infos = says(PROP_CONSUMEORDERLY=says_orderly) if says_orderly else says()
    facts = broker("a", subscription_groups=configs, connections=online("pay"), running_infos=infos)
    assert group_of([facts]).orderly is orderly


@pytest.mark.parametrize("client_ids", [("host@12@0@abc",), ("host@12@0@abc", "c"), ()])
def test_the_setting_of_a_group_decides_for_grpc_clients_and_for_a_group_without_clients(
    client_ids: tuple[str, ...],
) -> None:
    configs = (SubscriptionGroupConfig("g", True, True),)
    infos = says(PROP_CONSUMEORDERLY="false") if "c" in client_ids else {}
    connections = online("pay", client_ids=client_ids) if client_ids else {}
    facts = broker("a", subscription_groups=configs, connections=connections, running_infos=infos)
    assert group_of([facts]).orderly is True


def test_of_a_group_that_is_not_set_so_nobody_knows_while_a_client_does_not_answer() -> None:
    configs = (SubscriptionGroupConfig("g", True, False),)
    assert group_of([broker("a", subscription_groups=configs, connections=online("pay"))]).orderly is None


LAST, FIRST = "CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_FIRST_OFFSET"


def begins(
    *, heartbeats: tuple[str | None, ...], clients: dict[str, str], consume_type: str = "CONSUME_PASSIVELY"
) -> Any:
    """Where the group begins: the last heartbeat of each broker, and what clients (``c`` and others) say themselves."""
    infos = {
        ("g", one): ConsumerRunningInfo({"consumeFromWhere": said}, (), (), (), {}) for one, said in clients.items()
    }
    ids = ("c", *(one for one in clients if one != "c"))
    facts = [
        broker(
            f"broker-{number}",
            connections={
                "g": replace(online("pay", client_ids=ids)["g"], consume_from_where=said, consume_type=consume_type)
            },
            running_infos=infos,
        )
        for number, said in enumerate(heartbeats)
    ]
    return group_of(facts).consume_from_where


@pytest.mark.parametrize("said", CONSUME_FROM_WHERE)
def test_clients_begin_where_their_heartbeats_say(said: str) -> None:
    assert begins(heartbeats=(said, said), clients={}) == said


def test_it_is_unknown_where_clients_begin_that_differ_or_say_nothing_known() -> None:
    assert begins(heartbeats=(FIRST, LAST), clients={}) is None
    assert begins(heartbeats=(FIRST, None), clients={}) is None
    assert begins(heartbeats=("CONSUME_FROM_SOMEWHERE",), clients={}) is None
    assert begins(heartbeats=(FIRST,), clients={"c": FIRST, "d": LAST}) is None
    assert begins(heartbeats=(LAST,), clients={"d": FIRST}) is None
    assert begins(heartbeats=(), clients={}) is None


def test_what_all_clients_say_of_themselves_wins_over_the_last_heartbeat() -> None:
    assert begins(heartbeats=(LAST,), clients={"c": FIRST}) == FIRST
    assert begins(heartbeats=(LAST, LAST), clients={"c": FIRST, "d": FIRST}) == FIRST


def test_the_heartbeat_of_a_lite_pull_consumer_does_not_say_where_it_begins() -> None:
    assert begins(heartbeats=(LAST,), clients={}, consume_type="CONSUME_ACTIVELY") is None
    assert begins(heartbeats=(LAST,), clients={"c": FIRST}, consume_type="CONSUME_ACTIVELY") == FIRST


POP = (MessageRequestMode("pay", "g", "POP", 2),)


@pytest.mark.parametrize(
    ("answers", "mode", "share"),
    [
        ({"request_modes": POP, "running_infos": says(clientRebalance="false")}, "POP", 2),
        ({"request_modes": POP}, "POP", 2),
        ({"request_modes": POP, "running_infos": says(clientRebalance="true")}, "PULL", None),
        (
            {"request_modes": POP, "running_infos": says(clientRebalance="false", PROP_CONSUMEORDERLY="true")},
            "PULL",
            None,
        ),
        (
            {"request_modes": POP, "running_infos": says(clientRebalance="false", messageModel="BROADCASTING")},
            "PULL",
            None,
        ),
        ({"request_modes": ()}, "PULL", None),
        ({"request_modes": (), "config": {"defaultMessageRequestMode": "POP"}}, "POP", -1),
        (
            {"request_modes": (), "config": {"defaultMessageRequestMode": "POP", "defaultPopShareQueueNum": "3"}},
            "POP",
            3,
        ),
        ({"request_modes": (MessageRequestMode("pay", "other", "POP", 2),)}, "PULL", None),
        ({"request_modes": None}, None, None),
    ],
)
def test_the_request_mode_is_what_the_clients_follow(
    answers: dict[str, Any], mode: str | None, share: int | None
) -> None:
    group = group_of([broker("a", connections=online("pay", "%RETRY%g"), **answers)])
    assert (group.message_request_mode, group.pop_share_queue_num) == (mode, share)
    by_topic = {one.topic: (one.message_request_mode, one.pop_share_queue_num) for one in group.subscriptions or ()}
    assert by_topic["pay"] == (mode, share)
    assert by_topic["%RETRY%g"] == ("PULL" if mode else None, None)


def test_a_group_whose_topics_differ_in_mode_has_none_for_itself() -> None:
    group = group_of([broker("a", connections=online("pay", "ship"), request_modes=POP)])
    assert (group.message_request_mode, group.pop_share_queue_num) == (None, None)
    shares = (*POP, MessageRequestMode("ship", "g", "POP", 5))
    group = group_of([broker("a", connections=online("pay", "ship"), request_modes=shares)])
    assert (group.message_request_mode, group.pop_share_queue_num) == ("POP", None)
