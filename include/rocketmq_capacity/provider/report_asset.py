"""The asset that a finished plan updates, and what its event tells those who wait for it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from airflow.sdk import Asset, Context

from rocketmq_capacity.lake import Lake
from rocketmq_capacity.provider.run_key import run_key
from rocketmq_capacity.run_lookup import existing_run

REPORT: Final = Asset("rocketmq_capacity_report", group="rocketmq_capacity")
SEVERITIES: Final = ("CRITICAL", "WARNING", "INFO")


def report_facts(plan: Path) -> dict[str, Any]:
    """What the event carries: where report and plan are, and how much was found; JSON values alone.

    Errors: FileNotFoundError where no plan was published.
    """
    content = json.loads(plan.read_bytes())
    found = Counter(finding["severity"] for finding in content["findings"])
    return {
        "cluster_name": content["cluster_name"],
        "taken_at": content["taken_at"],
        "fingerprint": content["fingerprint"],
        "report": str(plan.with_name("report.html")),
        "plan": str(plan),
        "completeness": content["completeness"]["ratio"],
        "findings": {severity: found[severity] for severity in SEVERITIES},
        "recommendations": len(content["recommendations"]),
    }


def tell_report(context: Context, _result: object = None, *, lake: Path) -> None:
    """Give the facts of this run's plan to the asset event that the task is about to emit."""
    run = existing_run(Lake(lake), run_key(context["dag_run"]))
    context["outlet_events"][REPORT].extra = report_facts(run.report / "plan.json")
