"""What producers do while brokers are in trouble: figures that can be computed by hand."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import pytest

from rocketmq_capacity.producers.senders import SENDERS
from rocketmq_capacity.producers.timeline import MOST_ROWS, MOST_ROWS_IN_ALL, Known, ProducerTimelines
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.producers_meanwhile import troubles_of
from rocketmq_capacity.simulation.scenario import Scenario
from tests.producers.watched import (
    DEFAULT,
    DETECTING_PROXY,
    FIXED,
    LOSE_B,
    NEW,
    OLD,
    POLICY,
    PROXY,
    READ_B,
    SLOW_B,
    TOLERANT_PROXY,
    course,
    is_of,
    kind_of,
    place,
    rows,
    shares,
    timelines,
)


def test_without_the_tolerance_a_slow_broker_keeps_its_share_and_threads_wait_for_it() -> None:
    found = timelines(SLOW_B)
    one = course(found, DEFAULT)

    assert one.troubled_ratio == pytest.approx(1 / 3, abs=0.02)
    assert one.mean_latency_ms == pytest.approx(800 / 3 + 5 * 2 / 3, rel=0.05)
    assert (one.failed_ratio, one.tries_per_message, one.stays_away_ratio) == (0, 1, 0)
    # Twelve queues in turn: eight messages of 100 ms and four of 800 ms.
    sent = sum(rows(found, DEFAULT, second)["a"].thread_msgs_per_s for second in range(10))
    assert sent == pytest.approx(12 / 4 * 10_000 / 1_000, rel=0.1)


def test_the_old_generation_gives_all_of_an_avoided_broker_to_the_next_one_and_the_new_one_shares_it_out() -> None:
    found = timelines({**SLOW_B, "for_s": 20})

    for kind in (OLD, FIXED):
        assert shares(found, kind, 10) == {"a": 0.33, "b": 0, "c": 0.67}
    assert shares(timelines({**SLOW_B, "latency_ms": 1_900}), NEW, 5) == {"a": 0.5, "b": 0, "c": 0.5}


def test_each_generation_comes_back_after_its_own_back_off() -> None:
    found = timelines(SLOW_B)

    # Avoided once at the beginning, for 30 s after 0.8 s; each thread meets the broker within its first messages.
    assert course(found, OLD).returns_worst_s == pytest.approx(30.8 - 10 + 1.2, abs=1.0)
    # 2 s after each slow message, and then it has to come to the broker's turn: eight messages of the others.
    assert 0 < (course(found, NEW).returns_worst_s or 0) <= 0.8 + 2.0 + 0.9
    assert 0 < (course(found, DEFAULT).returns_worst_s or 0) <= 0.8 + 0.9


def test_messages_to_a_broker_that_takes_longer_than_a_send_may_fail() -> None:
    found = timelines({**SLOW_B, "latency_ms": 3_500}, known={"pay": Known(False, 90.0)})

    one = course(found, DEFAULT)
    assert one.failed_ratio == one.troubled_ratio
    assert one.failed_messages == pytest.approx((one.failed_ratio or 0) * 90 * 10, rel=1e-3)
    # A Proxy that took it for unreachable asks it no more, unless it has the detector.
    assert course(found, TOLERANT_PROXY).stays_away_ratio == 1
    assert course(found, DETECTING_PROXY).stays_away_ratio == 0


def test_a_killed_broker_costs_tries_and_no_message_and_is_gone_when_the_last_thread_asks_for_the_route() -> None:
    found = timelines(LOSE_B, places=[place("a"), place("b")])
    one = course(found, DEFAULT, "KILL")

    assert (one.failed_ratio, one.trouble_s, one.afterwards_ratios) == (0, 30, {"a": 1.0})
    # A turn is a1, a2, a3, b, and a0 instead of it; half of the time the average thread knows the route.
    assert one.tries_per_message == pytest.approx(1 + 0.25 / 2, abs=0.02)
    assert 25 < (one.left_worst_s or 0) < 30
    # The Proxy does not try again, and asks for routes every 20 s.
    assert course(found, PROXY, "KILL").failed_ratio == pytest.approx(0.25, abs=0.02)
    assert course(found, PROXY, "KILL").trouble_s == 20


def test_messages_to_a_silent_broker_fail_until_name_servers_forget_it() -> None:
    one = course(timelines(LOSE_B, places=[place("a"), place("b")]), DEFAULT, "SILENT")

    assert one.trouble_s == 125 + 30
    assert (one.failed_ratio or 0) > 0.1
    assert 125 < (one.last_failed_s or 0) < 155


def test_the_only_broker_of_a_topic_takes_every_message_with_it() -> None:
    found = timelines(LOSE_B, places=[place("b")])

    for kind in SENDERS:
        assert course(found, kind, "KILL").failed_ratio == 1
    # Java clients keep the route of a topic that is gone; a Proxy does not.
    assert course(found, DEFAULT, "KILL").tries_per_message == 3
    assert shares(found, PROXY, 24, "KILL") == {"b": 0}


def test_a_read_only_broker_loses_its_share_while_threads_learn_of_it_and_refuses_ordered_topics_alone() -> None:
    plain, ordered = timelines(READ_B), timelines(READ_B, known={"pay": Known(True, 90.0)})

    seconds = [shares(plain, DEFAULT, second)["b"] or 0.0 for second in (0, 10, 20, 31)]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] == pytest.approx(1 / 3, abs=0.02)
    assert seconds[-1] == 0
    assert (course(plain, DEFAULT).failed_ratio, course(plain, DEFAULT).tries_per_message) == (0, 1)
    assert (course(ordered, DEFAULT).failed_ratio, course(ordered, DEFAULT).troubled_ratio) == (0, 0)
    assert (course(ordered, DEFAULT).tries_per_message or 0) > 1.05
    assert (course(ordered, PROXY).failed_ratio or 0) > 0.1


@pytest.mark.slow
def test_a_route_is_in_trouble_as_long_as_its_own_brokers_are() -> None:
    slow = {**SLOW_B, "broker_name": "a", "for_s": 500}
    places = [place("b"), place("c"), place("a", "other"), place("c", "other")]
    found = timelines(LOSE_B, slow, places=places, known={})
    trouble_s = {found.routes[one.route - 1].topics: one.trouble_s for one in found.courses if is_of(one, DEFAULT)}

    assert trouble_s == {("pay",): 155, ("other",): 500}  # the last ending is SILENT


def test_only_versions_with_the_fault_are_displaced_for_ever_and_only_if_every_broker_is_avoided() -> None:
    both = timelines(SLOW_B, {**SLOW_B, "broker_name": "a", "latency_ms": 700}, places=[place("a"), place("b")])

    assert course(both, OLD).displaced_queues > 0
    assert course(both, OLD).afterwards_ratios == {"a": 1.0}  # the faster one, also when both are fast again
    for kind in SENDERS:
        assert kind is OLD or course(both, kind).afterwards_ratios == {"a": 0.5, "b": 0.5}
    assert course(timelines(SLOW_B), OLD).displaced_queues == 0


def test_topics_that_lie_alike_are_watched_once_and_unknown_ones_are_not() -> None:
    places = [
        *(place(broker, topic) for topic in ("pay", "ship") for broker in "ab"),
        *(place(broker, "big", 8) for broker in "ab"),
        place("a", "elsewhere"),
        place("a", "unknown"),
        place("b", "unknown", None),
        place("b", "read", perm=4),
    ]
    rates = {"pay": Known(False, 1.0), "ship": Known(False, 2.0), "big": Known(False, None)}
    found = timelines(SLOW_B, places=places, known=rates)

    assert {row.topic: row.route for row in found.rows} == {"pay": 1, "ship": 1, "big": 2, "unknown": None}
    assert [route.put_msgs_per_s for route in found.routes] == [3.0, None]
    assert {one.failed_messages for one in found.courses if one.route == 2} == {None}


def test_a_lost_master_is_a_lost_broker_unless_another_one_is_elected() -> None:
    lost = {"change": "lose_master", "broker_name": "b"}
    scenario = Scenario.model_validate({"name": "x", "changes": [lost]})

    assert troubles_of(scenario, ["a", "b"], ["a"], POLICY).lost == {"b"}
    assert not troubles_of(scenario, ["a", "b"], ["a", "b"], POLICY).brokers


def test_a_lost_room_is_silent() -> None:
    rooms = Policy.model_validate({"rooms": {"brokers": [{"broker_name": "b", "room": "hz"}]}})
    scenario = Scenario.model_validate({"name": "x", "changes": [{"change": "lose_room", "room": "hz"}]})
    troubles = troubles_of(scenario, ["a", "b"], ["a"], rooms)

    assert troubles.lost == {"b"}
    assert troubles.endings == ("SILENT",)


def test_the_work_is_bounded_whatever_the_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_capacity.producers.timeline.MOST_TURNS", 5_000)
    places = [place(broker, f"t{number}", number + 1) for number in range(60) for broker in "ab"]
    wide = [place(f"b{number}", "wide", 2) for number in range(300)]
    slow = {**SLOW_B, "for_s": 2}
    found = timelines(slow, places=places, known={})
    broad = timelines({**slow, "broker_name": "b7"}, places=wide, known={})

    assert 1 < len(found.routes) < 60
    assert found.routes_left_out == 60 - len(found.routes)
    assert sum(row.route is None for row in found.rows) == found.routes_left_out
    assert max(sum(1 for _ in of_kind) for _, of_kind in groupby(broad.timeline, kind_of)) <= MOST_ROWS + 300
    assert min(row.length_s for row in broad.timeline) > 1


def test_a_killed_broker_is_simulated_on_all_routes_before_a_silent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_capacity.producers.timeline.MOST_TURNS", 2_000)
    rare = Policy.model_validate({"thresholds": {"PRODUCER_TIMELINE": {"send_interval_ms": 2_000}}})
    places = [place(broker, f"t{number}", number) for number in (1, 2, 4) for broker in "ab"]
    found = timelines(LOSE_B, places=places, known={}, policy=rare)

    kinds = {(one.route, one.ending) for one in found.courses}
    assert kinds == {(1, "KILL"), (2, "KILL"), (3, "KILL"), (1, "SILENT")}
    assert {(one.route, one.ending) for one in found.timeline} == kinds
    assert found.routes_left_out == 0
    assert {one.route for one in found.rows} == {1, 2, 3}


def test_a_silent_broker_is_simulated_on_every_route_of_a_fleet_with_a_few_layouts_of_queues() -> None:
    rare = Policy.model_validate({"thresholds": {"PRODUCER_TIMELINE": {"send_interval_ms": 2_000}}})
    # 40 routes: the lost broker with two others, which have as many queues each.
    places = [
        place(broker, f"t{number}", 1 + number % 2)
        for number in range(40)
        for broker in ("b", f"a{number:03}", f"{'ac'[number // 20]}x{number:03}")
    ]
    found = timelines(LOSE_B, places=places, known={}, policy=rare)

    assert (len(found.routes), found.routes_left_out) == (40, 0)
    assert {(one.route, one.ending) for one in found.courses} == {
        (route, ending) for route in range(1, 41) for ending in ("KILL", "SILENT")
    }
    assert all(set(one.afterwards_ratios) == set(_others(found, one.route)) for one in found.courses)
    assert len(found.timeline) < 2 * MOST_ROWS_IN_ALL
    assert {row.length_s for row in found.timeline if row.route == 1} == {1}


def _others(found: ProducerTimelines, route: int) -> Iterable[str]:
    return (one.broker_name for one in found.routes[route - 1].shape.places if one.broker_name != "b")


@pytest.mark.parametrize("changes", [[LOSE_B], [SLOW_B], [SLOW_B, {**SLOW_B, "broker_name": "d"}]])
def test_routes_that_differ_in_names_and_in_where_the_list_begins_have_the_same_course(
    changes: list[dict[str, Any]],
) -> None:
    """Each of them alone gives what both together give, up to the threads that begin at each queue."""
    counts = {"b": 2, "c": 3, "d": 1}
    turned = {"b": 2, "e": 3, "d": 1}  # b, d, e is b, e, d in another order
    renamed = {"a": 1, "b": 2, "c": 3}
    routes = [counts, turned, renamed] if len(changes) == 1 else [counts, {"b": 2, "cc": 3, "d": 1}]
    rare = Policy.model_validate({"thresholds": {"PRODUCER_TIMELINE": {"send_interval_ms": 500}}})
    alone = [timelines(*changes, places=[place(*one) for one in _places(route)], policy=rare) for route in routes]
    all_places = [place(name, f"t{n}", count) for n, route in enumerate(routes) for name, _, count in _places(route)]
    together = timelines(*changes, places=all_places, policy=rare)

    assert len(together.routes) == len(routes)
    for number, found in enumerate(alone, 1):
        for one, of_all in zip(found.courses, (one for one in together.courses if one.route == number), strict=True):
            assert one.trouble_s == of_all.trouble_s
            assert one.troubled_ratio == pytest.approx(of_all.troubled_ratio, abs=0.03)
            assert one.afterwards_ratios == pytest.approx(of_all.afterwards_ratios, abs=0.03)


def _places(counts: dict[str, int]) -> list[tuple[str, str, int]]:
    return [(name, "pay", count) for name, count in counts.items()]


def test_the_same_scenario_gives_the_same_rows() -> None:
    slow = {**SLOW_B, "for_s": 1, "latency_ms": 60}
    assert timelines(slow, places=[place("b")]) == timelines(slow, places=[place("b")])
