"""UNDER_, RIGHT_, OVER_PROVISIONED and UNDECIDED where facts are unknown, differ between clients or do not agree."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from rocketmq_capacity.snapshot.inventory import InventoryConsumeStatus, InventorySubscription
from tests.assessment.cases import OWN_STRATEGY, Part, member, members, takes
from tests.assessment.judge import Judgement
from tests.assessment.provision_cases import QUEUES, a_case, growing, rates_of_all

PART = Part()
_case = partial(a_case, PART)

# Unknown facts
_case("one_of_twenty_untimed", 20, 10.0, timed=19)
_case("half_untimed", 4, 10.0, timed=2)
_case("most_untimed", 4, 10.0, timed=1)
_case("nobody_timed", 1, 10.0, timed=0)
_case("rate_unknown", 4, None)
_case("threads_unknown", 4, 10.0, client={"consume_threads": None})
_case("owners_unknown", 4, 10.0, client={"allocate_strategy": OWN_STRATEGY})
_case("no_clients", 0, 10.0)
_case("time_of_zero", 4, 10.0, rt_ms=0.0)


def test_the_usual_time_replaces_one_that_is_not_reported(judged: Judgement) -> None:
    # The untimed one has 0.012 of its thousand.
    found = judged.group("one_of_twenty_untimed")

    assert found["provision_status"] == "OVER_PROVISIONED"
    assert found["utilisation"] == pytest.approx(0.02)
    assert judged.group("half_untimed")["provision_status"] == "OVER_PROVISIONED"


def test_where_most_of_its_clients_report_no_response_time_nothing_is_decided(judged: Judgement) -> None:
    found = judged.group("most_untimed")

    assert found["provision_status"] == "UNDECIDED"
    assert found["provision_reason"] == "response times are unknown for 3 of 4 clients with messages to handle"
    assert found["utilisation"] == pytest.approx(0.06)


@pytest.mark.parametrize(
    ("group", "missing"),
    [
        ("nobody_timed", "response time"),
        # RocketMQ reports 0 where nothing was consumed in the last hour.
        ("time_of_zero", "response time"),
        ("rate_unknown", "written"),
        ("threads_unknown", "threads"),
        ("owners_unknown", OWN_STRATEGY),
        ("no_clients", "no clients"),
    ],
)
def test_what_is_missing_is_named_where_nothing_is_decided(judged: Judgement, group: str, missing: str) -> None:
    found = judged.group(group)

    assert (found["provision_status"], found["utilisation"], found["needed_clients_target"]) == (
        "UNDECIDED",
        None,
        None,
    )
    assert missing in found["provision_reason"]


# An interval
def _apart(name: str, rate: float, *times: float | None) -> None:
    clients = [
        member(one.client_id, consume_threads=10, consume_batch_size=1, status=takes(name, ms) if ms else None)
        for one, ms in zip(members(len(times)), times, strict=True)
    ]
    PART.case(name, clients, *QUEUES, rates=rates_of_all(rate))


_apart("surely_under", 130.0, 10.0, 12.0, None, None)
_apart("perhaps_under", 130.0, None, None, 10.0, 8.0, 12.0)
_apart("perhaps_too_slow", 80.0, 2.0, 10.0, None, None)


_apart("one_is_slow", 12.5, 10.0, 10.0, 10.0, 1_000.0)


def test_a_slow_client_is_no_reason_for_more_clients(judged: Judgement) -> None:
    found = judged.group("one_is_slow")

    # Six queues of 12.5 a second take 75 calls of a second each at the same time; it has ten threads.
    assert (found["busiest_client"], found["utilisation"]) == ("c04", pytest.approx(7.5))
    # Like the others it would be busy for 7.5 %.
    assert found["judged_utilisation"] == pytest.approx(0.075)
    assert found["provision_reason"] == "no client is too many while c04 does the work far worse than the others"
    assert (found["provision_status"], found["needed_clients_target"]) == ("RIGHT_PROVISIONED", 1)
    assert judged.found("CONSUMER_CAPACITY", "one_is_slow") is None


_apart("one_is_slower", 30.0, 10.0, 10.0, 10.0, 45.0)


def test_a_client_that_is_somewhat_slower_is_compared_with_the_median(judged: Judgement) -> None:
    # Six queues of 30 a second x 45 ms / 10 threads.
    found = judged.group("one_is_slower")

    assert found["provision_reason"].endswith("; the median client would be busy for 18.0 % with the same messages")
    assert (found["utilisation"], found["judged_utilisation"]) == (pytest.approx(0.81), pytest.approx(0.81))


PART.case(
    "idle_one_says_nothing",
    [
        *members(24, consume_threads=10, consume_batch_size=1, status=takes("idle_one_says_nothing", 10.0)),
        member("c99"),
    ],
    *QUEUES,
    rates=rates_of_all(10.0),
)


def test_what_a_client_without_queues_is_like_need_not_be_known(judged: Judgement) -> None:
    found = judged.group("idle_one_says_nothing")
    assert (found["utilisation"], found["needed_clients_target"]) == (pytest.approx(0.01), 1)


def test_the_shortest_and_the_longest_known_times_are_the_bounds(judged: Judgement) -> None:
    # Six queues of 80 a client; the slow one of the timed is busy for 48 % of its time for certain.
    found = judged.group("perhaps_too_slow")

    bounds = [found[f"utilisation{end}"] for end in ("_lower", "", "_upper")]
    assert bounds == pytest.approx([0.48, 0.48, 0.48])
    assert found["busiest_client"] == "c02"


def test_what_may_be_too_much_or_not_is_undecided(judged: Judgement) -> None:
    # The first two own five queues each, and take something from 8 to 12 ms a call.
    found = judged.group("perhaps_under")

    bounds = [found[f"utilisation{end}"] for end in ("_lower", "", "_upper")]
    assert bounds == pytest.approx([0.65, 0.65, 0.78])
    assert found["provision_status"] == "UNDECIDED"
    assert found["provision_reason"].startswith("the busiest client is busy for 65.0 % to 78.0 % of its time: response")


def test_what_is_too_much_even_at_the_least_is_too_much(judged: Judgement) -> None:
    found = judged.group("surely_under")

    assert found["provision_status"] == "UNDER_PROVISIONED"
    assert found["utilisation_lower"] == pytest.approx(0.936)


# Broadcasting
def _broadcasting(
    name: str, handled: float | None, rate: float = 1_000.0, ids: Sequence[str] = ("c1", "c2", "c3", "c4"), **facts: Any
) -> None:
    """Clients that report to handle so many messages a second of 10 ms with ten threads."""
    status = InventoryConsumeStatus(
        topic=name, consume_rt_ms=10.0, consume_ok_msgs_per_s=handled, consume_failed_msgs_per_s=0.0
    )
    every = [member(one, consume_threads=10, consume_batch_size=1, status=(status,)) for one in ids]
    PART.case(name, every, *QUEUES, rates=rates_of_all(rate), message_model="BROADCASTING", **facts)


_broadcasting("broadcasts", 240.0)
_broadcasting("broadcasts_too_much", 720.0)
_broadcasting("broadcasts_unsaid", None)
_broadcasting("broadcasts_twice_on_a_host", 480.0, ids=("c1", "c1", "c2"))
_broadcasting("broadcasts_behind", 240.0, **growing("broadcasts_behind", 1_000, 90_000))


def test_a_broadcasting_client_is_as_busy_as_it_says_whatever_the_brokers_count(judged: Judgement) -> None:
    assert judged.group("broadcasts")["utilisation"] == pytest.approx(0.24)
    assert judged.group("broadcasts")["provision_status"] == "RIGHT_PROVISIONED"
    assert judged.group("broadcasts_too_much")["provision_status"] == "UNDER_PROVISIONED"
    assert judged.group("broadcasts_too_much")["needed_clients_target"] is None


def test_two_broadcasting_consumers_with_one_id_are_as_busy_as_each_of_them(judged: Judgement) -> None:
    """RocketMQ gives all broadcasting consumers of a host one id, and each of them handles every message."""
    assert judged.group("broadcasts_twice_on_a_host")["utilisation"] == pytest.approx(0.48)
    assert judged.group("broadcasts_twice_on_a_host")["provision_status"] == "RIGHT_PROVISIONED"


def test_offsets_of_a_broadcasting_group_on_brokers_say_nothing_of_its_size(judged: Judgement) -> None:
    assert judged.group("broadcasts_behind")["provision_status"] == "RIGHT_PROVISIONED"
    assert judged.found("CONSUMER_CAPACITY", "broadcasts_behind") is None
    assert judged.group("broadcasts_unsaid")["provision_status"] == "UNDECIDED"
    assert judged.group("broadcasts_unsaid")["provision_reason"].startswith("some of its clients do not report")


# Filters
def _filters(name: str, expression: str, ok: float | None, rate: float, **facts: Any) -> None:
    status = (
        InventoryConsumeStatus(topic=name, consume_rt_ms=30.0, consume_ok_msgs_per_s=ok, consume_failed_msgs_per_s=0.0),
    )
    clients = [
        member(one.client_id, consume_threads=20, consume_batch_size=1, status=status, **facts) for one in members(4)
    ]
    own = (InventorySubscription(topic=name, expression_type="TAG", expression=expression),)
    PART.case(name, clients, *QUEUES, rates=rates_of_all(rate), subscriptions=own)


_filters("rare", "rare", 5.0, 2_000 / 24)
_filters("all_tags", "*", 500.0, 2_000 / 24)
_filters("untold", "rare", None, 2_000 / 24)


def test_a_filtering_group_handles_what_its_filter_lets_through(judged: Judgement) -> None:
    # 5 messages a second of 30 ms are 15 % of one of 20 threads.
    assert judged.group("rare")["utilisation"] == pytest.approx(0.0075)
    assert judged.group("rare")["provision_status"] == "OVER_PROVISIONED"
    assert judged.group("all_tags")["utilisation"] == pytest.approx(0.75)


def test_what_a_filter_lets_through_is_not_guessed(judged: Judgement) -> None:
    found = judged.group("untold")

    assert (found["provision_status"], found["utilisation"]) == ("UNDECIDED", None)
    assert "filter" in found["provision_reason"]
    assert judged.load("untold", "AVG")["traffic"] is None


# What clients say that they consume
def _says(name: str, ok: tuple[float, ...], **facts: Any) -> None:
    clients = [
        member(
            one.client_id,
            consume_threads=10,
            consume_batch_size=1,
            status=(
                InventoryConsumeStatus(
                    topic=name, consume_rt_ms=10.0, consume_ok_msgs_per_s=rate, consume_failed_msgs_per_s=0.0
                ),
            ),
        )
        for one, rate in zip(members(len(ok)), ok, strict=True)
    ]
    PART.case(name, clients, *QUEUES, rates=rates_of_all(10.0), **facts)


_says("agrees", (60.0, 60.0, 60.0, 50.0))
_says("consumes_too_little", (10.0, 10.0, 10.0, 10.0))
_says("owns_others", (200.0, 0.0, 20.0, 20.0))


def test_two_ways_to_the_same_figure_name_the_fact_that_must_be_wrong(judged: Judgement) -> None:
    assert judged.group("agrees")["provision_doubt"] is None
    assert "rates are wrong" in judged.group("consumes_too_little")["provision_doubt"]
    assert judged.group("owns_others")["provision_doubt"].startswith("c01 consumes 200.0 msg/s where 60.0")


# Clients that report the rate of one of two topics
_RATES = {"rate_a": None, "rate_b": 100.0, "rate_c": None}
_TOPICS = [PART.topic(name, *QUEUES) for name in _RATES]
_STATUS = tuple(
    InventoryConsumeStatus(topic=name, consume_rt_ms=1.0, consume_ok_msgs_per_s=rate, consume_failed_msgs_per_s=0.0)
    for name, rate in _RATES.items()
)
for _topic in _TOPICS[::2]:
    _clients = [member("c01", consume_threads=10, consume_batch_size=1, status=_STATUS)]
    PART.group(f"untold_{_topic}", _clients, *sorted(("rate_b", _topic)))


@pytest.mark.parametrize("topic", ["rate_a", "rate_c"])
def test_an_unknown_rate_of_a_topic_is_not_taken_for_zero(judged: Judgement, topic: str) -> None:
    assert judged.group(f"untold_{topic}")["utilisation"] is not None
    assert judged.group(f"untold_{topic}")["provision_doubt"] is None
