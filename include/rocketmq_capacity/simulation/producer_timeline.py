"""What each kind of producers does, second by second, while brokers are slow, read-only or lost.

Nobody outside a producer knows its settings. So every kind is simulated: each generation of the Java client with
latency fault tolerance, all of them without it, and the Proxy. Topics with the same layout of writable queues share
one simulation. Its cost does not depend on the number of producers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final, NamedTuple

from rocketmq_capacity.contracts import ProducerCourse, ProducerRoute, ProducerTimeline
from rocketmq_capacity.sending.ensemble import (
    PROXY,
    PROXY_REFRESH_MS,
    SENDERS,
    Habits,
    Message,
    Sender,
    Trouble,
    Watched,
    size_of,
    watch,
)
from rocketmq_capacity.sending.route import Place
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.troubles import (
    Troubles,
    answers,
    known_from_ms,
    route_after,
    slow_ms,
    trouble_ms,
    watched_ms,
)
from rocketmq_capacity.vocabulary import MASTER, PERM_WRITE, java_order

MOST_SENDS: Final = 600_000
"""At most this many messages are simulated in all, which takes a few seconds. What is beyond the limit is left out. The
first route is always simulated, with each ending of a lost broker."""
MOST_ROWS: Final = 2_000
"""At most this many rows for a kind of producers on one route; slices get longer to stay below it."""
LENGTHS_S: Final = (1, 2, 5, 10, 30, 60, 300)
DIGITS: Final = 6


class TopicPlace(NamedTuple):
    """A topic's queues on one broker, as the snapshot has them."""

    topic: str
    broker_name: str
    write_queue_nums: int | None
    perm: int | None
    broker_state: str


class Shape(NamedTuple):
    """What the topics of a route have in common."""

    places: tuple[Place, ...]
    is_ordered: bool


class Known(NamedTuple):
    """What the snapshot says about a topic besides its queues."""

    is_ordered: bool
    put_msgs_per_s: float | None


@dataclass(frozen=True, slots=True)
class Route:
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
class Told:
    """What a what-if says about producers.

    Attributes:
        routes: the simulated routes, those with most topics first; their numbers begin at 1.
        rows: a row for each topic.
        courses: a row for each route and kind of producers.
        timeline: a row for each route, kind of producers, slice of time and broker.
        routes_left_out: the number of routes beyond the limit.
    """

    routes: tuple[Route, ...]
    rows: tuple[ProducerRoute, ...]
    courses: tuple[ProducerCourse, ...]
    timeline: tuple[ProducerTimeline, ...]
    routes_left_out: int


def producer_timeline(
    troubles: Troubles, places: Iterable[TopicPlace], known: Mapping[str, Known], policy: Policy
) -> Told:
    """What each kind of producers does on each route.

    Args:
        troubles: what happens to brokers.
        places: queues of business topics before the changes; of each topic, those on every broker.
        known: by topic, what else is known of it.
        policy: says how often threads send, and how often they ask for routes.
    """
    shapes = _shapes(troubles, places, known)
    routes = _routes(shapes, known)
    reached = routes_reached(troubles, [route.shape for route in routes], _habits(policy))
    watched = routes[: max(reached.values())]
    numbers = {topic: number for number, route in enumerate(watched, 1) for topic in route.topics}
    courses: list[ProducerCourse] = []
    timeline: list[ProducerTimeline] = []
    for number, route in enumerate(watched, 1):
        for ending in (one for one in troubles.endings if number <= reached[one]):
            for sender in SENDERS:
                seen = _Seen.of(sender, ending, route, troubles, policy)
                courses.append(seen.course(number))
                timeline += seen.timeline(number)
    rows = [
        ProducerRoute(
            topic=topic,
            route=numbers.get(topic),
            put_msgs_per_s=known[topic].put_msgs_per_s if topic in known else None,
        )
        for topic in sorted(shapes)
    ]
    return Told(tuple(watched), tuple(rows), tuple(courses), tuple(timeline), len(routes) - len(watched))


