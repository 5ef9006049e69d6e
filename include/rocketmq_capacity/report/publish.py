"""The last step: the files of a plan, each there whole or not at all."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rocketmq_capacity.report.capacity_file import capacity_of_plan, render_capacity
from rocketmq_capacity.report.html import render_report
from rocketmq_capacity.report.plan import render_plan
from rocketmq_capacity.report.plan_file import Plan
from rocketmq_capacity.report.rows import PageRows
from rocketmq_capacity.report.summary_file import PlanSummary, render_summary, summary_of_plan
from rocketmq_capacity.report.tables import findings_csv, recommendations_csv
from rocketmq_capacity.store.lake import write_together

REPORT: Final = "report.html"
PLAN: Final = "plan.json"
FINDINGS: Final = "findings.csv"
RECOMMENDATIONS: Final = "recommendations.csv"
SUMMARY: Final = "summary.json"
CAPACITY: Final = "capacity.json"


def publish(plan: Plan, beside: PageRows, folder: Path) -> PlanSummary:
    """Write report.html, plan.json and what stands beside it into the folder, which is made if need be.

    All files are written beside their places; then each is put in its place in one step, plan.json last: where it
    stands, the rest does. So readers find the old file or the new one, and where a file cannot be written, all the old.

    Args:
        plan: what is published.
        beside: what the page needs beside it.
        folder: where the files go.

    Errors: ``OSError``.
    """
    summary = summary_of_plan(plan)
    contents: dict[str, bytes | Iterable[bytes]] = {
        FINDINGS: findings_csv(plan),
        RECOMMENDATIONS: recommendations_csv(plan),
        REPORT: render_report(plan, beside).encode("utf-8"),
        CAPACITY: render_capacity(capacity_of_plan(plan)),
        SUMMARY: render_summary(summary),
        PLAN: render_plan(plan),
    }
    write_together(folder, contents)
    return summary
