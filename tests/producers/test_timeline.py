"""What producers do while brokers are in trouble: figures that can be computed by hand, and what always holds."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.producers.ensemble import SENDERS, Habits, RouteTrouble, watch
from rocketmq_capacity.producers.producer import ProducerThread, SendAnswer, SendOutcome
from rocketmq_capacity.producers.proxy import ProxyChoice
from rocketmq_capacity.producers.route import WritePlace
from rocketmq_capacity.producers.timeline import (
    MOST_ROWS,
    MOST_ROWS_IN_ALL,
    Known,
    ProducerTimelines,
    TopicQueuesOnBroker,
    producer_timeline,
)
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.producers import Sending
from rocketmq_capacity.simulation.producers_meanwhile import troubles_of
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.tables import ProducerCourse, ProducerTimeline

POLICY: Final = Policy()
DEFAULT, OLD, FIXED, NEW, DETECTING, PROXY, TOLERANT_PROXY, DETECTING_PROXY = SENDERS
SLOW_B: Final[dict[str, Any]] = {"change": "slow_broker", "broker_name": "b", "latency_ms": 800, "for_s": 10}
LOSE_B: Final[dict[str, Any]] = {"change": "lose_broker", "broker_name": "b"}
READ_B: Final[dict[str, Any]] = {"change": "read_only_broker", "broker_name": "b"}
HABITS: Final = Habits(interval_ms=100, refresh_ms=30_000)


def place(broker_name: str, topic: str = "pay", queues: int | None = 4, perm: int | None = 6) -> TopicQueuesOnBroker:
    return TopicQueuesOnBroker(topic, broker_name, queues, perm, "MASTER")


def timelines(
    *changes: dict[str, Any],
    places: Iterable[TopicQueuesOnBroker] = (place("a"), place("b"), place("c")),
    known: dict[str, Known] | None = None,
    policy: Policy = POLICY,
) -> ProducerTimelines:
    places = list(places)
    scenario = Scenario.model_validate({"name": "x", "changes": list(changes)})
    names = sorted({one.broker_name for one in places})
    lost = {one["broker_name"] for one in changes if one["change"] in ("lose_broker", "lose_master")}
    troubles = troubles_of(scenario, names, [name for name in names if name not in lost], policy)
    return producer_timeline(troubles, places, known or {"pay": Known(False, 90.0)}, policy)


def course(found: ProducerTimelines, kind: Any, ending: str | None = None) -> ProducerCourse:
    (one,) = (one for one in found.courses if _is(one, kind) and one.ending == ending and one.route == 1)
    return one


def rows(found: ProducerTimelines, kind: Any, begin_s: int, ending: str | None = None) -> dict[str, ProducerTimeline]:
    return {
        one.broker_name: one
        for one in found.timeline
        if _is(one, kind) and (one.ending, one.begin_s, one.route) == (ending, begin_s, 1)
    }


def _is(row: ProducerCourse | ProducerTimeline, kind: Any) -> bool:
    of_row = row.client, row.versions, row.has_fault_tolerance, row.has_detector
    return of_row == (kind.client, kind.versions, kind.tolerates, kind.detects)


def shares(found: ProducerTimelines, kind: Any, begin_s: int, ending: str | None = None) -> dict[str, float | None]:
    return {
        name: None if row.share_ratio is None else round(row.share_ratio, 2)
        for name, row in rows(found, kind, begin_s, ending).items()
    }


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
    trouble_s = {found.routes[one.route - 1].topics: one.trouble_s for one in found.courses if _is(one, DEFAULT)}

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
    assert max(sum(1 for _ in of_kind) for _, of_kind in groupby(broad.timeline, _kind)) <= MOST_ROWS + 300
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


def _kind(row: ProducerTimeline) -> tuple[Any, ...]:
    return row.client, row.versions, row.has_fault_tolerance, row.has_detector, row.ending


def test_the_same_scenario_gives_the_same_rows() -> None:
    slow = {**SLOW_B, "for_s": 1, "latency_ms": 60}
    assert timelines(slow, places=[place("b")]) == timelines(slow, places=[place("b")])


CHANGES: Final = st.one_of(
    st.builds(
        lambda name, latency, seconds: {
            "change": "slow_broker",
            "broker_name": name,
            "latency_ms": latency,
            "for_s": seconds,
        },
        st.sampled_from("abc"),
        st.sampled_from((0, 60, 549, 550, 800, 1_900)),
        st.sampled_from((0, 1, 7)),
    ),
    st.builds(lambda name: {"change": "read_only_broker", "broker_name": name}, st.sampled_from("abc")),
    st.builds(lambda name: {"change": "lose_broker", "broker_name": name}, st.sampled_from("abc")),
)
COUNTS: Final = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))


@settings(max_examples=6, deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=2), COUNTS)
def test_the_shares_of_each_second_are_those_of_all_messages(
    changes: list[dict[str, Any]], counts: tuple[int, int, int]
) -> None:
    quick = Policy.model_validate({"thresholds": {"TRANSITION": {"poll_nameserver_s": 3}}})
    found = timelines(
        *changes, places=[place(*one) for one in zip("abc", ("pay",) * 3, counts, strict=True)], policy=quick
    )
    keys: dict[Any, list[ProducerTimeline]] = {}
    for row in found.timeline:
        keys.setdefault((*_kind(row), row.begin_s), []).append(row)

    assert keys
    lost = {one["broker_name"] for one in changes if one["change"] != "slow_broker"}
    for all_ in keys.values():
        known = [row.share_ratio for row in all_ if row.share_ratio is not None]
        assert len(known) in (0, 3)
        if known and lost != set("abc"):
            assert sum(known) == pytest.approx(1, abs=1e-5)
        assert all((row.failed_ratio or 0) <= (row.share_ratio or 0) for row in all_)


@settings(max_examples=16, deadline=None)
@given(st.sampled_from(SENDERS), st.integers(1, 5), st.integers(1, 4), st.integers(0, 100))
def test_where_all_brokers_are_equal_their_shares_stay_equal(
    sender: Any, brokers: int, queues: int, latency_ms: int
) -> None:
    route = [WritePlace(f"b{number}", queues) for number in range(brokers)]
    threads = [*watch(sender, route, RouteTrouble(lambda *_: SendAnswer(latency_ms), until_ms=2_000), HABITS)]
    begun_ms, ended = (np.concatenate([one.messages[column] for one in threads]) for column in (0, 2))

    for second in range(2):
        counts = np.bincount(ended[begun_ms // 1_000 == second], minlength=brokers)
        assert set(counts.tolist()) == {counts.sum() // brokers}
    assert sum(one.held for one in threads) / len(threads) == pytest.approx([1 / brokers] * brokers)


ANSWERS: Final = (SendAnswer(5), SendAnswer(60), SendAnswer(549), SendAnswer(550), SendAnswer(1_900), SendAnswer(3_500))
TROUBLES: Final = st.tuples(
    st.sampled_from((*ANSWERS, SendAnswer(2, SendOutcome.UNREACHABLE), SendAnswer(5, 16))),
    st.sampled_from((0, 1_000, 7_000)),
)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(SENDERS),
    st.lists(st.tuples(st.integers(1, 6), TROUBLES), min_size=1, max_size=4),
    st.sampled_from((5, 150, 600)),
    st.sampled_from((0, 9_000)),
    st.booleans(),
)
def test_messages_that_are_computed_together_are_those_that_are_sent_one_by_one(
    sender: Any, brokers: list[tuple[int, tuple[SendAnswer, int]]], usual_ms: int, refresh_ms: int, is_lost: bool
) -> None:
    """The last broker leaves the route, or none does."""
    route = tuple(WritePlace(f"b{number}", queues) for number, (queues, _) in enumerate(brokers))
    bad = {place.broker_name: trouble for place, (_, trouble) in zip(route, brokers, strict=True)}

    def answers(name: str, now_ms: int) -> SendAnswer:
        late, until_ms = bad[name]
        return late if now_ms < until_ms else SendAnswer(usual_ms)

    trouble = RouteTrouble(
        answers,
        until_ms=20_000,
        changes_ms=tuple(sorted({until_ms for _, until_ms in bad.values()})),
        route_after=route[:-1] if is_lost else None,
        known_from_ms=4_000,
    )
    habits = Habits(interval_ms=100, refresh_ms=refresh_ms)
    together = [*watch(sender, route, trouble, habits)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProducerThread, "turn", lambda *_: None)
        patch.setattr(ProxyChoice, "turn", lambda *_: None)
        one_by_one = [*watch(sender, route, trouble, habits)]

    for one, other in zip(together, one_by_one, strict=True):
        assert one.turns <= other.turns == len(other.messages.begun_ms)
        assert one.displaced_queues == other.displaced_queues
        assert one.held.tolist() == other.held.tolist()
        for column, as_sent in zip((*one.messages, *one.tries), (*other.messages, *other.tries), strict=True):
            assert column.tolist() == as_sent.tolist()


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(SENDERS),
    st.lists(st.sampled_from((5, 60, 550, 800, 1_900, 2_999, 3_500, None)), min_size=2, max_size=4),
    st.integers(1, 3),
)
def test_after_the_trouble_every_thread_uses_all_queues_in_turn_again_unless_it_is_displaced_or_stays_away(
    sender: Any, latencies: list[int | None], queues: int
) -> None:
    """None is a broker that refuses connections."""
    route = [WritePlace(f"b{number}", queues) for number in range(len(latencies))]
    answers = {
        place.broker_name: SendAnswer(2, SendOutcome.UNREACHABLE) if latency is None else SendAnswer(latency)
        for place, latency in zip(route, latencies, strict=True)
    }
    habits = Habits(interval_ms=500, refresh_ms=0)
    trouble = RouteTrouble(
        lambda name, now: answers[name] if now < 6_000 else SendAnswer(5),
        until_ms=6_000 + 603_000 + 9_000,
        changes_ms=(6_000,),
    )
    every = sorted((number, queue_id) for number in range(len(route)) for queue_id in range(queues))
    # A Proxy without the detector does not come back to a broker that failed once.
    stays_away = sender is TOLERANT_PROXY and any(latency is None or latency > 3_000 for latency in latencies)

    for thread in watch(sender, route, trouble, habits):
        last = zip(
            thread.tries.broker[-len(every) :].tolist(), thread.tries.queue_id[-len(every) :].tolist(), strict=True
        )
        if not thread.displaced_queues and not stays_away:
            assert sorted(last) == every
        assert not thread.displaced_queues or sender is OLD


def sending(*sendings: Sending, places: Iterable[TopicQueuesOnBroker], **change: Any) -> ProducerTimelines:
    scenario = Scenario.model_validate({"name": "x", "changes": [{**LOSE_B, **change}]})
    troubles = troubles_of(scenario, ["a", "b"], ["a"], POLICY)
    return producer_timeline(troubles, list(places), {"pay": Known(False, 90.0)}, POLICY, sendings)


def sent(found: ProducerTimelines, one: Sending, ending: str | None) -> ProducerCourse:
    (row,) = (
        row
        for row in found.courses
        if (row.sending, row.retries, row.timeout_ms, row.ending) == (*one, ending)
        and not row.has_fault_tolerance
        and row.client == "JAVA"
    )
    return row


def test_how_producers_send_decides_whether_messages_to_a_lost_broker_fail() -> None:
    sync, never, late = Sending(), Sending("SYNC", 0, 3_000), Sending("SYNC", 2, 500)
    asynchronous, once = Sending("ASYNC"), Sending("ASYNC", 0, 3_000)
    one_way = Sending("ONEWAY", 0, None)
    found = sending(sync, never, late, asynchronous, once, one_way, places=[place("a"), place("b")])

    # Refused connections cost a try where there is a further one.
    assert [sent(found, one, "KILL").failed_ratio for one in (sync, late, asynchronous)] == [0, 0, 0]
    assert sent(found, asynchronous, "KILL").tries_per_message == pytest.approx(1 + 0.25 / 2, abs=0.02)
    # Four of eight queues, for as long as a thread does not know the route: half of the 30 s on average.
    for one in (never, once, one_way):
        assert sent(found, one, "KILL").failed_ratio == pytest.approx(0.5 / 2, abs=0.02)
    # A silent broker takes all the time there is. A thread that waits sends little meanwhile, one that does not
    # loses its share: for 125 s and half of the 30 s, of 155 s.
    assert sent(found, sync, "SILENT").tries_per_message == 1
    # a1, a2, a3 and b0 take 801 ms, because the last try of b0 passes over a0: 699 messages in 140 s, then 150 in 15 s.
    assert sent(found, late, "SILENT").mean_latency_ms == pytest.approx((501 * 175 + 5 * 674) / 849, rel=0.03)
    for one in (asynchronous, one_way):
        assert sent(found, one, "SILENT").failed_ratio == pytest.approx(0.5 * 140 / 155, abs=0.01)
        assert 125 < (sent(found, one, "SILENT").last_failed_s or 0) < 155
    assert sent(found, one_way, "SILENT").mean_latency_ms == 0
    # A Proxy has settings of its own.
    (proxy,) = {(row.sending, row.retries, row.timeout_ms) for row in found.courses if row.client == "PROXY"}
    assert proxy == (None, None, None)


def test_nobody_waits_for_a_slow_broker_with_a_one_way_message_and_a_longer_timeout_saves_the_others() -> None:
    patient, one_way = Sending("SYNC", 2, 5_000), Sending("ONEWAY", 0, None)
    slow = {"change": "slow_broker", "latency_ms": 3_500, "for_s": 20}
    found = sending(Sending(), patient, one_way, Sending("ASYNC"), places=[place("a"), place("b")], **slow)

    assert [sent(found, one, None).failed_ratio for one in (patient, one_way)] == [0, 0]
    assert sent(found, Sending(), None).failed_ratio == pytest.approx(0.25, abs=0.02)  # one of four, as above
    assert sent(found, Sending("ASYNC"), None).failed_ratio == pytest.approx(0.5, abs=0.01)
    assert sent(found, one_way, None).mean_latency_ms == 0
    assert {row.thread_msgs_per_s for row in found.timeline if row.sending == "ONEWAY"} <= {10.0}


def test_only_synchronous_producers_are_simulated_with_fault_tolerance() -> None:
    found = sending(Sending("ASYNC"), places=[place("a"), place("b")])

    assert {(row.client, row.sending, row.has_fault_tolerance) for row in found.courses} == {
        ("JAVA", "ASYNC", False),
        ("PROXY", None, False),
        ("PROXY", None, True),
    }
