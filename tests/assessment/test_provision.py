"""UNDER_, RIGHT_, OVER_PROVISIONED and UNDECIDED.

A client with ten threads that needs 10 ms a message handles 1,000 messages a second; its busy share is what it gets by
that. A case's topic has twelve queues on each of two brokers, so that four clients own six each, and three eight.
"""

from typing import Any

import pytest

from tests.assessment.cases import OWN_STRATEGY, Part, member, members, owned, pops, takes
from tests.assessment.judge import Judgement
from tests.simulation.clusters import queues

PART = Part()
QUEUES = (queues("broker-a", 12), queues("broker-b", 12))


def _case(
    name: str, clients: int, rate: float | None, *, timed: int | None = None, rt_ms: float = 10.0, **facts: Any
) -> None:
    """A group whose queues receive ``rate`` each, with ``timed`` (by default all) clients that report ``rt_ms``."""
    about_client: dict[str, Any] = {"consume_threads": 10, "consume_batch_size": 1}
    about_client |= facts.pop("client", {})
    timed = clients if timed is None else timed
    every = [
        member(one.client_id, **about_client, status=takes(name, rt_ms) if i < timed else None)
        for i, one in enumerate(members(clients))
    ]
    rates = {(b, i): rate for b in ("broker-a", "broker-b") for i in range(12)}
    PART.case(name, every, *QUEUES, rates=rates, **facts)


def _growing(name: str, first: int, last: int) -> dict[str, Any]:
    """The lag of one queue at two moments; the others have none at both."""
    queue = (name, "broker-a", 0)
    nothing = {(name, b, i): [(90_000, 90_000)] for b in ("broker-a", "broker-b") for i in range(12)}
    return {"lag": 0, "lags": {queue: last}, "samples": nothing | {queue: [(90_000, 90_000 - first)]}}


# Four clients of six queues each: six times the rate a queue; three of eight once one has left.
_case("busy_70", 4, 700 / 6)
_case("busy_above_70", 4, 117.0)
_case("spare_at_50", 4, 62.5)
_case("spare_above_50", 4, 63.0)
_case("two_are_the_least", 2, 1.0)
_case("three_may_lose_one", 3, 1.0)
_case("six_lose_two", 6, 62.5)
_case("nothing_comes", 4, 0.0)


def test_a_busiest_client_above_seventy_percent_is_too_few(judged: Judgement) -> None:
    found = judged.group("busy_above_70")

    assert found["provision_status"] == "UNDER_PROVISIONED"
    assert found["utilisation"] == pytest.approx(0.702)
    assert found["provision_reason"] == "the busiest client is busy for 70.2 % of its time"


def test_seventy_percent_is_right_still(judged: Judgement) -> None:
    found = judged.group("busy_70")

    assert found["provision_status"] == "RIGHT_PROVISIONED"
    assert found["utilisation"] == pytest.approx(0.7)


def test_clients_are_to_spare_where_half_of_their_time_would_do_without_a_fifth_of_them(judged: Judgement) -> None:
    found = judged.group("spare_at_50")

    assert found["provision_status"] == "OVER_PROVISIONED"
    assert found["utilisation"] == pytest.approx(0.375)
    assert found["provision_reason"] == ("without 1 of its 4 clients the busiest would be busy for 50.0 % of its time")


def test_more_than_half_of_their_time_without_a_fifth_is_right(judged: Judgement) -> None:
    found = judged.group("spare_above_50")

    assert found["provision_status"] == "RIGHT_PROVISIONED"
    assert found["provision_reason"] == "the busiest client is busy for 37.8 % of its time"


def test_a_fifth_of_the_clients_is_rounded_up(judged: Judgement) -> None:
    # Six clients of four queues each lose two: four of six each are busy for 37.5 %.
    assert judged.group("six_lose_two")["provision_reason"] == (
        "without 2 of its 6 clients the busiest would be busy for 37.5 % of its time"
    )


def test_two_clients_are_never_too_many(judged: Judgement) -> None:
    assert judged.group("two_are_the_least")["provision_status"] == "RIGHT_PROVISIONED"
    assert judged.group("three_may_lose_one")["provision_status"] == "OVER_PROVISIONED"


def test_a_group_without_messages_has_clients_to_spare(judged: Judgement) -> None:
    found = judged.group("nothing_comes")

    assert (found["provision_status"], found["utilisation"]) == ("OVER_PROVISIONED", 0.0)


# Capacity
_case("batches_of_ten", 4, 117.0, client={"consume_batch_size": 10})
_case("orderly_by_queues", 4, 30.0, client={"consume_threads": 100}, orderly=True)
_case("orderly_by_threads", 4, 30.0, client={"consume_threads": 2}, orderly=True)
_case("twice_the_topics", 4, 60.0)
PART.topic("popped_fast", *QUEUES, rates={(b, i): 100.0 for b in ("broker-a", "broker-b") for i in range(12)})
PART.group(
    "pops_fast",
    [*members(4, consume_threads=10, consume_batch_size=1, status=takes("popped_fast", 10.0))],
    "popped_fast",
    subscriptions=(pops("popped_fast"),),
)
_popped = owned(("popped_fast", "broker-a", -1), ("popped_fast", "broker-b", -1))
PART.group(
    "says_that_it_pops_fast",
    [
        *members(
            4,
            consume_threads=10,
            consume_batch_size=1,
            status=takes("popped_fast", 10.0),
            allocate_strategy=OWN_STRATEGY,
            owned_queues=_popped,
        )
    ],
    "popped_fast",
    subscriptions=(pops("popped_fast"),),
)


