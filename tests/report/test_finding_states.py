"""What a plan says of findings that wait for a second run: they are listed, and nothing alarms; worked by hand."""

import json
from typing import Any

import pytest

from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.handover.observed import Observed
from rocketmq_capacity.plan_file.own_policy import OwnPolicy
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.settings.policy import Policy
from tests.report.from_rows import page_of, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.page_reader import read_page, text_of, with_class
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation

FIRST, BEFORE, NOW = (f"2026-11-{day}T02:00:00Z" for day in (18, 19, 20))
SKEW = "ALLOCATION_SKEW"
DEFAULTS = Policy()
ACCEPTING = Policy.model_validate({
    "accepted": [{"rule": SKEW, "consumer_group": "g_pay", "by": "li", "why": "even enough", "until": "2027-03-01"}]
})
Row = dict[str, Any]


def skew(**changes: Any) -> Row:
    return a_finding(SKEW, message="Clients own 1 to 4 queues.", **changes)


def a_state(state: str, since: str, open_since: str | None, **changes: Any) -> Row:
    about = {"rule": SKEW, "consumer_group": "g_pay", "topic": None, "broker_name": None}
    return about | {"since": since, "state": state, "open_since": open_since, "least_severity": "WARNING"} | changes


PENDING = a_state("PENDING", NOW, None)
OPENED = a_state("OPEN", BEFORE, NOW)
CLOSING = a_state("CLOSING", FIRST, BEFORE)


def rows_of(now: list[Row], before: list[Row], states: list[Row]) -> dict[str, list[Row]]:
    return {
        "cluster": [a_cluster(taken_at=NOW)],
        "group_status": [a_group(reading_status="READ")],
        "finding": now,
        "finding_before": before,
        "finding_since": states,
        "run_before": [{"taken_at": BEFORE}],
        "recommendation": [
            a_recommendation("CHANGE_STRATEGY", id="strategy-1", consumer_group="g_pay", topic=None, rules=[SKEW])
        ]
        if now
        else [],
    }


FOUND_ONCE = rows_of([skew()], [], [PENDING])
FOUND_TWICE = rows_of([skew()], [skew()], [OPENED])
ABSENT_ONCE = rows_of([], [skew()], [CLOSING])
ABSENT_TWICE = rows_of([], [skew()], [])


def files_of(plan: Plan) -> dict[str, bytes]:
    return {name: content or b"" for name, content in handed_over(plan, DEFAULTS, Observed()).items()}


def open_findings(plan: Plan) -> dict[str, int]:
    """By rule of the group, what metrics.prom counts."""
    lines = files_of(plan)["metrics.prom"].decode().splitlines()
    found = [line for line in lines if line.startswith("rocketmq_capacity_consumer_group_findings{")]
    return {line.partition('rule="')[2].partition('"')[0]: int(float(line.split()[-1])) for line in found}


def tickets(plan: Plan) -> tuple[list[str], list[str]]:
    """The keys of the tickets, and of what is still found without one."""
    made = json.loads(files_of(plan)["tickets.json"])
    return [one["key"] for one in made["tickets"]], made["still_found"]


def test_what_is_found_once_is_listed_and_alarms_nobody() -> None:
    plan = plan_of(FOUND_ONCE)
    (finding,) = plan.findings

    assert (finding.state, finding.since) == ("PENDING", NOW)
    assert plan.changes
    assert (plan.changes.new, plan.changes.pending) == ((), (finding.id,))
    assert [cause.findings for cause in plan.causes] == [(finding.id,)]  # whoever reads the report sees it
    assert needing_approval(plan) == []
    assert open_findings(plan) == {}
    keys, still_found = tickets(plan)
    assert (keys, [f"C1/{plan.causes[0].id}" in still_found]) == ([], [True])
    assert plan.groups[0].score
    assert plan.groups[0].score.broken == ()


def test_what_is_found_by_a_second_run_is_new_and_alarms() -> None:
    plan = plan_of(FOUND_TWICE)
    (finding,) = plan.findings

    assert (finding.state, finding.since) == ("OPEN", BEFORE)
    assert plan.changes
    assert (plan.changes.new, plan.changes.pending, plan.changes.gone) == ((finding.id,), (), ())
    assert needing_approval(plan) == ["strategy-1"]
    assert open_findings(plan) == {SKEW: 1}
    assert tickets(plan)[0] == [f"C1/{plan.causes[0].id}"]
    assert plan.groups[0].score
    assert plan.groups[0].score.broken == ("EVEN_LOAD",)


def test_it_is_new_only_once_also_if_it_is_worse_then() -> None:
    plan = plan_of(rows_of([skew(severity="CRITICAL")], [skew()], [OPENED]))
    assert plan.changes
    assert (len(plan.changes.new), plan.changes.worse) == (1, ())

    third = plan_of(rows_of([skew(severity="CRITICAL")], [skew()], [a_state("OPEN", FIRST, BEFORE)]))
    assert third.changes
    assert (third.changes.new, len(third.changes.worse)) == ((), 1)


def test_what_is_absent_once_is_closing_and_still_alarms() -> None:
    plan = plan_of(ABSENT_ONCE)

    assert (plan.findings, plan.changes and plan.changes.gone) == ((), ())
    assert plan.changes
    (closing,) = plan.changes.closing
    assert (closing.rule, closing.severity, closing.since) == (SKEW, "WARNING", FIRST)
    assert closing.message == "Clients own 1 to 4 queues."
    assert open_findings(plan) == {SKEW: 1}
    keys, still_found = tickets(plan)
    ticket = tickets(plan_of(FOUND_TWICE))[0][0]
    assert (keys, ticket in still_found) == ([], True)  # so no tracker closes it, and no owner is told that it is gone


def test_what_is_absent_twice_is_gone() -> None:
    plan = plan_of(ABSENT_TWICE)

    assert plan.changes
    assert ([one.rule for one in plan.changes.gone], plan.changes.closing) == ([SKEW], ())
    assert open_findings(plan) == {}
    assert tickets(plan) == ([], [])


@pytest.mark.parametrize("rows", [FOUND_ONCE, FOUND_TWICE, ABSENT_ONCE])
def test_what_is_accepted_stays_silent(rows: dict[str, list[Row]]) -> None:
    changes = plan_of(rows, policy=ACCEPTING).changes

    assert changes
    assert (changes.new, changes.pending, changes.closing) == ((), (), ())


def test_a_trial_and_a_what_if_are_no_runs_and_have_no_states() -> None:
    trial = plan_of(FOUND_ONCE, own_policy=OwnPolicy(is_trial=True, differences=(), strategies=()))
    what_if = plan_of(FOUND_ONCE, scenario=a_scenario())

    for plan in (trial, what_if):
        assert [(one.state or None, one.since or None) for one in plan.findings] == [(None, None)]
        assert plan.changes is None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (FOUND_ONCE, "Pending, until a second plan finds it 1"),
        (FOUND_TWICE, "New 1"),
        (ABSENT_ONCE, "Closing, until a second plan does not find it 1"),
        (ABSENT_TWICE, "Gone 1"),
    ],
)
def test_the_page_says_what_waits_for_a_second_plan(rows: dict[str, list[Row]], said: str) -> None:
    tree = read_page(page_of(rows))
    (section,) = with_class(tree, "changes")

    assert said in text_of(section)
    badges = [text_of(one) for one in with_class(tree, "badge")]
    assert ("Pending" in badges) == (rows is FOUND_ONCE)
