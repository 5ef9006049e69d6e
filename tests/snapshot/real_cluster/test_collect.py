"""A snapshot of a real RocketMQ says what the official admin client says."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.codes import Serialization
from rocketmq_capacity.snapshot.broker_survey import RELAYED_AT_A_TIME
from rocketmq_capacity.snapshot.collect import CollectOptions, collect, collect_now
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from tests.cluster.rocketmq import Clients, Cluster
from tests.oracle.rocketmq_version import ROCKETMQ_NAME
from tests.snapshot.real_cluster.conftest import (
    CONSUMERS,
    PLACED,
    ROOM,
    Taken,
    is_made_later,
    read_by_groups,
    settled_topics,
)

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]


def test_it_is_a_valid_inventory_without_any_failure(taken: Taken) -> None:
    assert taken.inventory.failures == ()
    assert taken.inventory.cluster_name == "C1"
    assert parse_inventory(b"".join(render_inventory(taken.inventory)), source="taken") == taken.inventory


def test_every_process_is_listed_masters_and_slaves(taken: Taken) -> None:
    brokers = {(one.broker_name, one.broker_id, one.broker_addr) for one in taken.inventory.brokers}
    assert brokers == {(row["broker_name"], row["broker_id"], row["broker_addr"]) for row in taken.facts["brokers"]}
    for broker in taken.inventory.brokers:
        assert broker.version == ROCKETMQ_NAME
        assert broker.broker_perm == 6
        assert broker.config is not None
        assert broker.config["brokerName"] == broker.broker_name
        assert broker.runtime is not None
        assert broker.runtime["brokerActive"] == str(broker.broker_id == 0).lower()


def test_no_more_requests_are_under_way_than_a_broker_has_threads_for(taken: Taken) -> None:
    """Checked against what brokers of this version say of themselves."""
    for broker in taken.inventory.brokers:
        assert broker.config is not None
        threads = int(broker.config["adminBrokerThreadPoolNums"])
        assert ConnectionSettings().in_flight == threads
        assert threads == 2 * RELAYED_AT_A_TIME


def test_topics_and_their_queues_are_those_of_the_routes(taken: Taken) -> None:
    routes = {
        (row["topic"], row["broker_name"], row["read_queue_nums"], row["write_queue_nums"], row["perm"])
        for row in taken.facts["routes"]
        if not is_made_later(row["topic"])
    }
    queues = {
        (topic.topic, queue.broker_name, queue.read_queue_nums, queue.write_queue_nums, queue.perm)
        for topic in settled_topics(taken.inventory)
        for queue in topic.queues or ()
    }
    assert queues == routes
    assert ("ship", "broker-a", 2, 5, 6) in queues
    assert ("ship", "broker-b", 4, 4, 4) in queues


def test_order_and_message_type_are_those_of_the_brokers(taken: Taken) -> None:
    by_topic = {topic.topic: topic for topic in taken.inventory.topics}
    for row in taken.masters("topic_configs"):
        assert by_topic[row["topic"]].order or not row["order"]
        assert by_topic[row["topic"]].message_type == row["attributes"].get("message.type", "NORMAL")
    assert (by_topic["fifo"].order, by_topic["fifo"].message_type) == (True, "FIFO")


def test_offsets_of_every_business_topic_are_those_of_the_masters(taken: Taken) -> None:
    offsets = {
        (topic.topic, one.broker_name, one.queue_id): (one.min_offset, one.max_offset)
        for topic in taken.inventory.topics
        for one in topic.offsets or ()
    }
    told = {
        (row["topic"], row["broker_name"], row["queue_id"]): (row["min_offset"], row["max_offset"])
        for row in taken.masters("topic_stats")
    }
    assert offsets == {queue: told[queue] for queue in offsets}
    assert {queue for queue in told if queue[0] in ("pay", "ship", "fifo", "popped")} <= set(offsets)
    assert sum(last or 0 for (topic, *_), (_, last) in offsets.items() if topic == "pay") == 300
    assert taken.topic("BenchmarkTest").offsets is None


def test_every_group_is_listed(taken: Taken) -> None:
    groups = [group.consumer_group for group in taken.inventory.consumer_groups]
    assert set(groups) == set(taken.facts["consumer_groups"])
    assert groups == sorted(groups)


def test_clients_are_listed_once_for_each_consumer_with_the_brokers_that_named_them(taken: Taken) -> None:
    told = Counter(
        (row["consumer_group"], row["broker_name"], row["client_id"]) for row in taken.masters("connections")
    )
    seen = Counter(
        (group.consumer_group, broker_name, client.client_id)
        for group in taken.inventory.consumer_groups
        for client in group.clients or ()
        for broker_name in client.seen_on or ()
    )
    assert seen == told
    addresses = {
        (row["broker_name"], row["consumer_group"], row["client_addr"]) for row in taken.masters("connections")
    }
    for group in taken.inventory.consumer_groups:
        for client in group.clients or ():
            assert client.seen_on
            assert (client.seen_on[0], group.consumer_group, client.client_addr) in addresses
            assert (client.language, client.version) == ("JAVA", ROCKETMQ_NAME)


def test_two_consumers_of_one_id_are_two_clients_of_which_one_is_known(taken: Taken) -> None:
    first, second = taken.clients("g_twice")
    assert first.client_id == second.client_id == "127.0.0.1@same"
    assert first.client_addr != second.client_addr
    assert first.seen_on == second.seen_on == tuple(sorted(PLACED))
    assert first.allocate_strategy == "AVG"
    assert first.owned_queues
    assert (second.allocate_strategy, second.owned_queues, second.subscriptions) == (None, None, None)


def test_what_a_group_is_and_reads_is_what_its_brokers_say(taken: Taken) -> None:
    told: dict[str, dict[str, Any]] = {}
    for row in sorted(taken.masters("group_subscriptions"), key=lambda row: row["broker_name"], reverse=True):
        told[row["consumer_group"]] = row
    assert {"g_avg", "g_all", "g_pop", "g_mixed"} <= set(told)
    for name, row in told.items():
        group = taken.group(name)
        assert (group.message_model, group.consume_type) == (row["message_model"], row["consume_type"])
        expected = {(one["topic"], one["expression_type"], one["expression"]) for one in row["subscriptions"]}
        read = {(one.topic, one.expression_type, one.expression) for one in group.subscriptions or ()}
        assert expected <= read or name == "g_mixed"  # the last heartbeat of either client is what each broker has


def test_groups_begin_where_all_their_clients_say(taken: Taken) -> None:
    for name in ("g_avg", "g_all", "g_pop"):
        rows = [row for row in taken.facts["running"] if row["consumer_group"] == name]
        (where,) = {row["properties"]["consumeFromWhere"] for row in rows}
        assert taken.group(name).consume_from_where == where


def test_each_client_says_of_itself_what_it_says_to_the_admin_client(taken: Taken) -> None:
    told = {(row["consumer_group"], row["client_id"]): row for row in taken.facts["running"]}
    seen = 0
    for group in taken.inventory.consumer_groups:
        for client in group.clients or ():
            if client.owned_queues is None:
                continue
            seen += 1
            row = told[group.consumer_group, client.client_id]
            properties = row["properties"]
            owned = [[one.topic, one.broker_name, one.queue_id] for one in client.owned_queues]
            assert owned == sorted([*row["owned_queues"], *row["owned_pop_queues"]])
            assert client.consume_threads == int(properties["PROP_THREADPOOL_CORE_SIZE"])
            assert client.consume_batch_size == int(properties["consumeMessageBatchMaxSize"])
            assert client.pull_batch_size == int(properties["pullBatchSize"])
            assert client.pull_interval_ms == int(properties["pullInterval"])
            assert client.pull_threshold_for_queue == int(properties["pullThresholdForQueue"])
            assert client.pull_threshold_size_for_queue_mib == int(properties["pullThresholdSizeForQueue"])
            # RocketMQ says -1 where it is not set.
            for_all = (client.pull_threshold_for_topic, client.pull_threshold_size_for_topic_mib)
            assert {properties["pullThresholdForTopic"], properties["pullThresholdSizeForTopic"]} == {"-1"}
            assert for_all == (None, None)
            subscriptions = [[one.topic, one.expression_type, one.expression] for one in client.subscriptions or ()]
            expected = [[one["topic"], one["expression_type"], one["expression"]] for one in row["subscriptions"]]
            assert subscriptions == sorted(expected)
            assert {one.topic for one in client.status or ()} == set(row["status"])
    assert seen == len(told) == len(CONSUMERS) - 1  # of the two with one id, one is asked


def test_each_strategy_has_the_name_that_its_class_gives_itself(taken: Taken) -> None:
    names = {
        "g_avg": "AVG",
        "g_circle": "AVG_BY_CIRCLE",
        "g_hash": "CONSISTENT_HASH",
        "g_room": "MACHINE_ROOM",
        "g_near": "MACHINE_ROOM_NEARBY",
    }
    for group, name in names.items():
        assert [client.allocate_strategy for client in taken.clients(group)] == [name] * len(taken.clients(group))


def test_clients_own_what_they_hold(taken: Taken) -> None:
    held = {(one.consumer_group, one.client_id): {*one.queues, *one.pop_queues} for one in taken.owned}
    for group in taken.inventory.consumer_groups:
        for client in group.clients or ():
            if client.owned_queues is not None:
                queues = {(one.topic, one.broker_name, one.queue_id) for one in client.owned_queues}
                assert queues == {tuple(queue) for queue in held[group.consumer_group, client.client_id]}


def test_settings_of_each_client_are_its_own(taken: Taken) -> None:
    assert [client.consume_threads for client in taken.clients("g_avg")] == [2, 3, 4]
    first, second = taken.clients("g_mixed")
    assert (first.client_id, first.consume_batch_size) == ("127.0.0.1@m0-中文", 3)
    assert (second.client_id, second.pull_threshold_for_queue) == ("127.0.0.1@m1", 77)
    assert [(one.topic, one.expression) for one in first.subscriptions or () if one.topic == "pay"] == [
        ("pay", "red || blue")
    ]
    assert [(one.topic, one.expression_type) for one in second.subscriptions or () if one.topic == "pay"] == [
        ("pay", "SQL92")
    ]


def test_orderly_groups_are_those_that_are_set_so_or_consume_so(taken: Taken) -> None:
    assert taken.group("g_hash").orderly is True
    assert taken.group("g_orderly").orderly is True
    assert taken.group("g_avg").orderly is False


def test_the_request_mode_is_pop_where_it_was_set_and_pull_elsewhere(taken: Taken) -> None:
    group = taken.group("g_pop")
    assert (group.message_request_mode, group.pop_share_queue_num) == ("POP", 1)
    modes = {one.topic: (one.message_request_mode, one.pop_share_queue_num) for one in group.subscriptions or ()}
    assert modes == {"popped": ("POP", 1), "%RETRY%g_pop": ("PULL", None)}
    assert taken.group("g_avg").message_request_mode == "PULL"


def test_a_broadcasting_group_has_no_offsets_and_every_client_all_queues(taken: Taken) -> None:
    group = taken.group("g_all")
    assert group.message_model == "BROADCASTING"
    assert not group.offsets
    assert [len(client.owned_queues or ()) for client in group.clients or ()] == [6, 6]


def test_group_offsets_are_those_of_the_masters(taken: Taken) -> None:
    before, after = read_by_groups(taken.facts), read_by_groups(taken.facts_after)
    # A broker tells the offsets of the topics that the last heartbeat of a group named (updateSubscription of
    # ConsumerGroupInfo), and the members of g_mixed name different ones: what it tells comes and goes.
    offsets = {
        (group.consumer_group, one.topic, one.broker_name, one.queue_id): (one.broker_offset, one.consumer_offset)
        for group in taken.inventory.consumer_groups
        for one in group.offsets or ()
        if group.consumer_group != "g_mixed"
    }
    assert {queue for queue in before if queue[0] != "g_mixed"} <= offsets.keys() <= after.keys()
    assert all(told in (before.get(queue), after[queue]) for queue, told in offsets.items())
    read = [one for one in taken.group("g_avg").offsets or () if one.topic == "pay"]
    assert sum(one.consumer_offset or 0 for one in read) == 300
    assert all(one.last_timestamp for one in read if one.consumer_offset)
    (never_written,) = [one for one in read if (one.broker_name, one.queue_id) == (ROOM, 0)]
    assert (never_written.broker_offset, never_written.consumer_offset, never_written.last_timestamp) == (0, 0, None)


def test_a_snapshot_changes_nothing(taken: Taken) -> None:
    for kind in ("brokers", "routes", "topic_configs", "consumer_groups", "connections"):
        before, after = (
            sorted(filter(is_settled, map(str, facts[kind]))) for facts in (taken.facts, taken.facts_after)
        )
        assert before == after, kind


def is_settled(row: str) -> bool:
    """Whether it stays as it is: for a while after their start brokers make topics, and slaves copy their masters'."""
    return "'topic': 'rmq_sys_" not in row and not ("'topic': " in row and "'broker_id': 1" in row)


