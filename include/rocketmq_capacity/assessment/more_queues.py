"""More queues of a topic for a client that is too busy, with the clients that there are, or with more of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.burden import Burden, Case, burdens
from rocketmq_capacity.assessment.current import predicted_owners
from rocketmq_capacity.assessment.loads import Weights
from rocketmq_capacity.assessment.sizes import Crowd, least_number, result
from rocketmq_capacity.assessment.skew import Numbers
from rocketmq_capacity.assessment.staff import Staff, pulled_sizes
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.contracts.division import Division, Integers, Members, Queues
from rocketmq_capacity.contracts.facts import GroupFacts, Reads, Written
from rocketmq_capacity.contracts.kept_counts import kept_count
from rocketmq_capacity.contracts.wording import rounded
from rocketmq_capacity.vocabulary import READ_WRITE


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
            clients = result(least_number(lambda number: layout.is_enough(number, bound), 1, today))  # noqa: B023
        return MoreQueues(layout.topic, layout.each, clients, share)
    return None


def queues_and_clients(staff: Staff, work: Work, bound: float) -> MoreQueues | None:
    """The fewest queues on each broker of that topic that are enough together with more clients, and these clients."""
    peak = staff.peak.scale
    today, evenly = staff.facts.connections, work.evenly() * peak
    if np.isnan(evenly) or staff.max_useful_clients is None:
        return None
    for layout in _layouts(staff, work):
        most = layout.max_useful_clients
        # With fewer clients than this, even the best division is too much.
        if most <= today or most * bound < today * evenly or not layout.is_enough(most, bound):
            continue
        clients = result(least_number(lambda number: layout.is_enough(number, bound), today + 1, most))  # noqa: B023
        share = None if clients is None else _share(layout.burden(clients), peak)
        return None if share is None else MoreQueues(layout.topic, layout.each, clients, share)
    return None


def _layouts(staff: Staff, work: Work) -> Iterator["_Layout"]:
    """The topic with more and more queues on each of its writable brokers, up to the policy's limit."""
    if staff.current is None or staff.today is None or not staff.today.is_predicted:
        return
    busiest = int(work.busy(work.times.estimate).argmax())
    heaviest = staff.division.queues.topics[int(work.parts(work.times.estimate)[busiest].argmax())]
    places = [place for place in heaviest.topic.places if (place.perm or 0) & READ_WRITE == READ_WRITE]
    if not places or kept_count(heaviest.topic) is not None:
        return
    least = max(max(place.read_queue_nums or 0, place.write_queue_nums or 0) for place in places)
    for each in range(least + 1, staff.policy.thresholds.EXPAND_QUEUES.max_queues_per_broker + 1):
        yield _Layout(staff, heaviest, each)


def _share(burden: Burden | None, peak: float) -> float | None:
    """The busy share of the busiest client at the peak; None if it is unknown."""
    return None if burden is None or burden.busiest is None else rounded(burden.busiest.estimate * peak, 9)


@dataclass(frozen=True)
class _Layout:
    """A group one of whose topics has a number of queues on each writable broker.

    Attributes:
        staff: the group's clients today.
        heaviest: the topic.
        each: its queues on each writable broker.
    """

    staff: Staff
    heaviest: Reads
    each: int

    @property
    def topic(self) -> str:
        return self.heaviest.topic.topic

    @cached_property
    def facts(self) -> GroupFacts:
        return structs.replace(self.staff.facts, reads=tuple(_grown(self.staff.facts, self.heaviest, self.each)))

    @cached_property
    def queues(self) -> Queues:
        return Queues.of(self.facts)

    @cached_property
    def max_useful_clients(self) -> int:
        """How many readable queues its largest pulled topic has."""
        return max(pulled_sizes(self.facts).values())

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
        owners = predicted_owners(division, runs, lambda strategy: self.staff.allocator.owners(strategy, division))
        if owners.unknown:
            return None
        today, times = self.staff.division, self.staff.times
        (burden,) = burdens([Case(today, times, division, owners, rows, None, self.planned_msgs_per_s)])
        return burden

    @cached_property
    def planned_msgs_per_s(self) -> Numbers:
        """Messages a second of each queue, as of ``Staff.planned_msgs_per_s``: each topic has what it has there."""
        staff, weights = self.staff, Weights.of(Division(self.facts, self.queues, self.staff.division.members))
        if staff.peak.of_queues is None:
            return weights.msgs_per_s
        queues, topics = weights.queue, len(self.queues.topics)
        topic, measured = self.queues.topic[queues], weights.msgs_per_s[queues]
        today = np.flatnonzero(staff.division.queues.is_business)
        planned = np.bincount(staff.division.queues.topic[today], staff.planned_msgs_per_s[today], topics)[topic]
        now, number = np.bincount(topic, measured, topics)[topic], np.bincount(topic, minlength=topics)[topic]
        rates = weights.msgs_per_s.copy()
        rates[queues] = np.where(now > 0, measured * planned / np.where(now > 0, now, 1.0), planned / number)
        return rates

    def _crowd(self, clients: int) -> tuple[Members, Integers, list[str]] | None:
        """The clients, of which of today each has the figures, and their strategies."""
        staff = self.staff
        if clients == staff.facts.connections:
            return staff.division.members, np.arange(len(staff.division.members.client_ids)), staff.runs
        changed = Crowd(staff, clients).of(clients)
        return None if changed is None else (changed.division.members, changed.rows, changed.runs)


def _grown(facts: GroupFacts, heaviest: Reads, each: int) -> Iterator[Reads]:
    """The topics that the group reads, one of them with this number of queues on each writable broker."""
    for reads in facts.reads:
        if reads.topic.topic != heaviest.topic.topic:
            yield reads
            continue
        places = tuple(
            structs.replace(place, read_queue_nums=each, write_queue_nums=each)
            if (place.perm or 0) & READ_WRITE == READ_WRITE
            else place
            for place in reads.topic.places
        )
        names = [place.broker_name for place in places if (place.perm or 0) & READ_WRITE == READ_WRITE]
        rates = [one.put_msgs_per_s for one in reads.topic.written]
        known = [rate for rate in rates if rate is not None]
        share = sum(known) / (len(names) * each) if len(known) == len(rates) else None
        written = tuple(
            Written(broker_name=name, queue_id=queue_id, put_msgs_per_s=share)
            for name in names
            for queue_id in range(each)
        )
        rest = tuple(
            structs.replace(one, put_msgs_per_s=0.0) for one in reads.topic.written if one.broker_name not in names
        )
        yield structs.replace(reads, topic=structs.replace(reads.topic, places=places, written=written + rest))
