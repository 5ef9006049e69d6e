"""Groups behind a Proxy, groups whose clients are not known, and a message model without strategies.

What a Proxy assigns: RouteActivity.queryAssignment, rocketmq-all-5.3.3. That a group with clients of both protocols
consumes its messages twice was seen on a real cluster (tests/cluster/test_proxies.py).
"""

from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryFailure, InventoryGroup, InventoryProxy
from rocketmq_capacity.vocabulary import CLIENT_STRATEGIES, EVERY_QUEUE
from tests.assessment.cases import Part, a_group, a_topic, member, members, pops, takes
from tests.assessment.judge import Judgement, judge
from tests.simulation.clusters import cluster, queues, reads

PROXY = "10.0.8.1:8080"
PART = Part()


def grpc(count: int, **facts: Any) -> list[Client]:
    """gRPC consumers, as a Proxy in cluster mode names them."""
    return [member(f"vm@1@{i}@{i}z", protocol="GRPC", **{"seen_on": (PROXY,)} | facts) for i in range(count)]


def remoting(count: int, **facts: Any) -> list[Client]:
    """Consumers at the brokers."""
    return members(count, allocate_strategy="AVG", seen_on=("broker-a", "broker-b"), **facts)


FOUR = (queues("broker-a", 2), queues("broker-b", 2))
PART.case("grpc_six", grpc(6), *FOUR)
PART.case("grpc_one", grpc(1), *FOUR)
PART.case("grpc_fifo", grpc(6), *FOUR, orderly=True, message_type="FIFO")
PART.case("grpc_partly_readable", grpc(2), queues("broker-a", 2), queues("broker-b", 2, perm=2))
PART.case("grpc_seen_by_brokers", grpc(6, seen_on=("broker-a",)), *FOUR)
PART.case("grpc_pops", grpc(3), *FOUR, subscriptions=(pops("grpc_pops", 1),))
PART.case("grpc_of_one_id", [*grpc(1), *grpc(1)], *FOUR)
PART.case("grpc_skewed", grpc(2), *FOUR, rates={("broker-a", 0): 5_000.0, ("broker-a", 1): 1.0, ("broker-b", 0): 1.0})
PART.topic("grpc_other", *FOUR)
PART.topic("grpc_own", *FOUR)
PART.group(
    "grpc_of_two_topics",
    [*grpc(1, subscriptions=(reads("grpc_own"),)), *grpc(2, subscriptions=(reads("grpc_other"),))[1:]],
    "grpc_own",
    "grpc_other",
)
PART.case(
    "grpc_timed",
    grpc(6, consume_threads=20, consume_batch_size=1, status=takes("grpc_timed", 10.0)),
    *FOUR,
)
PART.case("both_kinds", [*remoting(2), *grpc(3)], *FOUR)
PART.case("both_kinds_in_the_lists", [*remoting(2), *grpc(2, seen_on=("broker-a", "broker-b"))], *FOUR)
PART.case("both_kinds_idle", [*remoting(6), *grpc(1)], *FOUR)
PART.case("both_kinds_popping", [*members(2), *grpc(2)], *FOUR, subscriptions=(pops("both_kinds_popping"),))
PART.case("lite", members(6), *FOUR, message_model="LITE_SELECTIVE")


def rows(judged: Judgement, group: str, strategy: str) -> Counter[tuple[str, str, str, int]]:
    """(client id, topic, broker name, queue id), as often as the allocation table has it."""
    return Counter(
        (row["client_id"], row["topic"], row["broker_name"], row["queue_id"])
        for row in judged.allocation
        if (row["consumer_group"], row["strategy"]) == (group, strategy)
    )


def strategies(judged: Judgement, group: str) -> set[str]:
    return {row["strategy"] for row in judged.allocation if row["consumer_group"] == group}


@pytest.mark.parametrize("group", ["grpc_six", "grpc_one", "grpc_seen_by_brokers", "grpc_pops"])
def test_every_grpc_client_gets_every_readable_broker_with_queue_minus_one(judged: Judgement, group: str) -> None:
    clients = {row[0] for row in rows(judged, group, "POP")}
    assert rows(judged, group, "POP") == Counter(
        (client, group, name, EVERY_QUEUE) for client in clients for name in ("broker-a", "broker-b")
    )
    assert len(clients) == judged.group(group)["connections"]
    assert strategies(judged, group) == {"POP"}


def test_every_grpc_client_of_an_orderly_group_gets_every_queue_by_its_id(judged: Judgement) -> None:
    assert rows(judged, "grpc_fifo", "POP") == Counter(
        (f"vm@1@{i}@{i}z", "grpc_fifo", name, queue)
        for i in range(6)
        for name in ("broker-a", "broker-b")
        for queue in range(2)
    )


def test_a_broker_that_cannot_be_read_is_not_assigned(judged: Judgement) -> None:
    assert {row[2] for row in rows(judged, "grpc_partly_readable", "POP")} == {"broker-a"}


