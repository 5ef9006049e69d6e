"""summary.json: the few facts that a list of reports shows; every plan writes one."""

import json
from datetime import date

import msgspec
import pytest

from rocketmq_capacity.plan_file.plan import read_plan
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.summary_file import read_summary, summary_of_plan
from tests.report.from_rows import plan_of, publish_rows
from tests.report.made_scenario import a_scenario
from tests.report.sample_cluster import sample_rows
from tests.report.test_approval import an_approval
from tests.report.varied_cluster import varied_rows


def test_a_plan_leaves_its_facts_beside_it(tmp_path):
    publish_rows(sample_rows(), tmp_path)

    assert json.loads((tmp_path / "summary.json").read_bytes()) == {
        "format": "rocketmq-capacity/summary/1",
        "cluster_name": "C1",
        "taken_at": "2026-11-20T02:00:00Z",
        "fingerprint": "9f2c4a1be0d75533c6a8",
        "completeness": 1.0,
        "groups": 1,
        "findings": {"CRITICAL": 0, "WARNING": 1, "INFO": 0},
        "recommendations": 2,
        "needing_approval": 2,
        "accepted": 0,
        "scenario": None,
        "approval": None,
        "cause_counts": {"CRITICAL": 0, "WARNING": 1, "INFO": 0},
        "causes": ["8351725d42b5"],
        "utilisation": None,
        "score": None,
        "predictions": None,
        "verdict": None,
        "approved": None,
        "answered_by": None,
        "answered_at": None,
        "answer_why": None,
        "other_answers": 0,
        "trial": False,
        "policy_differences": [],
    }


def test_its_numbers_are_those_of_the_plan(tmp_path):
    rows = varied_rows(12)
    publish_rows(rows, tmp_path, scenario=a_scenario())
    plan = read_plan(tmp_path / "plan.json")

    summary = read_summary(tmp_path / "summary.json")

    assert summary == summary_of_plan(plan)
    assert sum(summary.findings.values()) == len(plan.findings) > 0
    assert summary.recommendations == len(plan.recommendations)
    assert summary.needing_approval == len(needing_approval(plan)) > 0
    assert summary.score == (plan.score and plan.score.before)
    assert summary.scenario == a_scenario()["name"]
    assert summary.day == date(2026, 11, 20)


def test_it_waits_for_an_answer_until_there_is_one():
    open_plan, answered = plan_of(sample_rows()), plan_of(sample_rows(), approval=an_approval())
    nothing_to_ask = plan_of(sample_rows() | {"finding": []})

    assert summary_of_plan(open_plan).is_waiting
    assert summary_of_plan(answered).approval == "APPROVED"
    who_when_why = [getattr(summary_of_plan(answered), name) for name in ("answered_by", "answered_at", "answer_why")]
    assert who_when_why == ["admin", "2026-11-20T08:00:00Z", "the change window is tonight"]
    assert not summary_of_plan(answered).is_waiting
    assert not summary_of_plan(nothing_to_ask).is_waiting


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "rocketmq-capacity/summary/2"},
        {"taken_at": "today"},
        {"taken_at": "2026-11-20T02:00:00"},
        {"findings": {"CRITICAL": 1}},
        {"cause_counts": {"CRITICAL": 1}},
        {"findings": {"CRITICAL": 0, "WARNING": 0, "INFO": "<b>"}},
        {"groups": None},
        {"approval": "MAYBE"},
        {"answered_at": "today"},
    ],
)
def test_a_spoiled_one_is_not_believed(tmp_path, changes):
    publish_rows(sample_rows(), tmp_path)
    file = tmp_path / "summary.json"
    file.write_text(json.dumps(json.loads(file.read_bytes()) | changes))

    with pytest.raises((msgspec.DecodeError, ValueError)):
        read_summary(file)
