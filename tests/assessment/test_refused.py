"""STUCK_QUEUE where a broker gives a group no messages."""

from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import GroupSettings, Inventory, InventorySubscription
from tests.assessment.cases import a_group, a_topic, member
from tests.assessment.judge import Row, judge
from tests.assessment.test_stuck import held
from tests.simulation.clusters import broker, cluster, queues, reads

NAMES = ("broker-a", "broker-b")
POPPED = reads("pay", message_request_mode="POP")
BY_SQL92 = InventorySubscription(topic="pay", expression_type="SQL92", expression="a > 1")


def a_cluster(
    settings: tuple[GroupSettings, ...] | None,
    *,
    creates: str | None = "false",
    sql92: str | None = "false",
    timer: str | None = None,
    version: str = "V5_1_1",
    rate: float | None = 10.0,
    **facts: Any,
) -> Inventory:
    """A group that holds ``pay`` on two brokers; ``creates``, ``sql92`` and ``timer`` are settings of broker-b."""
    topic = a_topic(
        "pay",
        *(queues(name, 2) for name in NAMES),
        rates={(name, number): rate for name in NAMES for number in range(2)},
    )
    clients = [
        member("c1", owned_queues=tuple(held("pay", number) for number in range(2))),
        member("c2", owned_queues=tuple(held("pay", number, "broker-b") for number in range(2))),
    ]
    config = {} if creates is None else {"autoCreateSubscriptionGroup": creates}
    config |= {} if sql92 is None else {"enablePropertyFilter": sql92}
    config |= {} if timer is None else {"timerWheelEnable": timer}
    group = a_group("g", facts.pop("clients", clients), [topic], settings=settings, **facts)
    return cluster([topic], [group], [broker("broker-a"), replace(broker("broker-b"), config=config, version=version)])


def on(*names: str, **settings: Any) -> GroupSettings:
    return GroupSettings(broker_names=names, **settings)


def found(inventory: Inventory) -> Row | None:
    return judge(inventory).found("STUCK_QUEUE")


@pytest.mark.parametrize(
    ("settings", "facts", "cause"),
    [
        ((on("broker-a"),), {}, "NOT_CREATED"),
        ((on("broker-a"), on("broker-b", consume_enable=False)), {"creates": "true"}, "CONSUME_DISABLED"),
        (
            (on("broker-a"), on("broker-b", consume_broadcast_enable=False)),
            {"message_model": "BROADCASTING"},
            "BROADCAST_DISABLED",
        ),
        ((on("broker-a", "broker-b"),), {"subscriptions": (BY_SQL92,)}, "SQL92_DISABLED"),
        (None, {"subscriptions": (BY_SQL92,)}, "SQL92_DISABLED"),
        ((on("broker-a"),), {"subscriptions": (BY_SQL92,)}, "NOT_CREATED"),
        (None, {"subscriptions": (POPPED,), "timer": "false"}, "POP_DISABLED"),
    ],
)
def test_the_queues_of_a_broker_that_refuses_the_group_are_named(
    settings: tuple[GroupSettings, ...], facts: dict[str, Any], cause: str
) -> None:
    row = found(a_cluster(settings, **facts))

    assert row
    assert row["broker_name"] == "broker-b"
    assert [(one["broker_name"], one["queue_id"]) for one in row["queues"]] == [("broker-b", 0), ("broker-b", 1)]
    assert {(one["state"], one["cause"], one["client_id"]) for one in row["evidence"]["queues"]} == {
        ("REFUSED", cause, "c2")
    }
    assert row["message"].startswith("broker-b gives the group no messages of 2 queues: ")


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        (None, {}),  # its settings are unknown
        ((on("broker-a"),), {"creates": None}),  # so is whether the broker creates it
        ((on("broker-a"),), {"creates": "true"}),
        ((on("broker-a", "broker-b"),), {}),
        ((on("broker-a", "broker-b", consume_broadcast_enable=False),), {}),  # it does not broadcast
        ((on("broker-a"),), {"clients": []}),  # nobody asks
        (None, {"subscriptions": (BY_SQL92,), "sql92": "true"}),
        (None, {"subscriptions": (BY_SQL92,), "sql92": None}),
        (None, {"subscriptions": (BY_SQL92, reads("ship"))}),  # it reads another topic there
        (None, {"subscriptions": (replace(BY_SQL92, message_request_mode="POP"),)}),  # only pulls are refused
        (None, {"subscriptions": (POPPED,), "timer": "true"}),
        (None, {"subscriptions": (POPPED,), "timer": "false", "version": "V5_1_0"}),
        (None, {"subscriptions": (POPPED,), "timer": "false", "orderly": True}),  # its clients pull
        (None, {"timer": "false"}),
    ],
)
def test_nothing_is_said_where_no_broker_is_known_to_refuse(
    settings: tuple[GroupSettings, ...] | None, facts: dict[str, Any]
) -> None:
    assert found(a_cluster(settings, **facts)) is None


def test_it_is_critical_while_messages_wait_or_are_written_there() -> None:
    def severity(lag: int | None, rate: float | None) -> str:
        lags = {("pay", "broker-b", number): lag for number in range(2)}
        row = found(a_cluster((on("broker-a"),), lags=lags, rate=rate))
        assert row
        return str(row["severity"])

    assert [severity(5, None), severity(0, 3.0), severity(None, 3.0)] == ["CRITICAL"] * 3
    assert [severity(0, None), severity(None, 0.0), severity(None, None)] == ["WARNING"] * 3


def test_the_group_is_not_read_completely() -> None:
    def status(settings: tuple[GroupSettings, ...]) -> str:
        return str(judge(a_cluster(settings)).group("g")["reading_status"])

    assert status((on("broker-a"),)) == "UNREAD"
    assert status((on("broker-a", "broker-b"),)) == "READ"


def test_a_queue_that_is_popped_has_no_holder() -> None:
    popping = [member("c1", owned_queues=()), member("c2", owned_queues=())]
    row = found(a_cluster((on("broker-a"),), clients=popping, message_request_mode="POP"))
    assert row
    assert row["evidence"]["client_ids"] == []
    assert {one["client_id"] for one in row["evidence"]["queues"]} == {None}
