"""Whether groups have enough clients for the events of the policy's calendar, such as a sale."""

from collections.abc import Iterator
from dataclasses import replace

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

    More is counted from the group's peak: so many times the messages of each topic then.
    """
    names = [reads.topic.topic for reads in group.division.queues.topics]
    is_business = [reads.topic.kind == BUSINESS for reads in group.division.queues.topics]
    for event in coming_events(group.policy.events, group.cluster.cluster.taken_at):
        is_met = np.array([one and event.has(name) for one, name in zip(is_business, names, strict=True)], bool)
        if is_met.any():
            yield _need(group, event.name, np.where(is_met, event.factor, 1.0))


def _need(group: AssessedGroup, event: str, factors: Numbers) -> EventNeed:
    """The row of one event; ``factors`` has, by topic of the division, how many times its messages come."""
    row = EventNeed(event=event, consumer_group=group.name, status=UNDECIDED, clients=group.facts.connections)
    work = _work(group, factors)
    busiest = None if work is None else work.busiest()
    if busiest is None or group.provision.status == UNDECIDED:
        return row
    bound, use = group.policy.thresholds.PROVISION.under_utilisation, busiest[0].times(group.peak.scale)
    return structs.replace(
        row,
        status=_status(use, bound),
        busy_lower=use.lower,
        busy_ratio=use.estimate,
        busy_upper=use.upper,
        needed_clients=needed_for(group, factors),
    )


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
