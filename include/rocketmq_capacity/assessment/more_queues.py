"""More queues of a topic for a client that is too busy, with the clients that there are, or with more of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.current import OwnersToday, predicted_owners
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy
from rocketmq_capacity.assessment.search import least_number, result
from rocketmq_capacity.assessment.sizes import Sizes
from rocketmq_capacity.assessment.staff import Staff, max_useful_clients, useful_clients
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.arrays import Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Place, Reads
from rocketmq_capacity.model.kept_counts import kept_count
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
    if not is_harmed and work.evenly() * staff.peak.scale > bound:
        return None  # one client for each queue would still be too busy
    today = staff.facts.connections
    for topic, per_broker, sizes in _layouts(staff, work):
        size, share = sizes[today], rounded(sizes.share(today), 9)
        if size is None or share is None or share > bound:
            continue
        clients = None
        if size.idle_clients:
            clients = result(least_number(partial(_is_enough, sizes, bound), 1, today))
        return MoreQueues(topic, per_broker, clients, share)
    return None


def queues_and_clients(staff: Staff, work: Work, bound: float) -> MoreQueues | None:
    """The fewest queues on each broker of that topic that are enough together with more clients, and these clients."""
    today, evenly = staff.facts.connections, work.evenly() * staff.peak.scale
    if np.isnan(evenly) or max_useful_clients(staff.facts) is None:
        return None
    for topic, per_broker, sizes in _layouts(staff, work):
        # A group that also pops can use any number; more than these own no queue of the topic.
        most = sizes.staff.useful_clients or max_useful_clients(sizes.staff.facts) or 0
        # With fewer clients than this, even the best division is too much.
        if most <= today or most * bound < today * evenly or not _is_enough(sizes, bound, most):
            continue
        clients = result(least_number(partial(_is_enough, sizes, bound), today + 1, most))
        share = None if clients is None else rounded(sizes.share(clients), 9)
        return None if share is None else MoreQueues(topic, per_broker, clients, share)
    return None


def _is_enough(sizes: Sizes, bound: float, clients: int) -> bool:
    """Whether the busiest of so many clients is within the bound."""
    share = rounded(sizes.share(clients), 9)
    return share is not None and share <= bound


def _layouts(staff: Staff, work: Work) -> Iterator[tuple[str, int, Sizes]]:
    """The topic with more and more queues on each of its writable brokers, up to the policy's limit.

    Each with the topic's name, the queues on each of these brokers, and what the clients would bear. None if one of its
    queues is hot: whatever makes producers choose that queue, more queues do not change it.
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
        yield heaviest.topic.topic, per_broker, Sizes(_with_queues(staff, index, per_broker))


def _with_queues(staff: Staff, index: int, per_broker: int) -> Staff:
    """The same clients if one of their topics has a number of queues on each writable broker."""
    today = staff.division.queues.topics[index]
    grown = _grown(today, per_broker)
    facts = structs.replace(staff.facts, reads=tuple(grown if one is today else one for one in staff.facts.reads))
    division = Division(facts, Queues.of(facts), staff.division.members)
    owners = predicted_owners(OwnersByStrategy(staff.allocator, division), staff.runs)
    return replace(
        staff,
        division=division,
        today=OwnersToday(owners, is_predicted=True),
        orphans=int(np.count_nonzero(division.queues.is_business)) - len(np.unique(owners.queue)),
        planned_msgs_per_s=_planned(staff, index, division.queues),
        useful_clients=useful_clients(facts, staff.strategy),
    )


def _planned(staff: Staff, index: int, queues: Queues) -> Numbers:
    """Messages a second of each queue, as of ``Staff.planned_msgs_per_s``, but the topic's are spread evenly."""
    today, planned = staff.division.queues, staff.planned_msgs_per_s
    grows, is_grown = today.topic == index, queues.topic == index
    takes = is_grown & np.array([_takes_more(place) for place in queues.places], bool)[queues.place]
    heaviest = today.topics[index]
    written = [one.put_msgs_per_s for one in heaviest.topic.written]
    known = [rate for rate in written if rate is not None]
    # Without another peak, the messages of queues that nobody reads count as well: they come to the others then.
    is_known_at_peak = staff.peak.of_queues is not None
    total = planned[grows].sum() if is_known_at_peak else sum(known) * (heaviest.pass_ratio or 0.0)
    rates = np.zeros(len(queues))
    rates[~is_grown] = planned[~grows]
    rates[takes] = total / np.count_nonzero(takes) if len(known) == len(written) else np.nan
    return rates


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
