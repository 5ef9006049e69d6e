"""More queues of a topic for a client that is too busy, with the clients that there are, or with more of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.burden import Assignment, Burden, burdens
from rocketmq_capacity.assessment.current import predicted_owners
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy
from rocketmq_capacity.assessment.search import least_number, result
from rocketmq_capacity.assessment.sizes import Crowd
from rocketmq_capacity.assessment.staff import Staff, useful_clients
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts, Place, Reads
from rocketmq_capacity.model.kept_counts import kept_count
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.model.queues import Queues
from rocketmq_capacity.producers import is_hot, producers_rates
from rocketmq_capacity.vocabulary import READ_WRITE
from rocketmq_capacity.wording import rounded


@dataclass(frozen=True, slots=True)
class MoreQueues:
    """A topic with more queues on each of its writable brokers.

    Attributes:
        topic: its name.
        queues_per_broker: the fewest queues on each writable broker that are enough.
        clients: the fewest clients that are enough with them; None: those of today, and all of them own queues.
        busy_ratio: how busy the busiest client is then, of those of today or of the more that are needed.
    """

    topic: str
    queues_per_broker: int
    clients: int | None
    busy_ratio: float


def more_queues(staff: Staff, work: Work, bound: float, *, is_harmed: bool) -> MoreQueues | None:
    """The fewest queues on each broker of the busiest client's heaviest topic that keep this client within the bound.

    The clients are those of today. Producers then spread their messages evenly over all queues. None if no allowed
    number is enough, or if the topic's number of queues must not change.

    Args:
        staff: the clients.
        work: what they have to do.
        bound: the highest allowed share of the busiest client.
        is_harmed: whether some queue is known to have no reader or two readers today.
    """
    peak = staff.peak.scale
    if not is_harmed and work.evenly() * peak > bound:
        return None  # one client for each queue would still be too busy
    today = staff.facts.connections
    for layout in _layouts(staff, work):
        burden = layout.burden(today)
        share = _share(burden, peak)
        if burden is None or share is None or share > bound:
            continue
        clients = None
        if burden.idle_clients:
            clients = result(least_number(partial(layout.is_enough, bound=bound), 1, today))
        return MoreQueues(layout.topic, layout.per_broker, clients, share)
    return None


def queues_and_clients(staff: Staff, work: Work, bound: float) -> MoreQueues | None:
    """The fewest queues on each broker of that topic that are enough together with more clients, and these clients."""
    peak = staff.peak.scale
    today, evenly = staff.facts.connections, work.evenly() * peak
    if np.isnan(evenly) or staff.useful_clients is None:
        return None
    for layout in _layouts(staff, work):
        most = layout.useful_clients
        # With fewer clients than this, even the best division is too much.
        if most <= today or most * bound < today * evenly or not layout.is_enough(most, bound):
            continue
        clients = result(least_number(partial(layout.is_enough, bound=bound), today + 1, most))
        share = None if clients is None else _share(layout.burden(clients), peak)
        return None if share is None else MoreQueues(layout.topic, layout.per_broker, clients, share)
    return None


def _layouts(staff: Staff, work: Work) -> Iterator["_Layout"]:
    """The topic with more and more queues on each of its writable brokers, up to the policy's limit.

    None if one of its queues is hot: whatever makes producers choose that queue, more queues do not change it.
    """
    if staff.current is None or staff.today is None or not staff.today.is_predicted:
        return
    busiest = int(work.busy(work.times.estimate).argmax())
    index = int(work.parts(work.times.estimate)[busiest].argmax())
    heaviest = staff.division.queues.topics[index]
    places = list(filter(_takes_more, heaviest.topic.places))
    if not places or kept_count(heaviest.topic) is not None:
        return
    if is_hot(producers_rates(heaviest.topic).values(), staff.policy):
        return
    least = max(max(place.read_queue_nums or 0, place.write_queue_nums or 0) for place in places)
    for per_broker in range(least + 1, staff.policy.thresholds.EXPAND_QUEUES.max_queues_per_broker + 1):
        yield _Layout(staff, index, per_broker)


def _share(burden: Burden | None, peak: float) -> float | None:
    """The busy share of the busiest client at the peak; None if it is unknown."""
    return None if burden is None or burden.busiest is None else rounded(burden.busiest.estimate * peak, 9)


@dataclass(frozen=True)
class _Layout:
    """A group one of whose topics has a number of queues on each writable broker.

    Attributes:
        staff: the group's clients today.
        index: the index of the topic in their division.
        per_broker: its queues on each writable broker.
    """

    staff: Staff
    index: int
    per_broker: int

    @property
    def heaviest(self) -> Reads:
        return self.staff.division.queues.topics[self.index]

    @property
    def topic(self) -> str:
        return self.heaviest.topic.topic

    @cached_property
    def facts(self) -> GroupFacts:
        today, grown = self.heaviest, _grown(self.heaviest, self.per_broker)
        reads = tuple(grown if one is today else one for one in self.staff.facts.reads)
        return structs.replace(self.staff.facts, reads=reads)

    @cached_property
    def queues(self) -> Queues:
        return Queues.of(self.facts)

    @cached_property
    def useful_clients(self) -> int:
        """How many clients can own a queue."""
        return useful_clients(self.facts, self.staff.strategy) or 0

    def is_enough(self, clients: int, bound: float) -> bool:
        """Whether the busiest of so many clients is within the bound."""
        share = _share(self.burden(clients), self.staff.peak.scale)
        return share is not None and share <= bound

    def burden(self, clients: int) -> Burden | None:
        """What so many clients bear; None if the owners cannot be computed."""
        crowd = self._crowd(clients)
        if crowd is None:
            return None
        members, rows, runs = crowd
        division = Division(self.facts, self.queues, members)
        owners = predicted_owners(OwnersByStrategy(self.staff.allocator, division), runs)
        if owners.unknown:
            return None
        today, times = self.staff.division, self.staff.times
        (burden,) = burdens([Assignment(today, times, division, owners, rows, None, self.planned_msgs_per_s)])
        return burden

    @cached_property
    def planned_msgs_per_s(self) -> Numbers:
        """Messages a second of each queue, as of ``Staff.planned_msgs_per_s``, but the topic's are spread evenly."""
        today, planned, peak = self.staff.division.queues, self.staff.planned_msgs_per_s, self.staff.peak
        grows, is_grown = today.topic == self.index, self.queues.topic == self.index
        takes = is_grown & np.array([_takes_more(place) for place in self.queues.places], bool)[self.queues.place]
        written = [one.put_msgs_per_s for one in self.heaviest.topic.written]
        known = [rate for rate in written if rate is not None]
        # Without another peak, the messages of queues that nobody reads count as well: they come to the others then.
        total = sum(known) * (self.heaviest.pass_ratio or 0.0) if peak.of_queues is None else planned[grows].sum()
        rates = np.zeros(len(self.queues))
        rates[~is_grown] = planned[~grows]
        rates[takes] = total / np.count_nonzero(takes) if len(known) == len(written) else np.nan
        return rates

    def _crowd(self, clients: int) -> tuple[Members, Integers, list[str]] | None:
        """The clients, of which of today each has the figures, and their strategies."""
        staff = self.staff
        if clients == staff.facts.connections:
            return staff.division.members, np.arange(len(staff.division.members.client_ids)), staff.runs
        changed = Crowd(staff, clients).of(clients)
        return None if changed is None else (changed.owned.division.members, changed.rows, changed.runs)


def _takes_more(place: Place) -> bool:
    """Whether queues are added to a topic on this broker."""
    return (place.perm or 0) & READ_WRITE == READ_WRITE


def _grown(heaviest: Reads, per_broker: int) -> Reads:
    """The topic with this number of queues on each writable broker."""
    places = tuple(
        structs.replace(place, read_queue_nums=per_broker, write_queue_nums=per_broker) if _takes_more(place) else place
        for place in heaviest.topic.places
    )
    return structs.replace(heaviest, topic=structs.replace(heaviest.topic, places=places))
