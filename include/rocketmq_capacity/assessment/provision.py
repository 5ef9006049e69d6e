"""Whether a group has the consumers it needs: UNDER_, RIGHT_ or OVER_PROVISIONED, or UNDECIDED with its reason.

A group is as busy as its busiest client (see ``utilisation``). Unknown facts widen the figure to an interval. There is
a verdict if it is the same for the whole interval.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from typing import Final, Literal

import numpy as np

from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.lag import Growth
from rocketmq_capacity.assessment.peak import Peak
from rocketmq_capacity.assessment.sizes import (
    NeededNumbers,
    Sizes,
    clients_for,
    likely_needed,
    needed_clients,
    searches_for_needed,
)
from rocketmq_capacity.assessment.staff import Staff
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.vocabulary import CONFIG, OVER, OWN_CHOICE, RIGHT, UNDECIDED, UNDER, ProvisionStatus, knows_rooms
from rocketmq_capacity.wording import MODEL_UNKNOWN, NO_STRATEGY, UNSEEN_CLIENTS, counted, listed, percent, rounded

Cause = Literal["busy", "lag"]
"""Why clients are too few: the busiest is too busy, or lag grows. Then no client may go."""
NOT_KNOWN: Final = NeededNumbers(None, None, None)
WORTH_SAYING: Final = 1.1
"""A peak below so many times the measured rate is not mentioned: samples of a few seconds vary that much."""


MUCH_SLOWER: Final = 2
"""A busiest client that needs at least so many times what the median one needs is called slow, not overloaded."""


@dataclass(frozen=True, slots=True)
class Provision:
    """The verdict on a group.

    Attributes:
        status: UNDER_PROVISIONED, RIGHT_PROVISIONED, OVER_PROVISIONED or UNDECIDED.
        reason: why, in words.
        cause: of UNDER_PROVISIONED.
        utilisation: the busy share of its busiest client; None where a part of it is unknown.
        busiest_client: its id.
        judged_utilisation: the same with outliers apart, which the status judges.
        at_peak: the same at the peak, at which the verdict must hold.
        needed: how many clients keep the busiest one within the bound; None while another rule's answer decides it.
        min_safe_clients: how many are needed if clients like the median one divided the work evenly; while today's
            number is too small, at least that, and at least the needed ones.
        doubt: which fact must be wrong, if rates of arrival and consumption contradict each other.
    """

    status: ProvisionStatus
    reason: str
    cause: Cause | None = None
    utilisation: Interval | None = None
    busiest_client: str | None = None
    judged_utilisation: Interval | None = None
    at_peak: Interval | None = None
    needed: NeededNumbers | None = None
    min_safe_clients: int | None = None
    doubt: str | None = None


def provision(sizes: Sizes, growth: Growth, no_verdict: str | None, doubt: str | None, *, may_go: bool) -> Provision:
    """The verdict on a group.

    Args:
        sizes: what its clients bear, and other numbers of them would.
        growth: how its lag grew for want of capacity.
        no_verdict: of :func:`no_verdict`.
        doubt: as in :class:`Provision`.
        may_go: whether its facts let some client go, as far as they tell it without any simulation.
    """
    staff, work = sizes.staff, sizes.staff.work
    today = None if work is None else work.busiest()
    if work is None or today is None:
        return Provision(UNDECIDED, no_verdict or _missing(staff, work))
    use, busiest_now = today
    client_ids, bound = staff.division.members.client_ids, staff.policy.thresholds.PROVISION.under_utilisation
    planned, scale = staff.planned_work or work, staff.peak.scale
    highest = planned.busiest()
    if highest is None:
        why = f"{_missing(staff, planned)}, whose messages come{_at_peak(staff.peak) or ' at the peak'}"
        return Provision(
            UNDECIDED, why, utilisation=use, judged_utilisation=use, busiest_client=client_ids[busiest_now]
        )
    at_peak, busiest = highest[0].times(scale), highest[1]
    after = _without_some(sizes) if may_go else None
    unknown = no_verdict or _too_many_untimed(planned, staff.policy.thresholds.PROVISION.max_unknown_rt_ratio)
    verdict = Provision(UNDECIDED, unknown) if unknown else _verdict(staff, growth, at_peak, after, planned, busiest)
    verdict = _with_owners_least(staff, verdict)
    needed, least = None, None
    if staff.facts.is_clustering and staff.mends_first is None:
        needed = needed_clients(sizes, planned, bound)
        least = clients_for(planned.typical_clients() * scale, bound)
        if verdict.cause is not None:
            least = max(least, staff.facts.connections, (needed and needed.target) or 0)
        most = staff.useful_clients
        least = least if most is None else min(least, max(most, 1))
    return replace(
        verdict,
        utilisation=use,
        busiest_client=client_ids[busiest_now],
        judged_utilisation=use,
        at_peak=at_peak,
        needed=needed,
        min_safe_clients=least,
        doubt=doubt,
    )


def with_outliers(verdict: Provision, staff: Staff, outliers: Sequence[str], doubt: str | None) -> Provision:
    """The verdict on a group with its outliers apart, with what its clients, outliers included, really do.

    While one of its clients is sick, no other is too many.

    Args:
        verdict: on the group with its outliers apart.
        staff: the group's clients, outliers included.
        outliers: the client ids of the outliers.
        doubt: as in :class:`Provision`, of the clients with the outliers.
    """
    today = None if staff.work is None else staff.work.busiest()
    if today is None:
        return verdict
    use, busiest = today
    names = listed(outliers)
    is_over = verdict.status == OVER
    return replace(
        verdict,
        status=RIGHT if is_over else verdict.status,
        reason=f"no client is too many while {names} does the work far worse than the others"
        if is_over
        else f"{verdict.reason}, with {names} taken as the median of the other clients",
        utilisation=use,
        at_peak=_busy_at_peak(staff),
        busiest_client=staff.division.members.client_ids[busiest],
        doubt=doubt,
    )


def _with_owners_least(staff: Staff, verdict: Provision) -> Provision:
    """The verdict; its reason also says if the group runs fewer clients than its owner wants."""
    wanted, connections = staff.policy.group_entry(staff.facts.consumer_group).min_clients, staff.facts.connections
    if wanted is None or connections >= wanted:
        return verdict
    reason = f"{verdict.reason}, and its owner wants at least {counted(wanted, 'client')} instead of {connections}"
    return replace(verdict, reason=reason)


def _busy_at_peak(staff: Staff) -> Interval | None:
    """The busy share of the busiest client at the peak; None if unknown."""
    busiest = None if staff.planned_work is None else staff.planned_work.busiest()
    return None if busiest is None else busiest[0].times(staff.peak.scale)


def _verdict(
    staff: Staff, growth: Growth, use: Interval, after: Interval | None, work: Work, busiest_index: int
) -> Provision:
    """The status with its reason; ``use`` and ``after`` are those of the busiest client at the peak."""
    bounds, peak = staff.policy.thresholds.PROVISION, staff.peak
    is_busy = f"is busy for {_shown(use)} of its time{_at_peak(peak)}"
    busiest = f"the busiest client {is_busy}"
    if use.lower > bounds.under_utilisation:
        beside = _beside_the_median(work, busiest_index, peak.scale)
        return Provision(UNDER, f"{busiest}; {beside}" if beside else busiest, "busy")
    low = staff.policy.thresholds.LOW_UTILISATION
    # Clients that are known to have time left do not fall behind for want of capacity.
    if growth.is_above(low.min_lag) and use.upper > low.busy_ratio:
        return Provision(UNDER, growth.words, "lag")
    if use.upper > bounds.under_utilisation:
        return Provision(UNDECIDED, f"{busiest}: {_untimed(work)}")
    if after is None or after.lower > bounds.over_utilisation:
        return Provision(RIGHT, busiest)
    connections = staff.facts.connections
    fewer = (
        f"without {leaving(staff)} of its {counted(connections, 'client')} "
        f"the busiest would be busy for {_shown(after)} of its time{_at_peak(peak)}"
    )
    if after.upper <= bounds.over_utilisation:
        return Provision(OVER, fewer)
    return Provision(UNDECIDED, f"{fewer}: {_untimed(work)}")


def no_verdict(facts: GroupFacts, completeness: float, min_completeness: float, *, is_off: bool) -> str | None:
    """Why there can be no verdict, however busy the clients are; else None.

    Args:
        facts: the snapshot's facts about the group.
        completeness: of the snapshot.
        min_completeness: the policy's bound.
        is_off: whether the group has no clients, as its schedule expects.
    """
    if not facts.is_clustering and not facts.is_broadcasting:
        return NO_STRATEGY if facts.message_model else MODEL_UNKNOWN
    if not facts.connections:
        unseen = facts.unseen_clients
        if is_off:
            return "the group has no clients, as its schedule in the policy expects"
        return "the group has no clients" if unseen is None else UNSEEN_CLIENTS[unseen]
    if completeness < min_completeness:
        return f"the snapshot answered for {percent(completeness)} of the queues only"
    return None


def _too_many_untimed(work: Work, bound: float) -> str | None:
    """The reason that too many of the clients with work report no response time; else None."""
    at_work = (work.incoming_msgs_per_s > 0).any(axis=1)
    if not at_work.any() or work.is_untimed.sum() / at_work.sum() <= bound:
        return None
    return _untimed(work)


def _untimed(work: Work) -> str:
    untimed, at_work = int(work.is_untimed.sum()), int((work.incoming_msgs_per_s > 0).any(axis=1).sum())
    return f"response times are unknown for {untimed} of {counted(at_work, 'client')} with messages to handle"


def _missing(staff: Staff, work: Work | None) -> str:
    """The missing fact without which it is unknown how busy clients are."""
    if staff.facts.is_clustering and staff.today is None:
        return f"who owns which queue is unknown: {_why_not_computed(staff)}"
    if staff.today is not None and staff.today.owners.unknown:
        names = sorted(staff.division.queues.topic_names(staff.today.owners.unknown))
        return f"who owns {listed(names)} is unknown: there its strategy throws, and the queues keep their old owners"
    if work is None:
        return "its clients own queues that are not in the cluster"
    if staff.facts.is_broadcasting and np.isnan(work.incoming_msgs_per_s).any():
        return "some of its clients do not report what they consume, and they keep their own offsets"
    unfiltered = [reads.topic.topic for reads in staff.facts.business if reads.pass_ratio is None]
    if unfiltered:
        return f"what its filter lets through is unknown: no client's rates on {listed(unfiltered)} tell it"
    if not work.has_queues.any():
        return "its clients own no queue"
    topics = [reads.topic.topic for reads in staff.division.queues.topics]
    unrated = np.isnan(work.incoming_msgs_per_s).any(axis=0)
    if unrated.any():
        names = [topics[index] for index in np.flatnonzero(unrated).tolist()]
        return f"how many messages are written to some queues of {listed(names)} is unknown"
    if not (work.at_once[work.has_queues] > 0).all():
        if staff.facts.has_grpc_clients:
            return "its gRPC clients say nothing of their threads and response times"
        return "the threads or the batch size of some clients are unknown"
    untimed = np.isnan(work.parts(work.times.estimate)).any(axis=0)
    names = [topics[index] for index in np.flatnonzero(untimed).tolist()]
    return f"no client reported a response time of {listed(names)}"


def _why_not_computed(staff: Staff) -> str:
    runs = None if staff.current is None else staff.current.strategy
    if runs == OWN_CHOICE:
        return "the programs of its clients choose their queues themselves, and not every client reported them"
    if staff.is_divided_twice:
        return "clients behind a Proxy and clients at the brokers divide all queues, each side for itself"
    strategy = staff.strategy or ""
    needs_more = strategy == CONFIG or knows_rooms(strategy)  # the lists or rooms of the policy
    refused = staff.allocator.verdict(strategy, staff.division).reason if needs_more else None
    if refused is not None:
        return f"{runs} is not computed ({refused}), and not every client reported its queues"
    return f"{runs} is not computed, and not every client reported its queues"


def _without_some(sizes: Sizes) -> Interval | None:
    """The busy share at the peak without the last consumers in Java's order; None if none would be left."""
    kept = sizes.staff.facts.connections - leaving(sizes.staff)
    return None if kept < 1 else sizes.busiest(kept)


