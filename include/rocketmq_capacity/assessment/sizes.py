"""A group with another number of clients: what each would own and how busy it would be, and how many it needs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import ceil
from typing import Final

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.assigned_load import AssignedLoad, Assignment, assigned_loads
from rocketmq_capacity.assessment.choice_of_clients import further, staying, with_one_lost
from rocketmq_capacity.assessment.current import client_runs, predicted_owners, strategies_in_use
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy, divide
from rocketmq_capacity.assessment.search import Search, or_shown, result
from rocketmq_capacity.assessment.staff import Staff
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.tables.dataset import MOST
from rocketmq_capacity.vocabulary import java_order
from rocketmq_capacity.wording import rounded

MOST_CLIENTS: Final = 4_096
"""The search for a number of clients ends here."""
MOST_ENTRIES: Final = 1_000_000
"""Pairs of a client with a topic, or with a queue that it pops, that are computed at once: some 100 MB."""


@dataclass(frozen=True, slots=True)
class NeededNumbers:
    """The smallest numbers of clients with which the busiest one stays within the bound.

    Each is at most the number that the group can use; None if even that many are not enough.

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
    """What the clients of a group bear if there are a certain number of them.

    Attributes:
        busiest: the busy share of the busiest client at the peak; None if it is unknown, or if a queue that has an
            owner today would have none.
        most_queues: how many queues the client id with the most owns.
        idle_clients: how many client ids own nothing.
        peak: PEAK of the clients by number of queues; None if nobody owns any, or if clients share queues.
    """

    busiest: Interval | None
    most_queues: int
    idle_clients: int
    peak: float | None


Asked = Sequence[tuple[Staff, int]]
"""Groups, each with a number of clients."""


def divided(asked: Asked) -> list[Assignment | None]:
    """Each group with the number of clients asked for; None if their queues cannot be computed."""
    most: dict[Staff, int] = {}
    for staff, consumers in asked:
        most[staff] = max(consumers, most.get(staff, 0))
    scaled = {staff: ScaledClients(staff, number) for staff, number in most.items()}
    changed = [scaled[staff].of(consumers) for staff, consumers in asked]
    divide((one.owned, strategy) for one in changed if one is not None for strategy in one.strategies)
    return [
        _today(staff, consumers) if scaled_group is None else _assigned(staff, scaled_group)
        for (staff, consumers), scaled_group in zip(asked, changed, strict=True)
    ]


def _today(staff: Staff, consumers: int) -> Assignment | None:
    if consumers != staff.facts.connections or staff.today is None or not staff.today.is_predicted:
        return None
    everyone = np.arange(len(staff.division.members.client_ids))
    return Assignment(staff, staff.division, staff.today.owners, everyone, staff.planned_msgs_per_s)


def _assigned(staff: Staff, changed: "ScaledGroup") -> Assignment | None:
    owners = predicted_owners(changed.owned, changed.runs, changed.strategies)
    if owners.unknown:
        return None
    return Assignment(staff, changed.owned.division, owners, changed.rows, staff.planned_msgs_per_s)


@dataclass(frozen=True, slots=True)
class ScaledGroup:
    """A group with another number of clients, before its queues are divided.

    Attributes:
        owned: the owners by strategy.
        rows: for each client id the index of today's client id that it is or copies.
        runs: the strategy of each client id.
        strategies: those by which the owners are computed.
    """

    owned: OwnersByStrategy
    rows: Integers
    runs: list[str]
    strategies: list[str]