def test_a_grpc_client_gets_the_topics_that_it_subscribes(judged: Judgement) -> None:
    assert {(row[0], row[1]) for row in rows(judged, "grpc_of_two_topics", "POP")} == {
        ("vm@1@0@0z", "grpc_own"),
        ("vm@1@1@1z", "grpc_other"),
    }


@pytest.mark.parametrize("group", ["grpc_six", "grpc_fifo"])
def test_a_group_of_grpc_clients_pops_and_can_run_no_strategy_of_clients(judged: Judgement, group: str) -> None:
    said = judged.group(group)
    assert (said["protocol"], said["message_request_mode"], said["max_useful_clients"]) == ("GRPC", "POP", None)
    assert (said["current_strategy"], said["current_strategy_source"]) == ("POP", "reported")
    of_group = [row for row in judged.strategy_loads if row["consumer_group"] == group]
    assert {row["strategy"] for row in of_group if row["is_applicable"]} == {"POP"}
    refused = {row["reason"] for row in of_group if row["strategy"] in CLIENT_STRATEGIES}
    assert refused == {"a Proxy assigns the queues of gRPC clients, which run no strategy of their own"}
    load = judged.load(group, "POP")
    assert (load["idle_clients"], load["orphan_queues"], load["doubly_owned_queues"]) == ([], [], [])
    assert load["count"]["peak"] == 1


@pytest.mark.parametrize(
    "group",
    [
        *("grpc_six", "grpc_one", "grpc_fifo", "grpc_partly_readable", "grpc_seen_by_brokers", "grpc_pops"),
        *("grpc_of_one_id", "grpc_skewed", "grpc_timed"),
    ],
)
def test_nothing_is_wrong_with_a_group_because_its_clients_are_grpc_ones(judged: Judgement, group: str) -> None:
    about = (row for row in judged.findings if row["consumer_group"] == group)
    assert {row["rule"] for row in about if row["severity"] != "INFO"} == set()


def test_a_group_whose_grpc_clients_say_nothing_of_themselves_is_undecided(judged: Judgement) -> None:
    assert judged.group("grpc_six")["provision_status"] == "UNDECIDED"
    assert judged.group("grpc_six")["provision_reason"] == (
        "its gRPC clients say nothing of their threads and response times"
    )


def test_a_group_of_grpc_clients_shares_the_messages_of_every_queue(judged: Judgement) -> None:
    # 40 messages a second by 6 clients of 20 threads, 10 ms each
    assert judged.group("grpc_timed")["utilisation"] == pytest.approx(40 / 6 * 0.010 / 20)


def test_remoting_clients_divide_among_themselves_what_grpc_clients_of_a_proxy_pop(judged: Judgement) -> None:
    divided = [("c01", "both_kinds", "broker-a", i) for i in range(2)]
    divided += [("c02", "both_kinds", "broker-b", i) for i in range(2)]
    popped = [
        (f"vm@1@{i}@{i}z", "both_kinds", name, EVERY_QUEUE) for i in range(3) for name in ("broker-a", "broker-b")
    ]
    assert rows(judged, "both_kinds", "AVG") == Counter(divided + popped)


def test_grpc_clients_that_brokers_know_take_a_share_of_the_queues_from_remoting_clients(judged: Judgement) -> None:
    group = "both_kinds_in_the_lists"
    divided = [("c01", group, "broker-a", 0), ("c02", group, "broker-a", 1)]
    popped = [(f"vm@1@{i}@{i}z", group, name, EVERY_QUEUE) for i in range(2) for name in ("broker-a", "broker-b")]
    assert rows(judged, group, "AVG") == Counter(divided + popped)
    assert judged.load(group, "AVG")["orphan_queues"] == []


def test_clients_of_both_protocols_consume_the_same_messages(judged: Judgement) -> None:
    found = judged.finding("MIXED_STRATEGIES", "both_kinds")
    assert found["severity"] == "CRITICAL"
    assert found["evidence"] == {
        "protocols": [{"protocol": "GRPC", "clients": 3}, {"protocol": "REMOTING", "clients": 2}],
        "strategies": [{"strategy": "AVG", "clients": 2}],
        "orphan_queues": 0,
        "doubly_owned_queues": 4,
    }
    assert judged.rules("both_kinds") == {"MIXED_STRATEGIES"}
    said = judged.group("both_kinds")
    assert (said["protocol"], said["message_request_mode"], said["max_useful_clients"]) == ("MIXED", "MIXED", None)
    assert (said["current_strategy"], said["current_strategy_source"]) == ("AVG", "reported")


def test_only_the_queues_that_a_remoting_client_owns_are_read_twice(judged: Judgement) -> None:
    assert judged.finding("MIXED_STRATEGIES", "both_kinds_in_the_lists")["evidence"]["doubly_owned_queues"] == 2


