"""CONSUMER_CAPACITY: a group whose clients are too busy, or that has more clients than it needs."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from rocketmq_capacity.assessment import remedies
from rocketmq_capacity.assessment.finding import finding, percent
from rocketmq_capacity.assessment.group import Group, GroupRule
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.lag import lag_growth
from rocketmq_capacity.assessment.provision import Provision, leaving
from rocketmq_capacity.assessment.sizes import Search, least_number, more_clients, result
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.contracts import Finding
from rocketmq_capacity.contracts.wording import counted, rounded
from rocketmq_capacity.vocabulary import CRITICAL, INFO, OVER, UNDER, WARNING

OVERLOADED = 1.0
"""Busy share above which a client falls behind for ever."""


def consumer_capacity(group: Group) -> Iterator[Finding]:
    """CONSUMER_CAPACITY: the busiest client is too busy, lag grows, or fewer clients would be enough."""
    verdict, work = group.provision, group.work
    if work is None or verdict.utilisation is None:
        return
    if verdict.status == OVER:
        yield from _to_spare(group, verdict, verdict.utilisation)
    elif verdict.status == UNDER:
        yield from _too_busy(group, verdict, verdict.utilisation, work)


def _too_busy(group: Group, verdict: Provision, use: Interval, work: Work) -> Iterator[Finding]:
    bound, peak = group.policy.thresholds.PROVISION.under_utilisation, verdict.peak
    if verdict.cause == "unread":
        return  # ORPHAN_QUEUE finds this
    is_busy, growth = verdict.cause == "busy", lag_growth(group.facts).by
    needed = verdict.needed and verdict.needed.target
    if is_busy and verdict.needed is not None:
        needed = result(more_clients(group, bound, peak))
    busiest = verdict.busiest_client or ""
    threads = remedies.more_threads(work, bound, peak)
    queues = remedies.more_queues(group, work, bound, peak) if is_busy else None
    calls = remedies.shorter_calls(group, work, bound, peak) if is_busy else None
    yield finding(
        "CONSUMER_CAPACITY",
        CRITICAL if use.times(peak).lower > OVERLOADED else WARNING,
        consumer_group=group.name,
        subjects=[busiest],
        evidence={
            "cause": verdict.cause,
            **_utilisation(verdict, use),
            "under_utilisation_ratio": bound,
            "lag_growth": growth,
            "clients": group.facts.connections,
            "needed_clients": needed,
            "needed_busy_ratio": needed and rounded(_share(group, needed, peak)),
            "max_useful_clients": group.max_useful_clients,
            "consume_threads": _least_threads(work),
            "needed_consume_threads": threads and threads.consume_threads,
            "threads_busy_ratio": threads and rounded(threads.busy_ratio),
            "needed_rt_ratio": calls and calls.ratio,
            "response_times": calls and [asdict(one) for one in calls.times],
            "calls_busy_ratio": calls and rounded(calls.busy_ratio),
            "needed_queues": queues and {"topic": queues.topic, "queues_per_broker": queues.queues_per_broker},
            "queues_busy_ratio": queues and rounded(queues.busy_ratio),
            "strategies": [
                {"strategy": name, "busy_ratio": rounded(share)}
                for name, share in sorted(remedies.strategies(group, peak).items())
            ],
            "doubt": verdict.doubt,
        },
        message=f"{busiest}, the busiest of {counted(group.facts.connections, 'client')}, "
        + (
            f"{verdict.reason.removeprefix('the busiest client ')}."
            if is_busy
            else f"cannot keep up: {verdict.reason}, although by response times and threads it has time left."
        ),
    )


def _to_spare(group: Group, verdict: Provision, use: Interval) -> Iterator[Finding]:
    connections, floor = group.facts.connections, group.policy.thresholds.PROVISION.min_clients
    kept = result(fewest_clients(group, verdict))
    left = connections - leaving(group, connections) if kept is None else kept
    after, without_one = (_share(group, clients, verdict.peak) for clients in (left, left - 1))
    note = " Keep them: nobody would stand in for one that is lost." if kept is None else ""
    yield finding(
        "CONSUMER_CAPACITY",
        INFO,
        consumer_group=group.name,
        subjects=[verdict.busiest_client or ""],
        evidence={
            **_utilisation(verdict, use),
            "over_utilisation_ratio": group.policy.thresholds.PROVISION.over_utilisation,
            "clients": connections,
            "clients_one_lost_busy_ratio": rounded(_share(group, connections - 1, verdict.peak)),
            "needed_clients": kept,
            "needed_busy_ratio": rounded(after),
            "one_lost_busy_ratio": rounded(without_one),
            "min_clients": floor,
            "max_useful_clients": group.max_useful_clients,
            "doubt": verdict.doubt,
        },
        message=f"{connections - left} of its {counted(connections, 'client')} "
        f"{'is' if connections - left == 1 else 'are'} not needed: the busiest of {left} would be busy for "
        f"{percent(after or 0.0)} of its time, and for {percent(without_one or 0.0)} if one more is lost."
        + (f" The policy keeps at least {floor}." if kept == floor else note),
    )


def sizes_asked_for(group: Group) -> Iterator[range]:
    """The numbers of clients that the rule asks for in a clustering group, one after the other."""
    verdict = group.provision
    if verdict.status == OVER:
        yield from fewest_clients(group, verdict)
        yield range(group.facts.connections - 1, group.facts.connections)
    elif verdict.cause == "busy" and verdict.needed is not None:
        yield from more_clients(group, group.policy.thresholds.PROVISION.under_utilisation, verdict.peak)


def fewest_clients(group: Group, verdict: Provision) -> Search:
    """The fewest clients that a group with clients to spare may be left with; None where none may go.

    Their busiest one stays within ``over_utilisation``, and with one more lost within ``under_utilisation``; the
    policy's ``min_clients`` stay in any case.
    """
    bounds = group.policy.thresholds.PROVISION
    share = partial(_upper_share, group, verdict.peak)

    def is_enough(clients: int) -> bool:
        lost = 0.0 if clients == 1 else share(clients - 1)
        return share(clients) <= bounds.over_utilisation and lost <= bounds.under_utilisation

    return least_number(is_enough, max(bounds.min_clients, 1), group.facts.connections - 1, fewer=1)


def _upper_share(group: Group, peak: float, clients: int) -> float:
    """The upper limit of the busiest client's share; infinite if unknown."""
    size = group.size(clients)
    if size is None or size.busiest is None:
        return float("inf")
    return rounded(size.busiest.upper * peak, 9) or 0.0


def _share(group: Group, clients: int, peak: float) -> float | None:
    size = group.size(clients)
    return None if size is None else size.share(peak)


def _utilisation(verdict: Provision, use: Interval) -> dict[str, Any]:
    return {
        "lower_utilisation_ratio": rounded(use.lower),
        "utilisation_ratio": rounded(use.estimate),
        "upper_utilisation_ratio": rounded(use.upper),
        "peak_factor": rounded(verdict.peak),
        "peak_utilisation_ratio": rounded(use.estimate * verdict.peak),
    }


def _least_threads(work: Work) -> int | None:
    threads = work.threads[work.has_queues]
    return int(threads.min()) if len(threads) else None


GROUP_RULES: Final[tuple[GroupRule, ...]] = (consumer_capacity,)
