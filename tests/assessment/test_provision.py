"""UNDER_, RIGHT_, OVER_PROVISIONED and UNDECIDED.

A client with ten threads that needs 10 ms a message handles 1,000 messages a second; its busy share is what it gets by
that. A case's topic has twelve queues on each of two brokers, so that four clients own six each, and three eight.
"""

from typing import Any

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import InventoryConsumeStatus, InventorySubscription
from tests.assessment.cases import OWN_STRATEGY, Part, a_group, a_topic, member, members, owned, pops, takes
from tests.assessment.judge import Judgement, judge
from tests.simulation.clusters import cluster, queues, reads

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
    nothing = {(name, b, i): [(99_000, 99_000)] for b in ("broker-a", "broker-b") for i in range(12)}
    return {"lag": 0, "lags": {queue: last}, "samples": nothing | {queue: [(99_000, 99_000 - first)]}}


# Four clients of six queues each: six times the rate a queue. Twelve own two each; nine own three, when three left.
_case("busy_70", 4, 700 / 6)
_case("busy_above_70", 4, 117.0)
_case("spare_at_50", 12, 500 / 3)
_case("spare_above_50", 12, 167.0)
_case("three_are_the_least", 3, 1.0)
_case("four_may_lose_one", 4, 1.0)
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
    assert found["utilisation"] == pytest.approx(1 / 3)
    assert found["provision_reason"] == ("without 3 of its 12 clients the busiest would be busy for 50.0 % of its time")


def test_more_than_half_of_their_time_without_a_fifth_is_right(judged: Judgement) -> None:
    found = judged.group("spare_above_50")

    assert found["provision_status"] == "RIGHT_PROVISIONED"
    assert found["provision_reason"] == "the busiest client is busy for 33.4 % of its time"


def test_a_fifth_of_the_clients_is_rounded_up(judged: Judgement) -> None:
    # Six clients of four queues each lose two: four of six each are busy for 37.5 %.
    assert judged.group("six_lose_two")["provision_reason"] == (
        "without 2 of its 6 clients the busiest would be busy for 37.5 % of its time"
    )


def test_three_clients_are_never_too_many(judged: Judgement) -> None:
    assert judged.group("three_are_the_least")["provision_status"] == "RIGHT_PROVISIONED"
    assert judged.group("four_may_lose_one")["provision_status"] == "OVER_PROVISIONED"


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
_case("lag_grows_to_1000", 4, 1.0, rt_ms=60.0, **_growing("lag_grows_to_1000", 0, 1_000))
_case("lag_grows_to_999", 4, 1.0, rt_ms=60.0, **_growing("lag_grows_to_999", 0, 999))
# 2,400 messages a second come; clients commit every 5 s.
_case("lag_grows_by_five_seconds", 4, 100.0, **_growing("lag_grows_by_five_seconds", 2_000, 14_000))
_case("lag_grows_by_more", 4, 100.0, **_growing("lag_grows_by_more", 2_000, 14_001))
_case("lag_grows_at_50", 4, 500 / 6, **_growing("lag_grows_at_50", 0, 50_000))
_case("lag_grows_above_50", 4, 84.0, **_growing("lag_grows_above_50", 0, 50_000))
_case("lag_does_not_grow", 4, 63.0, **_growing("lag_does_not_grow", 50_000, 50_000))
_unknown_at_first = _growing("lag_unknown_at_first", 0, 50_000)
_unknown_at_first["samples"][("lag_unknown_at_first", "broker-a", 0)] = [(99_000, None)]
_case("lag_unknown_at_first", 4, 63.0, **_unknown_at_first)


@pytest.mark.parametrize(
    ("group", "status"), [("lag_grows_at_50", "RIGHT_PROVISIONED"), ("lag_grows_above_50", "UNDER_PROVISIONED")]
)
def test_lag_that_grows_while_clients_have_time_left_is_no_want_of_clients(
    judged: Judgement, group: str, status: str
) -> None:
    assert judged.group(group)["provision_status"] == status
    assert (judged.found("CONSUMER_CAPACITY", group) is None) is (status == "RIGHT_PROVISIONED")


