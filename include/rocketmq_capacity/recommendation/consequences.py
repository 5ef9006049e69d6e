"""What follows from a sick client, or from clients that are set up wrongly: it needs no answer of its own."""

from collections.abc import Collection, Mapping
from typing import Final

from rocketmq_capacity.assessment.client_outlier import ClientOutlierEvidence
from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.tables.dataset import Queue

OUTLIER: Final = "CLIENT_OUTLIER"
OF_ITS_QUEUES: Final = ("LAG_STATE", "RETENTION_RISK")
OF_CLIENTS: Final = ("LAG_SKEW",)
FAILURES: Final = "RETRY_PRESSURE"
IDLE: Final = "IDLE_CONSUMERS"
MISMATCH: Final = "SUBSCRIPTION_MISMATCH"
MIXED: Final = "MIXED_STRATEGIES"
SET_UP: Final[tuple[str, ...]] = ("DUPLICATE_CLIENT_ID", MISMATCH, MIXED)
"""Findings about how clients are set up, the one to mend first before the others. Loads are uneven because of them."""
COUNT_SKEWS: Final = ("ALLOCATION_SKEW", "CROSS_TOPIC_SKEW")
"""Rules that use numbers of queues."""


def comes_of_outlier(
    rule: str,
    client_ids: Collection[str],
    queues: Collection[Queue],
    outliers: Collection[str],
    sick: ClientOutlierEvidence,
) -> bool:
    """Whether a finding is a consequence of its group's CLIENT_OUTLIER.

    Args:
        rule: the finding's rule.
        client_ids: the clients that it names.
        queues: the queues that it names.
        outliers: the clients that CLIENT_OUTLIER names.
        sick: the evidence of CLIENT_OUTLIER.
    """
    if rule in OF_ITS_QUEUES:
        return bool(queues) and set(sick.behind_queues).issuperset(queues)
    if rule in OF_CLIENTS:
        return bool(client_ids) and set(outliers).issuperset(client_ids)
    return rule == FAILURES and any(one.figure == "failed_ratio" for one in sick.outliers)


def set_up_behind(rule: str, client_ids: Collection[str], set_up: Mapping[str, Collection[str]]) -> str | None:
    """The rule of the finding about its clients' set-up that a finding of the group is a consequence of; None if none.

    A client is idle because of its subscriptions only if it is one of those that differ, and never because of its id.

    Args:
        rule: the finding's rule.
        client_ids: the clients that it names.
        set_up: the group's findings about its clients' set-up: by rule the clients that they name.
    """
    for cause in SET_UP:
        if cause in set_up:
            differs = cause == MIXED or (cause == MISMATCH and set(set_up[cause]).issuperset(client_ids))
            is_idle = rule == IDLE and differs
            if rule_of(rule).skews is not None or is_idle:
                return cause
    return None
