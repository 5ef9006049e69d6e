"""ALLOCATION_SKEW and CROSS_TOPIC_SKEW: some clients own more queues than whole queues make necessary.

The cases of ALLOCATION_SKEW report who owns what, so that any vector of counts can be had; n queues over c clients need
ceil(n / c) on the busiest, and EXCESS is its count over that.
"""

from typing import Any

from tests.assessment.cases import OWN_STRATEGY, Part, member, members, owned, pops
from tests.assessment.judge import Judgement
from tests.simulation.clusters import queues, reads

PART = Part()

PART.owning("excess_of_1_11", [10, 8])
PART.owning("excess_of_1_10", [11, 9])
PART.owning("gap_of_one", [9, 8])
PART.owning("excess_of_2_50", [5, 1, 1, 1])
PART.owning("one_owns_all", [6, 0, 0])
PART.owning("two_are_busiest", [4, 4, 1, 1])
PART.owning("a_lone_client", [6])
PART.case("eight_by_three", members(3))
PART.case("eight_by_six", members(6))
PART.owning("slow_and_small", [10, 8], rates=dict.fromkeys(range(18), 0.999 / 18), lag=55)
PART.owning(
    "lag_of_999", [9, 7], rates=dict.fromkeys(range(16), 0.05), lags={("lag_of_999", "broker-a", 0): 999}, lag=0
)
PART.owning(
    "lag_of_1000", [9, 7], rates=dict.fromkeys(range(16), 0.05), lags={("lag_of_1000", "broker-a", 0): 1000}, lag=0
)
PART.owning("rate_of_one", [9, 7], rates={0: 1.0} | dict.fromkeys(range(1, 16), 0.0), lag=0)
PART.owning("slow_with_unknown_lag", [9, 7], rates=dict.fromkeys(range(16), 0.05), lag=None)
PART.case(
    "fewer_than_even",
    [
        member(
            name, allocate_strategy=OWN_STRATEGY, owned_queues=owned(*(("fewer_than_even", "broker-a", i) for i in ids))
        )
        for name, ids in (("c01", range(4)), ("c02", range(4, 6)))
    ],
    queues("broker-a", 12),
)
PART.owning("broadcasting_skew", [10, 2], message_model="BROADCASTING")


def test_a_client_that_owns_a_ninth_more_than_it_must_is_flagged(judged: Judgement) -> None:
    found = judged.finding("ALLOCATION_SKEW", "excess_of_1_11")

    assert found["severity"] == "WARNING"
    assert found["subjects"] == ["c01"]
    # Of 10 and 8 the mean is 9 and the deviation 1; GINI = ((2*1-2-1)*8 + (2*2-2-1)*10) / (2*18).
    assert found["evidence"] == {
        "peak": 1.1111,
        "floor": 1.0,
        "excess": 1.1111,
        "gini": 0.0556,
        "cv": 0.1111,
        "max": 10.0,
        "min": 8.0,
        "topics": 1,
        "uneven_topics": 1,
        "clients": 2,
        "current_strategy": OWN_STRATEGY,
        "peak_utilisation_ratio": None,
    }
    assert found["message"] == ("The busiest client owns 10 queues, the least busy 8; none needs more than 9: c01.")


def test_a_tenth_more_is_not_flagged_yet(judged: Judgement) -> None:
    assert judged.found("ALLOCATION_SKEW", "excess_of_1_10") is None


def test_a_difference_of_one_queue_cannot_be_mended(judged: Judgement) -> None:
    assert judged.found("ALLOCATION_SKEW", "gap_of_one") is None


def test_no_skew_is_critical_however_large(judged: Judgement) -> None:
    found = judged.finding("ALLOCATION_SKEW", "excess_of_2_50")

    assert (found["severity"], found["evidence"]["excess"]) == ("WARNING", 2.5)


def test_clients_without_a_queue_count_in_the_mean(judged: Judgement) -> None:
    found = judged.finding("ALLOCATION_SKEW", "one_owns_all")

    assert (found["evidence"]["peak"], found["evidence"]["excess"], found["evidence"]["min"]) == (3.0, 3.0, 0.0)


def test_every_busiest_client_is_named(judged: Judgement) -> None:
    # Ten queues over four clients need three on the busiest.
    found = judged.finding("ALLOCATION_SKEW", "two_are_busiest")

    assert found["subjects"] == ["c01", "c02"]
    assert found["evidence"]["excess"] == 1.3333


def test_a_single_client_has_nobody_to_be_compared_with(judged: Judgement) -> None:
    assert judged.found("ALLOCATION_SKEW", "a_lone_client") is None


def test_what_whole_queues_make_necessary_is_no_skew(judged: Judgement) -> None:
    # 3, 3, 2 and 2, 2, 1, 1, 1, 1: PEAK is 1.125 and 1.5, and nothing can be mended.
    assert judged.load("eight_by_three", "AVG")["count"]["peak"] == 1.125
    assert judged.load("eight_by_six", "AVG")["count"]["peak"] == 1.5
    assert judged.rules("eight_by_three") == set()
    assert judged.rules("eight_by_six") == set()


