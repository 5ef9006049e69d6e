from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.snapshot.filters import with_pass_ratios
from rocketmq_capacity.snapshot.inventory import Inventory, InventorySubscription
from tests.simulation.clusters import (
    after,
    client,
    cluster,
    group,
    owned_by,
    pay_cluster,
    queues,
    reads,
    the_group,
    topic,
)


def strategy(name: str) -> dict[str, Any]:
    return {"change": "set_strategy", "consumer_group": "g_pay", "strategy": name}


def mode(name: str, share: int | None = None, of_topic: str = "pay") -> dict[str, Any]:
    change = {
        "change": "set_request_mode",
        "consumer_group": "g_pay",
        "topic": of_topic,
        "message_request_mode": name,
    }
    return change if share is None else change | {"pop_share_queue_num": share}


def reading(*subscriptions: InventorySubscription, **facts: Any) -> Inventory:
    """Group ``g_pay`` with one client; its own subscriptions are ``pay`` and ``ship``."""
    both = (reads("pay", "vip"), reads("ship"))
    members = [client("c", subscriptions=both)]
    return cluster([topic("pay", queues("broker-a"))], [group("g_pay", members, subscriptions=subscriptions, **facts)])


def entries(inventory: Inventory) -> tuple[InventorySubscription, ...]:
    return the_group(inventory).subscriptions or ()


def test_every_client_reports_the_strategy() -> None:
    changed = after(pay_cluster(), strategy("CONSISTENT_HASH"))
    assert [c.allocate_strategy for c in the_group(changed).clients or ()] == ["CONSISTENT_HASH"] * 3
    assert set(owned_by(changed)) == {None}


def test_a_strategy_that_every_client_has_already_changes_nothing() -> None:
    assert after(pay_cluster(), strategy("AVG")) == pay_cluster()


def test_clients_that_are_added_later_report_the_strategy_of_the_others() -> None:
    changed = after(
        pay_cluster(),
        strategy("AVG_BY_CIRCLE"),
        {"change": "add_clients", "consumer_group": "g_pay", "count": 1},
    )
    assert (the_group(changed).clients or ())[-1].allocate_strategy == "AVG_BY_CIRCLE"


def test_a_topic_of_the_group_gets_its_mode_and_share() -> None:
    changed = after(reading(reads("pay"), reads("ship")), mode("POP", 8))
    assert entries(changed) == (reads("pay", message_request_mode="POP", pop_share_queue_num=8), reads("ship"))
    assert owned_by(changed) == [None]


def test_an_entry_is_added_where_only_clients_subscribe_the_topic() -> None:
    changed = after(reading(reads("ship")), mode("POP", 8))
    assert entries(changed) == (
        reads("ship"),
        reads("pay", "vip", message_request_mode="POP", pop_share_queue_num=8),
    )


def test_without_a_share_an_entry_keeps_its_own() -> None:
    popping = reads("pay", message_request_mode="PULL", pop_share_queue_num=3)
    assert entries(after(reading(popping), mode("POP"))) == (
        reads("pay", message_request_mode="POP", pop_share_queue_num=3),
    )
    assert entries(after(reading(reads("pay")), mode("POP"))) == (reads("pay", message_request_mode="POP"),)


@pytest.mark.parametrize(
    ("before", "change"),
    [
        (reading(reads("pay")), mode("PULL", 8)),
        (reading(reads("pay", message_request_mode="POP", pop_share_queue_num=8)), mode("POP", 8)),
        (reading(reads("pay"), message_request_mode="POP", pop_share_queue_num=8), mode("POP")),
        (reading(reads("pay"), message_request_mode="POP"), mode("POP", -1)),
    ],
)
def test_a_mode_that_holds_already_changes_nothing(before: Inventory, change: dict[str, Any]) -> None:
    assert after(before, change) == with_pass_ratios(before)


def test_back_to_pull_wins_over_the_mode_of_the_group() -> None:
    changed = after(reading(reads("pay"), message_request_mode="POP"), mode("PULL"))
    assert entries(changed) == (reads("pay", message_request_mode="PULL"),)
    assert owned_by(changed) == [None]


@pytest.mark.parametrize(
    ("change", "place", "says"),
    [
        (strategy("AVG") | {"consumer_group": "pay"}, "consumer_group", "the nearest consumer group is 'g_pay'"),
        (mode("POP") | {"consumer_group": "pay"}, "consumer_group", "the nearest consumer group is 'g_pay'"),
        (
            mode("POP", of_topic="shop"),
            "topic",
            "is 'shop', which is not there; the nearest topic of the group is 'ship'",
        ),
        (mode("POP", of_topic="%RETRY%g_pay"), "topic", "RocketMQ sets no request mode for retry topics"),
    ],
)
def test_groups_and_topics_that_are_not_there_are_refused(change: dict[str, Any], place: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        after(reading(reads("pay"), reads("%RETRY%g_pay")), change)
    assert caught.value.place == f"changes[0].{place}"
    assert says in caught.value.problem


@pytest.mark.parametrize("change", [strategy("CONSISTENT_HASH"), mode("POP", 1)])
def test_a_group_of_grpc_clients_chooses_neither_strategy_nor_mode(change: dict[str, Any]) -> None:
    members = [client("c", protocol="GRPC")]
    inventory = cluster([topic("pay", queues("broker-a"))], [group("g_pay", members)])
    with pytest.raises(BadInput) as refused:
        after(inventory, change)
    assert str(refused.value) == (
        "what-if.yaml: changes[0].consumer_group: is 'g_pay', whose clients are gRPC ones;"
        " expected one of other clients"
    )


def test_the_remoting_clients_of_a_group_of_both_kinds_may_run_another_strategy() -> None:
    members = [client("c"), client("g", protocol="GRPC")]
    changed = after(cluster([topic("pay", queues("broker-a"))], [group("g_pay", members)]), strategy("CONSISTENT_HASH"))
    assert (the_group(changed).clients or ())[0].allocate_strategy == "CONSISTENT_HASH"
