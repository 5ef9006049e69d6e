"""How busy clients are if they own certain queues, for many cases in one call, because each call of numpy costs time.

The figures are those of :class:`~rocketmq_capacity.assessment.utilisation.Work`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.response_times import ResponseTimes
from rocketmq_capacity.assessment.staff import Staff
from rocketmq_capacity.assessment.utilisation import least_batches, least_threads
from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Owners
from rocketmq_capacity.model.ragged import begins_of, joined, joined_from, lengths


@dataclass(frozen=True, slots=True)
class Assignment:
    """A group in which certain clients own certain queues.

    Attributes:
        staff: the clients of the group as it is, with its queues.
        division: the queues and the clients of this case.
        owners: the client ids that own each queue.
        rows: for each client id the index of today's client id that it is or copies.
        msgs_per_s: messages a second that the group gets from each queue of the division.
        topics: for each topic of the division its index in the group's own; None: they are the same.
    """

    staff: Staff
    division: Division
    owners: Owners
    rows: Integers
    msgs_per_s: Numbers
    topics: Integers | None = None


@dataclass(frozen=True, slots=True)
class AssignedLoad:
    """What the clients of a case bear.

    Attributes:
        busiest: the busy share of the busiest client; None if a part of it is unknown, if nobody has work, or if
            somebody owns queues that do not exist.
        most_queues: how many queues the client id with the most owns.
        idle_clients: how many client ids own nothing.
        peak: PEAK of the clients by number of queues; None if nobody owns any.
        orphans: how many business queues have no owner.
    """

    busiest: Interval | None
    most_queues: int
    idle_clients: int
    peak: float | None
    orphans: int


def assigned_loads(cases: Sequence[Assignment]) -> list[AssignedLoad]:
    """What the clients of each case bear."""
    if not cases:
        return []
    cells = _Cells.of(cases)
    cell_queues, incoming = cells.counted()
    clients = cells.clients
    queues = cells.by_row(cell_queues)
    threads, batch = cells.threads_and_batch()
    is_orderly = np.repeat([bool(case.staff.facts.is_orderly) for case in cases], clients)
    at_once = np.where(is_orderly, np.fmin(threads, queues), threads) * batch
    known_at_once = np.where(at_once > 0, at_once, np.nan)[cells.row]
    is_quiet = incoming == 0
    first = begins_of(clients)
    busiest = []
    for kind in ("lower", "estimate", "upper"):
        seconds = np.where(is_quiet, 0.0, incoming * cells.times(kind) / 1000)
        busy = np.where(queues > 0, cells.summed(seconds / known_at_once), 0.0)
        busiest.append(np.maximum.reduceat(busy, first).tolist())
    most = np.maximum.reduceat(queues, first)
    peak = most * clients / np.where(most > 0, np.add.reduceat(queues, first), 1)
    counts = most, np.add.reduceat((queues == 0).astype(np.int64), first), peak, cells.orphans()
    of_cases = []
    for case, lower, estimate, upper, owned, idle, uneven, orphans in zip(
        cases, *busiest, *(each.tolist() for each in counts), strict=True
    ):
        if not owned or case.owners.strangers or np.isnan(estimate):
            share = None
        elif case.staff.times.is_exact:
            share = Interval(estimate, estimate, estimate)
        else:
            share = Interval(lower, estimate, upper)
        of_cases.append(AssignedLoad(share, owned, idle, uneven if owned else None, orphans))
    return of_cases


@dataclass(frozen=True)
class _Cells:
    """The clients and topics of some cases: a cell for each client id and topic of a case, by client id.

    Attributes:
        cases: the cases.
        clients: of each case how many client ids it has.
        topics: of each case how many topics.
        row: of each cell the index of its client id, over all cases.
        column: of each cell the index of its topic in the group's own division.
        case: of each cell the index of its case.
    """

    cases: Sequence[Assignment]
    clients: Integers
    topics: Integers
    row: Integers
    column: Integers
    case: Integers

    @classmethod
    def of(cls, cases: Sequence[Assignment]) -> "_Cells":
        """The cells of some cases."""
        clients = lengths([case.rows for case in cases])
        topics = lengths([case.division.queues.topics for case in cases])
        of_row = np.repeat(topics, clients)
        row = np.repeat(np.arange(len(of_row)), of_row)
        of_cell = np.repeat(np.arange(len(cases)), clients * topics)
        topic = np.arange(len(row)) - (np.cumsum(of_row) - of_row)[row]
        case_topics = [
            np.arange(number) if case.topics is None else case.topics
            for case, number in zip(cases, topics, strict=True)
        ]
        return cls(
            cases, clients, topics, row, np.concatenate(case_topics)[begins_of(topics)[of_cell] + topic], of_cell
        )

    def counted(self) -> tuple[Integers, Numbers]:
        """Of each cell how many queues the client owns of the topic, and the messages a second on them."""
        pairs, queue = self._pairs, self._queue
        topic = joined(case.division.queues.topic for case in self.cases)[queue]
        client = joined(case.owners.client for case in self.cases)
        first_cell = np.repeat(begins_of(self.clients * self.topics), pairs)
        cell = first_cell + client * np.repeat(self.topics, pairs) + topic
        rates = np.concatenate([case.msgs_per_s for case in self.cases])
        if all(case.owners.is_popped is True for case in self.cases):
            rates = (rates / np.bincount(queue, minlength=len(rates)).clip(1))[queue]
        else:
            rates = rates[queue]
            if any(case.owners.is_popped is not False for case in self.cases):
                rates = rates / self._readers()
        queues = np.bincount(cell, minlength=len(self.row))
        return queues, np.asarray(np.bincount(cell, rates, len(self.row)), np.float64)

    def _readers(self) -> Integers:
        """Among how many a queue's messages are shared, for each pair of a queue and an owner; a pulled one is not."""
        queue, popped = self._queue, [case.owners.is_popped for case in self.cases]
        is_popped = np.repeat([flag is True for flag in popped], self._pairs)
        is_mixed = np.repeat([not isinstance(flag, bool) for flag in popped], self._pairs)
        is_popped[is_mixed] = np.concatenate([
            np.zeros(0, bool),
            *[flag for flag in popped if not isinstance(flag, bool)],
        ])
        return np.where(is_popped, np.bincount(queue[is_popped], minlength=queue.max(initial=0) + 1)[queue], 1)

    def orphans(self) -> Integers:
        """Of each case how many business queues nobody owns."""
        is_orphan = np.concatenate([case.division.queues.is_business for case in self.cases])
        is_orphan[self._queue] = False
        case = np.repeat(np.arange(len(self.cases)), self._queues)
        return np.bincount(case[is_orphan], minlength=len(self.cases))

    @cached_property
    def _queues(self) -> Integers:
        """Of each case how many queues it has."""
        return lengths([case.division.queues.place for case in self.cases])

    @cached_property
    def _pairs(self) -> Integers:
        """Of each case how many pairs of a queue and an owner."""
        return lengths([case.owners.queue for case in self.cases])

    @cached_property
    def _queue(self) -> Integers:
        """Of each pair of a queue and an owner the index of the queue, over all cases."""
        return joined(case.owners.queue for case in self.cases) + np.repeat(begins_of(self._queues), self._pairs)

    def times(self, kind: str) -> Numbers:
        """Of each cell how many milliseconds a call takes."""
        of_groups: list[Numbers] = [getattr(times, kind).ravel() for times in self._timed.values()]
        return np.concatenate(of_groups)[self._time]

    @cached_property
    def _time(self) -> Integers:
        """Of each cell the index of its client and topic among the response times of all groups."""
        index = {key: number for number, key in enumerate(self._timed)}
        group = np.array([index[id(case.staff.times)] for case in self.cases], np.int64)[self.case]
        estimates = [times.estimate for times in self._timed.values()]
        width = np.array([each.shape[1] for each in estimates], np.int64)
        like = joined(case.rows for case in self.cases)[self.row]
        return begins_of([each.size for each in estimates])[group] + like * width[group] + self.column

    @cached_property
    def _timed(self) -> dict[int, ResponseTimes]:
        """The response times of the groups of the cases, each group's once."""
        return {id(case.staff.times): case.staff.times for case in self.cases}

    def threads_and_batch(self) -> tuple[Numbers, Numbers]:
        """Of each client id the threads, and the messages of a call."""
        # Where an id has several consumers, fewer of them may be left.
        division_of_case = [
            case.division
            if case.staff.division.members.has_copies or case.division.members.has_copies
            else case.staff.division
            for case in self.cases
        ]
        rows = [
            np.arange(len(case.rows)) if division is case.division else case.rows
            for case, division in zip(self.cases, division_of_case, strict=True)
        ]
        divisions = dict.fromkeys(division_of_case)
        begins = begins_of(lengths([division.members.client_ids for division in divisions])).tolist()
        begin = dict(zip(divisions, begins, strict=True))
        at = joined_from(rows, np.array([begin[division] for division in division_of_case], np.int64))
        return (
            np.concatenate(list(map(least_threads, divisions)))[at],
            np.concatenate(list(map(least_batches, divisions)))[at],
        )

    def by_row(self, number: Integers) -> Integers:
        """The sum of each client id's cells."""
        return np.bincount(self.row, number, int(self.clients.sum())).astype(np.int64)

    def summed(self, figures: Numbers) -> Numbers:
        """The sum of each client id's figures, taken as ``Work`` takes it: by row of a matrix with a column a topic.

        Floating-point sums depend on the order.
        """
        widths = np.repeat(self.topics, self.clients)
        sums = np.zeros(len(widths))
        of_cell = widths[self.row]
        for width in np.unique(widths).tolist():
            if width:
                sums[widths == width] = figures[of_cell == width].reshape(-1, width).sum(axis=1)
        return sums
