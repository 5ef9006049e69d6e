"""The cluster of the sample: a small shop, with topics and groups as they should be beside every common mistake.

Each group that shows something says in a comment what it shows; the others are in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.cluster.clients import Consumer, Subscription
from tests.cluster.rocketmq import Broker

A, B, C = "broker-a", "broker-b", "room1@broker-c"

CLUSTER_NAME: Final = "shop"
BROKERS: Final = (Broker(A), Broker(B), Broker(C), Broker(B, broker_id=1))

READ: Final = 4
READ_WRITE: Final = 6


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, its (read, write) queues on each broker, and the messages a second that the shop sends to it."""

    topic: str
    queues: Mapping[str, tuple[int, int]]
    msgs_per_s: float = 4.0
    weights: Mapping[tuple[str, int], float] | None = None
    order: bool = False
    message_type: str = "NORMAL"
    read_only_on: str | None = None
    size_bytes: int = 200


def on_all(queues: int) -> dict[str, tuple[int, int]]:
    """The same number of queues on every broker."""
    return dict.fromkeys((A, B, C), (queues, queues))


TOPICS: Final = (
    Topic("account_ledger", on_all(2), order=True, message_type="FIFO"),
    Topic("archive_events", on_all(2), msgs_per_s=2),
    Topic("cart_events", on_all(2), msgs_per_s=12),
    # HOT_QUEUE: the producer's key sends nearly three of four messages to one queue.
    Topic("click_stream", on_all(4), msgs_per_s=60, weights={(B, 1): 30}),
    Topic("config_refresh", on_all(1), msgs_per_s=1),
    # TOPIC_COVERAGE: nobody created it on the third broker.
    Topic("coupon_issued", {A: (4, 4), B: (4, 4)}),
    Topic("inventory_changed", on_all(4), msgs_per_s=16),
    Topic("invoice_requested", on_all(4), msgs_per_s=24),
    # In use by no group: nothing reads what is sent.
    Topic("loyalty_points", on_all(1), msgs_per_s=1),
    Topic("notify_email", on_all(2)),
    Topic("notify_inbox", on_all(2)),
    Topic("notify_push", on_all(2)),
    Topic("notify_sms", on_all(2)),
    Topic("order_cancelled", on_all(2), msgs_per_s=2),
    Topic("order_created", on_all(4), msgs_per_s=20),
    Topic("order_paid", on_all(4), msgs_per_s=16),
    # READ_LESS_THAN_WRITE: written to four queues a broker, read from two.
    Topic("price_changed", dict.fromkeys((A, B, C), (2, 4)), msgs_per_s=12),
    # Fewer queues than clients, and nobody is idle: behind a Proxy every client reads every broker.
    Topic("refund_requested", on_all(1), msgs_per_s=6),
    Topic("region_prices", on_all(2)),
    # READ_ONLY_IDLE: one broker's queues are read-only and read to their end.
    Topic("report_requested", on_all(4), msgs_per_s=8, read_only_on=B),
    Topic("search_updates", on_all(4), msgs_per_s=12),
    Topic("shipment_label", on_all(2)),
    Topic("shipment_status", on_all(2), msgs_per_s=8),
    Topic("user_login", on_all(2), msgs_per_s=12),
    Topic("vip_orders", on_all(1), msgs_per_s=3),
)


def alike(consumer_group: str, count: int, *topics: Subscription | str, **settings: Any) -> list[Consumer]:
    """So many clients of a group that differ in nothing but their ids."""
    return [
        Consumer(consumer_group, f"{consumer_group}-{number}", topics, **{**AS_DEPLOYED, **settings})
        for number in range(1, count + 1)
    ]


AS_DEPLOYED: Final[Mapping[str, Any]] = {
    # RocketMQ's own intervals, and a handler that takes a moment.
    "poll_nameserver_ms": 30_000,
    "heartbeat_ms": 30_000,
    "persist_offset_ms": 5_000,
    "consume_threads": 8,
    "delay_ms": 5,
}

_ROOMS: Final = {
    "broker_rooms": {A: "hz", B: "hz", C: "room1"},
    "client_rooms": {f"127.0.0.1@regional_pricing-{n}": "room1" if n == 3 else "hz" for n in (1, 2, 3)},
}


