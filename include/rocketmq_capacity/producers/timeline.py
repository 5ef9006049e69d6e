"""What each kind of producers does, second by second, while brokers are slow, read-only or lost.

Nobody outside a producer knows whether its latency fault tolerance is on. So every kind is simulated: each generation
of the Java client with it, all of them without it, and the Proxy. Topics with the same layout of writable queues are
one route, and routes that differ only in the names of their brokers share one simulation. Its cost does not depend on
the number of producers.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, NamedTuple, TypeVar

from rocketmq_capacity.producers.course import LENGTHS_S, SendingCourse, simulate
from rocketmq_capacity.producers.layout import RouteLayout, layout_of
from rocketmq_capacity.producers.route import WritePlace
from rocketmq_capacity.producers.senders import PROXY, Sender, senders_of
from rocketmq_capacity.producers.troubles import Troubles
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.producers import Sending
from rocketmq_capacity.tables import ProducerCourse, ProducerRoute, ProducerTimeline
from rocketmq_capacity.vocabulary import MASTER, PERM_WRITE, java_order

MOST_TURNS: Final = 150_000
"""At most so many messages are simulated one by one, or as one turn of messages that change nothing; it takes seconds.

What is beyond the limit is left out. The first route is always simulated, with each ending of a lost broker."""
MOST_ROUTES: Final = 1_000
"""At most so many routes are described, those with most topics."""
MOST_ROWS: Final = 2_000
"""At most this many rows for a kind of producers on one route; slices get longer to stay below it."""
MOST_ROWS_IN_ALL: Final = 200_000
"""About this many rows for all routes behind the first one; their slices get longer to stay below it."""
DIGITS: Final = 6
Value = TypeVar("Value")


class TopicQueuesOnBroker(NamedTuple):
    """A topic's queues on one broker, as the snapshot has them."""

    topic: str
    broker_name: str
    write_queue_nums: int | None
    perm: int | None
    broker_state: str


class Shape(NamedTuple):
    """What the topics of a route have in common; ``is_ordered`` counts only where a broker becomes read-only."""

    places: tuple[WritePlace, ...]
    is_ordered: bool


class Known(NamedTuple):
    """What the snapshot says about a topic besides its queues."""

    is_ordered: bool
    put_msgs_per_s: float | None


@dataclass(frozen=True, slots=True)
class TopicsOfLayout:
    """Topics with the same layout of writable queues.

    Attributes:
        shape: the layout of the queues.
        topics: the names of the topics, sorted.
        put_msgs_per_s: messages a second that producers write to all these topics; None if one rate is unknown.
    """

    shape: Shape
    topics: tuple[str, ...]
    put_msgs_per_s: float | None


@dataclass(frozen=True, slots=True)
class ProducerTimelines:
    """What a what-if says about producers.

    Attributes:
        routes: the simulated routes, those with most topics first; their numbers begin at 1.
        rows: a row for each topic.
        courses: a row for each route and kind of producers.
        timeline: a row for each route, kind of producers, slice of time and broker.
        routes_left_out: the number of routes beyond the limit.
    """

    routes: tuple[TopicsOfLayout, ...]
    rows: tuple[ProducerRoute, ...]
    courses: tuple[ProducerCourse, ...]
    timeline: tuple[ProducerTimeline, ...]
    routes_left_out: int


