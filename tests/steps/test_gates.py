"""A change in steps that is begun: the next plan says from the snapshot's tables which gate is open."""

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from tests.fixtures.days import Days, entry, fewer_queues, more_brokers
from tests.steps.test_ledger import inventory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow
TOPICS = ("carts", "orders", "stock", "refunds")


def write_queues_down(document: dict[str, Any]) -> None:
    """Of the last three topics; nothing is written to two of them any more, and all of it is read of one."""
    carts, orders, stock, refunds = document["topics"]
    for topic in (orders, stock, refunds):
        topic["queues"][0]["write_queue_nums"] = 4
    for topic in (stock, refunds):
        for offset in topic["offsets"][4:]:
            offset["put_msgs_per_s"] = 0.0
    assert carts["queues"][0]["write_queue_nums"] == 8
    stock_group = document["consumer_groups"][2]
    assert stock_group["consumer_group"] == "g_stock"
    stock_group["offsets"][3]["consumer_offset"] = 500  # the queue stays
    stock_group["offsets"][6]["consumer_offset"] = 958


def of_day(day: int) -> Inventory:
    document = msgspec.json.decode(b"".join(render_inventory(inventory(day, dict.fromkeys(TOPICS, 8), clients=2))))
    document["topics"].sort(key=lambda topic: TOPICS.index(topic["topic"]))
    document["consumer_groups"].sort(key=lambda group: TOPICS.index(group["consumer_group"].removeprefix("g_")))
    if day > 20:
        write_queues_down(document)
        document["brokers"].append({
            **document["brokers"][0],
            "broker_name": "broker-b",
            "broker_addr": "10.0.1.2:10911",
        })
    return parse_inventory(msgspec.json.encode(document), source="inventory")


def test_which_gate_is_open_is_told_by_what_is_written_and_read_of_the_queues_that_go(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> None:
    days = Days(spark, tmp_path_factory.mktemp("lake"))
    days.plan(20, of_day(20))
    for topic in TOPICS:
        days.advise(20, fewer_queues(topic, ["broker-a"], 8, 4))
    for more in (1, 2):
        days.advise(20, more_brokers(1, 1 + more))
    plan = days.plan(21, of_day(21))

    assert entry(plan, "shrink-carts").state == "GONE"
    gates = {
        topic: (found.state, found.gate.step, found.gate.state, found.gate.why)
        for topic in TOPICS
        if (found := entry(plan, f"shrink-{topic}")).gate
    }
    assert gates.keys() == {"orders", "stock", "refunds"}
    written = "20 messages a second are still written to the queues that go"
    assert gates["orders"] == ("BEGUN", 2, "CLOSED", written)
    assert gates["stock"] == ("BEGUN", 3, "CLOSED", "not read yet in the queues that go: g_stock 42")
    assert gates["refunds"][:3] == ("BEGUN", 3, "OPEN")

    gate = entry(plan, "add-2").gate
    assert gate
    assert (gate.step, gate.state) == (1, "OPEN")
    assert gate.why == "2 brokers take messages, and no business topic has a queue on broker-b"
    gate = entry(plan, "add-3").gate
    assert gate
    assert (gate.step, gate.state, gate.why) == (1, "CLOSED", "2 of 3 brokers take messages")
