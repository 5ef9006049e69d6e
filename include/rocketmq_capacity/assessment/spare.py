"""What forbids that clients of a group go, as far as its facts tell it without any simulation."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocketmq_capacity.vocabulary import READ, ScaleDownCode

if TYPE_CHECKING:
    from rocketmq_capacity.assessment.group import Group


def least_left(group: "Group") -> int:
    """How many clients must be left in any case: those that the policy keeps, and enough for each machine room."""
    bounds = group.policy.thresholds.PROVISION
    rooms = {one.room for one in group.division.members.consumers if one.room is not None}
    return max(bounds.min_left_clients, bounds.min_left_clients_per_room * len(rooms), group.min_clients)


def forbids(group: "Group") -> tuple[ScaleDownCode, ...]:
    """The codes of what forbids it."""
    return tuple(_forbids(group))


def _forbids(group: "Group") -> Iterator[ScaleDownCode]:
    if not group.is_clustering or not group.facts.connections:
        yield "NOTHING_TO_DIVIDE"
        return
    if group.peak.days < group.policy.thresholds.PROVISION.peak_days:
        yield "TOO_FEW_STORED_DAYS"
    if min(group.facts.connections, group.facts.distinct_client_ids) <= least_left(group):
        yield "TOO_FEW_CLIENTS"
    if group.reading_status != READ:
        yield "NOT_ALL_READ_ONCE"
