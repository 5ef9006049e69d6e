"""CLIENT_OUTLIER: a client that does the same work far worse than the others of its group.

A case's topic has four queues on each of two brokers. Unless said otherwise a client has eight threads and takes 5 ms.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_capacity.assessment.outlier import _peers_median
from rocketmq_capacity.snapshot.inventory import InventoryConsumeStatus
from tests.assessment.cases import Part, ago, ids, member, takes
from tests.assessment.judge import Judgement
from tests.simulation.clusters import reads

PART = Part()
OUTLIER = "CLIENT_OUTLIER"
USUAL: dict[str, Any] = {"consume_threads": 8, "consume_batch_size": 1}


def _case(
    name: str, *ms: float | None, rate: float | None = 5.0, threads: dict[int, int] | None = None, **facts: Any
) -> None:
    """A group whose clients take so many milliseconds; ``threads`` by index where a client has not eight."""
    of_client = facts.pop("clients", {})
    every = [
        member(
            client_id,
            **USUAL
            | {"consume_threads": (threads or {}).get(index, 8), "status": takes(name, each)}
            | of_client.get(index, {}),
        )
        for index, (client_id, each) in enumerate(zip(ids(len(ms)), ms, strict=True))
    ]
    PART.case(name, every, rates={(b, i): rate for b in ("broker-a", "broker-b") for i in range(4)}, **facts)


_case("sick", 1_000.0, 5.0, 5.0, threads={0: 2}, rate=2.12)
_case("slow_fifty_times", 250.0, 5.0, 5.0)
_case("slow_five_hundred_times", *[5.0] * 7, 2_500.0, rate=5.0)
_case("five_times", 25.0, 5.0, 5.0)
_case("more_than_five_times", 26.0, 5.0, 5.0)
_case("two_clients", 1_000.0, 5.0)
_case("half_are_slow", 1_000.0, 1_000.0, 5.0, 5.0)
_case("two_of_five", 400.0, 800.0, 5.0, 5.0, 5.0)
_case("all_are_slow", 1_000.0, 1_000.0, 1_000.0)
_case("all_are_quick", 0.9, 0.1, 0.1)
_case("few_threads", 5.0, 5.0, 5.0, threads={1: 1})
_case("many_threads", 5.0, 5.0, 5.0, threads={1: 80})
_case("slow_and_few_threads", 20.0, 5.0, 5.0, threads={0: 4})
_case("hardly_a_message", 250.0, 5.0, 5.0, rate=0.1)
_case("just_started", 250.0, 5.0, 5.0, clients={0: {"started_at": ago(60)}})
_case("up_for_long", 250.0, 5.0, 5.0, clients={0: {"started_at": ago(600)}})
_case("late_at_the_peak", 800.0, 5.0, 5.0, rate=2.5)
_case("rates_unknown", 800.0, 5.0, 5.0, rate=None)
_case("another_is_too_busy", 1_000.0, 50.0, 50.0, threads={0: 2}, rate=60.0)


def _failing(name: str, *failed: float) -> None:
    of_client = {
        index: {
            "status": (
                InventoryConsumeStatus(
                    topic=name, consume_rt_ms=5.0, consume_ok_msgs_per_s=10.0, consume_failed_msgs_per_s=each
                ),
            )
        }
        for index, each in enumerate(failed)
    }
    _case(name, *[5.0] * len(failed), clients=of_client)


_failing("one_fails_often", 10.0, 0.0, 0.0)
_failing("fails_as_the_others", 10.0, 8.0, 9.0)
_failing("fails_hardly_ever", 0.3, 0.0, 0.0)

SLOW_TOPIC = PART.topic("slow_topic")
QUICK_TOPIC = PART.topic("quick_topic")


def _reading(name: str, *ms: dict[str, float]) -> None:
    clients = [
        member(
            client_id,
            **USUAL,
            subscriptions=tuple(reads(topic) for topic in each),
            status=tuple(InventoryConsumeStatus(topic=topic, consume_rt_ms=own) for topic, own in each.items()),
        )
        for client_id, each in zip(ids(len(ms)), ms, strict=True)
    ]
    PART.group(name, clients, SLOW_TOPIC, QUICK_TOPIC)


_reading("alone_on_a_slow_topic", {SLOW_TOPIC: 900.0, QUICK_TOPIC: 5.0}, {QUICK_TOPIC: 5.0}, {QUICK_TOPIC: 5.0})
_reading(
    "slow_on_one_topic_of_two",
    {SLOW_TOPIC: 900.0, QUICK_TOPIC: 30.0},
    {SLOW_TOPIC: 900.0, QUICK_TOPIC: 5.0},
    {SLOW_TOPIC: 900.0, QUICK_TOPIC: 5.0},
)


def test_one_sick_client_is_found_with_its_figure_and_what_the_group_would_be_without_it(judged: Judgement) -> None:
    found = judged.finding(OUTLIER, "sick")

    # Three of eight queues of 2.12 msg/s: 6.36 x 1,000 ms / 2 threads.
    assert (found["severity"], found["subjects"]) == ("CRITICAL", ["c01"])
    evidence = found["evidence"]
    assert (evidence["figure"], evidence["value"], evidence["peers_median"]) == ("consume_rt_ms", 1_000.0, 5.0)
    assert evidence["utilisation_ratio"] == 3.18
    # Four queues of 2.12 msg/s x 5 ms / 8 threads, and three.
    assert (evidence["without_utilisation_ratio"], evidence["replaced_utilisation_ratio"]) == (0.0053, 0.004)
    assert found["message"].endswith("It would need 3.2 times its time. Without it no other is busier than 0.5 %.")


def test_the_size_of_a_group_does_not_depend_on_its_sick_client(judged: Judgement) -> None:
    group = judged.group("sick")

    assert judged.rules("sick") == {OUTLIER}
    assert group["provision_status"] != "UNDER_PROVISIONED"
    assert (group["utilisation"], group["busiest_client"]) == (pytest.approx(3.18), "c01")
    assert group["judged_utilisation"] == pytest.approx(0.003975)
    assert group["outlier_clients"] == ["c01"]
    assert (group["needed_clients_target"], group["min_safe_clients"]) == (1, 1)


@pytest.mark.parametrize(
    ("group", "severity"),
    [
        ("slow_fifty_times", "INFO"),
        ("slow_five_hundred_times", "CRITICAL"),
        ("late_at_the_peak", "WARNING"),
        ("rates_unknown", "WARNING"),
        ("few_threads", "INFO"),
        ("slow_and_few_threads", "INFO"),
        ("one_fails_often", "WARNING"),
        ("more_than_five_times", "INFO"),
        ("up_for_long", "INFO"),
    ],
)
def test_the_severity_is_how_much_it_hurts(judged: Judgement, group: str, severity: str) -> None:
    assert judged.finding(OUTLIER, group)["severity"] == severity


@pytest.mark.parametrize(
    "group",
    [
        "five_times",
        "two_clients",
        "half_are_slow",
        "all_are_slow",
        "all_are_quick",
        "many_threads",
        "hardly_a_message",
        "just_started",
        "fails_as_the_others",
        "fails_hardly_ever",
        "alone_on_a_slow_topic",
        "slow_on_one_topic_of_two",
    ],
)
def test_no_client_is_called_an_outlier(judged: Judgement, group: str) -> None:
    assert judged.found(OUTLIER, group) is None


@pytest.mark.parametrize(
    ("group", "figure", "value", "median"),
    [
        ("few_threads", "consume_threads", 1.0, 8.0),
        ("slow_and_few_threads", "consume_rt_ms_per_thread", 5.0, 0.625),
        ("one_fails_often", "failed_ratio", 0.5, 0.0),
    ],
)
def test_the_figure_is_the_one_that_is_far_off(
    judged: Judgement, group: str, figure: str, value: float, median: float
) -> None:
    evidence = judged.finding(OUTLIER, group)["evidence"]

    assert (evidence["figure"], evidence["value"], evidence["peers_median"]) == (figure, value, median)


def test_several_outliers_are_one_finding(judged: Judgement) -> None:
    found = judged.finding(OUTLIER, "two_of_five")

    assert found["subjects"] == ["c01", "c02"]
    assert [one["value"] for one in found["evidence"]["outliers"]] == [400.0, 800.0]
    assert found["evidence"]["value"] == 800.0


def test_a_group_that_is_too_busy_without_its_sick_client_is_told_its_size_by_the_others(judged: Judgement) -> None:
    # Eight queues of 60 msg/s: 180 x 50 ms / 8 threads are 112.5 %, in place of 9,000 %.
    evidence = judged.finding("CONSUMER_CAPACITY", "another_is_too_busy")["evidence"]

    assert evidence["utilisation_ratio"] == 1.125
    assert evidence["consume_threads"] == 8
    assert judged.finding(OUTLIER, "another_is_too_busy")["severity"] == "CRITICAL"


@given(
    st.lists(
        st.lists(st.one_of(st.just(np.nan), st.floats(0.1, 1_000)), min_size=3, max_size=3), min_size=3, max_size=9
    )
)
def test_the_median_of_the_peers_is_the_median_of_the_others(rows: list[list[float]]) -> None:
    figures = np.array(rows)

    medians = _peers_median(figures)

    for (client, topic), median in np.ndenumerate(medians):
        others = np.delete(figures[:, topic], client)
        known = others[~np.isnan(others)]
        if np.isnan(figures[client, topic]) or len(known) < 2:
            assert np.isnan(median)
        else:
            assert median == pytest.approx(np.median(known))