@dataclass(frozen=True)
class ScaledClients:
    """The consumers of a group in any number up to ``most``."""

    staff: Staff
    most: int

    def of(self, consumers: int) -> ScaledGroup | None:
        """The group with so many consumers; None for today's number, and if owners cannot be computed."""
        staff = self.staff
        if staff.current is None or staff.today is None or not staff.today.is_predicted:
            return None
        if not consumers or consumers == len(self._today.consumers):
            return None
        is_fewer = consumers < len(self._today.consumers)
        members, rows = self._fewer(consumers) if is_fewer else self._more(consumers)
        division = Division(staff.division.group, staff.division.queues, members)
        owned = OwnersByStrategy(staff.allocator, division)
        if not (self._today.is_plain and members.is_plain):
            runs = client_runs(division, staff.current.strategy, staff.policy)
        elif self._is_alike:
            return ScaledGroup(owned, rows, staff.runs[:1] * consumers, self._strategies)
        else:
            runs = [staff.runs[row] for row in rows.tolist()]
        return ScaledGroup(owned, rows, runs, strategies_in_use(division, runs))

    @cached_property
    def _is_alike(self) -> bool:
        """Whether all of today's clients run one strategy."""
        return len(set(self.staff.runs)) == 1

    @cached_property
    def _strategies(self) -> list[str]:
        return strategies_in_use(self.staff.division, self.staff.runs)

    @cached_property
    def _today(self) -> Members:
        return self.staff.division.members

    @cached_property
    def _stays(self) -> Sequence[int]:
        """The places of today's consumers, in the order in which they stay."""
        return staying(self.staff)

    def _fewer(self, consumers: int) -> tuple[Members, Integers]:
        places = sorted(self._stays[:consumers])
        left = tuple([self._today.consumers[place] for place in places])
        rows = self._today.client[places]
        if self._today.is_plain:
            return self._today.alike(left, [one.client_id for one in left]), rows
        return Members(left), np.unique(rows)

    def _more(self, consumers: int) -> tuple[Members, Integers]:
        today = self._today
        if not self._is_plain:
            every = self._every[:consumers]
            rows = today.client[self._like[:consumers]].tolist()
            row = {one.client_id: like for one, like in zip(every, rows, strict=True)}
            members = Members.sorted(every)
            return members, np.array([row[client_id] for client_id in members.client_ids], np.int64)
        order = self._order[self._order < consumers]
        every = [self._every[place] for place in order.tolist()]
        return today.alike(tuple(every), [one.client_id for one in every]), self._like[order]

    @cached_property
    def _like(self) -> Integers:
        """Of each of ``_every`` the place of the one that it is or copies."""
        now = range(len(self._today))
        return np.array([*now, *islice(further(self.staff), self.most - len(now))])

    @cached_property
    def _every(self) -> list[Consumer]:
        """Today's consumers, and the further ones."""
        now = self._today.consumers
        first = len(now)
        further = (
            structs.replace(now[like], client_id=f"{now[like].client_id}~{index}", consumer_index=first + index)
            for index, like in enumerate(self._like[first:].tolist())
        )
        return [*now, *further]

    @cached_property
    def _is_plain(self) -> bool:
        """Whether today's consumers are plain, and no further one takes the id of another."""
        return self._today.is_plain and len({one.client_id for one in self._every}) == len(self._every)

    @cached_property
    def _order(self) -> Integers:
        """The places in ``_every`` in Java's order of their client ids."""
        keys = [java_order(one.client_id) for one in self._every]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)


class Sizes(dict[int, Size | None]):
    """What the clients of a group would bear, by their number; None if that cannot be computed.

    A number that is not in it is computed when it is asked for.
    """

    def __init__(self, staff: Staff) -> None:
        """Without any number yet."""
        super().__init__()
        self.staff = staff

    def __missing__(self, clients: int) -> Size | None:
        (self[clients],) = sizes_of([(self.staff, clients)])
        return self[clients]

    def share(self, clients: int) -> float | None:
        """The most likely busy share of the busiest of so many clients at the peak; None if it is unknown."""
        busiest = self.busiest(clients)
        return None if busiest is None else busiest.estimate

    def busiest(self, clients: int) -> Interval | None:
        """The busy share of the busiest of so many clients at the peak; None if it is unknown."""
        size = self[clients]
        return None if size is None else size.busiest

    def busiest_with_one_lost(self, clients: int) -> Interval | None:
        """The same if one of so many is lost: the last that stays, or by rooms one in the room where that is worst."""
        losing = with_one_lost(self.staff, clients)
        if not losing:
            return self.busiest(clients - 1)
        shares = [None if size is None else size.busiest for size in sizes_of([(one, clients - 1) for one in losing])]
        known = [share for share in shares if share is not None]
        return Interval(*map(max, zip(*known, strict=True))) if known and len(known) == len(shares) else None

    def unknown(self, numbers: Iterable[int]) -> list[int]:
        """Those of the numbers that are not in it yet, in order."""
        return sorted({*numbers} - self.keys())


Wanted = Iterator[Iterable[int]]
"""Numbers of clients whose sizes a group asks for: each lot only after those before it are computed."""