def test_two_snapshots_of_a_quiet_cluster_are_equal_but_for_time_and_figures(running: Cluster, taken: Taken) -> None:
    settings = ConnectionSettings(serialization=Serialization.ROCKETMQ)
    again = collect_now([running.nameserver], options=CollectOptions(settings=settings))
    assert settled_topics(again) == settled_topics(taken.inventory)
    assert held(again) == held(taken.inventory)


def held(inventory: Inventory) -> list[tuple[str, str, list[tuple[str, str, int]]]]:
    """(group, client id, the queues that it says it holds), in the inventory's order."""
    return [
        (
            group.consumer_group,
            client.client_id,
            [(q.topic, q.broker_name, q.queue_id) for q in client.owned_queues or ()],
        )
        for group in inventory.consumer_groups
        for client in group.clients or ()
    ]


def test_samples_apart_in_time_give_rates_and_the_way_of_a_groups_offsets(
    running: Cluster, clients: Clients, taken: Taken
) -> None:
    queues = [(broker_name, queue_id) for broker_name, count in PLACED.items() for queue_id in range(count)]
    clients.start_load("pay", 50.0, weights={queue: float(queue == ("broker-a", 0)) for queue in queues})
    try:
        options = CollectOptions(sample_count=3, sample_interval_s=4.0)
        inventory = asyncio.run(collect([running.nameserver], options=options))
    finally:
        clients.stop_loads()
    pay = next(topic for topic in inventory.topics if topic.topic == "pay")
    rates = {(one.broker_name, one.queue_id): one.put_msgs_per_s for one in pay.offsets or ()}
    assert len(rates) == sum(PLACED.values())
    assert (rates.pop(("broker-a", 0)) or 0) > 0
    assert set(rates.values()) == {0.0}
    group = next(group for group in inventory.consumer_groups if group.consumer_group == "g_avg")
    read = next(
        one for one in group.offsets or () if (one.topic, one.broker_name, one.queue_id) == ("pay", "broker-a", 0)
    )
    assert read.samples is not None
    steps = [one.broker_offset or 0 for one in read.samples] + [read.broker_offset or 0]
    assert len(steps) == 3
    assert steps == sorted(set(steps))
    assert [one.at for one in read.samples] < [inventory.taken_at]
