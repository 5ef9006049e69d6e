"""CONSUMER_CAPACITY: clients that are too busy, and clients that are not needed.

A client with ten threads that needs 10 ms a message handles 1,000 messages a second. A case's topic has twelve queues
on each of two brokers.
"""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.capacity import consumer_capacity
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.more_queues import more_queues
from rocketmq_capacity.assessment.remedies import more_threads, shorter_calls
from rocketmq_capacity.assessment.search import or_shown, result
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.producers import is_hot
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.thresholds import ExpandQueues, Thresholds
from tests.assessment.cases import Part, a_group, a_topic, member, members, takes
from tests.assessment.judge import Judgement
from tests.fixtures.units import units_of
from tests.simulation.clusters import cluster, queues

PART = Part()
TWO = (queues("broker-a", 12), queues("broker-b", 12))


def _case(name: str, clients: int, rate: float, *, hot: float | None = None, **facts: Any) -> None:
    """A group whose queues receive ``rate`` each, the first one ``hot``."""
    about_client: dict[str, Any] = {"consume_threads": 10, "consume_batch_size": 1} | facts.pop("client", {})
    every = [member(one.client_id, **about_client, status=takes(name, 10.0)) for one in members(clients)]
    rates = {(b, i): rate for b in ("broker-a", "broker-b") for i in range(12)}
    if hot is not None:
        rates["broker-a", 0] = hot
    PART.case(name, every, *TWO, rates=rates, **facts)


_case("busy", 4, 150.0)
_case("overloaded", 4, 200.0)
_case("alone", 1, 37.5)
_case("orderly", 4, 40.0, orderly=True, client={"consume_threads": 2})
_case("orderly_untold", 4, 90.0, orderly=True, client={"consume_threads": None})
_case("orderly_with_few_queues", 24, 80.0, orderly=True)
_case("one_hot_queue", 4, 10.0, hot=900.0)
_case("right", 4, 100.0)
_case("spare", 8, 20.0)
PART.case(
    "spare_in_reserve",
    members(4, consume_threads=10, consume_batch_size=1, status=takes("spare_in_reserve", 10.0)),
    queues("broker-a", 3),
    rates={("broker-a", i): 400.0 for i in range(3)},
)


def test_a_client_that_reads_in_order_may_be_too_busy_whatever_threads_it_has(judged: Judgement) -> None:
    # A queue is read by one thread at a time.
    evidence = judged.finding("CONSUMER_CAPACITY", "orderly_untold")["evidence"]
    assert (evidence["utilisation_ratio"], evidence["consume_threads"]) == (0.9, None)


def test_a_finding_about_busy_clients_says_how_many_would_be_enough(judged: Judgement) -> None:
    # Six queues of 150 are 90 % of a client.
    found = judged.finding("CONSUMER_CAPACITY", "busy")

    assert (found["severity"], found["subjects"]) == ("WARNING", ["c01"])
    evidence = found["evidence"]
    assert evidence["utilisation_ratio"] == 0.9
    assert (evidence["clients"], evidence["needed_clients"], evidence["needed_busy_ratio"]) == (4, 6, 0.6)
    # 10 x 0.9 / 0.7
    assert (evidence["needed_consume_threads"], evidence["threads_busy_ratio"]) == (13, 0.6923)
    # 10 ms x 0.7 / 0.9, cut off
    assert (evidence["needed_rt_ratio"], evidence["calls_busy_ratio"]) == (0.7777, 0.6999)
    assert evidence["response_times"] == [{"topic": "busy", "consume_rt_ms": 10.0, "needed_rt_ms": 7.777}]
    # 3,600 msg/s are 90 % of four clients, however many queues there are.
    assert evidence["needed_queues"] is None


def test_the_busiest_of_one_client_is_its_only_one(judged: Judgement) -> None:
    # 24 queues of 37.5 are 90 %.
    told = {name: judged.finding("CONSUMER_CAPACITY", name)["message"] for name in ("alone", "busy")}
    assert told == {
        "alone": "c01, its only client, is busy for 90.0 % of its time.",
        "busy": "c01, the busiest of 4 clients, is busy for 90.0 % of its time.",
    }


def test_more_than_all_the_time_is_critical(judged: Judgement) -> None:
    assert judged.finding("CONSUMER_CAPACITY", "overloaded")["severity"] == "CRITICAL"


def test_threads_of_an_orderly_listener_help_up_to_its_queues(judged: Judgement) -> None:
    # 240 messages a second of 10 ms keep 2.4 calls going: of two threads 120 %, of four 60 %.
    found = judged.finding("CONSUMER_CAPACITY", "orderly")
    assert (found["evidence"]["needed_consume_threads"], found["evidence"]["threads_busy_ratio"]) == (4, 0.6)


