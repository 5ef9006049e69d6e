"""A plan of a run that decides otherwise than the deployment's policy: what it says, and what it is not."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.handover.observed import Observed
from rocketmq_capacity.provider.approval import question_about
from rocketmq_capacity.report.capacity_file import capacity_of_plan
from rocketmq_capacity.report.refusal import hindrance
from rocketmq_capacity.report.scripts import scripts_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.store.lake import Lake
from tests.cli.plan_file import strictly_read
from tests.plugins.stored_reports import A_TRIAL, CLUSTER, LAST, put_days, put_trial
from tests.report.from_rows import plan_bytes, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.varied_cluster import varied_rows

LATER = LAST + timedelta(hours=22)
NOW = LAST + timedelta(hours=23.5)
REPLACING = replace(A_TRIAL, is_trial=False)
pytestmark = pytest.mark.airflow


def test_a_trial_says_what_it_decides_otherwise_and_hands_nothing_over() -> None:
    rows = varied_rows(6)
    rows["cluster"][0]["fingerprint"] = "a" * 64
    trial = plan_of(rows, own_policy=A_TRIAL)

    read = strictly_read(plan_bytes(trial))
    assert read.trial is True
    assert [(one.key, one.deployment, one.run) for one in read.policy_differences or ()] == [
        ("strategies", ["AVG", "POP"], ["AVG"]),
        ("thresholds.HOT_QUEUE.peak", 2.0, 3.0),
    ]
    assert (trial.changes, trial.recommendations_digest) == (None, UNSET)
    assert set(handed_over(trial, Policy(), Observed()).values()) == {None}
    assert list(scripts_of(trial)) == []
    assert (capacity_of_plan(trial).scenario or "").startswith("a trial: strategies is AVG instead of AVG, POP; ")


def test_a_run_that_replaces_the_plan_is_one_and_says_the_same() -> None:
    plan, replacing = plan_of(varied_rows(6)), plan_of(varied_rows(6), own_policy=REPLACING)

    assert replacing == replace(plan, policy_differences=A_TRIAL.differences, trial=False)
    assert plan.recommendations_digest is not UNSET
    assert capacity_of_plan(replacing).scenario is None


def test_a_what_if_says_what_it_decides_otherwise_and_is_no_trial() -> None:
    what_if = plan_of(varied_rows(6), scenario=a_scenario(), own_policy=A_TRIAL)

    assert what_if.policy_differences == A_TRIAL.differences
    assert what_if.trial is UNSET


def test_nobody_is_asked_to_approve_a_trial_and_it_closes_no_other_question(tmp_path: Path) -> None:
    lake, (plan,) = Lake(tmp_path), put_days(tmp_path, 1)
    plan.inventory.write_text("{}")
    trial = put_trial(tmp_path, LATER)
    trial.inventory.write_text("{}")

    assert question_about(trial.folder.name, lake, NOW) is None
    assert question_about(plan.folder.name, lake, NOW) is not None
    tried = plan_of(varied_rows(6), own_policy=A_TRIAL)
    assert hindrance(tried, lake.run(CLUSTER, "r1"), lake, datetime(2026, 11, 1, tzinfo=UTC)) == (
        "it is a trial with another policy, and not the day's plan"
    )

    replacing = put_trial(tmp_path, LATER + timedelta(minutes=15), own_policy=REPLACING)
    replacing.inventory.write_text("{}")
    assert question_about(replacing.folder.name, lake, NOW) is not None
    assert question_about(plan.folder.name, lake, NOW) is None
