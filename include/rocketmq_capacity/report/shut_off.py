"""Findings of LAG_STATE as causes: one for brokers that nobody may read, or that groups do not reach."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.assessment.backlog import StalledEvidence
from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.wording import counted, listed

CLOSED: Final = "closed"
UNREACHED: Final = "unreached"


def shut_off(finding: PlanFinding) -> tuple[str, ...] | None:
    """What keeps a group from its messages (CLOSED, UNREACHED), and the brokers; None if it is something else."""
    stalled = evidence_of(finding)
    if not isinstance(stalled, StalledEvidence):
        return None
    if stalled.closed_brokers is not UNSET:
        return CLOSED, *stalled.closed_brokers
    return None if stalled.unreached is UNSET else (UNREACHED, *stalled.unreached)


def shut_off_words(findings: Sequence[PlanFinding]) -> tuple[str, str] | None:
    """Title and message of such a cause; None for another one."""
    behind = [one for one in findings if shut_off(one) is not None]
    if not behind:
        return None
    why, *brokers = shut_off(behind[0]) or ()
    names, groups = listed(brokers), len({one.consumer_group for one in behind})
    lag = sum(one.lag for one in map(evidence_of, behind) if isinstance(one, StalledEvidence))
    if why == CLOSED:
        return (
            f"Nobody may read on {names}",
            f"{counted(groups, 'group')} {'has' if groups == 1 else 'have'} {counted(lag, 'message')} of lag on"
            f" {names}: the permission there lets nobody read.",
        )
    return (
        f"Clients do not reach {names}",
        f"{counted(groups, 'group')} {'has' if groups == 1 else 'have'} {counted(lag, 'message')} of lag on"
        f" {names}: none of their clients is connected there.",
    )
