"""Whether groups have enough clients for the events of the policy's calendar, such as a sale."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.sizes import Sizes, needed_clients
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.arrays import Numbers
from rocketmq_capacity.settings.events import coming_events
from rocketmq_capacity.tables.assess.events import EventNeed
from rocketmq_capacity.vocabulary import BUSINESS, ENOUGH, TOO_FEW, UNDECIDED


def event_needs(group: AssessedGroup) -> Iterator[EventNeed]:
    """A row for each coming event that brings more to a topic of the group; its outliers are apart, as in sizes.

    More is counted from the group's peak: so many times the messages of each topic then. A peak that was seen within
    the event may have them already, or only the first of them: they come once at least then, and so many times at most.
    """
    names = [reads.topic.topic for reads in group.division.queues.topics]
    is_business = [reads.topic.kind == BUSINESS for reads in group.division.queues.topics]
    for event in coming_events(group.policy.events, group.cluster.cluster.taken_at):
        is_met = np.array([one and event.has(name) for one, name in zip(is_business, names, strict=True)], bool)
        if is_met.any():
            factors = np.where(is_met, event.factor, 1.0)
            has_come = event.begins <= _peak_at(group)
            yield _need(group, event.name, np.minimum(factors, 1.0) if has_come else factors, factors)


def _peak_at(group: AssessedGroup) -> datetime:
    """When the group's peak was."""
    at_s = group.peak.at_s
    return datetime.fromisoformat(group.cluster.cluster.taken_at) if at_s is None else datetime.fromtimestamp(at_s, UTC)


def _need(group: AssessedGroup, event: str, factors: Numbers, most: Numbers) -> EventNeed:
    """The row of one event.

    Args:
        group: with its outliers apart.
        event: its name.
        factors: by topic of the division, how many times its messages come.
        most: the same at most.
    """
    row = EventNeed(event=event, consumer_group=group.name, status=UNDECIDED, clients=group.facts.connections)
    use, highest = _use(group, factors), _use(group, most)
    if use is None or highest is None or group.provision.status == UNDECIDED:
        return row
    bound, use = group.policy.thresholds.PROVISION.under_utilisation, use._replace(upper=highest.upper)
    return structs.replace(
        row,
        status=_status(use, bound),
        busy_lower=use.lower,
        busy_ratio=use.estimate,
        busy_upper=use.upper,
        needed_clients=needed_for(group, factors) if np.array_equal(factors, most) else None,
    )


def _use(group: AssessedGroup, factors: Numbers) -> Interval | None:
    """How busy its busiest client is then; None if that is unknown."""
    work = _work(group, factors)
    busiest = None if work is None else work.busiest()
    return None if busiest is None else busiest[0].times(group.peak.scale)


def _status(use: Interval, bound: float) -> str:
    if use.lower > bound:
        return TOO_FEW
    return ENOUGH if use.upper <= bound else UNDECIDED


def needed_for(group: AssessedGroup, factors: Numbers) -> int | None:
    """How many clients are enough for more traffic; None where another rule's answer decides it, or if no number is.

    Args:
        group: with its outliers apart.
        factors: by topic of its division, how many times the messages of its peak come.
    """
    staff, work, bound = group.staff, _work(group, factors), group.policy.thresholds.PROVISION.under_utilisation
    if work is None or not group.is_clustering or staff.mends_first is not None:
        return None
    msgs_per_s = staff.planned_msgs_per_s * factors[group.division.queues.topic]
    needed = needed_clients(Sizes(replace(staff, planned_msgs_per_s=msgs_per_s, planned_work=work)), work, bound)
    return None if needed is None else needed.target


def _work(group: AssessedGroup, factors: Numbers) -> Work | None:
    """What its clients have to do then; None if that is unknown."""
    work = group.planned_work
    return None if work is None else replace(work, incoming_msgs_per_s=work.incoming_msgs_per_s * factors)
