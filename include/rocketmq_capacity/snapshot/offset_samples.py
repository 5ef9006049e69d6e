"""The offsets of groups over time: the same values for the table and for the units."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import attrgetter

import numpy as np
import pyarrow as pa

from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.facts import UNKNOWN, SampledOffsets
from rocketmq_capacity.model.ragged import begins_of
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroupOffset
from rocketmq_capacity.snapshot.seconds import Seconds


@dataclass(frozen=True, slots=True)
class OffsetSamples:
    """Each queue's samples by time; of two of the same moment, the later inventory's counts.

    A row is a queue that a group has an offset on. The samples of all rows are in long lists, row after row.

    Attributes:
        groups: the group of each row.
        queues: of each row the first offset, which has the queue.
        is_there: whether the last inventory has the offset of each row. Otherwise the queue is lost, or its broker does
            not answer, and old samples say nothing of now.
        rows_of: the rows of each group.
        starts: where the samples of each row start, and where those of the last row end.
        at_s: the moment of each sample.
        broker_offset: of each sample; UNKNOWN if it is not known.
        consumer_offset: the same.
    """

    groups: Sequence[str]
    queues: Sequence[InventoryGroupOffset]
    is_there: Flags
    rows_of: dict[str, Integers]
    starts: Integers
    at_s: Numbers
    broker_offset: Integers
    consumer_offset: Integers

    def of_group(self, consumer_group: str, is_kept: Callable[[InventoryGroupOffset], bool]) -> SampledOffsets:
        """The samples of those of the group's queues that are there and kept."""
        if consumer_group not in self.rows_of:
            return SampledOffsets()
        rows = self.rows_of[consumer_group]
        rows = rows[self.is_there[rows]]
        rows = rows[[is_kept(self.queues[row]) for row in rows.tolist()]]
        queues = [self.queues[row] for row in rows.tolist()]
        counts = self.starts[rows + 1] - self.starts[rows]
        at = np.repeat(self.starts[rows] - begins_of(counts), counts) + np.arange(counts.sum())
        return SampledOffsets(
            topics=tuple([one.topic for one in queues]),
            brokers=tuple([one.broker_name for one in queues]),
            queue_ids=tuple([one.queue_id for one in queues]),
            counts=tuple(counts.tolist()),
            at_s=self.at_s[at].astype("<f8", copy=False).tobytes(),
            broker_offset=self.broker_offset[at].astype("<i8", copy=False).tobytes(),
            consumer_offset=self.consumer_offset[at].astype("<i8", copy=False).tobytes(),
        )


def offset_samples(inventories: Sequence[Inventory], seconds: Seconds) -> OffsetSamples:
    """The samples of inventories of one cluster, oldest first. Each offset is a sample at its inventory's moment.

    Where the end of a queue went back, its topic was deleted and created again, or its broker lost it: the samples
    before are of another queue, and are left out.
    """
    offsets = [offset for one in inventories for group in one.consumer_groups for offset in group.offsets or ()]
    groups = [group.consumer_group for one in inventories for group in one.consumer_groups for _ in group.offsets or ()]
    row, first = _rows(groups, offsets, are_distinct=len(inventories) == 1)
    samples = [offset.samples or () for offset in offsets]
    numbers = np.fromiter(map(len, samples), np.int64, len(samples))
    entries = [one for offset, before in zip(offsets, samples, strict=True) for one in (*before, offset)]
    row_of = np.repeat(row, numbers + 1)
    is_before = np.ones(len(entries), bool)
    is_before[np.cumsum(numbers + 1) - 1] = False
    at_s = np.empty(len(entries), np.float64)
    moments = map(attrgetter("at"), chain.from_iterable(samples))
    at_s[is_before] = np.fromiter(map(seconds.__getitem__, moments), np.float64, numbers.sum())
    lengths = [sum(len(group.offsets or ()) for group in one.consumer_groups) for one in inventories]
    at_s[~is_before] = np.repeat([seconds[one.taken_at] for one in inventories], lengths)
    order = np.lexsort((at_s, row_of))  # stable, so that of the same moment the later one stays last
    is_last = np.ones(len(order), bool)
    is_last[:-1] = (np.diff(row_of[order]) != 0) | (np.diff(at_s[order]) != 0)
    kept = order[is_last]
    if not np.array_equal(kept, np.arange(len(entries))):  # most inventories have all in order
        entries = [entries[index] for index in kept.tolist()]
    broker_offset = _known(map(attrgetter("broker_offset"), entries))
    is_kept = _is_since_begin(row_of[kept], broker_offset)
    kept, entries = kept[is_kept], list(compress(entries, is_kept))
    is_there = np.zeros(len(first), bool)
    is_there[row[len(row) - lengths[-1] :]] = True
    owners = [groups[index] for index in first.tolist()]
    return OffsetSamples(
        groups=owners,
        queues=[offsets[index] for index in first.tolist()],
        is_there=is_there,
        rows_of=_rows_of(owners),
        starts=np.searchsorted(row_of[kept], np.arange(len(first) + 1)),
        at_s=at_s[kept],
        broker_offset=broker_offset[is_kept],
        consumer_offset=_known(map(attrgetter("consumer_offset"), entries)),
    )


def _is_since_begin(row: Integers, ends: Integers) -> Flags:
    """Whether each sample is of its queue as it is now; samples are row by row, and by time within each."""
    known = np.flatnonzero(ends != UNKNOWN)
    earlier, later = known[:-1], known[1:]
    anew = later[(row[later] == row[earlier]) & (ends[later] < ends[earlier])]
    begin = np.zeros(int(row.max(initial=0)) + 1, np.int64)
    np.maximum.at(begin, row[anew], anew)
    return np.arange(len(row)) >= begin[row]


def _known(offsets: Iterable[int | None]) -> Integers:
    return np.array(pa.array(offsets, pa.int64()).fill_null(UNKNOWN))


def _rows(
    groups: Sequence[str], offsets: Sequence[InventoryGroupOffset], *, are_distinct: bool
) -> tuple[Integers, Integers]:
    """The row of each offset, and the first offset of each row; one inventory has each queue only once."""
    if are_distinct:
        return np.arange(len(offsets)), np.arange(len(offsets))
    rows: dict[tuple[str, str, str, int], int] = {}
    queues = ((group, one.topic, one.broker_name, one.queue_id) for group, one in zip(groups, offsets, strict=True))
    row = np.array([rows.setdefault(queue, len(rows)) for queue in queues], np.int64)
    return row, np.unique(row, return_index=True)[1]


def _rows_of(groups: Sequence[str]) -> dict[str, Integers]:
    """The rows of each group."""
    number = {name: index for index, name in enumerate(dict.fromkeys(groups))}
    group = np.array([number[name] for name in groups], np.int64)
    ends = np.cumsum(np.bincount(group, minlength=len(number)))
    return dict(zip(number, np.split(np.argsort(group, kind="stable"), ends), strict=False))
