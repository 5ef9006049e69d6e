"""Makes findings, and formats figures for their sentences."""

from collections.abc import Sequence

import msgspec

from rocketmq_capacity import tables
from rocketmq_capacity.catalogue.evidence import Evidence
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.tables.dataset import Metrics, Queue
from rocketmq_capacity.vocabulary import Severity
from rocketmq_capacity.wording import counted, rounded


def finding(
    rule: Rule,
    severity: Severity,
    *,
    subjects: Sequence[str] = (),
    queues: Sequence[Queue] = (),
    evidence: Evidence,
    message: str,
    consumer_group: str | None = None,
    topic: str | None = None,
    broker_name: str | None = None,
) -> tables.Finding:
    """One finding about ``subjects`` (client ids, brokers or groups) or about ``queues``.

    ``evidence`` is written as a JSON object, with nulls kept.
    """
    return tables.Finding(
        rule=rule.name,
        severity=severity,
        consumer_group=consumer_group,
        topic=topic,
        broker_name=broker_name,
        subjects=tuple(subjects),
        queues=tuple(queues),
        evidence=msgspec.json.encode(evidence).decode(),
        message=message,
    )


def figures(metrics: Metrics) -> dict[str, float]:
    """The metrics of a load for the evidence."""
    return {name: rounded(metrics[name]) for name in ("peak", "floor", "excess", "gini", "cv", "max", "min")}


def times(figure: float) -> str:
    """A factor for a sentence, with one or two decimals: ``4.0``, ``1.55``."""
    return str(rounded(figure, 2))


def harm(orphans: int | None, twice: int | None) -> str:
    """A further sentence about orphan and doubly owned queues of today; empty if there are none, or if unknown."""
    parts = []
    if orphans:
        parts.append(f"nobody reads {counted(orphans, 'queue')}")
    if twice:
        parts.append(f"{counted(twice, 'queue')} {'is' if twice == 1 else 'are'} read twice")
    return f" Now {', and '.join(parts)}." if parts else ""