def test_where_an_orderly_client_owns_one_queue_only_more_queues_help(judged: Judgement) -> None:
    evidence = judged.finding("CONSUMER_CAPACITY", "orderly_with_few_queues")["evidence"]

    assert evidence["utilisation_ratio"] == 0.8
    assert evidence["needed_consume_threads"] is evidence["needed_clients"] is None
    # 1,920 messages a second over 28 queues: a client that owns one of them gets 68.6.
    assert evidence["needed_queues"] == {"topic": "orderly_with_few_queues", "queues_per_broker": 14, "clients": None}
    assert evidence["queues_busy_ratio"] == 0.6857


def test_one_busy_client_is_not_mended_by_ten_idle_ones(judged: Judgement) -> None:
    evidence = judged.finding("CONSUMER_CAPACITY", "one_hot_queue")["evidence"]

    assert evidence["needed_clients"] is None
    assert evidence["needed_consume_threads"] == 14


def test_more_queues_do_not_mend_a_hot_one(judged: Judgement) -> None:
    # Producers choose the queue by a key: its 900 msg/s come to one queue, whatever their number.
    assert judged.finding("CONSUMER_CAPACITY", "one_hot_queue")["evidence"]["needed_queues"] is None


@pytest.mark.parametrize("group", ["right"])
def test_a_group_that_is_right_is_left_alone(judged: Judgement, group: str) -> None:
    assert judged.found("CONSUMER_CAPACITY", group) is None


def test_a_finding_says_how_many_clients_may_go_and_the_load_of_the_rest(judged: Judgement) -> None:
    # 480 msg/s: three clients bear 16 % each, and two 24 %.
    found = judged.finding("CONSUMER_CAPACITY", "spare")

    assert found["severity"] == "INFO"
    evidence = found["evidence"]
    assert (evidence["needed_clients"], evidence["needed_busy_ratio"], evidence["one_lost_busy_ratio"]) == (
        3,
        0.16,
        0.24,
    )


def test_clients_that_replace_lost_ones_are_not_sent_away(judged: Judgement) -> None:
    # Three queues of 40 %: one of four clients is idle, and two clients cannot bear three queues.
    assert judged.found("CONSUMER_CAPACITY", "spare_in_reserve") is None

    found = judged.group("spare_in_reserve")
    assert found["provision_status"] == "RIGHT_PROVISIONED"
    assert found["scale_down_blocked_by"] == ["LOSS_NOT_SURVIVED"]


@pytest.mark.parametrize(("threads", "needed"), [(16, 64), (15, None), (17, None)])
def test_threads_are_advised_up_to_four_times_of_today_s_and_up_to_64(threads: int, needed: int | None) -> None:
    # One queue of 4,480 msg/s x 10 ms is 44.8 calls at once, of 64 threads 70 %; with 17 threads it is a little more.
    rate = 4_480.0 if threads < 17 else 4_550.0
    group = _group(1, [rate], threads=threads)
    work = group.work
    assert work is not None

    found = more_threads(work, 0.7, 1.0, Policy().thresholds.RAISE_CONSUME_THREADS)
    assert (found and found.consume_threads) == needed


def test_the_search_finds_what_the_table_of_sizes_shows() -> None:
    # Halving needs the largest number to fit. Here only 6 does, which the table shows.
    assert result(or_shown(lambda clients: clients == 6, 3, 9)) == 6
    assert result(or_shown(lambda _: False, 3, 9)) is None


POLICY = Policy(thresholds=Thresholds(EXPAND_QUEUES=ExpandQueues(max_queues_per_broker=16)))


def _group(clients: int, rates: list[float], rt_ms: float = 10.0, threads: int = 10, **facts: Any) -> AssessedGroup:
    every = [
        member(one.client_id, consume_threads=threads, consume_batch_size=1, status=takes("t", rt_ms))
        for one in members(clients)
    ]
    topic = a_topic("t", queues("broker-a", len(rates)), rates={("broker-a", i): rate for i, rate in enumerate(rates)})
    units = units_of(cluster([topic], [a_group("g", every, [topic], **facts)]), POLICY)
    return AssessedGroup(units.group("g"), units.cluster, POLICY, Strategies(POLICY))


def _busiest(group: AssessedGroup, clients: int) -> float:
    share = group.sizes.share(clients)
    assert share is not None
    return share


