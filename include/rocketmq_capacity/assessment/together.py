"""Computes for all groups of a batch at once: one call of numpy instead of one for each group.

Without this, every group would compute the same values when they are first asked for. It only saves time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from rocketmq_capacity.assessment.capacity import sizes_asked_for
from rocketmq_capacity.assessment.change import Change, compare
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.provision import likely_sizes, needed_sizes
from rocketmq_capacity.assessment.size_table import likely_numbers
from rocketmq_capacity.assessment.sizes import sizes_of
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.contracts.division import Division
from rocketmq_capacity.contracts.owners import Owners

TOGETHER: Final = 100
"""Groups whose queues are divided in one go: enough that numpy's calls cost nothing, few enough for small arrays."""
MOST_PAIRS: Final = 1_000_000
"""Pairs of a queue with a client or a broker, beyond which no more groups are computed at once: some 100 MB."""


def in_parts(groups: Iterable[Group]) -> Iterator[list[Group]]:
    """The groups in parts that are computed at once: at most TOGETHER, and a large group with few others."""
    some: list[Group] = []
    pairs = 0
    for group in groups:
        some.append(group)
        queues = group.division.queues
        brokers = {facts.broker_name for facts in queues.facts}
        pairs += len(queues) * (len(group.facts.consumers) + len(brokers))
        if len(some) == TOGETHER or pairs > MOST_PAIRS:
            yield some
            some, pairs = [], 0
    if some:
        yield some


def divide_together(groups: Sequence[Group]) -> None:
    """Work out who owns what under every strategy: today, and when a client or broker comes or goes."""
    asked: list[tuple[str, Division]] = []
    keep: list[Callable[[Owners], None]] = []
    changes: list[tuple[Group, str, Change]] = []
    for group in groups:
        if not group.is_clustering or not group.client_ids:
            continue
        for strategy in filter(group.applies, group.verdicts):
            asked.append((strategy, group.division))
            keep.append(partial(group.keep_owners, strategy))
            for change in group.churn.changes(strategy):
                asked.append((strategy, change.division))
                keep.append(partial(change.owners.__setitem__, strategy))
                changes.append((group, strategy, change))
    for remember, owners in zip(keep, groups[0].allocator.owners_of_each(asked) if asked else (), strict=True):
        remember(owners)
    compare((strategy, group.division, group.owners(strategy), change) for group, strategy, change in changes)


def size_together(groups: Sequence[Group]) -> None:
    """Compute what clients in other numbers would bear, for those numbers that are asked for.

    The groups' searches go on side by side: the sizes that they ask for next are computed for all of them together.
    """
    searching = [
        (group, _asked(group, group.work))
        for group in groups
        if group.is_clustering and group.work is not None and group.work.busiest() is not None
    ]
    while searching:
        found = [(group, numbers, next(filter(None, map(group.unsized, numbers)), ())) for group, numbers in searching]
        asked = [(group, clients) for group, _, new in found for clients in new]
        for (group, clients), size in zip(asked, sizes_of(asked), strict=True):
            group.keep_size(clients, size)
        searching = [(group, numbers) for group, numbers, new in found if new]


def _asked(group: Group, work: Work) -> Iterator[Iterable[int]]:
    """The numbers of clients whose sizes a group asks for, those first that are known in advance."""
    yield likely_numbers(group) | likely_sizes(group, work)
    yield from needed_sizes(group, work)
    yield from sizes_asked_for(group)