def _shapes(troubles: Troubles, places: Iterable[TopicPlace], known: Mapping[str, Known]) -> dict[str, Shape | None]:
    """The layout of each topic that producers can write to on a broker in trouble; None if the layout is unknown."""
    found: dict[str, list[TopicPlace]] = {}
    for one in places:
        found.setdefault(one.topic, []).append(one)
    shapes: dict[str, Shape | None] = {}
    for topic, all_ in found.items():
        writable = [one for one in all_ if one.broker_state == MASTER and one.perm != 0 and one.write_queue_nums != 0]
        writable = [one for one in writable if one.perm is None or one.perm & PERM_WRITE]
        if troubles.brokers.isdisjoint(one.broker_name for one in writable):
            continue
        is_known = all(one.perm is not None and one.write_queue_nums is not None for one in writable)
        is_ordered = topic in known and known[topic].is_ordered and bool(troubles.read_only)
        listed = sorted(writable, key=lambda one: java_order(one.broker_name))
        shapes[topic] = (
            Shape(tuple(Place(one.broker_name, one.write_queue_nums or 0) for one in listed), is_ordered)
            if is_known
            else None
        )
    return shapes


def _routes(shapes: Mapping[str, Shape | None], known: Mapping[str, Known]) -> list[Route]:
    topics: dict[Shape, list[str]] = {}
    for topic in sorted(shapes):
        shape = shapes[topic]
        if shape is not None:
            topics.setdefault(shape, []).append(topic)
    routes = []
    for shape, names in topics.items():
        rates = [known[name].put_msgs_per_s if name in known else None for name in names]
        told = [rate for rate in rates if rate is not None]
        routes.append(Route(shape, tuple(names), sum(told) if len(told) == len(rates) else None))
    return sorted(routes, key=lambda one: (-len(one.topics), one.topics))


def _habits(policy: Policy) -> Habits:
    asked, sends = policy.thresholds.TRANSITION.poll_nameserver_s, policy.thresholds.PRODUCER_TIMELINE
    return Habits(interval_ms=sends.send_interval_ms, refresh_ms=round(asked * 1000))


def routes_reached(troubles: Troubles, shapes: Sequence[Shape], habits: Habits) -> dict[str | None, int]:
    """For each ending, how many of the routes are simulated within :data:`MOST_SENDS`, from the first one on.

    A killed broker is simulated on all routes before a silent one on any, since the silent one takes much longer.
    """
    left = MOST_SENDS
    reached: dict[str | None, int] = {}
    for ending in troubles.endings:
        reached[ending] = 0
        for shape in shapes[: max(reached.values()) or None]:
            cost = _cost(troubles, ending, shape, habits)
            if reached[ending] and cost > left:
                break
            left -= cost
            reached[ending] += 1
    return reached