rates = st.lists(st.floats(0, 2_000), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(clients=st.integers(1, 6), rates=rates, factor=st.floats(1, 5))
def test_more_traffic_never_lowers_the_utilisation(clients: int, rates: list[float], factor: float) -> None:
    more = _group(clients, [rate * factor for rate in rates]).provision.utilisation
    less = _group(clients, rates).provision.utilisation
    assert more is not None
    assert less is not None
    assert more.estimate >= less.estimate


@settings(max_examples=60, deadline=None)
@given(clients=st.integers(1, 6), queues_each=st.integers(1, 12), rate=st.floats(1, 2_000))
def test_more_clients_never_make_the_busiest_one_busier_under_avg(clients: int, queues_each: int, rate: float) -> None:
    group = _group(clients, [rate] * queues_each)
    shares = [_busiest(group, n) for n in range(1, queues_each + 2)]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(shares))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(clients=st.integers(1, 4), rates=rates, orderly=st.booleans(), threads=st.integers(1, 12))
def test_each_remedy_assessed_again_is_within_the_bound_and_a_little_less_of_it_is_not(
    clients: int, rates: list[float], orderly: bool, threads: int
) -> None:
    group = _group(clients, rates, threads=threads, orderly=orderly)
    bound, work = group.policy.thresholds.PROVISION.under_utilisation, group.work
    assert work is not None

    more = more_threads(work, bound, 1.0, POLICY.thresholds.RAISE_CONSUME_THREADS)
    if more is not None:
        enough = _group(clients, rates, threads=more.consume_threads, orderly=orderly)
        fewer = _group(clients, rates, threads=more.consume_threads - 1, orderly=orderly)
        assert _busiest(enough, clients) == pytest.approx(more.busy_ratio)
        assert more.busy_ratio <= bound + 1e-9
        assert _busiest(fewer, clients) > bound
    calls = shorter_calls(group.division, work, bound, 1.0)
    if calls is not None:
        (time,) = calls.times
        shorter = _group(clients, rates, time.needed_rt_ms, threads, orderly=orderly)
        longer = _group(clients, rates, time.needed_rt_ms * 1.002, threads, orderly=orderly)
        assert _busiest(shorter, clients) <= bound + 1e-9 < _busiest(longer, clients)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(clients=st.integers(1, 4), rates=rates, orderly=st.booleans(), threads=st.integers(1, 12))
def test_the_queues_that_are_needed_are_the_fewest_that_do(
    clients: int, rates: list[float], orderly: bool, threads: int
) -> None:
    group = _group(clients, rates, threads=threads, orderly=orderly)
    bound, work = group.policy.thresholds.PROVISION.under_utilisation, group.work
    assert work is not None
    if _busiest(group, clients) <= bound:
        return
    found = more_queues(group.staff, work, bound, is_harmed=group.is_harmed)
    if is_hot(rates, POLICY):
        assert found is None
        return
    most = POLICY.thresholds.EXPAND_QUEUES.max_queues_per_broker
    enough = (
        each
        for each in range(len(rates) + 1, most + 1)
        if _busiest(_even(clients, rates, each, threads, orderly), clients) <= bound + 1e-9
    )
    assert (found and found.queues_per_broker) == next(enough, None)


def _even(clients: int, rates: list[float], queues_each: int, threads: int, orderly: bool) -> AssessedGroup:
    """The same messages over so many queues."""
    return _group(clients, [sum(rates) / queues_each] * queues_each, threads=threads, orderly=orderly)


@settings(max_examples=80, deadline=None)
@given(clients=st.integers(1, 4), rates=rates)
@example(clients=1, rates=[40.0] * 8 + [500.0, 500.0, 40.0, 40.0])  # four are enough; five own both hot queues again
def test_the_needed_clients_are_the_fewest_that_are_enough(clients: int, rates: list[float]) -> None:
    group = _group(clients, rates)
    bound = group.policy.thresholds.PROVISION.under_utilisation
    # Of clients that are too busy, fewer are never the answer.
    first = 1 if _busiest(group, clients) <= bound else clients + 1
    enough = [number for number in range(first, len(rates) + 1) if round(_busiest(group, number), 9) <= bound]

    assert group.provision.needed is not None
    assert group.provision.needed.target == (enough[0] if enough else None)
    for finding in consumer_capacity(group):
        assert json.loads(finding.evidence)["needed_clients"] == group.provision.needed.target


@settings(max_examples=60, deadline=None)
@given(clients=st.integers(1, 6), rates=rates)
def test_no_strategy_makes_the_busiest_client_less_busy_than_an_even_share(clients: int, rates: list[float]) -> None:
    group = _group(clients, rates)
    assert group.work is not None
    even = group.work.evenly()
    for name, load in group.loads.items():
        work = Work.of(group.division, group.weights.msgs_per_s, load.owners, group.response_times)
        found = None if work is None else work.busiest()
        assert found is not None, name
        assert found[0].estimate >= even - 1e-9, name
