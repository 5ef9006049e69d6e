"""The last step: the files of a plan, each there whole or not at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rocketmq_capacity.lake import write_whole
from rocketmq_capacity.report.html import render_report
from rocketmq_capacity.report.plan import plan_document, render_plan
from rocketmq_capacity.report.rows import Rows
from rocketmq_capacity.report.summary_file import PlanSummary, render_summary, summary_of_plan
from rocketmq_capacity.report.tables import findings_csv, recommendations_csv

REPORT: Final = "report.html"
PLAN: Final = "plan.json"
FINDINGS: Final = "findings.csv"
RECOMMENDATIONS: Final = "recommendations.csv"
SUMMARY: Final = "summary.json"


def publish(
    rows: Rows,
    folder: Path,
    *,
    scenario: Mapping[str, Any] | None = None,
    approval: Mapping[str, Any] | None = None,
) -> PlanSummary:
    """Write report.html, plan.json, its two lists and summary.json into the folder, which is made if need be.

    Everything is rendered before the first file is written, and each file is put in its place in one step.
    Errors: those of :func:`~rocketmq_capacity.report.plan.plan_document`, before anything is written; ``OSError``.
    """
    document = plan_document(rows, scenario=scenario, approval=approval)
    summary = summary_of_plan(document)
    contents = {
        FINDINGS: findings_csv(document["findings"]),
        RECOMMENDATIONS: recommendations_csv(document["recommendations"]),
        REPORT: render_report(document, rows).encode("utf-8"),
        SUMMARY: render_summary(summary),
        PLAN: render_plan(document),  # the last: where it stands, the rest does
    }
    for name, content in contents.items():
        write_whole(folder / name, content)
    return summary
