"""The impact of a cause: figures from the findings that belong to it."""

from collections.abc import Sequence
from typing import Any, Final

from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.model.sums import most_of
from rocketmq_capacity.plan_file.finding import Impact, PlanFinding
from rocketmq_capacity.plan_file.numbers import steady

LAG: Final = "lag"
BUSY: Final = "utilisation_ratio"


def impact_of(findings: Sequence[PlanFinding]) -> Impact:
    """The figures of these findings; a figure is null if no finding has it, or if it is unknown in one of them.

    The findings about one group speak of the same messages and clients: of their lags the largest counts, and of all
    clients the busiest.
    """
    parts: dict[str, list[Any]] = {}
    lags: dict[str | None, list[Any]] = {}
    for finding in findings:
        evidence = evidence_of(finding)
        for name, attribute in {} if evidence is None else evidence.adds_to.items():
            part = getattr(evidence, attribute)
            (lags.setdefault(finding.consumer_group, []) if name == LAG else parts.setdefault(name, [])).append(part)
    parts[LAG] = [most_of(each) for each in lags.values()]
    busiest = most_of(parts.pop(BUSY, []))
    return Impact(utilisation_ratio=busiest, **{name: _sum(each) for name, each in parts.items()})


def _sum(figures: Sequence[Any]) -> Any:
    """The sum; None if there are no figures, or if one of them is unknown."""
    return steady(sum(figures)) if figures and None not in figures else None