def test_idle_are_the_remoting_clients_alone(judged: Judgement) -> None:
    assert judged.finding("IDLE_CONSUMERS", "both_kinds_idle")["subjects"] == ["c05", "c06"]


def test_clients_of_both_protocols_may_pop_together(judged: Judgement) -> None:
    assert judged.rules("both_kinds_popping") == set()
    assert judged.group("both_kinds_popping")["message_request_mode"] == "POP"


def test_no_strategy_applies_to_a_message_model_that_neither_shares_out_nor_broadcasts(judged: Judgement) -> None:
    reason = "its message model is neither CLUSTERING nor BROADCASTING: no strategy applies"
    said = judged.group("lite")
    assert (said["message_model"], said["current_strategy"], said["max_useful_clients"]) == (
        "LITE_SELECTIVE",
        None,
        None,
    )
    assert (said["provision_status"], said["provision_reason"]) == ("UNDECIDED", reason)
    of_group = [row for row in judged.strategy_loads if row["consumer_group"] == "lite"]
    assert {(row["is_applicable"], row["reason"]) for row in of_group} == {(False, reason)}
    assert {row["strategy"] for row in of_group} == set(Policy().strategies)
    assert strategies(judged, "lite") == set()
    assert judged.rules("lite") == set()


def without_clients(
    *, moves: bool, heartbeat: bool = False, proxies: tuple[InventoryProxy, ...] | None = None, silent: bool = False
) -> Inventory:
    pay = a_topic("pay", *FOUR)
    samples = {("pay", "broker-a", 0): [(90_000, 1_000)]} if moves else {("pay", "broker-a", 0): [(90_000, 99_990)]}
    group = a_group("g_pay", (), [pay], samples=samples)
    topics = [pay, *([a_topic("DefaultHeartBeatSyncerTopic", queues("broker-a", 1))] if heartbeat else [])]
    failures = (
        [InventoryFailure(broker_addr=PROXY, request="GET_CONSUMER_CONNECTION_LIST", error="refused")]
        if silent
        else None
    )
    return replace(cluster(topics, [group], failures=failures), proxies=proxies)


UNNAMED = "its clients are unknown: a Proxy works here (DefaultHeartBeatSyncerTopic exists), and none is named"
MOVING = "its clients are unknown: its offsets move, so that they may be behind a Proxy, and none is named"
SILENT = "its clients are unknown: no Proxy answered"
NOBODY = "the group has no clients"
NAMED = (InventoryProxy(proxy_addr=PROXY, mode="CLUSTER"),)


@pytest.mark.parametrize(
    ("inventory", "reason"),
    [
        (without_clients(moves=False), NOBODY),
        (without_clients(moves=True), MOVING),
        (without_clients(moves=False, heartbeat=True), UNNAMED),
        (without_clients(moves=True, heartbeat=True, proxies=NAMED), NOBODY),
        (without_clients(moves=True, heartbeat=True, proxies=NAMED, silent=True), SILENT),
        (
            without_clients(moves=False, heartbeat=True, proxies=(InventoryProxy(proxy_addr="b:10911", mode="LOCAL"),)),
            UNNAMED,
        ),
        (without_clients(moves=True, proxies=(InventoryProxy(proxy_addr="b:10911", mode="LOCAL"),)), MOVING),
        (
            without_clients(
                moves=False, heartbeat=True, proxies=(*NAMED, InventoryProxy(proxy_addr="p2:8080")), silent=True
            ),
            NOBODY,
        ),
    ],
)
def test_a_group_without_clients_may_have_some_behind_a_proxy_that_was_not_asked(
    inventory: Inventory, reason: str
) -> None:
    judged = judge(inventory)
    said = judged.group("g_pay")
    assert (said["provision_status"], said["provision_reason"]) == ("UNDECIDED", reason)
    refused = judged.load("g_pay", "AVG")["reason"]
    assert refused == reason if reason != NOBODY else refused.startswith(NOBODY)


@pytest.mark.parametrize("moves", [True, False])
def test_a_group_of_which_nobody_said_who_its_clients_are_is_not_one_without_clients(moves: bool) -> None:
    inventory = without_clients(moves=moves)
    untold = [replace(group, clients=None) for group in inventory.consumer_groups]
    judged = judge(replace(inventory, consumer_groups=tuple(untold)))

    said = judged.group("g_pay")
    assert (said["provision_status"], said["reading_status"]) == ("UNDECIDED", "UNKNOWN")
    reason = "its clients are unknown: brokers did not say who they are"
    assert said["provision_reason"] == judged.load("g_pay", "AVG")["reason"] == reason


def test_a_group_of_grpc_clients_is_allocated_though_the_policy_names_no_pop() -> None:
    pay = a_topic("pay", *FOUR)
    group: InventoryGroup = a_group("g_pay", grpc(2), [pay])
    judged = judge(cluster([pay], [group]), Policy(strategies=("AVG",)))
    assert len(rows(judged, "g_pay", "POP")) == 4
    assert judged.rules("g_pay") == set()
