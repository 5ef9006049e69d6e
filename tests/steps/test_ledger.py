"""Three days of a cluster: a recommendation is carried out, one is carried out otherwise, and one waits."""

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory
from tests.fixtures.days import Days, entry, expansion, rates

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]
CLIENTS = 6
TOPICS = ("carts", "orders", "stock")


def a_topic(name: str, queues: int) -> Row:
    return {
        "topic": name,
        "message_type": "NORMAL",
        "order": False,
        "queues": [{"broker_name": "broker-a", "read_queue_nums": queues, "write_queue_nums": queues, "perm": 6}],
        "offsets": [
            {"broker_name": "broker-a", "queue_id": one, "min_offset": 0, "max_offset": 1000, "put_msgs_per_s": 5.0}
            for one in range(queues)
        ],
    }


def a_group(topic: str, queues: int, clients: int) -> Row:
    """Clients that own queues as AVG gives them, and have read everything."""
    small, extra = divmod(queues, clients)
    owners = [rank for rank in range(clients) for _ in range(small + (rank < extra))]
    subscription = {"topic": topic, "expression_type": "TAG", "expression": "*"}
    return {
        "consumer_group": f"g_{topic}",
        "message_model": "CLUSTERING",
        "consume_type": "CONSUME_PASSIVELY",
        "message_request_mode": "PULL",
        "orderly": False,
        "subscriptions": [subscription],
        "clients": [
            {
                "client_id": f"10.0.0.{rank}@{topic}",
                "client_addr": f"10.0.0.{rank}:40000",
                "language": "JAVA",
                "version": "V5_3_3",
                "seen_on": ["broker-a"],
                "allocate_strategy": "AVG",
                "consume_threads": 20,
                "consume_batch_size": 1,
                "subscriptions": [subscription],
                "owned_queues": [
                    {"topic": topic, "broker_name": "broker-a", "queue_id": queue}
                    for queue, owner in enumerate(owners)
                    if owner == rank
                ],
                "status": [{"topic": topic, "consume_rt_ms": 1.0, "consume_ok_msgs_per_s": 5.0}],
            }
            for rank in range(clients)
        ],
        "offsets": [
            {
                "topic": topic,
                "broker_name": "broker-a",
                "queue_id": queue,
                "broker_offset": 1000,
                "consumer_offset": 1000,
                "last_timestamp": "2026-11-20T01:59:58Z",
            }
            for queue in range(queues)
        ],
    }


def inventory(day: int, queues: dict[str, int], clients: int = CLIENTS) -> Inventory:
    document = {
        "format": "rocketmq-capacity/inventory/1",
        "cluster_name": "C1",
        "taken_at": f"2026-11-{day}T02:00:00Z",
        "nameservers": ["10.0.9.1:9876"],
        "brokers": [
            {"broker_name": "broker-a", "broker_id": 0, "broker_addr": "10.0.1.1:10911", "broker_perm": 6},
        ],
        "topics": [a_topic(name, number) for name, number in queues.items()],
        "consumer_groups": [a_group(name, number, clients) for name, number in queues.items()],
    }
    return parse_inventory(msgspec.json.encode(document), source="inventory")


@pytest.fixture(scope="module")
def days(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> list[Plan]:
    lake = Days(spark, tmp_path_factory.mktemp("lake"))
    made = [lake.plan(20, inventory(20, dict.fromkeys(TOPICS, 4)))]
    made[0] = lake.approve(20, expansion(made[0], "stock"))
    made.append(lake.plan(21, inventory(21, {"carts": 6, "orders": 5, "stock": 4})))
    made.append(lake.plan(22, inventory(22, {"carts": 6, "orders": 6, "stock": 6}, clients=5)))
    return made


def test_the_first_plan_has_no_ledger(days: list[Plan]) -> None:
    assert not days[0].ledger
    assert not expansion(days[0], "carts").standing


def test_what_was_carried_out_and_came_as_predicted_is_verified(days: list[Plan]) -> None:
    found = entry(days[1], expansion(days[0], "carts").id)

    assert found.state == "VERIFIED"
    assert {(one.figure, one.predicted, one.came) for one in (*found.changes, *found.predictions)} == {
        ("read_queue_nums", 6, 6),
        ("write_queue_nums", 6, 6),
        ("idle", 0, 0),
        ("orphan_queues", 0, 0),
        ("doubly_owned_queues", 0, 0),
        ("peak", 1.0, 1.0),
        ("messages_twice_worst", 0.0, None),  # no broker counts deliveries
    }


def test_what_was_carried_out_otherwise_has_failed_and_tests_no_prediction(days: list[Plan]) -> None:
    found = entry(days[1], expansion(days[0], "orders").id)

    assert (found.state, found.is_prediction_wrong) == ("FAILED", False)
    assert {(one.figure, one.predicted, one.came) for one in found.changes} == {
        ("read_queue_nums", 6, 5),
        ("write_queue_nums", 6, 5),
    }
    assert rates(days[1]) == {"EXPAND_QUEUES": (1, 0, 1)}


def test_what_nobody_touched_waits_with_its_approval(days: list[Plan]) -> None:
    waiting = expansion(days[1], "stock").standing

    assert waiting
    assert (waiting.state, waiting.approved_by) == ("EXPIRED", "li")  # an approval holds as long as its plan
    assert (waiting.since, waiting.expires_at) == ("2026-11-20T02:00:00Z", "2026-11-21T02:00:00Z")
    again = expansion(days[1], "orders").standing
    assert again
    assert (again.state, again.since) == ("NEW", "2026-11-21T02:00:00Z")


def test_fewer_clients_are_gone_once_the_queues_were_carried_out(days: list[Plan]) -> None:
    assert days[1].ledger
    (found,) = (one for one in days[1].ledger.entries if one.consumer_group == "g_carts")

    assert (found.action, found.state) == ("SCALE_CONSUMERS", "GONE")
    assert found.why == "another recommendation for the same topic or group was carried out"


def test_what_cannot_be_judged_is_carried_out_and_no_rate_counts_it(days: list[Plan]) -> None:
    found = entry(days[2], expansion(days[1], "stock").id)

    assert found.state == "CARRIED_OUT"
    assert found.why == "g_stock has 5 client ids, and 6 when it was predicted"
    assert rates(days[2]) == {"EXPAND_QUEUES": (1, 0, 1)}


def test_the_ledger_goes_on_from_plan_to_plan(days: list[Plan]) -> None:
    assert days[2].ledger
    assert entry(days[2], expansion(days[0], "carts").id) == entry(days[1], expansion(days[0], "carts").id)
    assert days[2].ledger.before == "2026-11-21T02:00:00Z"