def test_growing_lag_of_busy_clients_is_too_few(judged: Judgement) -> None:
    found = judged.group("lag_grows_to_1000")

    assert found["provision_status"] == "UNDER_PROVISIONED"
    assert found["provision_reason"] == "lag grew by 1,000 messages in 1 min, 60,000 an hour"


def test_lag_below_a_thousand_comes_and_goes(judged: Judgement) -> None:
    assert judged.group("lag_grows_to_999")["provision_status"] != "UNDER_PROVISIONED"


def test_lag_that_grew_by_no_more_than_what_comes_between_two_commits_comes_and_goes(judged: Judgement) -> None:
    assert judged.group("lag_grows_by_five_seconds")["provision_status"] == "RIGHT_PROVISIONED"
    assert judged.group("lag_grows_by_more")["provision_status"] == "UNDER_PROVISIONED"


def test_lag_that_stays_does_not_grow(judged: Judgement) -> None:
    assert judged.group("lag_does_not_grow")["provision_status"] == "RIGHT_PROVISIONED"


def test_an_unknown_lag_has_not_grown_from_zero(judged: Judgement) -> None:
    assert judged.group("lag_unknown_at_first")["provision_status"] == "RIGHT_PROVISIONED"


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
    rates = {(b, i): rate for b in ("broker-a", "broker-b") for i in range(12)}
    PART.case(name, clients, *QUEUES, rates=rates)


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
    rates={(b, i): 10.0 for b in ("broker-a", "broker-b") for i in range(12)},
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
def _broadcasting(name: str, handled: float | None, rate: float = 1_000.0, **facts: Any) -> None:
    """Four clients that report to handle so many messages a second of 10 ms with ten threads."""
    status = InventoryConsumeStatus(
        topic=name, consume_rt_ms=10.0, consume_ok_msgs_per_s=handled, consume_failed_msgs_per_s=0.0
    )
    every = [member(one.client_id, consume_threads=10, consume_batch_size=1, status=(status,)) for one in members(4)]
    rates = {(b, i): rate for b in ("broker-a", "broker-b") for i in range(12)}
    PART.case(name, every, *QUEUES, rates=rates, message_model="BROADCASTING", **facts)


_broadcasting("broadcasts", 240.0)
_broadcasting("broadcasts_too_much", 720.0)
_broadcasting("broadcasts_unsaid", None)
_broadcasting("broadcasts_behind", 240.0, **_growing("broadcasts_behind", 1_000, 90_000))


def test_a_broadcasting_client_is_as_busy_as_it_says_whatever_the_brokers_count(judged: Judgement) -> None:
    assert judged.group("broadcasts")["utilisation"] == pytest.approx(0.24)
    assert judged.group("broadcasts")["provision_status"] == "RIGHT_PROVISIONED"
    assert judged.group("broadcasts_too_much")["provision_status"] == "UNDER_PROVISIONED"
    assert judged.group("broadcasts_too_much")["needed_clients_target"] is None


def test_offsets_of_a_broadcasting_group_on_brokers_say_nothing_of_its_size(judged: Judgement) -> None:
    assert judged.group("broadcasts_behind")["provision_status"] == "RIGHT_PROVISIONED"
    assert judged.found("CONSUMER_CAPACITY", "broadcasts_behind") is None
    assert judged.group("broadcasts_unsaid")["provision_status"] == "UNDECIDED"
    assert judged.group("broadcasts_unsaid")["provision_reason"].startswith("some of its clients do not report")


# Orphans: a client that does not subscribe the topic takes nothing, and its share is orphaned.
PART.topic("half_read", *QUEUES, rates={(b, i): 10.0 for b in ("broker-a", "broker-b") for i in range(12)})
PART.topic("read_by_all", queues("broker-a"), rates={("broker-a", i): 0.0 for i in range(4)})
PART.group(
    "orphans_queues",
    [
        member("c01", consume_threads=10, consume_batch_size=1, status=takes("half_read", 10.0)),
        member("c02", consume_threads=10, consume_batch_size=1, subscriptions=(reads("read_by_all"),)),
    ],
    "half_read",
)


