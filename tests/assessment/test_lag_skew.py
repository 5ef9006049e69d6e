"""LAG_SKEW: the lag lies on few clients, and by Burrow's rules some queue's is not under control.

Each case has four clients with a queue each; queue 0 is c01's. A verdict needs ten samples: nine earlier ones and the
snapshot's own, whose lag the case names.
"""

from collections.abc import Sequence
from typing import Any

from tests.assessment.cases import OWN_STRATEGY, Part, Queue, member, owned
from tests.assessment.judge import Judgement, Row
from tests.assessment.test_backlog import END, behind
from tests.simulation.clusters import queues, reads

PART = Part()
Samples = Sequence[tuple[int | None, int | None]]

"""The broker's offset of every queue at the snapshot."""


def _case(name: str, lags: Sequence[int | None], samples: Samples, of: Queue | None = None, **facts: Any) -> None:
    """Four clients with these lags, and the earlier samples (broker offset, consumer offset) of c01's queue."""
    clients = [
        member(f"c0{i + 1}", allocate_strategy=OWN_STRATEGY, owned_queues=owned((name, "broker-a", i)))
        for i in range(4)
    ]
    PART.case(
        name,
        clients,
        queues("broker-a", 4),
        lags={(name, "broker-a", i): lag for i, lag in enumerate(lags)} | ({of: 500} if of else {}),
        samples={of or (name, "broker-a", 0): samples},
        **facts,
    )


def _places(*offsets: int) -> Samples:
    """Samples of a consumer at these offsets, of a queue that is not written any more."""
    return [(END, offset) for offset in offsets]


_UNEVEN = (10_000, 1_000, 1_000, 1_000)
_GROWS = behind(*range(1_000, 10_000, 1_000))
_case("lag_grows", _UNEVEN, _GROWS)
_case("lag_peak_of_3_00", (9_000, 1_000, 1_000, 1_000), _GROWS)
_case("lag_falls_once", _UNEVEN, behind(1_000, 2_000, 3_000, 2_999, 4_000, 5_000, 6_000, 7_000, 8_000))
_case("lag_stays", _UNEVEN, behind(*[10_000] * 9))
_case("nine_samples", _UNEVEN, _GROWS[1:])
_case("lag_was_gone_once", _UNEVEN, behind(0, *range(1_000, 9_000, 1_000)))
_case(
    "stands_still",
    _UNEVEN,
    [(END - 10_000 + lag, END - 10_000) for lag in (4_900, 5_000, 5_000, 5_100, 6_000, 7_000, 8_000, 9_000, 9_500)],
)
_case("went_back", _UNEVEN, _places(*range(END - 8_000, END + 1, 1_000)))
_case("a_sample_unknown", _UNEVEN, [*_GROWS[:4], (END, None), *_GROWS[5:]])
_case("back_in_the_last_ten", _UNEVEN, _places(50_000, 40_000, *range(41_000, 48_000, 1_000)))
_case("back_before_the_last_ten", _UNEVEN, _places(50_000, 40_000, *range(41_000, 49_000, 1_000)))
_case("lag_unknown", (None, 1_000, 1_000, 1_000), _GROWS)
_case("beyond_the_end", (10_000, -1, 1_000, 1_000), _GROWS)
_case("ends_at_the_end", (10_000, 0, 1_000, 1_000), _GROWS)
_case("a_sample_beyond", _UNEVEN, [*_GROWS[:4], (END - 10_000, END), *_GROWS[5:]])
_case("lag_of_nobody", _UNEVEN, _GROWS, message_model="BROADCASTING")
_retry: Queue = ("%RETRY%trouble_with_retries", "broker-a", 0)
_case(
    "trouble_with_retries",
    _UNEVEN,
    _GROWS,
    _retry,
    subscriptions=(reads("trouble_with_retries"), reads("%RETRY%trouble_with_retries")),
)
PART.topic("trouble_unseen", queues("broker-a", 4, 5))
PART.group(
    "trouble_unseen",
    [
        member(f"c0{i + 1}", allocate_strategy=OWN_STRATEGY, owned_queues=owned(("trouble_unseen", "broker-a", i)))
        for i in range(4)
    ],
    "trouble_unseen",
    lags={("trouble_unseen", "broker-a", i): lag for i, lag in enumerate((*_UNEVEN, 500))},
    samples={("trouble_unseen", "broker-a", 4): _GROWS},
)
_case("trouble_left_behind", _UNEVEN, _GROWS, ("a_topic_no_longer_read", "broker-a", 0))