def compute(wanted: Iterable[tuple[Sizes, Wanted]]) -> None:
    """Compute the sizes that many groups ask for, in each turn the next ones of all groups together."""
    asking = list(wanted)
    while asking:
        turn = [(sizes, lots, next(filter(None, map(sizes.unknown, lots)), [])) for sizes, lots in asking]
        asked = [(sizes, clients) for sizes, _, new in turn for clients in new]
        computed = sizes_of([(sizes.staff, clients) for sizes, clients in asked])
        for (sizes, clients), size in zip(asked, computed, strict=True):
            sizes[clients] = size
        asking = [(sizes, lots) for sizes, lots, new in turn if new]


def sizes_of(asked: Asked) -> list[Size | None]:
    """What each group's clients would bear in that number; None if that cannot be computed."""
    return [size for some in _in_memory(asked) for size in _sizes_of(some)]


def _in_memory(asked: Asked) -> Iterator[Asked]:
    """The same in parts of at most MOST_ENTRIES, but of at least one number of clients."""
    begin, entries = 0, 0
    for number, (staff, consumers) in enumerate(asked):
        queues, topics = len(staff.division.queues.place), len(staff.division.queues.topics)
        added = queues + consumers * (topics + queues * staff.pops)
        if number > begin and entries + added > MOST_ENTRIES:
            yield asked[begin:number]
            begin, entries = number, 0
        entries += added
    if asked:
        yield asked[begin:]


def _sizes_of(asked: Asked) -> list[Size | None]:
    cases = divided(asked)
    load = iter(assigned_loads([case for case in cases if case is not None]))
    return [None if case is None else _size(case, next(load)) for case in cases]


def _size(case: Assignment, load: AssignedLoad) -> Size:
    staff = case.staff
    is_known = not case.owners.unknown and load.orphans <= (staff.orphans or 0)
    return Size(
        load.busiest.times(staff.peak.scale) if is_known and load.busiest is not None else None,
        load.most_queues,
        load.idle_clients,
        None if staff.pops else load.peak,
    )


def needed_clients(sizes: Sizes, work: Work, bound: float) -> NeededNumbers | None:
    """How many clients keep the busiest one's share at the peak within a bound; None if that cannot be computed.

    If today's busiest client is above the bound, fewer clients are never the answer: they could be enough only if a
    slow client were among those that leave.

    Args:
        sizes: what other numbers of clients would bear.
        work: what the clients have to do, times the peak's scale.
        bound: the highest allowed share of the busiest client.
    """
    numbers = list(map(result, searches_for_needed(sizes, work, bound)))
    if len(numbers) == 1:
        numbers *= 3
    return NeededNumbers(*numbers) if numbers else None


def searches_for_needed(sizes: Sizes, work: Work, bound: float) -> "list[Search]":
    """The searches of :func:`needed_clients`: one for each member of :class:`NeededNumbers`, or one for all."""
    connections, peak = sizes.staff.facts.connections, sizes.staff.peak.scale
    today = sizes.busiest(connections)
    if today is None:
        return []
    start = clients_for(work.least_clients() * peak, bound)
    more = connections + 1
    shares = [rounded(share, 9) or 0 for share in today]
    if sizes.staff.times.is_exact:
        shares = shares[:1]  # all three are equal
    return [
        _within(sizes, place, bound, start if share <= bound else max(start, more))
        for place, share in enumerate(shares)
    ]


def _most(staff: Staff) -> int:
    """The highest number of clients that is tried."""
    most = staff.useful_clients
    return MOST_CLIENTS if most is None else min(most, MOST_CLIENTS)


def likely_needed(staff: Staff, work: Work, bound: float) -> int | None:
    """The number of clients at which the search of :func:`needed_clients` starts; None if there are too few queues."""
    start = clients_for(work.least_clients() * staff.peak.scale, bound)
    return start if start < _most(staff) else None


def _within(sizes: Sizes, place: int, bound: float, start: int) -> "Search":
    """The lowest number of clients, searched from ``start``, with which one end of the busiest one's interval fits."""

    def fits(clients: int) -> bool:
        busiest = sizes.busiest(clients)
        return busiest is not None and (rounded(busiest[place], 9) or 0) <= bound

    return or_shown(fits, start, _most(sizes.staff))


def clients_for(total: float, bound: float) -> int:
    """How many equally busy clients do the work of ``total`` fully busy ones within a bound: from 1 to `MOST`."""
    return min(max(1, ceil(rounded(total / bound, 6) or 0)), MOST) if bound > 0 else 1
