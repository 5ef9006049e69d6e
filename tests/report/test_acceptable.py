"""What of a stored plan can be accepted, read by a process of its own."""

import os
from pathlib import Path
from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.own_process import LARGEST_PLAN, OwnProcessFailed
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.acceptable import LONGEST, MOST, Risk, acceptable, acceptable_of
from rocketmq_capacity.report.acceptance import problem_of
from rocketmq_capacity.report.accepting import is_about
from rocketmq_capacity.report.limits import CAUSES, FINDINGS
from rocketmq_capacity.settings.accepted import AcceptedRisk
from rocketmq_capacity.settings.policy import Policy
from tests.plugins.stored_reports import LAST
from tests.report.from_rows import plan_bytes, plan_of
from tests.report.row_builders import a_cluster, a_finding
from tests.report.varied_cluster import varied_rows

UNTIL = "2026-12-24"


def with_findings(*findings: dict[str, Any], policy: Policy | None = None) -> Plan:
    return plan_of({"cluster": [a_cluster()], "finding": list(findings)}, policy=policy or Policy())


def risks_of(plan: Plan) -> list[Risk]:
    return [risk for cause in acceptable(plan).causes for risk in cause.risks]


def test_each_risk_is_one_that_the_form_takes_and_that_accepts_its_finding() -> None:
    plan = plan_of(varied_rows(20))
    findings = {finding.id: finding for finding in plan.findings}

    risks = risks_of(plan)

    assert len(risks) > 20
    for risk in risks:
        told = {**risk.fields, "why": "a rollout", "until": UNTIL}
        assert problem_of(told, LAST) == ""
        assert is_about(AcceptedRisk.model_validate({**told, "by": "li"}), findings[risk.id])


def test_every_open_finding_with_a_place_can_be_accepted_once() -> None:
    plan = plan_of(varied_rows(20))

    accepted = [
        AcceptedRisk.model_validate({**one.fields, "by": "li", "why": "x", "until": UNTIL}) for one in risks_of(plan)
    ]

    open_ones = [one for one in plan.findings if one.consumer_group or one.topic or one.broker_name]
    assert [one for one in open_ones if not any(is_about(risk, one) for risk in accepted)] == []
    places = [risk.place for risk in risks_of(plan)]
    assert len(places) == len(set(places))


def test_what_is_accepted_already_is_left_out() -> None:
    rows = varied_rows(8)
    found = next(one for one in plan_of(rows).findings if one.consumer_group)
    told = {"rule": found.rule, "consumer_group": found.consumer_group, "by": "li", "why": "x", "until": "2099-12-31"}

    left = risks_of(plan_of(rows, policy=Policy.model_validate({"accepted": [told]})))

    assert (found.rule, found.consumer_group) in [(one.rule, one.consumer_group) for one in risks_of(plan_of(rows))]
    assert (found.rule, found.consumer_group) not in [(one.rule, one.consumer_group) for one in left]


def test_a_finding_without_a_place_is_accepted_by_its_only_subject_or_not_at_all() -> None:
    nowhere: dict[str, Any] = {"rule": "SLAVE_DRIFT", "consumer_group": None, "topic": None, "broker_name": None}

    named = risks_of(with_findings(a_finding(**nowhere, subjects=["broker-a"])))
    unnamed = risks_of(with_findings(a_finding(**nowhere, subjects=["broker-a", "broker-b"])))

    assert [risk.fields for risk in named] == [{"rule": "SLAVE_DRIFT", "broker_name": "broker-a"}]
    assert unnamed == []


def test_what_is_left_out_of_a_large_plan_is_counted() -> None:
    queues: dict[str, Any] = {"rule": "HOT_QUEUE", "topic": "pay", "consumer_group": None, "severity": "WARNING"}
    one_cause = [a_finding(**queues, broker_name=f"b{n}") for n in range(50)]
    lags: dict[str, Any] = {"rule": "LAG_STATE", "topic": None, "severity": "INFO", "message": "x" * 10_000}
    many = [a_finding(**lags, consumer_group=f"g{n}") for n in range(CAUSES + 30)]

    found = acceptable(with_findings(*one_cause, *many))

    first = found.causes[0]
    assert (len(first.risks), first.more) == (FINDINGS, len(one_cause) - FINDINGS)
    assert (len(found.causes), found.more) == (CAUSES, 1 + len(many) - CAUSES)
    assert max(len(risk.message) for cause in found.causes for risk in cause.risks) == LONGEST


def test_a_page_has_a_bounded_number_of_risks() -> None:
    several = [
        a_finding(rule="HOT_QUEUE", topic=f"t{n}", consumer_group=None, broker_name=f"b{broker}")
        for n in range(MOST // FINDINGS + 10)
        for broker in range(FINDINGS)
    ]

    found = acceptable(with_findings(*several))

    assert sum(len(cause.risks) for cause in found.causes) == MOST
    assert (len(found.causes), found.more) == (MOST // FINDINGS, 10)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    file = tmp_path / "plan.json"
    file.write_bytes(plan_bytes(plan_of(varied_rows(6, seed=1))))
    return file


def test_the_own_process_gives_the_same_and_notices_a_plan_that_is_made_again(stored: Path) -> None:
    before, after = (acceptable(plan_of(varied_rows(6, seed=seed))) for seed in (1, 2))

    assert acceptable_of(stored) == before
    assert acceptable_of(stored) is acceptable_of(stored)
    again = stored.with_suffix(".new")
    again.write_bytes(plan_bytes(plan_of(varied_rows(6, seed=2))))
    again.replace(stored)
    assert acceptable_of(stored) == after != before


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"{}"])
def test_what_is_no_plan_is_bad_input(stored: Path, content: bytes) -> None:
    stored.write_bytes(content)

    with pytest.raises(BadInput, match="is no plan"):
        acceptable_of(stored)


def test_a_missing_plan_is_bad_input_and_a_huge_one_is_not_read(stored: Path) -> None:
    os.truncate(stored, LARGEST_PLAN + 1)
    with pytest.raises(OwnProcessFailed, match="more than 128 MiB"):
        acceptable_of(stored)
    stored.unlink()
    with pytest.raises(BadInput, match="cannot be read"):
        acceptable_of(stored)
