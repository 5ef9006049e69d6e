"""Which groups the page shows in detail."""

from collections.abc import Mapping
from typing import Any, Final

from rocketmq_capacity.report.limits import GROUPS_IN_DETAIL
from rocketmq_capacity.report.wording import SEVERITIES, STATUS_WORDS

SEVERITY_RANK: Final = {severity: rank for rank, severity in enumerate(SEVERITIES)}
STATUS_RANK: Final = {status: rank for rank, status in enumerate(("UNDER_PROVISIONED", "OVER_PROVISIONED"))}
NOT_FLAGGED: Final = len(SEVERITIES)


def detailed_groups(document: Mapping[str, Any], limit: int = GROUPS_IN_DETAIL) -> tuple[str, ...]:
    """Names of the groups with a section of their own, worst first: by severity, provision status, number of findings.

    Groups without any finding fill what is left. The rows of ``client_load`` are needed for these groups alone, so a
    caller of a big cluster may select them by this list.
    """
    worst: dict[str, int] = {}
    count: dict[str, int] = {}
    for finding in document["findings"]:
        group = finding["consumer_group"]
        if group is not None:
            rank = SEVERITY_RANK[finding["severity"]]
            worst[group] = min(worst.get(group, NOT_FLAGGED), rank)
            count[group] = count.get(group, 0) + 1

    def key(group: Mapping[str, Any]) -> tuple[int, int, int, str]:
        name = group["consumer_group"]
        status = STATUS_RANK.get(group["provision_status"], len(STATUS_WORDS))
        return worst.get(name, NOT_FLAGGED), status, -count.get(name, 0), name

    return tuple(group["consumer_group"] for group in sorted(document["groups"], key=key)[:limit])
