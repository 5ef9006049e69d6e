"""The recorded sample, as the tests of ``plan`` change it before or while it is planned."""

from collections.abc import Mapping
from random import Random
from typing import Any, Final

UNORDERED: Final = ("topics", "consumer_groups", "brokers", "clients", "queues", "offsets", "subscriptions", "seen_on")
WHAT_IF: Final = """
name: a room less, a client more
changes:
  - {change: remove_clients, consumer_group: order_audit, count: 1}
  - {change: add_clients, consumer_group: notifier, client_ids: [127.0.0.1@notifier-9]}
  - {change: add_clients, consumer_group: search_indexer, count: 1}
  - {change: set_queues, topic: click_stream, read_queue_nums: 7, write_queue_nums: 7}
  - {change: lose_broker, broker_name: broker-b}
  - {change: rolling_restart, consumer_group: order_audit, batch: 2, pause_s: 30}
  - {change: lose_nameserver, nameserver: "127.0.0.1:17613", loss: CUT_OFF}
"""


def in_another_order(value: Any, order: Random, name: str = "") -> Any:
    """The same document with the items of its lists, but for samples, in another order."""
    if isinstance(value, Mapping):
        return {key: in_another_order(held, order, key) for key, held in reversed([*value.items()])}
    if isinstance(value, list):
        items = [in_another_order(item, order) for item in value]
        return order.sample(items, len(items)) if name in UNORDERED else items
    return value


def changed(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """The queues of the cluster as WHAT_IF leaves them."""
    topics = [
        {
            "topic": topic["topic"],
            "queues": [
                one | ({"read_queue_nums": 7} if topic["topic"] == "click_stream" else {})
                for one in topic["queues"]
                if one["broker_name"] != "broker-b"
            ],
        }
        for topic in cluster["topics"]
    ]
    return {"topics": topics, "consumer_groups": cluster["consumer_groups"]}


def _first(offset: Mapping[str, Any]) -> dict[str, Any]:
    """The offset at the time of its first sample: the end of a queue does not go back."""
    first = {name: value for name, value in offset["samples"][0].items() if name != "at"} if "samples" in offset else {}
    return {name: value for name, value in offset.items() if name != "samples"} | first


def a_day_before(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """The cluster as it was a day before: without clients, and with offsets that were read once, its first ones."""
    groups = [
        group | {"clients": [], "offsets": [_first(one) for one in group["offsets"]]}
        if "offsets" in group
        else group | {"clients": []}
        for group in cluster["consumer_groups"]
    ]
    return {**cluster, "taken_at": "2026-11-20T02:00:00Z", "consumer_groups": groups}
