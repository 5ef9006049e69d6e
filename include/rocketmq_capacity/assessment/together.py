"""Computes for all groups of a batch at once: one call of numpy instead of one for each group.

Without this, every group would compute the same values when they are first asked for. It only saves time.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rocketmq_capacity.assessment.capacity import sizes_asked_for
from rocketmq_capacity.assessment.churn import Churn
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.owners_by_strategy import divide
from rocketmq_capacity.assessment.provision import likely_sizes, needed_sizes
from rocketmq_capacity.assessment.size_table import likely_numbers
from rocketmq_capacity.assessment.sizes import compute
from rocketmq_capacity.assessment.utilisation import Work

TOGETHER: Final = 100
"""Groups whose queues are divided in one go: enough that numpy's calls cost nothing, few enough for small arrays."""
MOST_PAIRS: Final = 1_000_000
"""Pairs of a queue with a client or a broker, beyond which no more groups are computed at once: some 100 MB."""


def in_parts(groups: Iterable[AssessedGroup]) -> Iterator[list[AssessedGroup]]:
    """The groups in parts that are computed at once: at most TOGETHER, and a large group with few others."""
    part: list[AssessedGroup] = []
    pairs = 0
    for group in groups:
        part.append(group)
        queues = group.division.queues
        brokers = {facts.broker_name for facts in queues.facts}
        pairs += len(queues) * (len(group.facts.consumers) + len(brokers))
        if len(part) == TOGETHER or pairs > MOST_PAIRS:
            yield part
            part, pairs = [], 0
    if part:
        yield part


def divide_together(groups: Sequence[AssessedGroup]) -> None:
    """Work out who owns what under every strategy: today, and when a client or broker comes or goes."""
    AssessedGroup.weights.compute(groups)
    AssessedGroup.sampled.compute(groups)
    AssessedGroup.losses.compute(groups)
    divide((group.owned, strategy) for group in groups for strategy in group.churn.strategies)
    Churn.moves.compute([group.churn for group in groups])


def size_together(groups: Iterable[AssessedGroup]) -> None:
    """Compute what clients in other numbers would bear, for those numbers that are asked for."""
    compute(
        (group.sizes, _asked(group, group.work))
        for group in groups
        if group.is_clustering and group.work is not None and group.work.busiest() is not None
    )


def _asked(group: AssessedGroup, work: Work) -> Iterator[Iterable[int]]:
    """The numbers of clients whose sizes a group asks for, those first that are known in advance."""
    yield likely_numbers(group) | likely_sizes(group.staff, work)
    yield from needed_sizes(group.sizes, work)
    yield from sizes_asked_for(group)
