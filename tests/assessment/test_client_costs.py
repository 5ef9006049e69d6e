"""What clients ask of brokers: connections, heartbeats, look-ups, commits, pulls and pops, by hand."""

from typing import Any

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import (
    Client,
    Inventory,
    InventoryBroker,
    InventoryFailure,
    InventoryProducer,
    InventoryTopic,
)
from rocketmq_capacity.tables import BrokerPool, ClientCost
from tests.fixtures.costs import costs_of
from tests.recommendation.cases import broker
from tests.simulation.clusters import after, client, cluster, group, queues, reads, topic

A, B = "broker-a", "broker-b"
PAY = topic(
    "pay", queues(A, 4), queues(B, 2), rates=dict.fromkeys([(A, 0), (A, 1), (A, 2), (A, 3), (B, 0), (B, 1)], 8.0)
)
RETRY = topic("%RETRY%g", queues(A, 1), queues(B, 1), rates={(A, 0): 0.0, (B, 0): 0.0})


def members(count: int, **facts: Any) -> list[Client]:
    return [client(f"c{number}", **{"subscriptions": None} | facts) for number in range(count)]


def costs(inventory: Inventory, **policy: Any) -> dict[str, ClientCost]:
    return {one.broker_name: one for one in costs_of(inventory, Policy.model_validate(policy))[0]}


def pools(inventory: Inventory) -> dict[tuple[str, str], BrokerPool]:
    return {(one.broker_name, one.pool): one for one in costs_of(inventory)[1]}


def g(clients: list[Client], *topics: InventoryTopic, **facts: Any) -> Any:
    return group("g", clients, topics or (PAY, RETRY), message_model="CLUSTERING", **facts)


def test_a_group_that_pulls_has_a_connection_a_client_and_a_pull_a_queue() -> None:
    found = costs(cluster((PAY, RETRY), [g(members(3))]))

    a, b = found[A], found[B]
    assert (a.connections, b.connections) == (3, 3)
    # 3 clients every 30 s; 3 clients x 2 topics every 20 s, of which half ask each broker; 5 and 3 queues every 5 s.
    assert (a.heartbeats_per_s, a.member_lookups_per_s, a.assignment_queries_per_s) == (0.1, 0.15, 0.0)
    assert (a.offset_commits_per_s, b.offset_commits_per_s) == (1.0, 0.6)
    assert (a.waiting_pulls, b.waiting_pulls, a.waiting_pops, a.acks_per_s) == (5, 3, 0, 0.0)
    # On a, pay has 32 messages a second on 4 queues: 1 a second in full batches, more than the 0.2 of empty pulls; the
    # retry topic has one empty pull in 20 s. At most each message and each 15 s end one: 4 / 15 + 32, and 1 / 15.
    assert a.pulls_per_s_lower == pytest.approx(1 + 0.05)
    assert a.pulls_per_s_upper == pytest.approx(5 / 15 + 32)
    assert b.pulls_per_s_upper == pytest.approx(3 / 15 + 16)


def test_a_broadcasting_client_pulls_every_queue_and_commits_none_at_the_broker() -> None:
    everyone = group("g", members(3), [PAY], message_model="BROADCASTING")
    a = costs(cluster([PAY], [everyone]))[A]

    assert (a.connections, a.waiting_pulls, a.offset_commits_per_s, a.member_lookups_per_s) == (3, 12, 0.0, 0.0)
    assert a.pulls_per_s_lower == pytest.approx(3 * 32 / 32)
    assert a.pulls_per_s_upper == pytest.approx(12 / 15 + 3 * 32)


@pytest.mark.parametrize(
    ("share", "clients", "on_a", "on_b"),
    [
        (0, 3, 3, 3),  # every client pops all queues of a broker in one
        (2, 3, 3, 3),  # so it does if its next ones are all others
        (1, 4, 8, 4),  # each queue is popped by its owner and by the client before that one
        (1, 12, 8, 4),  # more clients than queues: a queue each
    ],
)  # fmt: skip
def test_clients_that_pop_wait_at_each_broker_or_at_each_queue(share: int, clients: int, on_a: int, on_b: int) -> None:
    popping = [reads("pay", message_request_mode="POP", pop_share_queue_num=share)]
    found = costs(cluster([PAY], [g(members(clients), PAY, subscriptions=tuple(popping))]))

    assert (found[A].waiting_pops, found[B].waiting_pops) == (on_a, on_b)
    assert found[A].pops_per_s_upper == pytest.approx(on_a / 15 + 32)
    assert (found[A].acks_per_s, found[A].waiting_pulls, found[A].offset_commits_per_s) == (32.0, 0, 0.0)
    assert found[A].assignment_queries_per_s == pytest.approx(clients / 2 / 20)


def test_a_client_of_several_groups_and_producers_is_one_connection_and_equal_ids_in_a_group_are_two() -> None:
    twins = [client("c0"), client("c0"), client("c1")]
    others = group("h", [client("c1"), client("c2")], [PAY])
    inventory = cluster([PAY], [g(twins, PAY), others])
    producers = [
        InventoryProducer(producer_group="CLIENT_INNER_PRODUCER", client_id=name, seen_on=(A,))
        for name in ("c0", "c0", "p")
    ]
    a = costs(
        Inventory(
            **{name: getattr(inventory, name) for name in inventory.__struct_fields__} | {"producers": tuple(producers)}
        )
    )[A]

    assert a.connections == 5  # c0 twice, c1, c2, p


