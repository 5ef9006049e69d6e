"""The last step: the files of a plan, each there whole or not at all."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rocketmq_capacity.lake import write_whole
from rocketmq_capacity.report.html import render_report
from rocketmq_capacity.report.plan import plan_document, render_plan
from rocketmq_capacity.report.rows import Document, Rows
from rocketmq_capacity.report.summary_file import render_summary, summary_of_plan
from rocketmq_capacity.report.tables import findings_csv, recommendations_csv

REPORT: Final = "report.html"
PLAN: Final = "plan.json"
FINDINGS: Final = "findings.csv"
RECOMMENDATIONS: Final = "recommendations.csv"
SUMMARY: Final = "summary.json"


@dataclass(frozen=True, slots=True)
class PublishedCounts:
    """What was published, in numbers."""

    groups: int
    findings: int
    critical: int
    warning: int
    info: int
    recommendations: int
    manual: int
    completeness_ratio: float

    def as_dict(self) -> dict[str, int | float]:
        """Names and numbers, as an Airflow asset's extra takes them."""
        return asdict(self)


def publish(
    rows: Rows,
    folder: Path,
    *,
    scenario: Mapping[str, Any] | None = None,
    approval: Mapping[str, Any] | None = None,
) -> PublishedCounts:
    """Write report.html, plan.json, its two lists and summary.json into the folder, which is made if need be.

    Everything is rendered before the first file is written, and each file is put in its place in one step.
    Errors: those of :func:`~rocketmq_capacity.report.plan.plan_document`, before anything is written; ``OSError``.
    """
    document = plan_document(rows, scenario=scenario, approval=approval)
    contents = {
        FINDINGS: findings_csv(document["findings"]),
        RECOMMENDATIONS: recommendations_csv(document["recommendations"]),
        REPORT: render_report(document, rows).encode("utf-8"),
        SUMMARY: render_summary(summary_of_plan(document)),
        PLAN: render_plan(document),  # the last: where it stands, the rest does
    }
    for name, content in contents.items():
        write_whole(folder / name, content)
    return counts_of(document)


def counts_of(document: Document) -> PublishedCounts:
    """The numbers of a plan."""
    severities = [finding["severity"] for finding in document["findings"]]
    recommendations = document["recommendations"]
    return PublishedCounts(
        groups=len(document["groups"]),
        findings=len(severities),
        critical=severities.count("CRITICAL"),
        warning=severities.count("WARNING"),
        info=severities.count("INFO"),
        recommendations=len(recommendations),
        manual=sum(1 for recommendation in recommendations if recommendation["manual"]),
        completeness_ratio=document["completeness"]["ratio"],
    )
