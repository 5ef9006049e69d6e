"""Accepted risks: counted apart, and back when they are over or worse."""

import pytest

from rocketmq_capacity.plan_file.accepted import Accepted
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.summary_file import summary_of_plan
from rocketmq_capacity.settings.policy import Policy
from tests.report.from_rows import page_of, plan_of
from tests.report.page_reader import read_page, section, text_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation

GROUPS = ("g_pay", "g_stock")


def accepting(*entries):
    usual = {"rule": "IDLE_CONSUMERS", "by": "li", "why": "a rollout", "until": "2026-12-01"}
    return Policy.model_validate({"accepted": [usual | entry for entry in entries]})


def rows(*findings, **more):
    found = findings or tuple(a_finding(consumer_group=name) for name in GROUPS)
    return {
        "cluster": [a_cluster(taken_at=more.pop("taken_at", "2026-11-20T02:00:00Z"))],
        "group_status": [a_group(name, topics=[f"t_{name}"]) for name in GROUPS],
        "finding": list(found),
        **more,
    }


OF_PAY = {"consumer_group": "g_pay"}


def test_an_accepted_finding_says_by_whom_why_and_until_when_and_belongs_to_no_cause():
    plan = plan_of(rows(), policy=accepting(OF_PAY))

    accepted, other = plan.findings
    assert accepted.accepted == Accepted(by="li", why="a rollout", until="2026-12-01")
    assert other.accepted is None
    assert [cause.findings for cause in plan.causes] == [(other.id,)]
    (risk,) = plan.accepted
    assert (risk.state, risk.findings, plan.notes) == ("ACCEPTED", (accepted.id,), ())


def test_accepted_findings_are_counted_apart_and_need_no_approval():
    advice = [
        a_recommendation("SCALE_CONSUMERS", id=name, consumer_group=name, topic=None, rules=["IDLE_CONSUMERS"])
        for name in GROUPS
    ]
    plan = plan_of(rows(recommendation=advice), policy=accepting(OF_PAY))

    summary = summary_of_plan(plan)
    assert (summary.findings["WARNING"], summary.accepted, summary.needing_approval) == (1, 1, 1)
    assert needing_approval(plan) == ["g_stock"]


def test_what_would_answer_only_accepted_findings_is_not_recommended():
    def advice(name, *rules):
        return a_recommendation("INVESTIGATE", id=name, consumer_group="g_pay", topic=None, rules=list(rules))

    found = [a_finding(), a_finding("LAG_STATE")]
    answers = [
        advice("only", "IDLE_CONSUMERS"),
        advice("both", "IDLE_CONSUMERS", "LAG_STATE"),
        advice("none", "HOT_QUEUE"),
    ]
    plan = plan_of(rows(*found, recommendation=answers), policy=accepting(OF_PAY))

    assert {one.id for one in plan.recommendations} == {"both", "none"}
    assert sorted(one for cause in plan.causes for one in cause.recommendations) == ["both", "none"]


@pytest.mark.parametrize(
    ("taken_at", "state"),
    [
        ("2026-12-01T23:59:59Z", "ACCEPTED"),
        ("2026-12-02T00:00:00Z", "EXPIRED"),
        ("2026-12-02T00:30:00+01:00", "ACCEPTED"),
    ],
)
def test_a_risk_is_accepted_on_its_last_day_and_back_on_the_day_after_by_the_snapshots_time(taken_at, state):
    plan = plan_of(rows(taken_at=taken_at), policy=accepting(OF_PAY))

    assert (plan.accepted[0].state, plan.findings[0].accepted is not None) == (state, state == "ACCEPTED")
    assert len(plan.causes) == (1 if state == "ACCEPTED" else 2)


@pytest.mark.parametrize(
    ("told", "severity", "state"),
    [
        ("WARNING", "WARNING", "ACCEPTED"),
        ("WARNING", "INFO", "ACCEPTED"),
        ("WARNING", "CRITICAL", "WORSE"),
        ("INFO", "WARNING", "WORSE"),
        (None, "CRITICAL", "ACCEPTED"),
    ],
)
def test_a_finding_that_is_worse_than_accepted_is_back(told, severity, state):
    entry = OF_PAY if told is None else {**OF_PAY, "severity": told}
    plan = plan_of(rows(a_finding(severity=severity)), policy=accepting(entry))

    assert plan.accepted[0].state == state
    assert (plan.findings[0].accepted is None) == (state == "WORSE")


@pytest.mark.parametrize(("least", "state"), [("WARNING", "WORSE"), ("CRITICAL", "ACCEPTED"), (None, "ACCEPTED")])
def test_without_a_severity_a_finding_may_be_as_bad_as_it_was_in_the_row_of_plans_that_have_it(least, state):
    since = {
        "rule": "IDLE_CONSUMERS",
        "consumer_group": "g_pay",
        "since": "2026-11-18T02:00:00Z",
        "least_severity": least,
    }
    found = a_finding(severity="CRITICAL")
    plan = plan_of(rows(found, finding_since=[since]), policy=accepting(OF_PAY))

    assert plan.accepted[0].state == state


@pytest.mark.parametrize(
    ("entry", "is_accepted"),
    [
        ({"topic": "pay"}, True),
        ({"topic": "pay", "consumer_group": "g_pay"}, True),
        ({"topic": "pay", "consumer_group": "g_stock"}, False),
        ({"topic": "pa"}, False),
        ({"topic": "pay", "rule": "LAG_STATE"}, False),
        ({"broker_name": "broker-a"}, False),
    ],
)
def test_every_place_that_an_entry_names_has_to_be_the_findings(entry, is_accepted):
    plan = plan_of(rows(a_finding(topic="pay")), policy=accepting(entry))

    assert (plan.findings[0].accepted is not None) is is_accepted


@pytest.mark.parametrize(("subjects", "is_accepted"), [(["broker-a"], True), (["broker-a", "broker-b"], False)])
def test_a_finding_about_one_broker_alone_is_accepted_by_its_name(subjects, is_accepted):
    found = a_finding("BROKER_LOSS", consumer_group=None, subjects=subjects)
    plan = plan_of(rows(found), policy=accepting({"rule": "BROKER_LOSS", "broker_name": "broker-a"}))

    assert (plan.findings[0].accepted is not None) is is_accepted


def test_entries_that_do_not_hold_are_told_in_one_line():
    entries = [
        OF_PAY,
        {"consumer_group": "nobody"},
        {"consumer_group": "g_stock", "until": "2026-11-19"},
        {"consumer_group": "g_stock", "severity": "INFO"},
    ]
    plan = plan_of(rows(), policy=accepting(*entries))

    assert [risk.state for risk in plan.accepted] == ["ACCEPTED", "UNMATCHED", "EXPIRED", "WORSE"]
    assert plan.notes == (
        "3 accepted risks of the policy do not hold: IDLE_CONSUMERS of nobody is not found; IDLE_CONSUMERS of g_stock "
        "was accepted until 2026-11-19; IDLE_CONSUMERS of g_stock is worse than it was accepted.",
    )


def test_the_page_folds_accepted_risks_and_leaves_them_out_of_its_counts():
    tree = read_page(page_of(rows(), policy=accepting(OF_PAY)))

    folded = text_of(section(tree, "accepted"))
    for told in ("g_pay", "li", "a rollout", "2026-12-01"):
        assert told in folded
    assert "g_stock" not in folded
    assert "explain 1 finding. 1 more finding is accepted." in text_of(section(tree, "summary"))
    assert "g_pay" not in text_of(section(tree, "first"))
