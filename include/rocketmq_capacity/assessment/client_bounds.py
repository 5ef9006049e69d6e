"""Bounds of a group's number of clients for autoscalers: those of the strategy in use and of the policy.

They never contradict the verdict on the group.
"""

from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.assessment.awaited import RULE as BROKER_LOSS
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.provision import Provision
from rocketmq_capacity.assessment.scale_down import CAPACITY, FALLS_BEHIND, ScaleDown
from rocketmq_capacity.assessment.traffic_forecast import clients_then, outgrown
from rocketmq_capacity.vocabulary import (
    AVG,
    AVG_BY_CIRCLE,
    CONFIG,
    MACHINE_ROOM,
    OVER,
    RIGHT,
    UNDECIDED,
    UNDER,
    BoundsConfidence,
    ReasonCode,
)

ROW_BY_ROW: Final = frozenset({AVG, AVG_BY_CIRCLE})
"""Strategies under which clients beyond the queues of the largest topic own nothing; nothing moves if they leave."""
IN_TROUBLE: Final = frozenset({
    *FALLS_BEHIND,
    CAPACITY,
    BROKER_LOSS,
    "LOSS_NOT_SURVIVED",
    "NOT_ALL_READ_ONCE",
    "NOTHING_TO_DIVIDE",
})
"""What keeps clients that own nothing as well: it may change who owns what."""


@dataclass(frozen=True, slots=True)
class ClientBounds:
    """Bounds of a group's number of clients.

    Attributes:
        least: the fewest that may run, which are enough as far as known; None without clients.
        most: the most that are of use, the policy's standbys included, but not below ``least``; None if there is no
            such number.
        target: how many keep the busiest one within the bound; None if no number does, or if unknown.
        useful: clients beyond this many own nothing under the strategy in use; None if there is no such number.
        may_go: fewer clients than today may run: some are not needed, or own nothing.
        confidence: how well that is known.
        reason_code: why, as a code.
    """

    least: int | None
    most: int | None
    target: int | None
    useful: int | None
    may_go: bool
    confidence: BoundsConfidence
    reason_code: ReasonCode


def client_bounds(group: AssessedGroup, verdict: Provision, spare: ScaleDown) -> ClientBounds:
    """The bounds of a group, for its settled verdict."""
    clients, useful = group.facts.connections, _useful(group)
    least = _least(group, verdict, spare, useful) if clients else None
    most = None if useful is None else max(useful + group.entry.standby, least or 0)
    target = _target(group, verdict, spare, least)
    if target is not None and most is not None and target > most:
        # Clients that own nothing are not needed. Otherwise, no number that is of use is enough.
        target = most if verdict.status == OVER else None
    may_go = least is not None and (spare.kept is not None or least < clients)
    return ClientBounds(least, most, target, useful, may_go, _confidence(group, verdict), _reason(group, verdict))


def _useful(group: AssessedGroup) -> int | None:
    """Clients beyond this many own nothing; None for groups that pop, have gRPC clients, or do not divide queues."""
    queues = group.useful_clients
    if queues is None or group.current is None or not group.facts.connections:
        return queues if group.business else None
    strategy = group.computed_strategy
    if strategy == CONFIG:
        return _listed(group)
    # It divides the queues of some rooms alone; further clients own nothing before all queues are taken.
    most = max(queues, group.facts.connections)
    size = group.apart.sizes[most] if strategy == MACHINE_ROOM else None
    return queues if size is None else min(queues, most - size.idle_clients)


def _listed(group: AssessedGroup) -> int | None:
    """How many clients have a list under CONFIG: by the policy, else as their queues of today show it."""
    lists = group.policy.config_assignments.get(group.name)
    if lists is not None:
        return sum(map(bool, lists.values()))
    return None if group.whole_load is None else int((group.whole_load.queues > 0).sum())


def _least(group: AssessedGroup, verdict: Provision, spare: ScaleDown, useful: int | None) -> int:
    """Today's number, unless clients may go, but not below the policy's; of a group with lists, one for each list.

    If today's number is too small, it is the number that is enough, as far as clients are of use. If nothing else is
    known, clients that own nothing may go.
    """
    strategy = group.computed_strategy
    needed = 0
    if verdict.status == UNDER:
        target = None if verdict.needed is None else verdict.needed.target
        needed = max(verdict.min_safe_clients or 0, target or 0)
        needed = needed if useful is None else min(needed, useful)
    kept = group.facts.connections if spare.kept is None else spare.kept
    if strategy in ROW_BY_ROW and useful and not IN_TROUBLE.intersection(spare.blocked_by):
        kept = min(kept, useful + group.entry.standby)
    return max(kept, needed, group.min_clients, (useful or 0) if strategy == CONFIG else 0)


def _target(group: AssessedGroup, verdict: Provision, spare: ScaleDown, least: int | None) -> int | None:
    clients = group.facts.connections
    if verdict.status == UNDER:
        needed = None if verdict.needed is None else verdict.needed.target
        return None if needed is None or needed <= clients else max(needed, least or 0)
    if verdict.status == OVER:
        return spare.kept if spare.kept is None else max(spare.kept, least or 0)
    if (forecast := outgrown(group)) is not None:
        then = clients_then(group, forecast)
        return None if then is None else max(then, least or 0)
    return least if verdict.status == RIGHT else None


def _confidence(group: AssessedGroup, verdict: Provision) -> BoundsConfidence:
    """HIGH if the peak is of enough stored days and everything is known, MEDIUM without those days, else LOW."""
    if verdict.status == UNDECIDED or verdict.at_peak is None or verdict.doubt is not None:
        return "LOW"
    has_days = group.peak.days >= group.policy.thresholds.PROVISION.peak_days
    return "HIGH" if has_days and verdict.at_peak.is_exact else "MEDIUM"


def _reason(group: AssessedGroup, verdict: Provision) -> ReasonCode:
    if verdict.status == UNDER:
        return "BUSIEST_TOO_BUSY" if verdict.cause == "busy" else "LAG_GROWS"
    if verdict.status != UNDECIDED:
        return "FEWER_ARE_ENOUGH" if verdict.status == OVER else "FITS"
    if not group.facts.connections:
        return "NO_CLIENTS" if group.facts.unseen_clients is None else "CLIENTS_UNKNOWN"
    if not group.policy.holds_verdicts(group.cluster.cluster.completeness_ratio):
        return "SNAPSHOT_INCOMPLETE"
    return "FACTS_MISSING"