def test_lag_that_grows_and_lies_on_one_client_is_flagged(judged: Judgement) -> None:
    found = judged.finding("LAG_SKEW", "lag_grows")

    assert found["severity"] == "WARNING"
    assert found["subjects"] == ["c01"]
    # The mean is 3,250; a queue of 10,000 has to be somebody's, so that no other division would help: EXCESS is 1.
    assert (found["evidence"]["peak"], found["evidence"]["excess"]) == (3.0769, 1.0)
    assert found["evidence"]["lag"] == 13_000
    assert found["message"] == "The client furthest behind has 3.08 times the mean lag: c01."


def test_three_times_the_mean_lag_is_not_flagged_yet(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "lag_peak_of_3_00") is None


def test_lag_that_never_falls_is_out_of_control_though_it_does_not_grow(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "lag_stays") is not None


def test_lag_that_fell_once_is_under_control(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "lag_falls_once") is None


def test_a_queue_that_was_read_to_its_end_is_under_control(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "lag_was_gone_once") is None


def test_a_consumer_that_makes_no_progress_is_out_of_control(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "stands_still") is not None


def test_a_consumer_that_went_back_is_out_of_control(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "went_back") is not None


def test_nine_samples_are_too_few_for_a_verdict(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "nine_samples") is None


def test_an_unknown_offset_is_no_lag_of_zero_and_leaves_no_verdict(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "a_sample_unknown") is None
    assert judged.found("LAG_SKEW", "lag_unknown") is None


def test_a_lag_beyond_the_brokers_end_is_unknown_and_with_it_the_groups_lag(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "ends_at_the_end") is not None
    assert judged.load("ends_at_the_end", "AVG")["lag"]["peak"] == 10_000 / 3_000

    assert judged.found("LAG_SKEW", "beyond_the_end") is None
    loads = [row for row in judged.strategy_loads if row["consumer_group"] == "beyond_the_end"]
    assert {row["is_applicable"]: row["lag"] for row in loads} == {True: None, False: None}
    behind = {row["client_id"]: row["lag"] for row in judged.client_loads if _is(row, "beyond_the_end", "AVG")}
    assert behind == {"c01": 10_000, "c02": None, "c03": 1_000, "c04": 1_000}


def test_a_sample_beyond_the_end_leaves_no_verdict(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "a_sample_beyond") is None


def _is(row: Row, consumer_group: str, strategy: str) -> bool:
    return (row["consumer_group"], row["strategy"]) == (consumer_group, strategy)


def test_only_the_last_ten_samples_count(judged: Judgement) -> None:
    # The consumer went back once, and has caught up ever since.
    assert judged.found("LAG_SKEW", "back_in_the_last_ten") is not None
    assert judged.found("LAG_SKEW", "back_before_the_last_ten") is None


def test_retries_and_topics_no_longer_read_do_not_count(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "trouble_with_retries") is None
    assert judged.found("LAG_SKEW", "trouble_left_behind") is None


def test_queues_that_the_group_cannot_see_do_not_count(judged: Judgement) -> None:
    assert judged.load("trouble_unseen", "AVG")["lag"] is not None
    assert judged.found("LAG_SKEW", "trouble_unseen") is None


def test_broadcasting_clients_keep_their_offsets_themselves(judged: Judgement) -> None:
    assert judged.found("LAG_SKEW", "lag_of_nobody") is None