def groups() -> list[list[Consumer]]:
    """The clients of every group, group by group, in the order in which they start."""
    everything_of_shipping = ["shipment_label", "shipment_status"]
    return [
        alike("order_fulfilment", 6, "order_created", "order_cancelled"),
        alike("payment_settlement", 3, "order_paid"),
        alike("fraud_check", 2, Subscription("order_paid", "amount > 1000", "SQL92")),
        # ALLOCATION_SKEW, TRAFFIC_SKEW: a ring of ten virtual nodes each deals unevenly.
        alike("order_audit", 5, "order_created", "order_paid", strategy="CONSISTENT_HASH"),
        # IDLE_CONSUMERS: nine clients for six queues.
        alike("cart_recommender", 9, "cart_events"),
        # DUPLICATE_CLIENT_ID, ORPHAN_QUEUE: two processes were given the same instance name.
        [*alike("login_risk", 3, "user_login"), *alike("login_risk", 1, "user_login")],
        # MIXED_STRATEGIES: a change of strategy that was rolled out half.
        [
            *alike("stock_sync", 4, "inventory_changed")[:2],
            *alike("stock_sync", 4, "inventory_changed", strategy="AVG_BY_CIRCLE")[2:],
        ],
        # SUBSCRIPTION_MISMATCH: the third client does not read the labels, and its share of them is read by nobody.
        [*alike("shipping", 3, *everything_of_shipping)[:2], *alike("shipping", 3, "shipment_status")[2:]],
        alike("price_index", 2, "price_changed"),
        # CROSS_TOPIC_SKEW: six queues over four clients, four times; the same two get two of every topic.
        alike("notifier", 4, "notify_email", "notify_inbox", "notify_push", "notify_sms"),
        # Whoever owns the hot queue does most of the work; no strategy could share it out.
        alike("click_analytics", 4, "click_stream"),
        alike("reporting", 3, "report_requested"),
        alike("coupon_desk", 4, "coupon_issued"),
        # LAG_SKEW: one of four clients is on a slow machine.
        [
            *alike("invoice_renderer", 4, "invoice_requested")[:3],
            *alike("invoice_renderer", 4, "invoice_requested", consume_threads=2, delay_ms=1000)[3:],
        ],
        alike("config_listener", 3, "config_refresh", message_model="BROADCASTING"),
        alike("search_indexer", 4, "search_updates", pop=True),
        alike("ledger", 3, "account_ledger", orderly=True),
        alike("regional_pricing", 3, "region_prices", strategy="MACHINE_ROOM_NEARBY-AVG", strategy_params=_ROOMS),
        # ORPHAN_QUEUE: this strategy reads the brokers of its rooms alone.
        alike(
            "room1_price_cache",
            2,
            "region_prices",
            strategy="MACHINE_ROOM",
            strategy_params={"machine_rooms": ["room1"]},
        ),
        _vip_desk(),
    ]


def _vip_desk() -> list[Consumer]:
    lists = [[("vip_orders", A, 0), ("vip_orders", B, 0)], [("vip_orders", C, 0)]]
    return [
        alike("vip_desk", 2, "vip_orders", strategy="CONFIG", strategy_params={"config": queues})[number]
        for number, queues in enumerate(lists)
    ]


POP_GROUP: Final = "search_indexer"
POP_TOPIC: Final = "search_updates"
POP_SHARE_QUEUE_NUM: Final = 2


LATE_CLIENT: Final = "shipping-3"
"""Started half a heartbeat after the others of its group.

Each heartbeat replaces the group's subscription on a broker. So the labels can be read between the heartbeats of the
others and its own, and cannot be read between its own and theirs.
"""

GRPC_GROUP: Final = "refund_desk"
GRPC_TOPIC: Final = "refund_requested"
GRPC_CLIENTS: Final = 5
"""They reach the brokers through a Proxy. A gRPC client reports no response time, so nobody knows how busy it is."""


def offline_group() -> Sequence[Consumer]:
    """A nightly job: it has committed offsets, and nobody is there when the snapshot is taken."""
    return alike("archive_nightly", 2, "archive_events")
