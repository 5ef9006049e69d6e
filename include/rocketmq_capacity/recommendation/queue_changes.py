"""New queue counts of a topic, broker by broker: the commands that set them, what forbids these, before and after."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity.catalogue.action import Proof, Recommended
from rocketmq_capacity.model.cases import QueueCounts
from rocketmq_capacity.model.facts import Place
from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import json_object
from rocketmq_capacity.recommendation.commands import placeholder, topic_route, update_topic
from rocketmq_capacity.recommendation.facts import AdvisedTopic, AdvisedTopicPlace
from rocketmq_capacity.recommendation.preflight import Safety

SHOWN: Final = 8
"""At most so many brokers are named with their queues."""


@dataclass(frozen=True)
class QueueChanges:
    """What new counts would do to a topic.

    Attributes:
        commands: one for each broker that changes, by name.
        forbids: reasons why they may not be run; may be empty.
        before: the queues on all brokers, for the plan.
        after: the same after the commands.
    """

    commands: tuple[str, ...]
    forbids: tuple[str, ...]
    before: list[dict[str, Any]]
    after: list[dict[str, Any]]


def queue_changes(topic: AdvisedTopic, safety: Safety, counts: Iterable[QueueCounts]) -> QueueChanges:
    """The changes that give the topic these counts on brokers that have it; its other brokers stay as they are."""
    wanted = {one.broker_name: one for one in counts}
    changing = [
        (place, wanted[name])
        for place in topic.places
        if (name := place.place.broker_name) in wanted and _shown(wanted[name]) != _shown(place.place)
    ]
    of_places = sorted(preflight.unsafe_place(place, new) for place, new in changing)
    return QueueChanges(
        commands=tuple(
            _command(topic, safety, place, (new.read_queue_nums, new.write_queue_nums)) for place, new in changing
        ),
        forbids=(
            *safety.forbids,
            *preflight.reasons(preflight.unknown_order(safety)),
            *(reason for reasons in of_places for reason in reasons),
        ),
        before=queues_shown(topic),
        after=[_shown(wanted.get(place.place.broker_name, place.place)) for place in topic.places],
    )


def queues_shown(topic: AdvisedTopic) -> list[dict[str, Any]]:
    """The topic's queues today, by broker name, for the plan."""
    return [_shown(place.place) for place in topic.places]


def _shown(counts: Place | QueueCounts) -> dict[str, Any]:
    return {
        "broker_name": counts.broker_name,
        "read_queue_nums": counts.read_queue_nums,
        "write_queue_nums": counts.write_queue_nums,
    }


def command_for(topic: AdvisedTopic, safety: Safety, broker_name: str, queues: tuple[int, int]) -> str:
    """The command that sets this number of read and of write queues on a broker that has the topic."""
    (place,) = (place for place in topic.places if place.place.broker_name == broker_name)
    return _command(topic, safety, place, queues)


def _command(topic: AdvisedTopic, safety: Safety, place: AdvisedTopicPlace, queues: tuple[int, int]) -> str:
    return update_topic(
        topic.cluster.nameserver,
        place.address,
        topic.name,
        queues,
        placeholder(f"perm of {topic.name}") if place.own_perm is None else place.own_perm,
        safety.order or placeholder(f"order of {topic.name}"),
    )


def route(recommended: Recommended, nameserver: str) -> Proof:
    """The check of an action that changes queues: the route shows the new counts, if all of them are known."""
    queues = json_object(recommended.after).get("queues") or ()
    before = json_object(recommended.before).get("queues") or ()
    known = [one for one in queues if None not in (one["read_queue_nums"], one["write_queue_nums"])]
    is_decided_later = any(one not in known and one not in before for one in queues)
    shown = [] if is_decided_later else known[:SHOWN]
    counts = "; ".join(f"{one['broker_name']} {one['read_queue_nums']} and {one['write_queue_nums']}" for one in shown)
    more = f"; and {len(known) - SHOWN} more" if shown and len(known) > SHOWN else ""
    return topic_route(
        nameserver, recommended.topic or ""
    ), f"#ReadQueue and #WriteQueue are {counts or 'as they were decided on'}{more}."


def write_queues(before: Mapping[str, Any]) -> str:
    """The write queues of each broker as they were, for a way back; without those that are unknown."""
    queues = [one for one in before.get("queues") or () if one["write_queue_nums"] is not None]
    return ", ".join(f"{one['broker_name']} {one['write_queue_nums']}" for one in queues[:SHOWN]) or "see the plan"
