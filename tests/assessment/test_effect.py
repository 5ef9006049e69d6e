"""The verdict on a change: capacity, reachability and loss, each at its bound."""

from typing import Any

import pytest

from rocketmq_capacity.assessment.effect import Crossed, Shift, effect_of
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.thresholds import Thresholds


def exactly(share: float) -> Interval:
    return Interval(share, share, share)


def effect(was: float | None, now: float | None, *, policy: dict[str, Any] | None = None, **more: Any) -> Any:
    thresholds = Policy.model_validate({"thresholds": policy or {}}).thresholds
    before, after = (None if share is None else exactly(share) for share in (was, now))
    return effect_of(Shift(before, after, **more), thresholds)


@pytest.mark.parametrize(
    ("was", "now", "verdict"),
    [
        (0.003, 0.005, "UNCHANGED"),
        (0.2, 0.5, "UNCHANGED"),
        (0.47, 0.51, "UNCHANGED"),
        (0.46, 0.51, "WORSE"),
        (0.51, 0.46, "BETTER"),
        (0.55, 0.5, "BETTER"),
        (0.65, 0.6, "UNCHANGED"),
        (0.69, 0.7, "UNCHANGED"),
        (0.69, 0.701, "WORSE"),
        (0.701, 0.69, "BETTER"),
        (0.701, 0.7, "BETTER"),
        (0.8, 0.84, "UNCHANGED"),
        (0.8, 0.86, "WORSE"),
        (0.99, 1.001, "WORSE"),
        (1.001, 0.99, "BETTER"),
        (3.161, 3.186, "UNCHANGED"),
        (3.18, 0.005, "BETTER"),
    ],
)
def test_capacity_counts_where_a_bound_is_crossed_or_a_busy_client_is_clearly_busier(
    was: float, now: float, verdict: str
) -> None:
    assert effect(was, now) == (verdict, () if verdict == "UNCHANGED" else ("CAPACITY",))


def test_the_bounds_are_those_of_the_policy() -> None:
    assert effect(0.2, 0.3, policy={"EFFECT": {"busy_ratio": 0.25}}).verdict == "WORSE"
    assert effect(0.2, 0.3, policy={"EFFECT": {"busy_ratio": 0.25, "min_change_ratio": 0.2}}).verdict == "UNCHANGED"
    assert effect(0.2, 0.3, policy={"PROVISION": {"under_utilisation": 0.25}}).verdict == "WORSE"
    assert effect(0.2, 0.2, waiting=10, policy={"LOW_UTILISATION": {"min_lag": 10}}) == ("WORSE", ("LOSS",))
    assert effect(0.2, 0.2, waiting=9, policy={"LOW_UTILISATION": {"min_lag": 10}}).verdict == "UNCHANGED"
    assert effect(0.2, 0.2, waiting=0, policy={"LOW_UTILISATION": {"min_lag": 0}}).verdict == "UNCHANGED"


@pytest.mark.parametrize(
    ("more", "verdict", "reason"),
    [
        ({"unread": Crossed(1, 5)}, "WORSE", "REACHABILITY"),
        ({"unread": Crossed(0, 5)}, "BETTER", "REACHABILITY"),
        ({"unread": None}, "UNDECIDED", "REACHABILITY"),
        ({"twice": Crossed(1)}, "WORSE", "REACHABILITY"),
        ({"twice": Crossed(0, 1)}, "BETTER", "REACHABILITY"),
        ({"unreadable": Crossed(1)}, "WORSE", "REACHABILITY"),
        ({"unwritable": Crossed(1)}, "WORSE", "REACHABILITY"),
        ({"unwritable": Crossed(0, 1)}, "BETTER", "REACHABILITY"),
        ({"has_clients": False}, "WORSE", "REACHABILITY"),
        ({"had_clients": False}, "BETTER", "REACHABILITY"),
        ({"waiting": 1000}, "WORSE", "LOSS"),
        ({"lag_grew": True, "lag_grows": None}, "UNDECIDED", "CAPACITY"),
        ({"lag_grew": True, "lag_grows": False}, "BETTER", "CAPACITY"),
    ],
    ids=str,
)
def test_queues_clients_and_messages_count_one_by_one(more: dict[str, Any], verdict: str, reason: str) -> None:
    assert effect(0.2, 0.2, **more) == (verdict, (reason,))


@pytest.mark.parametrize(
    "more", [{"waiting": 999}, {"waiting": None}, {"lag_grew": True, "lag_grows": True}, {"unread": Crossed()}], ids=str
)
def test_little_lag_and_trouble_that_stays_change_nothing(more: dict[str, Any]) -> None:
    assert effect(0.2, 0.2, **more) == ("UNCHANGED", ())


def test_what_is_lost_mends_nothing() -> None:
    better: list[dict[str, Any]] = [
        {"unread": Crossed(0, 5)},
        {"twice": Crossed(0, 1)},
        {"lag_grew": True, "lag_grows": False},
    ]
    for more in better:
        assert effect(0.2, 0.2, is_loss=True, **more) == ("UNCHANGED", ())
    assert effect(3.18, 0.005, is_loss=True) == ("UNCHANGED", ())
    assert effect(0.2, 0.9, is_loss=True) == ("WORSE", ("CAPACITY",))


def test_one_thing_that_gets_worse_outweighs_all_that_get_better() -> None:
    assert effect(0.9, 0.2, unread=Crossed(1)) == ("WORSE", ("REACHABILITY",))
    assert effect(0.2, 0.9, unread=Crossed(0, 3)) == ("WORSE", ("CAPACITY",))
    assert effect(0.2, 0.9, unread=Crossed(1), waiting=5000) == ("WORSE", ("CAPACITY", "REACHABILITY", "LOSS"))
    assert effect(0.9, 0.2, unread=None) == ("UNDECIDED", ("REACHABILITY",))


def test_what_is_unknown_only_afterwards_is_undecided() -> None:
    assert effect(0.2, None) == ("UNDECIDED", ("CAPACITY",))
    assert effect(None, None) == ("UNCHANGED", ())
    assert effect(None, 0.2) == ("UNCHANGED", ())
    assert effect(None, 0.8) == ("UNDECIDED", ("CAPACITY",))
    assert effect(0.2, None, has_clients=False) == ("WORSE", ("REACHABILITY",))


@pytest.mark.parametrize(
    ("now", "verdict"),
    [((0.71, 0.8, 0.9), "WORSE"), ((0.3, 0.4, 0.6), "UNCHANGED"), ((0.3, 0.4, 0.8), "UNDECIDED")],
)
def test_an_interval_is_over_the_bound_if_all_of_it_is(now: tuple[float, float, float], verdict: str) -> None:
    assert effect_of(Shift(exactly(0.38), Interval(*now)), Thresholds()).verdict == verdict
