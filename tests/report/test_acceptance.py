"""Accepting a risk of a cluster's latest plan, in the name of whoever is logged in."""

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.plan import Plan, read_plan
from rocketmq_capacity.report.acceptance import accept_risk, problem_of
from rocketmq_capacity.settings.accepted import AcceptedRisk
from rocketmq_capacity.store.acceptances import acceptances
from rocketmq_capacity.store.lake import Lake
from tests.plugins.stored_reports import CLUSTER, LAST, put, rows_of

UNTIL = (LAST + timedelta(days=10)).date().isoformat()


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """The latest plan of the only cluster; one of the day before is there as well."""
    put(tmp_path, "r0", rows_of(LAST - timedelta(days=1)))
    return read_plan(put(tmp_path, "r1", rows_of(LAST)).report / "plan.json")


def form(plan: Plan, **changes: Any) -> dict[str, Any]:
    """The form filled in for the first finding about a group."""
    found = next(one for one in plan.findings if one.consumer_group is not None)
    usual = {"rule": found.rule, "consumer_group": found.consumer_group, "why": "a rollout", "until": UNTIL}
    return {"cluster": None, "topic": None, "broker_name": None, **usual, **changes}


def accepted(lake: Path, given: dict[str, Any], by: str | None = "alice") -> AcceptedRisk:
    return accept_risk(given, by, Lake(lake), LAST)


def test_a_risk_is_accepted_by_the_user_up_to_its_severity_and_the_next_plan_reads_it(
    tmp_path: Path, plan: Plan
) -> None:
    given = form(plan)
    (found,) = (
        one for one in plan.findings if (one.rule, one.consumer_group) == (given["rule"], given["consumer_group"])
    )

    risk = accepted(tmp_path, given)

    assert (risk.by, risk.why, risk.until) == ("alice", "a rollout", date.fromisoformat(UNTIL))
    assert risk.severity == found.severity
    assert acceptances(tmp_path / CLUSTER, (LAST + timedelta(hours=1)).isoformat()) == (risk,)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cluster": "prod-eu"}, "the nearest known cluster is 'prod-eu-1'"),
        ({"consumer_group": "nobody"}, "names no finding"),
        ({"consumer_group": None}, "expected one of consumer_group, topic, broker_name"),
        ({"why": None}, "why: is missing"),
        ({"why": "  "}, "why: expected one line of text"),
        ({"until": None}, "until: is missing"),
        ({"until": "soon"}, "until: expected a day"),
        ({"until": (LAST - timedelta(days=1)).date().isoformat()}, "until: is over"),
        ({"rule": "NO_RULE"}, "rule: is not a known rule"),
    ],
)
def test_what_is_no_risk_of_the_latest_plan_is_refused_and_nothing_is_kept(
    tmp_path: Path, plan: Plan, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput) as refused:
        accepted(tmp_path, form(plan, **changes))

    assert said in str(refused.value)
    assert not (tmp_path / CLUSTER / ".accepted").exists()


def test_a_run_that_no_person_started_accepts_nothing(tmp_path: Path, plan: Plan) -> None:
    with pytest.raises(BadInput, match="no person"):
        accepted(tmp_path, form(plan), by=None)


def test_with_several_clusters_one_has_to_be_named(tmp_path: Path, plan: Plan) -> None:
    (tmp_path / "other").mkdir()

    with pytest.raises(BadInput, match="cluster: is empty"):
        accepted(tmp_path, form(plan))
    with pytest.raises(BadInput, match="cluster: has no plan"):
        accepted(tmp_path, form(plan, cluster="other"))
    assert accepted(tmp_path, form(plan, cluster=CLUSTER)).by == "alice"


def test_the_form_is_refused_for_what_no_plan_could_mend(plan: Plan) -> None:
    assert problem_of(form(plan), LAST) == ""
    assert problem_of(form(plan, consumer_group="nobody"), LAST) == ""
    assert "until: is missing" in problem_of(form(plan, until=""), LAST)


def test_a_day_is_over_when_it_is_over_in_utc(plan: Plan) -> None:
    at_its_end = datetime.fromisoformat(f"{UNTIL}T23:59:59Z")

    assert problem_of(form(plan), at_its_end) == ""
    assert "until: is over" in problem_of(form(plan), at_its_end + timedelta(seconds=1))
