"""Queues that get more than the settings of their readers let them pull."""

from typing import Any

import pytest

from rocketmq_capacity.snapshot.inventory import Inventory, InventoryConsumeStatus
from tests.assessment.cases import members
from tests.assessment.judge import Judgement, judge
from tests.assessment.test_backlog import END, a_cluster, a_queue, behind
from tests.fixtures.plain_plan import plain_plan

GROWS = a_queue(behind(*range(1_000, 10_000, 1_000)), (END, END - 10_000))
"""A queue that gets 10 messages a second, and whose lag grows."""
TIMES = InventoryConsumeStatus(topic="pay", consume_rt_ms=28.0, consume_ok_msgs_per_s=8.0)
WORKED: dict[str, Any] = {"consume_threads": 1, "consume_batch_size": 1, "status": (TIMES,)}
"""One thread, and 28 ms a message: at the peak of the samples a client is busy for 61 % of its time with a queue."""


def pulling(batch: int | None, interval_ms: int | None, **facts: Any) -> Inventory:
    clients = members(2, pull_batch_size=batch, pull_interval_ms=interval_ms, **WORKED)
    return a_cluster(GROWS, clients=tuple(clients), **facts)


def judged(batch: int | None, interval_ms: int | None, **facts: Any) -> Judgement:
    return judge(pulling(batch, interval_ms, **facts))


@pytest.mark.parametrize(
    ("batch", "interval_ms", "most"),
    [
        (8, 1_000, 8.0),
        (9, 1_000, 9.0),
        (10, 1_000, None),
        (1, 101, 9.901),
        (1, 100, None),
        (32, 0, None),
        (None, 1_000, None),
        (8, None, None),
        (0, 1_000, None),
    ],
)
def test_a_pause_bounds_what_is_read_of_a_queue(batch: int | None, interval_ms: int | None, most: float | None) -> None:
    evidence = judged(batch, interval_ms).finding("LAG_STATE", "g_pay")["evidence"]

    if most is None:
        assert "slow_pulls" not in evidence
    else:
        assert evidence["slow_pulls"] == {
            "client_ids": ["c01", "c02"],
            "pull_batch_size": batch,
            "pull_interval_ms": interval_ms,
            "most_msgs_per_s": most,
        }


def test_lag_of_slow_pulls_is_no_want_of_clients_and_the_advice_names_the_settings() -> None:
    slow, quick = judged(8, 1_000), judged(32, 0)

    assert "Their readers pull at most 8.0 msg/s of a queue." in slow.finding("LAG_STATE", "g_pay")["message"]
    assert quick.group("g_pay")["provision_status"] == "UNDER_PROVISIONED"
    assert slow.group("g_pay")["provision_status"] != "UNDER_PROVISIONED"

    (advice,) = (one for one in plain_plan(pulling(8, 1_000)).recommendations if one.consumer_group == "g_pay")
    assert advice.action == "INVESTIGATE"
    assert "Set pullInterval of c01, c02 to 0, its default" in advice.reason
    assert "a client reads at most 8.0 msg/s of a queue" in advice.reason


def test_popped_queues_have_no_such_bound() -> None:
    popped = judged(8, 1_000, message_request_mode="POP")
    assert "slow_pulls" not in popped.finding("LAG_STATE", "g_pay")["evidence"]
