"""The impact of a cause: figures from the findings that belong to it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rocketmq_capacity.plan_file.finding import Finding, Impact
from rocketmq_capacity.report.crossing import mb_per_s

ORPHAN: Final = "ORPHAN_QUEUE"
UNSEEN: Final = "READ_LESS_THAN_WRITE"
DELETED: Final = "RETENTION_RISK"
CAPACITY: Final = "CONSUMER_CAPACITY"
LATE: Final = ("LAG_STATE", "LAG_SKEW")
"""Rules whose evidence has the lag of a group; the largest lag counts."""
WITHOUT_WORK: Final[Mapping[str, str]] = {"IDLE_CONSUMERS": "idle", "READ_ONLY_IDLE": "clients"}
"""Rules that find clients without work -> the figure of their evidence that counts these clients."""


def impact_of(findings: Sequence[Finding]) -> Impact:
    """The figures of these findings; a figure is null if no finding has it, or if it is unknown in one of them."""
    by_rule: dict[str, list[Mapping[str, Any]]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding.evidence)
    orphans, unseen = by_rule.get(ORPHAN, []), by_rule.get(UNSEEN, [])
    hidden = [_hidden(one) for one in unseen]
    busy = [one.get("utilisation_ratio") for one in by_rule.get(CAPACITY, [])]
    return Impact(
        messages_at_risk=_sum([*(one.get("lag") for one in orphans), *(one.get("stranded") for one in unseen)]),
        unread_msgs_per_s=_sum(one.get("msgs_per_s") for one in orphans),
        unread_queues=_sum([*(one.get("orphans") for one in orphans), *hidden]),
        deleted_messages=_sum(one.get("deleted") for one in by_rule.get(DELETED, [])),
        idle_clients=_sum(one.get(name) for rule, name in WITHOUT_WORK.items() for one in by_rule.get(rule, [])),
        lag=_sum(_lags(findings).values()),
        utilisation_ratio=max((one for one in busy if one is not None), default=None),
        cross_room_mb_per_s=mb_per_s(findings),
    )


def _lags(findings: Iterable[Finding]) -> dict[str | None, int | None]:
    lags: dict[str | None, int | None] = {}
    for finding in findings:
        if finding.rule in LATE:
            known = [lag for lag in (lags.get(finding.consumer_group), finding.evidence.get("lag")) if lag is not None]
            lags[finding.consumer_group] = max(known, default=None)
    return lags


def _hidden(evidence: Mapping[str, Any]) -> int | None:
    written, read = evidence.get("write_queue_nums"), evidence.get("read_queue_nums")
    return None if written is None or read is None else written - read


def _sum(figures: Iterable[Any]) -> Any:
    """The sum; None if there are no figures, or if one of them is unknown."""
    known = list(figures)
    return sum(known) if known and None not in known else None
