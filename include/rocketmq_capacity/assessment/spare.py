"""What forbids that clients of a group go, as far as its facts tell it without any simulation."""

from collections.abc import Iterator

from rocketmq_capacity.assessment.staff import Staff
from rocketmq_capacity.vocabulary import READ, ReadingStatus, ScaleDownCode


def least_left(staff: Staff) -> int:
    """How many clients must be left in any case: those that the policy keeps, and enough for each machine room."""
    bounds = staff.policy.thresholds.PROVISION
    rooms = {one.room for one in staff.division.members.consumers if one.room is not None}
    kept = staff.policy.min_clients(staff.facts.consumer_group)
    return max(bounds.min_left_clients, bounds.min_left_clients_per_room * len(rooms), kept)


def forbids(staff: Staff, reading_status: ReadingStatus) -> Iterator[ScaleDownCode]:
    """The codes of what forbids it."""
    if not staff.facts.is_clustering or not staff.facts.connections:
        yield "NOTHING_TO_DIVIDE"
        return
    if staff.peak.days < staff.policy.thresholds.PROVISION.peak_days:
        yield "TOO_FEW_STORED_DAYS"
    if min(staff.facts.connections, staff.facts.distinct_client_ids) <= least_left(staff):
        yield "TOO_FEW_CLIENTS"
    if reading_status != READ:
        yield "NOT_ALL_READ_ONCE"
