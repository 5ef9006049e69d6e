"""What the asset event of a finished plan tells."""

from pathlib import Path

import pytest

from rocketmq_capacity.provider.report_asset import report_facts
from rocketmq_capacity.report.summary_file import PlanSummary
from rocketmq_capacity.store.json_file import json_file

pytestmark = pytest.mark.airflow


def test_the_event_says_where_the_report_is_and_how_much_was_found(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    summary = PlanSummary(
        cluster_name="C1",
        taken_at="2026-11-20T02:00:00Z",
        fingerprint="f" * 64,
        completeness=0.5,
        groups=3,
        findings={"CRITICAL": 1, "WARNING": 2, "INFO": 0},
        recommendations=2,
        needing_approval=1,
        scenario=None,
        approval=None,
    )
    (tmp_path / "summary.json").write_bytes(json_file(summary))

    assert report_facts(plan) == {
        "run_id": tmp_path.parent.name,
        "cluster_name": "C1",
        "taken_at": "2026-11-20T02:00:00Z",
        "fingerprint": "f" * 64,
        "report": str(tmp_path / "report.html"),
        "plan": str(plan),
        "completeness": 0.5,
        "findings": {"CRITICAL": 1, "WARNING": 2, "INFO": 0},
        "recommendations": 2,
        "trial": False,
    }


def test_a_run_that_published_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        report_facts(tmp_path / "plan.json")
