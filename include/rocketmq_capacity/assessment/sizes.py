"""A group with another number of clients: what they would have to do, and how many it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.current import client_runs, predicted_owners
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.contracts.division import Division, Members
from rocketmq_capacity.contracts.wording import rounded

if TYPE_CHECKING:
    from rocketmq_capacity.assessment.group import Group

MOST_CLIENTS: Final = 4_096
"""Beyond so many clients no number is looked for."""


@dataclass(frozen=True, slots=True)
class Needed:
    """The smallest numbers of clients with which the busiest one stays within the bound.

    Each is capped by what the group can use. None where not even that many are enough.

    Attributes:
        lower: if every unknown response time were the shortest known.
        target: most likely.
        upper: if every unknown response time were the longest known.
    """

    lower: int | None
    target: int | None
    upper: int | None


def work_of_size(group: "Group", consumers: int) -> Work | None:
    """What a group's clients would have to do if there were so many; None where that cannot be computed.

    With fewer, the last in Java's order have left. With more, the further ones are like those that are there, one after
    the other, and run what these run.
    """
    if group.current is None or group.today is None or not group.today.is_predicted:
        return None
    members, source = _members_of_size(group.division.members, consumers)
    division = Division(group.facts, group.division.queues, members)
    runs = client_runs(division, group.current.strategy, group.policy)
    if not runs:
        return None
    owners = predicted_owners(division, runs, lambda strategy: group.allocator.owners(strategy, division))
    row = {client_id: index for index, client_id in enumerate(group.client_ids)}
    rows = np.array([row[source.get(client_id, client_id)] for client_id in members.client_ids], np.int64)
    times = group.response_times.of_clients(rows)
    return Work.of(division, group.weights.msgs_per_s, owners, times)


def needed_clients(group: "Group", total: Interval, bound: float, peak: float) -> Needed:
    """How many clients keep the busiest one's share at the peak within a bound.

    Args:
        group: the group.
        total: the busy shares of all its clients together; where it is shared evenly, the search ends.
        bound: the busiest client's share at most.
        peak: messages at the busiest moment / usually.
    """

    @cache
    def busiest(clients: int) -> Interval | None:
        work = work_of_size(group, clients)
        found = None if work is None else work.busiest()
        return None if found is None else found[0].times(peak)

    most = group.max_useful_clients
    most = MOST_CLIENTS if most is None else min(most, MOST_CLIENTS)

    def least(place: int) -> int | None:
        start = clients_for(total[place] * peak, bound)
        return _least(lambda clients: _fits(busiest(clients), place, bound), start, most)

    return Needed(least(0), least(1), least(2))


def clients_for(total: float, bound: float) -> int:
    """How many equally busy clients share this many clients' full time within a bound; at least one."""
    return max(1, ceil(rounded(total / bound, 6) or 0)) if bound > 0 else 1


def _fits(busiest: Interval | None, place: int, bound: float) -> bool:
    return busiest is not None and (rounded(busiest[place], 9) or 0) <= bound


def _least(fits: Callable[[int], bool], start: int, most: int) -> int | None:
    """The least number from ``start`` on that fits while one fewer does not; None where ``most`` does not fit.

    More clients hardly ever make the busiest one busier, so that halving finds the least one.
    """
    low, high, step = start - 1, start, 1
    while high < most and not fits(high):
        low, high, step = high, high + step, step * 2
    high = min(high, most)
    if low >= high or not fits(high):
        return None
    while high - low > 1:
        probe = (low + high) // 2
        if fits(probe):
            high = probe
        else:
            low = probe
    return high


def _members_of_size(members: Members, consumers: int) -> tuple[Members, dict[str, str]]:
    """So many consumers, and of each further client id the id of the client that it is like."""
    now = members.consumers
    if consumers <= len(now):
        return Members(now[:consumers]), {}
    source: dict[str, str] = {}
    further = []
    for index in range(consumers - len(now)):
        like = now[index % len(now)]
        client_id = f"{like.client_id}~{index}"
        source[client_id] = like.client_id
        further.append(structs.replace(like, client_id=client_id, consumer_index=len(now) + index))
    return Members.sorted([*now, *further]), source
