"""Computes for all groups of a batch at once: one call of numpy instead of one for each group.

Without this, every group would compute the same values when they are first asked for. It only saves time.
"""

from collections.abc import Callable, Sequence
from functools import partial

from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.provision import likely_sizes
from rocketmq_capacity.assessment.size_table import likely_numbers
from rocketmq_capacity.assessment.sizes import sizes_of
from rocketmq_capacity.contracts.division import Division
from rocketmq_capacity.contracts.owners import Owners


def divide_together(groups: Sequence[Group]) -> None:
    """Work out who owns what under every strategy, today and after each change of one client or broker."""
    asked: list[tuple[str, Division]] = []
    keep: list[Callable[[Owners], None]] = []
    for group in groups:
        if not group.is_clustering or not group.client_ids:
            continue
        for strategy in filter(group.applies, group.verdicts):
            asked.append((strategy, group.division))
            keep.append(partial(group.keep_owners, strategy))
            for changed in group.churn.changes(strategy):
                asked.append((strategy, changed))
                keep.append(partial(group.churn.keep_owners, strategy, changed))
    for remember, owners in zip(keep, groups[0].allocator.owners_of_each(asked) if asked else (), strict=True):
        remember(owners)


def size_together(groups: Sequence[Group]) -> None:
    """Compute what clients in other numbers would bear, for those numbers that are known to be asked for."""
    asked = [
        (group, clients)
        for group in groups
        if group.is_clustering and group.work is not None and group.work.busiest() is not None
        for clients in sorted(likely_numbers(group) | likely_sizes(group, group.work))
    ]
    for (group, clients), size in zip(asked, sizes_of(asked), strict=True):
        group.keep_size(clients, size)
