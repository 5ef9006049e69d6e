"""UNDER_, RIGHT_, OVER_PROVISIONED and UNDECIDED: bounds, capacity, lag, and how many clients are needed."""

from functools import partial

import pytest

from rocketmq_capacity.assessment.sizes import clients_for
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.dataset import MOST
from tests.assessment.cases import OWN_STRATEGY, Part, a_group, a_topic, member, members, owned, pops, takes
from tests.assessment.judge import Judgement, judge
from tests.assessment.provision_cases import QUEUES, a_case, growing, rates_of_all
from tests.simulation.clusters import cluster, queues, reads

PART = Part()
_case = partial(a_case, PART)

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
PART.topic("popped_fast", *QUEUES, rates=rates_of_all(100.0))
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
_case("lag_grows_to_1000", 4, 1.0, rt_ms=60.0, **growing("lag_grows_to_1000", 0, 1_000))
_case("lag_grows_to_999", 4, 1.0, rt_ms=60.0, **growing("lag_grows_to_999", 0, 999))
# 2,400 messages a second come; clients commit every 5 s.
_case("lag_grows_by_five_seconds", 4, 100.0, **growing("lag_grows_by_five_seconds", 2_000, 14_000))
_case("lag_grows_by_more", 4, 100.0, **growing("lag_grows_by_more", 2_000, 14_001))
_case("lag_grows_at_50", 4, 500 / 6, **growing("lag_grows_at_50", 0, 50_000))
_case("lag_grows_above_50", 4, 84.0, **growing("lag_grows_above_50", 0, 50_000))
_case("lag_does_not_grow", 4, 63.0, **growing("lag_does_not_grow", 50_000, 50_000))
_unknown_at_first = growing("lag_unknown_at_first", 0, 50_000)
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


# Orphans: a client that does not subscribe the topic takes nothing, and its share is orphaned.
PART.topic("half_read", *QUEUES, rates=rates_of_all(10.0))
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
    rates=rates_of_all(50.0),
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


def test_no_number_of_clients_is_larger_than_the_tables_hold() -> None:
    assert [clients_for(work, 0.5) for work in (0.0, 1.0, 2.0**29, 2.0**30, 1e30)] == [1, 2, 2**30, MOST, MOST]