def _cost(troubles: Troubles, ending: str | None, shape: Shape, habits: Habits) -> int:
    """About how many messages are simulated on a route for an ending, at most."""
    each = [watched_ms(sender, ending, troubles, habits) // habits.interval_ms for sender in SENDERS]
    return size_of(shape.places) * sum(each)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The simulation of a kind of producers on a route.

    Attributes:
        gone: brokers that are lost or read-only.
        slow: the slow brokers of the route.
        ends_ms: when they are fast again; None if no broker is slow.
        trouble_ms: how long the trouble counts.
        usual_ms: how long a message takes without trouble.
        until_ms: when the simulation ends.
    """

    sender: Sender
    ending: str | None
    route: Route
    gone: frozenset[str]
    slow: frozenset[str]
    ends_ms: int | None
    trouble_ms: int
    usual_ms: int
    until_ms: int
    watched: Watched

    @classmethod
    def of(cls, sender: Sender, ending: str | None, route: Route, troubles: Troubles, policy: Policy) -> "_Seen":
        habits = _habits(policy)
        if sender.client == PROXY:
            habits = replace(habits, refresh_ms=PROXY_REFRESH_MS)
        usual_ms = policy.thresholds.PRODUCER_TIMELINE.usual_latency_ms
        places = route.shape.places
        names = {place.broker_name for place in places}
        slow = frozenset(names & troubles.slow.keys() - troubles.lost)
        trouble = Trouble(
            answers(troubles, ending, usual_ms, is_ordered=route.shape.is_ordered),
            until_ms=watched_ms(sender, ending, troubles, habits),
            route_after=route_after(places, troubles),
            known_from_ms=known_from_ms(ending) if names & troubles.lost else 0,
        )
        return cls(
            sender=sender,
            ending=ending,
            route=route,
            gone=troubles.lost | troubles.read_only,
            slow=slow,
            ends_ms=max((slow_ms(troubles.slow[name][1]) for name in slow), default=None),
            trouble_ms=trouble_ms(ending, troubles, habits),
            usual_ms=usual_ms,
            until_ms=trouble.until_ms,
            watched=watch(sender, places, trouble, habits),
        )

    def course(self, number: int) -> ProducerCourse:
        """The whole simulation as one row."""
        during = [one for one in self.watched.messages if one.begun_ms < self.trouble_ms]
        failed = [one for one in during if not one.sent.is_stored]
        all_failed = [one.begun_ms for one in self.watched.messages if not one.sent.is_stored]
        bad = self.gone | self.slow
        in_trouble = sum(bool(one.sent.tries) and one.sent.tries[-1].broker_name in bad for one in during)
        left = [
            one.begun_ms
            for one in self.watched.messages
            if any(tried.broker_name in self.gone for tried in one.sent.tries)
        ]
        returns = self._returns()
        count, rate = len(during), self.route.put_msgs_per_s
        failed_ratio = len(failed) / count if count else None
        return ProducerCourse(
            route=number,
            **self._kind(),
            trouble_s=self.trouble_ms / 1000,
            troubled_ratio=_rounded(in_trouble / count) if count else None,
            failed_ratio=_rounded(failed_ratio),
            failed_messages=None
            if rate is None or failed_ratio is None
            else _rounded(rate * failed_ratio * self.trouble_ms / 1000),
            last_failed_s=max(all_failed) / 1000 if all_failed else None,
            tries_per_message=_rounded(sum(len(one.sent.tries) for one in during) / count) if count else None,
            mean_latency_ms=_rounded(sum(map(_taken_ms, during)) / count) if count else None,
            usual_latency_ms=float(self.usual_ms),
            returns_mean_s=_rounded(sum(returns) / len(returns) / 1000) if returns else None,
            returns_worst_s=max(returns) / 1000 if returns else None,
            stays_away_ratio=None if self.ends_ms is None else _rounded(1 - len(returns) / self.watched.threads),
            left_worst_s=max(left) / 1000 if left else None,
            displaced_queues=round(self.watched.displaced_queues, DIGITS),
            afterwards_ratios={name: round(share, DIGITS) for name, share in self.watched.afterwards.items()},
        )

    def timeline(self, number: int) -> Iterator[ProducerTimeline]:
        """A row for each slice of time and each broker."""
        names = [place.broker_name for place in self.route.shape.places]
        seconds = ceil(self.until_ms / 1000)
        most = max(1, MOST_ROWS // len(names))
        length = next((one for one in LENGTHS_S if ceil(seconds / one) <= most), LENGTHS_S[-1])
        slices: list[list[Message]] = [[] for _ in range(ceil(seconds / length))]
        for one in self.watched.messages:
            slices[one.begun_ms // (length * 1000)].append(one)
        for place, messages in enumerate(slices):
            sums = {name: _Sums() for name in names}
            for one in messages:
                for tried in one.sent.tries:
                    sums[tried.broker_name].tries += 1
                if one.sent.tries:
                    at = sums[one.sent.tries[-1].broker_name]
                    at.ended += 1
                    at.failed += not one.sent.is_stored
                    at.taken_ms += _taken_ms(one)
            count = len(messages)
            for name in names:
                at = sums[name]
                yield ProducerTimeline(
                    route=number,
                    **self._kind(),
                    begin_s=place * length,
                    length_s=length,
                    broker_name=name,
                    share_ratio=_rounded(at.ended / count) if count else None,
                    failed_ratio=_rounded(at.failed / count) if count else None,
                    tries_per_message=_rounded(at.tries / count) if count else None,
                    mean_latency_ms=_rounded(at.taken_ms / at.ended) if at.ended else None,
                    thread_msgs_per_s=round(count / (length * self.watched.threads), DIGITS),
                )

    def _kind(self) -> dict[str, Any]:
        return {
            "client": self.sender.client,
            "versions": self.sender.versions,
            "has_fault_tolerance": self.sender.tolerates,
            "has_detector": self.sender.detects,
            "ending": self.ending,
        }

    def _returns(self) -> list[int]:
        """For each thread that tries a slow broker again, how long after the slow time it does."""
        ends = self.ends_ms
        first: dict[int, int] = {}
        for one in self.watched.messages if ends is not None else ():
            is_after = ends is not None and one.begun_ms >= ends and one.thread not in first
            if is_after and any(tried.broker_name in self.slow for tried in one.sent.tries):
                first[one.thread] = one.begun_ms - (ends or 0)
        return [*first.values()]


@dataclass(slots=True)
class _Sums:
    ended: int = 0
    failed: int = 0
    tries: int = 0
    taken_ms: int = 0


def _taken_ms(message: Message) -> int:
    return message.sent.ended_at_ms - message.begun_ms


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