def test_what_nobody_knows_is_null_and_what_is_known_stays() -> None:
    silent = costs(cluster([PAY], [g(members(3), PAY)], failures=[InventoryFailure(broker_addr=f"{A}:10911")]))
    assert (silent[A].connections, silent[A].heartbeats_per_s, silent[A].pulls_per_s_upper) == (None, None, None)
    assert silent[B].connections == 3

    unknown = topic("pay", queues(A, 4), rates={(A, 0): None})
    a = costs(cluster([unknown], [g(members(3), unknown)]))[A]
    assert (a.waiting_pulls, a.pulls_per_s_upper) == (4, None)
    assert a.pulls_per_s_lower == pytest.approx(4 / 20)

    by_itself = costs(cluster([PAY], [g(members(3), PAY, consume_type="CONSUME_ACTIVELY")]))[A]
    assert (by_itself.connections, by_itself.waiting_pulls, by_itself.pulls_per_s_upper) == (3, None, None)

    grpc = costs(cluster([PAY], [g(members(3, protocol="GRPC", seen_on=("proxy:8081",)), PAY)]))[A]
    assert (grpc.connections, grpc.waiting_pulls, grpc.waiting_pops, grpc.pops_per_s_upper) == (0, 0, None, None)


def test_nobody_asks_anything_where_no_group_has_clients() -> None:
    a = costs(cluster((PAY, RETRY), [g([], offsets=())]))[A]
    assert (a.connections, a.waiting_pulls, a.pulls_per_s_lower, a.pulls_per_s_upper) == (0, 0, 0.0, 0.0)


def test_without_long_polling_a_pull_waits_a_second_or_two() -> None:
    short = broker(A, config={"longPollingEnable": "false"})
    quiet = topic("pay", queues(A, 4), rates=dict.fromkeys([(A, number) for number in range(4)], 0.0))
    a = costs(cluster([quiet], [g(members(2), quiet)], [short]))[A]
    assert (a.pulls_per_s_lower, a.pulls_per_s_upper) == (2.0, 4.0)


def test_a_pool_has_its_threads_its_queue_and_the_time_of_a_thread_for_each_request() -> None:
    config = {
        "pullMessageThreadPoolNums": "20", "pullThreadPoolQueueCapacity": "100000", "heartbeatThreadPoolNums": "2",
        "consumerManageThreadPoolNums": "32",
    }  # fmt: skip
    runtime = {
        "pullThreadPoolQueueSize": "7",
        "pullThreadPoolQueueHeadWaitTimeMills": "12",
        "getTotalTps": "3.5 4.25 1.0",
    }
    inventory = cluster([PAY], [g(members(3), PAY)], [broker(A, config=config, runtime=runtime), broker(B)])
    found = pools(inventory)

    assert {name for name, _ in found} == {A}, "b does not tell its settings"
    pull = found[A, "pullMessageThreadPoolNums"]
    assert (pull.threads, pull.queue_capacity, pull.queue_size, pull.head_wait_ms) == (20, 100_000, 7, 12.0)
    # Each of the 4 / 15 + 32 pulls may wait, and is then handled twice.
    assert pull.requests_per_s == pytest.approx(2 * (4 / 15 + 32))
    assert pull.thread_ms == pytest.approx(20_000 / (2 * (4 / 15 + 32)))
    heartbeat = found[A, "heartbeatThreadPoolNums"]
    assert (heartbeat.requests_per_s, heartbeat.thread_ms) == (0.1, 20_000.0)
    assert found[A, "consumerManageThreadPoolNums"].requests_per_s == pytest.approx(3 / 2 / 20 + 4 / 5)
    assert found[A, "litePullMessageThreadPoolNums"].requests_per_s is None
    assert costs(inventory)[A].counted_reads_per_s == 4.25


def test_more_queues_and_more_clients_cost_more() -> None:
    inventory = cluster([PAY], [g(members(3), PAY)])
    more_queues = costs(
        after(
            inventory,
            {"change": "set_queues", "topic": "pay", "broker_name": B, "read_queue_nums": 6, "write_queue_nums": 6},
        )
    )
    more_clients = costs(after(inventory, {"change": "add_clients", "consumer_group": "g", "count": 2}))

    assert (more_queues[B].waiting_pulls, more_queues[B].offset_commits_per_s) == (6, 1.2)
    assert (more_clients[A].connections, more_clients[A].waiting_pulls) == (5, 4)


def test_the_intervals_are_those_of_the_policy() -> None:
    often = {"thresholds": {"TRANSITION": {"heartbeat_s": 10, "rebalance_s": 5, "persist_offset_s": 0}}}
    a = costs(cluster([PAY], [g(members(3), PAY)]), **often)[A]
    assert (a.heartbeats_per_s, a.member_lookups_per_s, a.offset_commits_per_s) == (0.3, 0.3, None)


def test_no_master_is_left_out() -> None:
    assert list(costs(cluster([PAY], [], [broker(B), broker(A), InventoryBroker(broker_name=A, broker_id=1)]))) == [
        A,
        B,
    ]
