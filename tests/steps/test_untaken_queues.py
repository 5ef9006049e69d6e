"""Queues that no client has taken, worked by hand: of two brokers with four queues of each topic each."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from rocketmq_capacity import tables
from rocketmq_capacity.handover.observed import PlaceRow
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.steps.reported_rows import records
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.steps.untaken_queues import untaken_queues
from rocketmq_capacity.store.lake import Lake
from tests.steps.test_ledger import inventory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]
TOPICS = ("carts", "orders", "refunds", "stock", "visits")


def with_new_broker(document: Row) -> None:
    """Each topic has four queues more, on a broker that joined; clients own those of the first broker alone."""
    broker = document["brokers"][0]
    document["brokers"].append({**broker, "broker_name": "broker-b", "broker_addr": "10.0.1.2:10911"})
    for topic in document["topics"]:
        topic["queues"].append({**topic["queues"][0], "broker_name": "broker-b"})
    for group in document["consumer_groups"]:
        assert [len(client["owned_queues"]) for client in group["clients"]] == [2, 2]


def take(group: Row, topic: str, *queues: int, client: int = 0) -> None:
    owned = group["clients"][client]["owned_queues"]
    owned += [{"topic": topic, "broker_name": "broker-b", "queue_id": queue} for queue in queues]


def untaken(spark: "SparkSession", folder: Path, brokers: set[str]) -> dict[str, int]:
    document = msgspec.json.decode(b"".join(render_inventory(inventory(20, dict.fromkeys(TOPICS, 4), clients=2))))
    with_new_broker(document)
    groups = {group["consumer_group"]: group for group in document["consumer_groups"]}
    take(groups["g_carts"], "carts", 0, 1, 2, 3)
    take(groups["g_orders"], "orders", 0, 1)
    take(groups["g_orders"], "orders", 1, client=1)  # two own it
    take(groups["g_orders"], "orders", 7)  # and there is none of this id
    del groups["g_refunds"]["clients"][0]["owned_queues"]  # it does not say it
    groups["g_visits"]["message_model"] = "BROADCASTING"
    run = Lake(folder).run("C1", "2026-11-20")
    snapshot(Planning(lambda: spark, run, Policy()), parse_inventory(msgspec.json.encode(document), source="inventory"))
    return untaken_queues(run, list(records(run, tables.TopicQueue, PlaceRow)), brokers)


@pytest.mark.slow
def test_they_are_counted_for_groups_whose_every_client_says_what_it_owns(
    spark: "SparkSession", tmp_path: Path
) -> None:
    assert untaken(spark, tmp_path / "all", {"broker-a", "broker-b"}) == {"g_orders": 2, "g_stock": 4}
    assert untaken(spark, tmp_path / "old", {"broker-a"}) == {}
