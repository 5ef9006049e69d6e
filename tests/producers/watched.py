"""Brokers a, b and c in trouble, and what producers are watched to do."""

from collections.abc import Iterable
from typing import Any, Final

from rocketmq_capacity.producers.ensemble import Habits
from rocketmq_capacity.producers.senders import SENDERS
from rocketmq_capacity.producers.timeline import Known, ProducerTimelines, TopicQueuesOnBroker, producer_timeline
from rocketmq_capacity.settings.policy import Policy
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
    (one,) = (one for one in found.courses if is_of(one, kind) and one.ending == ending and one.route == 1)
    return one


def rows(found: ProducerTimelines, kind: Any, begin_s: int, ending: str | None = None) -> dict[str, ProducerTimeline]:
    return {
        one.broker_name: one
        for one in found.timeline
        if is_of(one, kind) and (one.ending, one.begin_s, one.route) == (ending, begin_s, 1)
    }


def is_of(row: ProducerCourse | ProducerTimeline, kind: Any) -> bool:
    of_row = row.client, row.versions, row.has_fault_tolerance, row.has_detector
    return of_row == (kind.client, kind.versions, kind.tolerates, kind.detects)


def kind_of(row: ProducerTimeline) -> tuple[Any, ...]:
    """Whose row it is."""
    return row.client, row.versions, row.has_fault_tolerance, row.has_detector, row.ending


def shares(found: ProducerTimelines, kind: Any, begin_s: int, ending: str | None = None) -> dict[str, float | None]:
    return {
        name: None if row.share_ratio is None else round(row.share_ratio, 2)
        for name, row in rows(found, kind, begin_s, ending).items()
    }