def producer_timeline(
    troubles: Troubles,
    places: Iterable[TopicQueuesOnBroker],
    known: Mapping[str, Known],
    policy: Policy,
    sendings: Iterable[Sending] = (Sending(),),
) -> ProducerTimelines:
    """What each kind of producers does on each route.

    Args:
        troubles: what happens to brokers.
        places: queues of business topics before the changes; of each topic, those on every broker.
        known: by topic, what else is known of it.
        policy: says how often threads send, and how often they ask for routes.
        sendings: how Java clients send; each is simulated.
    """
    senders = senders_of(sendings)
    shapes = _shapes(troubles, places, known)
    routes = _routes(shapes, known)
    layouts = [
        layout_of(route.shape.places, route.shape.is_ordered, troubles, policy) for route in routes[:MOST_ROUTES]
    ]
    simulations = _simulations(troubles, layouts, policy, senders)
    seen = [
        number
        for number, layout in enumerate(layouts)
        if any((layout.key, one) in simulations for one in troubles.endings)
    ]
    numbers = {topic: number for number, place in enumerate(seen, 1) for topic in routes[place].topics}
    courses: list[ProducerCourse] = []
    timeline: list[ProducerTimeline] = []
    for number, place in enumerate(seen, 1):
        most = MOST_ROWS if number == 1 else min(MOST_ROWS, _rows_each(len(seen), troubles, senders))
        for ending in troubles.endings:
            for simulation in simulations.get((layouts[place].key, ending), ()):
                of_kind = _OfRoute(simulation, ending, routes[place], layouts[place], policy)
                courses.append(of_kind.course(number))
                timeline += of_kind.timeline(number, most)
    rows = [
        ProducerRoute(
            topic=topic,
            route=numbers.get(topic),
            put_msgs_per_s=known[topic].put_msgs_per_s if topic in known else None,
        )
        for topic in sorted(shapes)
    ]
    described = tuple(routes[place] for place in seen)
    return ProducerTimelines(described, tuple(rows), tuple(courses), tuple(timeline), len(routes) - len(seen))


def _rows_each(routes: int, troubles: Troubles, senders: Sequence[Sender]) -> int:
    """About how many rows a kind of producers may have on each of the routes behind the first one."""
    return MOST_ROWS_IN_ALL // (max(1, routes - 1) * len(senders) * len(troubles.endings))


def _shapes(
    troubles: Troubles, places: Iterable[TopicQueuesOnBroker], known: Mapping[str, Known]
) -> dict[str, Shape | None]:
    """The layout of each topic that producers can write to on a broker in trouble; None if the layout is unknown."""
    of_topic: dict[str, list[TopicQueuesOnBroker]] = {}
    for place in places:
        of_topic.setdefault(place.topic, []).append(place)
    shapes: dict[str, Shape | None] = {}
    for topic, all_ in of_topic.items():
        writable = [one for one in all_ if one.broker_state == MASTER and one.perm != 0 and one.write_queue_nums != 0]
        writable = [one for one in writable if one.perm is None or one.perm & PERM_WRITE]
        if troubles.brokers.isdisjoint(one.broker_name for one in writable):
            continue
        is_known = all(one.perm is not None and one.write_queue_nums is not None for one in writable)
        is_ordered = topic in known and known[topic].is_ordered and bool(troubles.read_only)
        listed = sorted(writable, key=lambda one: java_order(one.broker_name))
        shapes[topic] = (
            Shape(tuple(WritePlace(one.broker_name, one.write_queue_nums or 0) for one in listed), is_ordered)
            if is_known
            else None
        )
    return shapes


def _routes(shapes: Mapping[str, Shape | None], known: Mapping[str, Known]) -> list[TopicsOfLayout]:
    topics: dict[Shape, list[str]] = {}
    for topic in sorted(shapes):
        shape = shapes[topic]
        if shape is not None:
            topics.setdefault(shape, []).append(topic)
    routes = []
    for shape, names in topics.items():
        rates = [known[name].put_msgs_per_s if name in known else None for name in names]
        measured = [rate for rate in rates if rate is not None]
        routes.append(TopicsOfLayout(shape, tuple(names), sum(measured) if len(measured) == len(rates) else None))
    return sorted(routes, key=lambda one: (-len(one.topics), one.topics))


