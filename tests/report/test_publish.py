"""The files of a plan."""

import json

import pytest

from rocketmq_capacity.errors import ContractBroken
from rocketmq_capacity.report.summary_file import read_summary
from tests.report.from_rows import publish_rows
from tests.report.row_builders import a_cluster, a_failure
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows

FILES = [
    "capacity.json",
    "desired_state.yaml",
    "desired_state_differences.json",
    "findings.csv",
    "metrics.prom",
    "plan.json",
    "recommendations.csv",
    "report.html",
    "runbook.json",
    "runbook.md",
    "summary.json",
    "tickets.json",
]
"""Those that every plan has; the folder of scripts is beside them."""


def files_in(folder):
    """The names of the files in a folder, without those of folders in it."""
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_the_files_and_their_counts(tmp_path):
    rows = sample_rows() | {"cluster": [a_cluster(completeness_ratio=0.5)], "failure": [a_failure()]}
    rows["recommendation"][0]["is_manual"] = True

    summary = publish_rows(rows, tmp_path / "a" / "report")

    assert files_in(tmp_path / "a" / "report") == FILES
    assert (summary.groups, summary.recommendations, summary.completeness) == (1, 2, 0.5)
    assert summary.findings == {"CRITICAL": 0, "WARNING": 1, "INFO": 0}
    assert read_summary(tmp_path / "a" / "report" / "summary.json") == summary
    plan = json.loads((tmp_path / "a" / "report" / "plan.json").read_bytes())
    assert [recommendation["manual"] for recommendation in plan["recommendations"]].count(True) == 1


def test_the_same_rows_give_the_same_bytes_in_every_file(tmp_path):
    for name in ("first", "second"):
        publish_rows(varied_rows(6), tmp_path / name)

    for name in FILES:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_rows_that_break_the_contract_leave_what_stood_there(tmp_path):
    publish_rows(sample_rows(), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    rows = sample_rows()
    rows["finding"][0]["evidence"] = "no JSON"

    with pytest.raises(ContractBroken):
        publish_rows(rows, tmp_path)

    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_folder_is_published_again_over_what_stood_there(tmp_path):
    publish_rows(varied_rows(3), tmp_path)
    publish_rows(sample_rows(), tmp_path)

    assert json.loads((tmp_path / "plan.json").read_bytes())["cluster_name"] == "C1"
    assert files_in(tmp_path) == FILES