def test_where_queues_have_no_owner_nobody_is_told_to_own_fewer_than_an_even_share(judged: Judgement) -> None:
    # 4 and 2 of 12 queues, where 6 each would be even.
    found = judged.finding("ALLOCATION_SKEW", "fewer_than_even")

    assert found["evidence"]["excess"] == 1.3333
    assert found["message"] == "The busiest client owns 4 queues, the least busy 2: c01."


def test_a_group_with_hardly_any_messages_and_lag_is_exempt(judged: Judgement) -> None:
    assert judged.found("ALLOCATION_SKEW", "slow_and_small") is None
    assert judged.found("ALLOCATION_SKEW", "lag_of_999") is None


def test_one_message_a_second_or_a_thousand_of_lag_end_the_exemption(judged: Judgement) -> None:
    for group in ("rate_of_one", "lag_of_1000"):
        assert judged.finding("ALLOCATION_SKEW", group)["evidence"]["excess"] == 1.125


def test_a_lag_that_is_not_known_exempts_nobody(judged: Judgement) -> None:
    assert judged.found("ALLOCATION_SKEW", "slow_with_unknown_lag") is not None


def test_what_a_broadcasting_client_owns_does_not_matter(judged: Judgement) -> None:
    assert judged.rules("broadcasting_skew") == set()


# CROSS_TOPIC_SKEW: AVG gives what is over of every topic to the clients that come first.
def _topics(name: str, clients: int, *counts: int, **facts: Any) -> None:
    topics = [PART.topic(f"{name}_{i}", queues("broker-a", count)) for i, count in enumerate(counts)]
    PART.group(name, members(clients), *topics, **facts)


_topics("remainders_pile_up", 4, 5, 5, 5)
_topics("cross_excess_of_1_10", 2, 9, 11)
_topics("cross_excess_of_1_11", 2, 9, 9)
_topics("cross_excess_of_3_00", 3, 1, 1, 1)
_topics("one_topic_of_five", 4, 5)
_uneven = [PART.topic(f"one_is_uneven_{i}", queues("broker-a", 4)) for i in range(2)]
PART.group(
    "one_is_uneven",
    [
        member(
            "a",
            allocate_strategy=OWN_STRATEGY,
            owned_queues=owned(
                *((_uneven[0], "broker-a", i) for i in range(3)), *((_uneven[1], "broker-a", i) for i in range(2))
            ),
        ),
        member(
            "b",
            allocate_strategy=OWN_STRATEGY,
            owned_queues=owned((_uneven[0], "broker-a", 3), *((_uneven[1], "broker-a", i) for i in range(2, 4))),
        ),
    ],
    *_uneven,
)
# Both pulled topics leave one queue over for c01; what all pop alike is no skew, whoever counts it how.
_popping = PART.topic("popped_by_all", queues("broker-a", 8))
_pulling = [PART.topic(f"pulled_beside_{i}", queues("broker-a", 3)) for i in range(2)]
PART.group(
    "pops_and_pulls",
    members(2),
    _popping,
    *_pulling,
    subscriptions=(pops(_popping), *(reads(topic) for topic in _pulling)),
)


def test_remainders_of_even_topics_that_pile_up_are_flagged(judged: Judgement) -> None:
    found = judged.finding("CROSS_TOPIC_SKEW", "remainders_pile_up")

    # 2, 1, 1, 1 of each topic: 6, 3, 3, 3 of 15, where ceil(15 / 4) = 4 would do.
    assert found["severity"] == "WARNING"
    assert found["subjects"] == ["c01"]
    assert (found["evidence"]["excess"], found["evidence"]["max"], found["evidence"]["min"]) == (1.5, 6.0, 3.0)
    assert (found["evidence"]["topics"], found["evidence"]["uneven_topics"]) == (3, 0)
    assert found["message"] == "The busiest client owns 6 queues, the least busy 3; none needs more than 4: c01."
    assert judged.found("ALLOCATION_SKEW", "remainders_pile_up") is None


def test_a_tenth_more_over_all_topics_is_not_flagged_yet(judged: Judgement) -> None:
    assert judged.rules("cross_excess_of_1_10") == set()
    assert judged.rules("cross_excess_of_1_11") == {"CROSS_TOPIC_SKEW"}


def test_three_times_what_is_needed_over_all_topics_is_a_warning(judged: Judgement) -> None:
    assert judged.finding("CROSS_TOPIC_SKEW", "cross_excess_of_3_00")["severity"] == "WARNING"


def test_a_single_topic_has_no_other_to_pile_up_with(judged: Judgement) -> None:
    assert not {"ALLOCATION_SKEW", "CROSS_TOPIC_SKEW"} & judged.rules("one_topic_of_five")


def test_where_a_topic_is_uneven_itself_the_allocation_is_to_blame(judged: Judgement) -> None:
    found = judged.finding("ALLOCATION_SKEW", "one_is_uneven")

    assert (found["evidence"]["max"], found["evidence"]["uneven_topics"], found["evidence"]["topics"]) == (5.0, 1, 2)
    assert judged.found("CROSS_TOPIC_SKEW", "one_is_uneven") is None


def test_a_popped_topic_makes_no_skew(judged: Judgement) -> None:
    assert judged.rules("pops_and_pulls") == set()
