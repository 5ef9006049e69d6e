"""What the asset event of a finished plan tells."""

import json
from pathlib import Path

import pytest

from rocketmq_capacity.provider.report_asset import report_facts

pytestmark = pytest.mark.airflow


def test_the_event_says_where_the_report_is_and_how_much_was_found(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    severities = ["WARNING", "CRITICAL", "WARNING"]
    plan.write_text(
        json.dumps({
            "cluster_name": "C1",
            "taken_at": "2026-11-20T02:00:00Z",
            "fingerprint": "f" * 64,
            "completeness": {"ratio": 0.5, "failures": []},
            "findings": [{"severity": severity} for severity in severities],
            "recommendations": [{}, {}],
        })
    )

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
    }


def test_a_run_that_published_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        report_facts(tmp_path / "plan.json")
