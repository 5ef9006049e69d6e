"""What if a group had n clients: one row for each number that is worth a look."""

from typing import Final

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.search import shown_numbers
from rocketmq_capacity.assessment.sizes import MOST_CLIENTS
from rocketmq_capacity.tables import GroupSize

ROOM: Final = 2
"""Without a highest useful number (POP), the table ends at this many times today's number."""


def group_sizes(group: AssessedGroup) -> list[GroupSize]:
    """The rows of a group; none if other numbers cannot be computed, or if the group does not divide its queues."""
    return [row for clients in numbers(group) if (row := _row(group, clients)) is not None]


def numbers(group: AssessedGroup) -> list[int]:
    """The numbers of clients that have a row."""
    needed = group.provision.needed
    return [] if needed is None else sorted(_numbers(group, needed.target or 0))


def likely_numbers(group: AssessedGroup) -> set[int]:
    """Those numbers with a row that are known before it is computed how many clients are needed."""
    return _numbers(group, 0)


def _numbers(group: AssessedGroup, needed: int) -> set[int]:
    today, most = group.facts.connections, group.useful_clients
    if most is None:
        most = max(ROOM * today, needed)
    most = max(1, min(most, MOST_CLIENTS))
    return {*shown_numbers(most), *(number for number in (today, most, needed) if number)}


def _row(group: AssessedGroup, clients: int) -> GroupSize | None:
    size = group.sizes[clients]
    if size is None:
        return None
    busy = group.sizes.busiest(clients)
    return GroupSize(
        consumer_group=group.name,
        clients=clients,
        is_today=clients == group.facts.connections,
        busy_lower=busy and busy.lower,
        busy_ratio=busy and busy.estimate,
        busy_upper=busy and busy.upper,
        idle_clients=size.idle_clients,
        most_queues=size.most_queues,
        peak=size.peak,
    )
