"""A group with another number of clients: what they would own and have to do, and how many it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.current import client_runs, predicted_owners
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.contracts.division import Division, Integers, Members, Owners
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


@dataclass(frozen=True, slots=True)
class Size:
    """What the clients of a group bear if there are so many.

    Attributes:
        busiest: the busy share of the busiest client; None where it is unknown, and where nobody would own a queue that
            somebody owns today.
        queues: how many queues each client id owns.
    """

    busiest: Interval | None
    queues: Integers

    def share(self, peak: float) -> float | None:
        """The most likely busy share of the busiest client, times a peak; None where it is unknown."""
        return None if self.busiest is None else self.busiest.estimate * peak


@dataclass(frozen=True, slots=True)
class Divided:
    """A group with another number of clients.

    With fewer than today, the last in Java's order have left. With more, the further ones are like those that are
    there, one after the other, and run what these run.

    Attributes:
        division: its queues, and the consumers that there would be.
        owners: who would own which queue.
        rows: of each client id the index of the one of today that it is or is like.
    """

    division: Division
    owners: Owners
    rows: Integers


def divided(group: "Group", consumers: int) -> Divided | None:
    """A group with so many clients; None where what they would own cannot be computed."""
    if group.current is None or group.today is None or not group.today.is_predicted:
        return None
    if consumers == group.facts.connections:
        return Divided(group.division, group.today.owners, np.arange(len(group.client_ids)))
    members, source = _members_of_size(group.division.members, consumers)
    division = Division(group.facts, group.division.queues, members)
    runs = client_runs(division, group.current.strategy, group.policy)
    if not runs:
        return None
    owners = predicted_owners(division, runs, lambda strategy: group.allocator.owners(strategy, division))
    if owners.unknown:
        return None
    row = {client_id: index for index, client_id in enumerate(group.client_ids)}
    rows = np.array([row[source.get(client_id, client_id)] for client_id in members.client_ids], np.int64)
    return Divided(division, owners, rows)


def size_of(group: "Group", consumers: int) -> Size | None:
    """What so many clients would bear; None where it cannot be computed. ``Group.size`` computes it only once."""
    found = divided(group, consumers)
    if found is None:
        return None
    queues = np.bincount(found.owners.client, minlength=len(found.rows))
    if found.owners.unknown or _orphans(found) > (group.orphans_today or 0):
        return Size(None, queues)
    times = group.response_times.of_clients(found.rows)
    work = Work.of(found.division, group.weights.msgs_per_s, found.owners, times)
    busiest = None if work is None else work.busiest()
    return Size(None if busiest is None else busiest[0], queues)


def _orphans(found: Divided) -> int:
    """How many business queues nobody owns."""
    owners = np.bincount(found.owners.queue, minlength=len(found.division.queues))
    return int((owners[found.division.queues.is_business] == 0).sum())


def needed_clients(group: "Group", work: Work, bound: float, peak: float) -> Needed | None:
    """How many clients keep the busiest one's share at the peak within a bound; None where that cannot be computed.

    Where today's busiest client is above the bound, fewer clients are no answer: they would do only if a slow one were
    among those that leave.

    Args:
        group: the group.
        work: what its clients have to do today.
        bound: the busiest client's share at most.
        peak: messages at the busiest moment / usually.
    """
    today = group.size(group.facts.connections)
    if today is None or today.busiest is None:
        return None
    start = clients_for(work.least_clients() * peak, bound)
    more = group.facts.connections + 1
    shares = [rounded(share, 9) or 0 for share in today.busiest.times(peak)]
    return Needed(
        *(
            _within(group, place, bound, peak, start if share <= bound else max(start, more))
            for place, share in enumerate(shares)
        )
    )


def more_clients(group: "Group", bound: float, peak: float) -> int | None:
    """The least number above today's that keeps the busiest client's estimate within a bound; None if none does."""
    return _within(group, 1, bound, peak, group.facts.connections + 1)


def _within(group: "Group", place: int, bound: float, peak: float, start: int) -> int | None:
    """The least number of clients from ``start`` on with which one end of the busiest one's interval fits."""
    most = group.max_useful_clients
    most = MOST_CLIENTS if most is None else min(most, MOST_CLIENTS)

    def fits(clients: int) -> bool:
        size = group.size(clients)
        busiest = None if size is None or size.busiest is None else size.busiest.times(peak)
        return busiest is not None and (rounded(busiest[place], 9) or 0) <= bound

    return least_number(fits, start, most)


def clients_for(total: float, bound: float) -> int:
    """How many equally busy clients share this many clients' full time within a bound; at least one."""
    return max(1, ceil(rounded(total / bound, 6) or 0)) if bound > 0 else 1


def least_number(fits: Callable[[int], bool], start: int, most: int) -> int | None:
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
