"""What the loss of each broker and each machine room would do to a topic."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.model.facts import Place, TopicFacts
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.tables import TopicFailure
from rocketmq_capacity.vocabulary import BROKER, LOGICAL_BROKER_PREFIX, ROOM


def topic_failures(topic: AssessedTopic) -> Iterator[TopicFailure]:
    """A row for each broker and each machine room of a business topic."""
    if not topic.is_business:
        return
    facts = topic.unit.facts
    written = _written_on(facts)
    places = [place for place in facts.places if not place.broker_name.startswith(LOGICAL_BROKER_PREFIX)]
    of_broker: dict[str, list[Place]] = {}
    of_room: dict[str, list[Place]] = {}
    for place in places:
        of_broker.setdefault(place.broker_name, []).append(place)
        if place.room is not None:
            of_room.setdefault(place.room, []).append(place)
    whole = _SeenQueues.of(places)
    for name in sorted(of_broker):
        yield _topic_row(topic.name, BROKER, name, whole, of_broker[name], written)
    for room in sorted(of_room):
        yield _topic_row(topic.name, ROOM, room, whole, of_room[room], written)


def _written_on(facts: TopicFacts) -> dict[str, float | None]:
    """Messages a second written to the topic on each of its brokers; None if that of a queue there is unknown."""
    rates: dict[str, dict[int, float | None]] = {}
    for queue in facts.written:
        rates.setdefault(queue.broker_name, {})[queue.queue_id] = queue.put_msgs_per_s
    return {place.broker_name: _written_at(place, rates.get(place.broker_name, {})) for place in facts.places}


def _written_at(place: Place, rates: Mapping[int, float | None]) -> float | None:
    """The sum of the queues' rates; None without the rate of a queue that producers see."""
    is_whole = bool(rates) if place.writable is None else rates.keys() >= set(range(place.writable))
    return sum_of(rates.values()) if is_whole else None


@dataclass(frozen=True, slots=True)
class _SeenQueues:
    """How many queues of some brokers clients see.

    Attributes:
        readable: the queues that consumers see.
        writable: the queues that producers see, where their number is known.
        unknown: on how many brokers it is unknown.
    """

    readable: int
    writable: int
    unknown: int

    @classmethod
    def of(cls, places: Iterable[Place]) -> "_SeenQueues":
        """The queues of a topic on these brokers."""
        counts = [(place.readable, place.writable) for place in places]
        return cls(
            sum(readable for readable, _ in counts),
            sum(writable or 0 for _, writable in counts),
            sum(writable is None for _, writable in counts),
        )


def _topic_row(
    topic: str, failure: str, lost: str, whole: _SeenQueues, gone: Sequence[Place], written: Mapping[str, float | None]
) -> TopicFailure:
    there = _SeenQueues.of(gone)
    return TopicFailure(
        topic=topic,
        failure=failure,
        lost=lost,
        msgs_per_s=sum_of(written[name] for name in sorted({place.broker_name for place in gone})),
        readable_queues=whole.readable - there.readable,
        writable_queues=whole.writable - there.writable if whole.unknown == there.unknown else None,
        was_readable=there.readable > 0,
        was_writable=None if there.unknown else there.writable > 0,
    )


class TopicLoss(NamedTuple):
    """The columns of ``topic_failure`` that rules about losses read."""

    topic: str
    lost: str
    msgs_per_s: float | None
    readable_queues: int
    writable_queues: int | None
    was_readable: bool
    was_writable: bool | None