def _simulations(
    troubles: Troubles, layouts: Sequence[RouteLayout], policy: Policy, senders: Sequence[Sender]
) -> dict[tuple[Hashable, str | None], list[SendingCourse]]:
    """By layout and ending, the simulation of each kind of producers; layouts beyond :data:`MOST_TURNS` are left out.

    A killed broker is simulated on all layouts before a silent one on any.
    """
    first = {layout.key: layout for layout in reversed(layouts)}
    courses: dict[tuple[Hashable, str | None], list[SendingCourse]] = {}
    turns = 0
    for ending in troubles.endings:
        for key in dict.fromkeys(layout.key for layout in layouts):
            if turns < MOST_TURNS or key == layouts[0].key:
                most = max(1, MOST_ROWS // len(first[key].places))
                courses[key, ending] = [
                    simulate(sender, ending, first[key], troubles, policy, most_slices=most) for sender in senders
                ]
                turns += sum(one.turns for one in courses[key, ending])
    return courses


@dataclass(frozen=True, slots=True)
class _OfRoute:
    """What a kind of producers does on a route: the simulation of its layout, with the names of its brokers."""

    simulation: SendingCourse
    ending: str | None
    route: TopicsOfLayout
    layout: RouteLayout
    policy: Policy

    def course(self, number: int) -> ProducerCourse:
        """The whole simulation as one row."""
        course, rate = self.simulation, self.route.put_msgs_per_s
        count = course.messages
        failed_ratio = course.failed / count if count else None
        return ProducerCourse(
            route=number,
            **self._kind(),
            trouble_s=course.trouble_ms / 1000,
            troubled_ratio=_rounded(course.in_trouble / count) if count else None,
            failed_ratio=_rounded(failed_ratio),
            failed_messages=None
            if rate is None or failed_ratio is None
            else _rounded(rate * failed_ratio * course.trouble_ms / 1000),
            last_failed_s=_seconds(course.last_failed_ms),
            tries_per_message=_rounded(course.tries / count) if count else None,
            mean_latency_ms=_rounded(course.taken_ms / count) if count else None,
            usual_latency_ms=float(self.policy.thresholds.PRODUCER_TIMELINE.usual_latency_ms),
            returns_mean_s=_rounded(sum(course.returns_ms) / len(course.returns_ms) / 1000)
            if course.returns_ms
            else None,
            returns_worst_s=_seconds(max(course.returns_ms, default=None)),
            stays_away_ratio=_rounded(1 - len(course.returns_ms) / course.threads) if course.has_slow else None,
            left_worst_s=_seconds(course.left_ms),
            displaced_queues=round(course.displaced_queues, DIGITS),
            afterwards_ratios={
                name: round(share, DIGITS) for name, share in sorted(self._of_brokers(course.afterwards)) if share
            },
        )

    def timeline(self, number: int, most_rows: int) -> Iterator[ProducerTimeline]:
        """A row for each slice of time and each broker; at most ``most_rows`` if slices of 300 s allow it."""
        slices = self.simulation.slices
        seconds = ceil(self.simulation.until_ms / 1000)
        most = max(1, most_rows // len(self.route.shape.places))
        longer = [one for one in LENGTHS_S if one % slices.length_s == 0]
        slices = slices.longer(next((one for one in longer if ceil(seconds / one) <= most), longer[-1]))
        kind = self._kind()
        for place, count in enumerate(slices.messages.tolist()):
            for name, column in self._of_brokers(range(len(self.route.shape.places))):
                ended = int(slices.ended[place, column])
                yield ProducerTimeline(
                    route=number,
                    **kind,
                    begin_s=place * slices.length_s,
                    length_s=slices.length_s,
                    broker_name=name,
                    share_ratio=_rounded(ended / count) if count else None,
                    failed_ratio=_rounded(int(slices.failed[place, column]) / count) if count else None,
                    tries_per_message=_rounded(int(slices.tries[place, column]) / count) if count else None,
                    mean_latency_ms=_rounded(int(slices.taken_ms[place, column]) / ended) if ended else None,
                    thread_msgs_per_s=round(count / (slices.length_s * self.simulation.threads), DIGITS),
                )

    def _of_brokers(self, values: Sequence[Value]) -> Iterator[tuple[str, Value]]:
        """The name and the value of each broker of the route, for values by the brokers that were simulated."""
        columns = self.layout.columns(self.simulation.layout)
        for place, column in zip(self.route.shape.places, columns, strict=True):
            yield place.broker_name, values[column]

    def _kind(self) -> dict[str, Any]:
        sender = self.simulation.sender
        sending, is_java = sender.sending, sender.client != PROXY
        return {
            "client": sender.client,
            "versions": sender.versions,
            "has_fault_tolerance": sender.tolerates,
            "has_detector": sender.detects,
            "ending": self.ending,
            "sending": sending.mode if is_java else None,
            "retries": sending.retries if is_java else None,
            "timeout_ms": sending.timeout_ms if is_java else None,
        }


def _seconds(value_ms: int | None) -> float | None:
    return None if value_ms is None else value_ms / 1000


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
