"""Whether a group may run fewer clients, and what forbids it.

Its figures alone do not allow it: a quiet night looks like a group with clients to spare, and a group in trouble needs
everybody.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.awaited import RULE as BROKER_LOSS
from rocketmq_capacity.assessment.broker_losses import Lost, losses_of
from rocketmq_capacity.assessment.capacity import fewest_clients
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.provision import Provision
from rocketmq_capacity.assessment.search import least_number, result
from rocketmq_capacity.assessment.sizes import divided
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.assessment.without_brokers import added_at_peak, shares_without
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import CRITICAL, OVER, RIGHT, UNDECIDED, UNDER
from rocketmq_capacity.wording import listed, rounded

FALLS_BEHIND: Final[frozenset[str]] = frozenset({"LAG_STATE", "STUCK_QUEUE", "RETENTION_RISK"})
"""Rules whose findings forbid it at any severity: messages wait."""
CAPACITY: Final = "CONSUMER_CAPACITY"
OUTLIER: Final = "CLIENT_OUTLIER"


@dataclass(frozen=True, slots=True)
class ScaleDown:
    """Whether a group may run fewer clients.

    Attributes:
        kept: how many may be left; None if nobody may go.
        blocked_by: what forbids it: names of rules, then codes; empty if somebody may go.
    """

    kept: int | None
    blocked_by: tuple[str, ...] = ()


def scale_down(group: AssessedGroup, findings: Iterable[Finding]) -> ScaleDown:
    """Whether a group may run fewer clients, given what the other rules found about it."""
    status = group.provision.status
    rules = {one.rule for one in findings if one.severity == CRITICAL or one.rule in {*FALLS_BEHIND, CAPACITY}}
    if status == UNDER:
        rules.add(CAPACITY)
    if group.outliers:
        rules.add(OUTLIER)
    if group.awaited:
        rules.add(BROKER_LOSS)
    codes: list[str] = [*(["UNDECIDED"] if status == UNDECIDED else []), *group.forbids]
    if group.provision.doubt is not None:
        codes.append("RATES_DISAGREE")
    if status == RIGHT and not rules and not codes:
        codes.append("TOO_BUSY_WITHOUT_SOME")
    if rules or codes:
        return ScaleDown(None, (*sorted(rules), *codes))
    judged = group.apart
    fewest = result(fewest_clients(judged))
    kept = None
    if fewest is not None:
        kept = result(least_number(lambda clients: _survives_a_lost_broker(judged, clients), fewest, _most(judged)))
    return ScaleDown(kept) if kept is not None else ScaleDown(None, ("LOSS_NOT_SURVIVED",))


def settled(verdict: Provision, spare: ScaleDown) -> Provision:
    """The verdict, which is at most RIGHT_PROVISIONED where something forbids that clients go."""
    if verdict.status != OVER or spare.kept is not None:
        return verdict
    why = f"fewer clients would be enough now, but {listed(spare.blocked_by)} forbids it"
    return replace(verdict, status=RIGHT, reason=why)


def _most(group: AssessedGroup) -> int:
    return group.facts.connections - 1


def _survives_a_lost_broker(group: AssessedGroup, clients: int) -> bool:
    """Whether so many clients stay within ``under_utilisation`` at the peak whichever broker is lost."""
    strategy, (left,) = group.one_strategy, divided([(group.staff, clients)])
    if strategy is None or left is None:
        return False
    names = group.losses.losses
    (losses,) = losses_of([Lost(group.division, group.weights, names, left.division.members)])
    owners = group.allocator.owners(strategy, losses.division) if len(losses.division.queues) else None
    if owners is not None and (owners.unknown or owners.strangers):
        return False
    planned = group.planned_msgs_per_s
    work = Work.of(left.division, planned, left.owners, group.response_times.of_clients(left.rows))
    if work is None or not names:
        return False
    rates = planned[losses.base_queue] + added_at_peak(group, losses)
    busiest = float(shares_without(work, losses, owners, rates)[2].max()) * group.peak.scale
    bound = group.policy.thresholds.PROVISION.under_utilisation
    return not np.isnan(busiest) and (rounded(busiest, 9) or 0.0) <= bound
