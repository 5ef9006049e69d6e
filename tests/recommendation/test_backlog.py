"""A backlog that ends with the answer of another finding needs no look of its own."""

from typing import Any

import pytest

from rocketmq_capacity.snapshot.inventory import Client
from tests.assessment.cases import a_group, a_topic, member, members, takes
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.simulation.clusters import broker, cluster, queues

STANDS = [(91_100 + 1_000 * i, 91_000) for i in range(9)]
FALLS_BEHIND = [(91_000 + 1_000 * i, 90_100 + 100 * i) for i in range(9)]
SHARED_ID = [member("c01"), member("c01"), member("c02")]


def behind(clients: list[Client], samples: list[tuple[int, int]], *late: int, rate: float = 10.0) -> PlainPlan:
    """A group of six queues, of which these are behind."""
    topic = a_topic("t", queues("broker-a", 6), rates={("broker-a", i): rate for i in range(6)})
    of_late: Any = {("t", "broker-a", i): 9_000 for i in late}
    group = a_group("g", clients, [topic], lag=0, lags=of_late, samples=dict.fromkeys(of_late, samples))
    return plain_plan(cluster([topic], [group], (broker("broker-a"),)))


def too_busy() -> list[Client]:
    """Two clients, each busy for 120 % of its time by three queues of 40 messages a second."""
    return members(2, consume_threads=1, consume_batch_size=1, status=takes("t", 10.0))


def actions(plan: PlainPlan) -> list[str]:
    assert "LAG_STATE" in {one.rule for one in plan.findings}
    return [one.action for one in plan.recommendations if "LAG_STATE" in one.rules]


def test_that_of_queues_which_nobody_reads_ends_with_a_reader() -> None:
    # Both consumers with the first id take queues 0 and 1, so that nobody takes 2 and 3.
    assert actions(behind(SHARED_ID, STANDS, 2, 3)) == ["FIX_CLIENT_ID"]


def test_that_of_a_queue_which_somebody_reads_is_looked_into() -> None:
    assert actions(behind(SHARED_ID, STANDS, 0, 2)) == ["INVESTIGATE"]


def test_that_of_clients_which_are_too_busy_ends_with_more_of_them() -> None:
    found = actions(behind(too_busy(), FALLS_BEHIND, *range(6), rate=40.0))

    assert "SCALE_CONSUMERS" in found
    assert "INVESTIGATE" not in found


@pytest.mark.parametrize("rate", [5.0, 40.0])
def test_that_of_a_queue_whose_offset_stands_is_looked_into_however_busy_its_client_is(rate: float) -> None:
    assert "INVESTIGATE" in actions(behind(too_busy(), STANDS, 0, rate=rate))
