"""Layouts of queues that are equal up to the names of their brokers, so that producers do the same on them.

A producer goes round its list of queues, and threads begin at every queue alike. So it does not matter at which broker
the list begins, nor what brokers are called. Names matter only where every broker of a topic can be avoided at once: a
client then sorts brokers that are equally bad by the hash of their names.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from rocketmq_capacity.producers.faults import slot_of
from rocketmq_capacity.producers.generation import GENERATIONS
from rocketmq_capacity.producers.route import WritePlace
from rocketmq_capacity.producers.troubles import Troubles
from rocketmq_capacity.settings.policy import Policy


@dataclass(frozen=True, slots=True)
class RouteLayout:
    """The layout of one route.

    Attributes:
        key: equal for layouts on which producers do the same.
        places: the queues on each broker, in the order of the route.
        begins: the number of the broker at which the key begins.
        is_ordered: see ``Shape``.
    """

    key: Hashable
    places: tuple[WritePlace, ...]
    begins: int
    is_ordered: bool

    def columns(self, simulated: "RouteLayout") -> list[int]:
        """For each broker, the number of the broker in its place in another layout with the same key."""
        return [(number - self.begins + simulated.begins) % len(self.places) for number in range(len(self.places))]


def layout_of(places: Sequence[WritePlace], is_ordered: bool, troubles: Troubles, policy: Policy) -> RouteLayout:
    """The layout of a route while brokers are in trouble."""
    usual_ms = policy.thresholds.PRODUCER_TIMELINE.usual_latency_ms
    can_avoid_all = all(place.broker_name in troubles.brokers for place in places)
    can_avoid_all |= any(generation.back_off_ms(usual_ms) > 0 for generation in GENERATIONS)
    slots = sorted({slot_of(place.broker_name) for place in places}) if can_avoid_all else []
    parts = [
        (
            place.write_queue_nums,
            place.broker_name in troubles.lost,
            place.broker_name in troubles.read_only,
            troubles.slow.get(place.broker_name, (0, 0.0)),
            slots.index(slot_of(place.broker_name)) if slots else 0,
        )
        for place in places
    ]
    # The key begins at one of the rarest brokers. So there are few beginnings to compare.
    counts = Counter(parts)
    rarest = min((count, part) for part, count in counts.items())[1]
    begins = min(
        (begin for begin, part in enumerate(parts) if part == rarest), key=lambda begin: parts[begin:] + parts[:begin]
    )
    return RouteLayout((*parts[begins:], *parts[:begins], is_ordered), tuple(places), begins, is_ordered)