def test_a_batch_is_one_call(judged: Judgement) -> None:
    assert judged.group("batches_of_ten")["utilisation"] == pytest.approx(0.0702)


def test_an_orderly_client_handles_a_queue_at_a_time(judged: Judgement) -> None:
    # 180 messages a second of 10 ms keep 1.8 calls going: of six queues, and of two threads.
    assert judged.group("orderly_by_queues")["utilisation"] == pytest.approx(0.3)
    assert judged.group("orderly_by_threads")["utilisation"] == pytest.approx(0.9)


def test_poppers_of_a_queue_share_what_it_receives(judged: Judgement) -> None:
    # 2,400 messages a second over four clients.
    for group in ("pops_fast", "says_that_it_pops_fast"):
        assert judged.group(group)["utilisation"] == pytest.approx(0.6)


# Lag
_case("lag_grows_to_1000", 4, 63.0, **_growing("lag_grows_to_1000", 999, 1_000))
_case("lag_grows_to_999", 4, 63.0, **_growing("lag_grows_to_999", 0, 999))
_case("lag_does_not_grow", 4, 63.0, **_growing("lag_does_not_grow", 50_000, 50_000))
_unknown_at_first = _growing("lag_unknown_at_first", 0, 50_000)
_unknown_at_first["samples"][("lag_unknown_at_first", "broker-a", 0)] = [(90_000, None)]
_case("lag_unknown_at_first", 4, 63.0, **_unknown_at_first)


def test_growing_lag_is_too_few_however_busy_the_clients_are(judged: Judgement) -> None:
    found = judged.group("lag_grows_to_1000")

    assert found["provision_status"] == "UNDER_PROVISIONED"
    assert found["provision_reason"] == "lag grew by 1 message over the samples"


def test_lag_below_a_thousand_comes_and_goes(judged: Judgement) -> None:
    assert judged.group("lag_grows_to_999")["provision_status"] == "RIGHT_PROVISIONED"


def test_lag_that_stays_does_not_grow(judged: Judgement) -> None:
    assert judged.group("lag_does_not_grow")["provision_status"] == "RIGHT_PROVISIONED"


def test_an_unknown_lag_has_not_grown_from_zero(judged: Judgement) -> None:
    assert judged.group("lag_unknown_at_first")["provision_status"] == "RIGHT_PROVISIONED"


# Undecided
_case("one_of_twenty_untimed", 20, 10.0, timed=19)
_case("two_of_twenty_untimed", 20, 10.0, timed=18)
_case("nobody_timed", 1, 10.0, timed=0)
_case("rate_unknown", 4, None)
_case("threads_unknown", 4, 10.0, client={"consume_threads": None})
_case("owners_unknown", 4, 10.0, client={"allocate_strategy": OWN_STRATEGY})
_case("no_clients", 0, 10.0)
_case("time_of_zero", 4, 10.0, rt_ms=0.0)
_case("broadcasts", 4, 10.0, message_model="BROADCASTING")


def test_one_client_in_twenty_may_have_no_response_time(judged: Judgement) -> None:
    # It has 0.012 of its thousand; the usual time stands in.
    found = judged.group("one_of_twenty_untimed")

    assert found["provision_status"] == "OVER_PROVISIONED"
    assert found["utilisation"] == pytest.approx(0.02)


def test_without_response_times_nothing_is_decided(judged: Judgement) -> None:
    for group, reason in {
        "two_of_twenty_untimed": "response times are unknown for 2 of 20 clients",
        "nobody_timed": "response times are unknown for 1 of 1 client",
        # RocketMQ says 0 where nothing was consumed in the last hour.
        "time_of_zero": "response times are unknown for 4 of 4 clients",
    }.items():
        found = judged.group(group)
        assert (found["provision_status"], found["provision_reason"]) == ("UNDECIDED", reason)


@pytest.mark.parametrize("group", ["rate_unknown", "threads_unknown", "owners_unknown"])
def test_an_unknown_part_of_the_load_leaves_it_undecided(judged: Judgement, group: str) -> None:
    found = judged.group(group)

    assert (found["provision_status"], found["utilisation"]) == ("UNDECIDED", None)
    assert found["provision_reason"] == "rates, threads or owners of some of its queues are unknown"


def test_nothing_is_decided_where_there_is_nothing_to_decide(judged: Judgement) -> None:
    assert judged.group("no_clients")["provision_reason"] == "the group has no clients"
    assert judged.group("broadcasts")["provision_reason"] == "broadcasting: every client reads every queue"
    for group in ("no_clients", "broadcasts"):
        assert judged.group(group)["provision_status"] == "UNDECIDED"
