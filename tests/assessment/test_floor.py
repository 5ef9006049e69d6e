"""FLOOR against every division there is, and EXCESS where queues are lost, read twice or shared."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_capacity.assessment.skew import floors, metrics
from rocketmq_capacity.settings.policy import Policy
from tests.assessment.cases import a_group, a_topic, ids, member, members
from tests.assessment.definitions import count_floor
from tests.assessment.judge import judge
from tests.simulation.clusters import cluster, queues

LOADS = st.lists(st.integers(0, 40), min_size=1, max_size=7).filter(any)
CLIENTS = st.integers(1, 4)


def floor_of(loads: Sequence[float], clients: int) -> float:
    return float(floors(np.array([loads], np.float64), clients)[0])


@cache
def lowest_peak(loads: tuple[int, ...], clients: int) -> Fraction:
    """The lowest PEAK of all exclusive divisions, each of them tried."""
    busiest = sum(loads)
    for owners in product(range(clients), repeat=len(loads)):
        own = [0] * clients
        for owner, load in zip(owners, loads, strict=True):
            own[owner] += load
        busiest = min(busiest, max(own))
    return Fraction(busiest * clients, sum(loads))


@given(LOADS, CLIENTS)
def test_no_division_of_whole_queues_is_more_even_than_floor(loads: list[int], clients: int) -> None:
    assert floor_of(loads, clients) <= lowest_peak(tuple(sorted(loads)), clients) + Fraction(1, 10**9)


@given(LOADS, CLIENTS)
def test_the_best_division_is_at_most_half_above_floor(loads: list[int], clients: int) -> None:
    assert lowest_peak(tuple(sorted(loads)), clients) <= Fraction(3, 2) * Fraction(floor_of(loads, clients) + 1e-9)


@given(LOADS, CLIENTS)
def test_floor_is_never_below_what_one_queue_and_an_even_share_weigh(loads: list[int], clients: int) -> None:
    share = Fraction(sum(loads), clients)

    assert floor_of(loads, clients) >= float(max(max(loads) / share, Fraction(1))) - 1e-9


@given(st.integers(1, 300), st.integers(1, 40), st.floats(1e-6, 1e6))
def test_equal_queues_have_the_floor_of_counts(queue_nums: int, clients: int, load: float) -> None:
    assert floor_of([load] * queue_nums, clients) == pytest.approx(float(count_floor(queue_nums, clients)))


@given(LOADS, CLIENTS)
def test_floor_is_the_best_there_is_where_the_best_is_known(loads: list[int], clients: int) -> None:
    """Up to as many queues as clients, and of equal queues, and for one client it is the best there is."""
    best = float(lowest_peak(tuple(sorted(loads)), clients))
    if len(loads) <= clients or len(set(loads)) == 1 or clients == 1:
        assert floor_of(loads, clients) == pytest.approx(best)


@pytest.mark.parametrize(("loads", "clients"), [([], 3), ([0, 0], 3), ([1, np.nan], 3), ([1, 2], 0)])
def test_there_is_no_floor_without_queues_load_or_clients_or_where_a_load_is_unknown(
    loads: list[float], clients: int
) -> None:
    assert np.isnan(floor_of(loads, clients))


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=6), LOADS)
def test_excess_is_never_below_1(own: list[list[int]], loads: list[int]) -> None:
    """Whatever clients own: nothing, the same queues, or queues that there are not."""
    x = np.array(own, np.float64)
    floor = floors(np.array([loads], np.float64), 3).repeat(len(own))

    for each in metrics(x, floor, np.zeros(len(own), bool)):
        assert each is None or each["excess"] >= 1
        assert each is None or each["excess"] == pytest.approx(max(each["peak"] / each["floor"], 1))


def test_a_strategy_that_loses_queues_never_reads_as_more_even_than_can_be() -> None:
    # Of five queues MACHINE_ROOM gives four to four clients, one each: PEAK 1, below what five queues allow.
    topic = a_topic("pay", queues("hz@broker-a", 4), queues("broker-b", 1))
    judged = judge(cluster([topic], [a_group("g_pay", members(4), [topic])]), Policy(machine_rooms=("hz",)))

    for name in ("count", "traffic", "lag"):
        found = judged.load("g_pay", "MACHINE_ROOM")[name]
        assert (found["peak"], found["floor"], found["excess"]) == pytest.approx((1.0, 1.6, 1.0))


def test_queues_that_two_clients_read_leave_floor_as_it_is() -> None:
    # Each client is told to read all eight queues: PEAK 1, although three clients cannot share eight queues evenly.
    topic = a_topic("pay", queues("broker-a", 8))
    every = [{"topic": "pay", "broker_name": "broker-a", "queue_id": queue} for queue in range(8)]
    lists = {"g_pay": dict.fromkeys(ids(3), every)}
    policy = Policy.model_validate({"strategies": ["CONFIG"], "config_assignments": lists})
    judged = judge(cluster([topic], [a_group("g_pay", members(3), [topic])]), policy)

    for name in ("count", "traffic", "lag"):
        found = judged.load("g_pay", "CONFIG")[name]
        assert (found["peak"], found["floor"], found["excess"]) == pytest.approx((1.0, 1.125, 1.0))


def test_clients_that_do_not_subscribe_and_equal_ids_leave_floor_as_it_is() -> None:
    topic = a_topic("pay", queues("broker-a", 5))
    clients = [member("c01"), member("c02", subscriptions=()), member("c03"), member("c03"), member("c04")]
    judged = judge(cluster([topic], [a_group("g_pay", clients, [topic])]))

    for strategy in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"):
        for name in ("count", "traffic", "lag"):
            assert judged.load("g_pay", strategy)[name]["floor"] == pytest.approx(1.6)
