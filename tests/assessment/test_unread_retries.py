"""RETRY_PRESSURE where a broker puts failed messages into queues that nobody reads, or throws them away."""

from typing import Any

import pytest

from rocketmq_capacity.snapshot.inventory import GroupSettings, Inventory, InventoryConsumeStatus
from tests.assessment.cases import a_group, a_topic, member, pops
from tests.assessment.judge import Row, judge
from tests.simulation.clusters import broker, cluster, queues, reads

NAMES = ("broker-a", "broker-b")


def a_cluster(number: int | None, *, readable: int = 1, failed: float | None = None, **facts: Any) -> Inventory:
    """A group whose retry topic has so many queues; broker-b uses ``number`` of them, and broker-a one."""
    topic = a_topic("pay", *(queues(name, 2) for name in NAMES))
    quiet = {(name, number): 0.0 for name in NAMES for number in range(readable)}
    retries = a_topic("%RETRY%g", *(queues(name, readable) for name in NAMES), rates=quiet)
    settings = (
        GroupSettings(broker_names=("broker-a",), retry_queue_nums=1),
        GroupSettings(broker_names=("broker-b",), retry_queue_nums=number),
    )
    said = InventoryConsumeStatus(topic="pay", consume_ok_msgs_per_s=1_000.0, consume_failed_msgs_per_s=failed)
    usual: dict[str, Any] = {"clients": [member("c1", status=(said,))], "settings": settings, **facts}
    group = a_group("g", usual.pop("clients"), [topic, retries], **usual)
    return cluster([topic, retries], [group], [*map(broker, NAMES)])


def found(inventory: Inventory) -> Row | None:
    return judge(inventory).found("RETRY_PRESSURE")


def test_a_broker_that_spreads_them_over_more_queues_than_are_read_is_named() -> None:
    row = found(a_cluster(4))

    assert row
    assert (row["consumer_group"], row["topic"], row["broker_name"], row["severity"]) == (
        "g",
        None,
        "broker-b",
        "WARNING",
    )
    assert row["evidence"] == {"retry_queue_nums": 4, "read_queue_nums": 1, "failed_msgs_per_s": None}
    assert row["message"] == (
        "broker-b puts 75.0 % of the group's messages that fail where nobody reads them: its retryQueueNums is 4, and"
        " 1 queue of its retry topic can be read."
    )


def test_one_that_throws_them_away_is_named() -> None:
    row = found(a_cluster(0))

    assert row
    assert row["message"] == "broker-b throws away the group's messages that fail: its retryQueueNums is 0."


@pytest.mark.parametrize(("failed", "severity"), [(None, "WARNING"), (0.0, "WARNING"), (0.1, "CRITICAL")])
def test_it_is_critical_while_messages_fail(failed: float | None, severity: str) -> None:
    row = found(a_cluster(4, failed=failed))
    assert row
    assert row["severity"] == severity


@pytest.mark.parametrize(
    ("number", "facts"),
    [
        (1, {}),
        (None, {}),  # it is unknown
        (4, {"readable": 4}),
        (4, {"readable": 5}),
        (4, {"settings": None}),
        (4, {"clients": []}),
        (4, {"message_model": "BROADCASTING"}),  # what fails there does not come again
        (4, {"orderly": True}),  # its clients keep what has failed
        (4, {"subscriptions": (pops("pay"), reads("%RETRY%g"))}),  # the broker makes its retry topics
    ],
)
def test_nothing_is_said_where_they_are_read(number: int | None, facts: dict[str, Any]) -> None:
    assert found(a_cluster(number, **facts)) is None