def test_a_group_that_leaves_queues_unread_is_not_too_small_for_that(judged: Judgement) -> None:
    found = judged.group("orphans_queues")

    assert (found["provision_status"], found["utilisation"]) == ("RIGHT_PROVISIONED", pytest.approx(0.12))
    assert found["reading_status"] == "UNREAD"


# How many it needs: 24 queues, so that eight clients own three each, and six own four.
_case("needs_six", 4, 150.0)
_case("needs_more_than_there_are_queues", 4, 800.0)
_case("needs_one", 4, 1.0)


def test_the_smallest_number_that_keeps_the_busiest_within_the_bound(judged: Judgement) -> None:
    # A queue takes 15 % of a client; four make 60 % and five 75 %.
    found = judged.group("needs_six")

    assert [found[f"needed_clients_{end}"] for end in ("lower", "target", "upper")] == [6, 6, 6]
    # 3.6 clients' full time within 70 % each.
    assert found["min_safe_clients"] == 6
    assert judged.group("needs_one")["needed_clients_target"] == judged.group("needs_one")["min_safe_clients"] == 1


def test_no_number_of_clients_shares_a_queue_out(judged: Judgement) -> None:
    # A queue takes 80 % of a client.
    found = judged.group("needs_more_than_there_are_queues")

    assert found["needed_clients_target"] is None
    assert found["min_safe_clients"] == found["max_useful_clients"] == 24


PART.case(
    "its_own_class",
    [
        member(
            client_id,
            consume_threads=10,
            consume_batch_size=1,
            status=takes("its_own_class", 10.0),
            allocate_strategy=OWN_STRATEGY,
            owned_queues=owned(*(("its_own_class", broker_name, i) for i in range(12))),
        )
        for client_id, broker_name in (("c01", "broker-a"), ("c02", "broker-b"))
    ],
    *QUEUES,
    rates={(b, i): 50.0 for b in ("broker-a", "broker-b") for i in range(12)},
)


def test_of_a_strategy_that_cannot_be_computed_only_today_is_known(judged: Judgement) -> None:
    found = judged.group("its_own_class")

    assert (found["provision_status"], found["utilisation"]) == ("RIGHT_PROVISIONED", pytest.approx(0.6))
    assert (found["is_size_known"], found["needed_clients_target"]) == (False, None)
    assert judged.group("needs_six")["is_size_known"]
    # 1,200 messages a second need 1.2 clients' full time.
    assert found["min_safe_clients"] == 2


def test_clients_whose_queues_nobody_would_take_over_are_not_to_spare() -> None:
    queues_of = {f"c0{i}": [{"topic": "t", "broker_name": "broker-a", "queue_id": i}] for i in (1, 2, 3)}
    policy = Policy.model_validate({"config_assignments": {"g": queues_of}})
    clients = members(3, consume_threads=10, consume_batch_size=1, status=takes("t", 10.0), allocate_strategy="CONFIG")
    topic = a_topic("t", queues("broker-a", 4), rates={("broker-a", i): 1.0 for i in range(4)})
    found = judge(cluster([topic], [a_group("g", clients, [topic])]), policy).group("g")

    # Queue 0 is on no list.
    assert (found["provision_status"], found["reading_status"]) == ("RIGHT_PROVISIONED", "UNREAD")
    assert found["utilisation"] == pytest.approx(0.001)
    # With fewer clients nobody reads the queues of those who left.
    assert (found["needed_clients_target"], found["min_safe_clients"]) == (3, 1)


# Filters
def _filters(name: str, expression: str, ok: float | None, rate: float, **facts: Any) -> None:
    status = (
        InventoryConsumeStatus(topic=name, consume_rt_ms=30.0, consume_ok_msgs_per_s=ok, consume_failed_msgs_per_s=0.0),
    )
    clients = [
        member(one.client_id, consume_threads=20, consume_batch_size=1, status=status, **facts) for one in members(4)
    ]
    rates = {(b, i): rate for b in ("broker-a", "broker-b") for i in range(12)}
    own = (InventorySubscription(topic=name, expression_type="TAG", expression=expression),)
    PART.case(name, clients, *QUEUES, rates=rates, subscriptions=own)


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
    PART.case(
        name, clients, *QUEUES, rates={(b, i): 10.0 for b in ("broker-a", "broker-b") for i in range(12)}, **facts
    )


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