def likely_sizes(staff: Staff, work: Work) -> set[int]:
    """The numbers of clients that a verdict will need, as far as they are known in advance."""
    connections, bound = staff.facts.connections, staff.policy.thresholds.PROVISION.under_utilisation
    likely = {connections, connections - leaving(staff)}
    return {clients for clients in (*likely, likely_needed(staff, work, bound)) if clients}


def needed_sizes(sizes: Sizes, work: Work) -> Iterator[range]:
    """The numbers of clients that the search for those that are needed asks for, one after the other."""
    bound = sizes.staff.policy.thresholds.PROVISION.under_utilisation
    yield from chain.from_iterable(searches_for_needed(sizes, work, bound))


def leaving(staff: Staff) -> int:
    """How many consumers the policy's share is, rounded up."""
    # 100 * 0.07 is a little more than 7 in floating point; that must not round up to an eighth consumer.
    return ceil(rounded(staff.facts.connections * staff.policy.thresholds.PROVISION.over_removed_ratio, 6) or 0)


def _beside_the_median(work: Work, busiest: int, peak: float) -> str:
    """What the median client would bear with the busiest one's queues, if that is far less; else an empty text."""
    share = work.median_share(busiest)
    if share * MUCH_SLOWER > work.busy(work.times.estimate)[busiest]:
        return ""
    return f"the median client would be busy for {percent(share * peak)} with the same messages"


def _shown(use: Interval) -> str:
    """A share for a sentence: ``37.8 %``, or from lowest to highest if it is not known exactly."""
    return percent(use.estimate) if use.is_exact else f"{percent(use.lower)} to {percent(use.upper)}"


def _at_peak(peak: Peak) -> str:
    """When the peak was, if it is worth saying; else an empty text."""
    if peak.factor is None:
        return f" at the peak of {rounded(peak.msgs_per_s, 1)} msg/s, while none came when the snapshot was taken"
    return f" at the peak, {rounded(peak.factor, 2)} times the measured rate" if peak.factor >= WORTH_SAYING else ""
