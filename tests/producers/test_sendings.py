"""How producers send: synchronously, asynchronously or one way, with their retries and timeouts."""

from collections.abc import Iterable
from typing import Any

import pytest

from rocketmq_capacity.producers.timeline import Known, ProducerTimelines, TopicQueuesOnBroker, producer_timeline
from rocketmq_capacity.settings.producers import Sending
from rocketmq_capacity.simulation.producers_meanwhile import troubles_of
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.tables import ProducerCourse
from tests.producers.watched import LOSE_B, POLICY, place


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
