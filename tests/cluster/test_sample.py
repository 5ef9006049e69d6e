"""The recorded sample is a recording of the cluster that its script builds."""

from collections import Counter
from pathlib import Path

import pytest

from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryTopic,
    Sample,
    parse_utc,
)
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from tests.cluster import sample_fleet
from tests.cluster.record_sample import SAMPLE


@pytest.fixture(scope="module")
def sample() -> Inventory:
    return read_inventory(SAMPLE)


@pytest.fixture(scope="module")
def topics(sample: Inventory) -> dict[str, InventoryTopic]:
    return {topic.topic: topic for topic in sample.topics}


@pytest.fixture(scope="module")
def groups(sample: Inventory) -> dict[str, InventoryGroup]:
    return {group.consumer_group: group for group in sample.consumer_groups}


def test_every_broker_answered_and_is_there_the_slave_too(sample: Inventory) -> None:
    assert sample.cluster_name == sample_fleet.CLUSTER_NAME
    assert {(broker.broker_name, broker.broker_id) for broker in sample.brokers} == {
        (broker.broker_name, broker.broker_id) for broker in sample_fleet.BROKERS
    }
    assert not sample.failures


def test_it_is_of_the_size_that_was_asked_for() -> None:
    assert len({broker.broker_name for broker in sample_fleet.BROKERS}) >= 3
    assert len(sample_fleet.TOPICS) >= 20
    assert len(sample_fleet.groups()) >= 15


def test_every_topic_has_the_queues_that_it_was_given(topics: dict[str, InventoryTopic]) -> None:
    for topic in sample_fleet.TOPICS:
        queues = topics[topic.topic].queues or ()
        recorded = {queue.broker_name: (queue.read_queue_nums, queue.write_queue_nums) for queue in queues}
        assert recorded == dict(topic.queues), topic.topic
        read_only = {queue.broker_name for queue in queues if queue.perm == sample_fleet.READ}
        assert read_only == ({topic.read_only_on} if topic.read_only_on else set()), topic.topic


def test_every_consumer_was_recorded_and_a_repeated_id_as_often_as_it_was_started(
    groups: dict[str, InventoryGroup],
) -> None:
    for consumers in sample_fleet.groups():
        recorded = Counter(client.client_id for client in groups[consumers[0].consumer_group].clients or ())
        started = Counter(f"{consumer.client_ip}@{consumer.instance_name}" for consumer in consumers)
        assert recorded == started, consumers[0].consumer_group


def test_every_grpc_client_was_recorded_through_the_proxy(sample: Inventory, groups: dict[str, InventoryGroup]) -> None:
    (proxy,) = sample.proxies or ()
    group = groups[sample_fleet.GRPC_GROUP]
    clients = group.clients or ()

    assert (proxy.mode, proxy.version) == ("CLUSTER", "V5_3_3")
    assert len({client.client_id for client in clients}) == len(clients) == sample_fleet.GRPC_CLIENTS
    assert {(client.protocol, client.seen_on) for client in clients} == {("GRPC", (proxy.proxy_addr,))}
    assert [subscription.topic for subscription in group.subscriptions or ()] == [sample_fleet.GRPC_TOPIC]


def test_clients_read_the_labels_between_the_heartbeats_of_the_one_that_does_not_subscribe(
    groups: dict[str, InventoryGroup],
) -> None:
    labels = [
        one.consume_rt_ms
        for client in groups["shipping"].clients or ()
        for one in client.status or ()
        if one.topic == "shipment_label"
    ]

    assert len(labels) == 2
    assert all(labels)


def test_the_slave_lacks_every_topic_since_its_version_cannot_copy_those_with_a_message_type(sample: Inventory) -> None:
    (slave,) = (broker for broker in sample.brokers if broker.broker_id)
    drifted = {topic.topic for topic in slave.drifted_topics or () if topic.read_queue_nums is None}

    assert slave.version == "V5_3_3"
    assert {topic.topic for topic in sample_fleet.TOPICS if slave.broker_name in topic.queues} <= drifted


def test_messages_were_flowing_to_every_topic(topics: dict[str, InventoryTopic]) -> None:
    for topic in sample_fleet.TOPICS:
        rates = [offset.put_msgs_per_s for offset in topics[topic.topic].offsets or ()]
        assert sum(rate or 0.0 for rate in rates) > 0.0, topic.topic


def test_the_nightly_job_left_its_offsets_and_is_gone(groups: dict[str, InventoryGroup]) -> None:
    nightly = groups[sample_fleet.offline_group()[0].consumer_group]

    assert not nightly.clients
    assert any(offset.consumer_offset for offset in nightly.offsets or ())


def test_the_slow_client_fell_behind_further_from_sample_to_sample(groups: dict[str, InventoryGroup]) -> None:
    offsets = [offset for offset in groups["invoice_renderer"].offsets or () if offset.topic == "invoice_requested"]
    growing = [
        (offset.broker_name, offset.queue_id)
        for offset in offsets
        if (lags := lags_of(offset)) == sorted(lags) and lags[-1] - lags[0] > 50
    ]

    assert [len(lags_of(offset)) for offset in offsets] == [10] * 12
    assert growing == [(sample_fleet.C, 1), (sample_fleet.C, 2), (sample_fleet.C, 3)]


def lags_of(offset: InventoryGroupOffset) -> list[int]:
    """The lag of a queue, sample by sample; an unknown offset leaves its sample out."""
    moments: list[Sample | InventoryGroupOffset] = [*(offset.samples or ()), offset]
    return [
        moment.broker_offset - moment.consumer_offset
        for moment in moments
        if moment.broker_offset is not None and moment.consumer_offset is not None
    ]


def test_clients_had_run_long_enough_to_be_judged(sample: Inventory, groups: dict[str, InventoryGroup]) -> None:
    shipping = groups["shipping"].clients or ()

    starts = [client.started_at for client in shipping]

    assert all(start is not None and (sample.taken_at_utc - parse_utc(start)).total_seconds() > 120 for start in starts)


def test_it_contains_nothing_of_the_machine_that_recorded_it() -> None:
    text = SAMPLE.read_text("utf-8")

    assert str(Path.home()) not in text
    assert "/tmp/" not in text  # noqa: S108  # looked for, not written to
