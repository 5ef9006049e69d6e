"""What if a group had n clients: how busy, idle and uneven it would be.

A client with ten threads that needs 10 ms a message handles 1,000 messages a second.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.tables import GroupSize
from tests.assessment.cases import OWN_STRATEGY, a_group, a_topic, members, pops, takes
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import cluster, queues


def _cluster(clients: int, queues_each: int = 6, rate: float = 100.0, **facts: Any) -> Inventory:
    about: dict[str, Any] = {"consume_threads": 10, "consume_batch_size": 1, "status": takes("t", 10.0)}
    every = members(clients, **about | facts.pop("client", {}))
    topic = a_topic("t", queues("broker-a", queues_each), rates={("broker-a", i): rate for i in range(queues_each)})
    return cluster([topic], [a_group("g", every, [topic], **facts)])


def _sizes(clients: int, queues_each: int = 6, rate: float = 100.0, **facts: Any) -> dict[int, GroupSize]:
    plan = plain_plan(_cluster(clients, queues_each, rate, **facts))
    return {row.clients: row for assessment in plan.assessments for row in assessment.sizes}


def test_every_number_up_to_the_queues_has_a_row_in_a_small_group() -> None:
    found = _sizes(2)

    assert list(found) == [1, 2, 3, 4, 6]
    # 600 messages a second over so many clients; four own two, two, one and one of six queues.
    assert {clients: row.busy_ratio for clients, row in found.items()} == pytest.approx({
        1: 0.6,
        2: 0.3,
        3: 0.2,
        4: 0.2,
        6: 0.1,
    })
    assert [row.most_queues for row in found.values()] == [6, 3, 2, 2, 1]
    assert [row.peak for row in found.values()] == pytest.approx([1, 1, 1, 4 / 3, 1])
    assert [row.clients for row in found.values() if row.is_today] == [2]
    assert {row.idle_clients for row in found.values()} == {0}


def test_more_clients_than_queues_are_idle() -> None:
    found = _sizes(9)

    assert list(found) == [1, 2, 3, 4, 6, 9]
    assert (found[9].idle_clients, found[9].peak) == (3, 1.5)
    assert found[9].busy_ratio == pytest.approx(0.1)


def test_a_large_group_has_some_numbers_and_those_that_matter() -> None:
    # 100 queues of 100 are 10 clients' full time; a queue is 10 %: 17 clients own at most 6 of them.
    found = _sizes(20, 100)

    assert list(found) == [1, 2, 3, 4, 6, 8, 12, 15, 16, 20, 24, 32, 48, 64, 96, 100]
    assert found[15].busy_ratio == pytest.approx(0.7)


def test_clients_that_pop_share_every_queue() -> None:
    found = _sizes(4, subscriptions=(pops("t"),))

    # Twice today's: nothing says how many are useful.
    assert list(found) == [1, 2, 3, 4, 6, 8]
    assert {clients: row.busy_ratio for clients, row in found.items()} == pytest.approx({
        clients: 0.6 / clients for clients in found
    })
    assert {row.peak for row in found.values()} == {None}


@pytest.mark.parametrize(
    "facts",
    [
        {"message_model": "BROADCASTING"},
        {"client": {"consume_threads": None}},
        {"client": {"allocate_strategy": OWN_STRATEGY}},
    ],
)
def test_there_is_no_table_where_other_numbers_cannot_be_computed(facts: dict[str, Any]) -> None:
    assert _sizes(4, **facts) == {}


def test_a_group_without_clients_has_no_table() -> None:
    assert _sizes(0) == {}


@settings(max_examples=40, deadline=None)
@given(clients=st.integers(1, 30), queues_each=st.integers(1, 200), rate=st.floats(0, 50))
def test_the_table_is_short_ends_at_what_is_useful_and_agrees_with_the_group(
    clients: int, queues_each: int, rate: float
) -> None:
    (assessment,) = plain_plan(_cluster(clients, queues_each, rate)).assessments
    rows, status = {row.clients: row for row in assessment.sizes}, assessment.status

    assert len(rows) <= 20
    assert {1, clients, queues_each} <= rows.keys()
    assert max(rows) == max(clients, queues_each)
    assert rows[clients].busy_ratio == pytest.approx(status.utilisation)
    shares = [row.busy_ratio or 0.0 for row in rows.values()]
    assert shares == sorted(shares, reverse=True)
    if status.needed_clients_target is not None:
        assert (rows[status.needed_clients_target].busy_ratio or 0.0) <= 0.7 + 1e-9
