"""Risks that people have accepted in Airflow, as the lake keeps them."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.accepted import AcceptedRisk
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.steps.planning import Planning, with_acceptances
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.store.acceptances import acceptances, keep_acceptance
from rocketmq_capacity.store.lake import Lake
from tests.kills.steps import no_session
from tests.simulation.clusters import pay_cluster

AT = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
RISK = AcceptedRisk(
    rule="IDLE_CONSUMERS",
    consumer_group="g_pay",
    by="alice",
    why="a rollout",
    until=date(2026, 12, 1),
    severity="WARNING",
)


def risk(**changes: Any) -> AcceptedRisk:
    return RISK.model_copy(update=changes)


def test_what_was_accepted_up_to_the_snapshot_counts_in_every_plan_of_it(tmp_path: Path) -> None:
    keep_acceptance(tmp_path, RISK, AT)

    assert acceptances(tmp_path, "2026-11-20T07:59:59Z") == ()
    assert acceptances(tmp_path, "2026-11-20T08:00:00Z") == (RISK,)
    assert acceptances(tmp_path, "2026-12-01T23:59:59Z") == (RISK,)
    assert acceptances(tmp_path, "2026-12-02T00:00:00Z") == ()


def test_a_risk_is_added_and_nothing_that_is_there_is_changed(tmp_path: Path) -> None:
    first = keep_acceptance(tmp_path, RISK, AT)
    content = first.read_bytes()
    longer, longest = risk(until=date(2027, 1, 1)), risk(until=date(2027, 2, 1))
    keep_acceptance(tmp_path, longer, AT)
    keep_acceptance(tmp_path, longest, AT.replace(hour=9))

    assert first.read_bytes() == content
    found = acceptances(tmp_path, "2026-11-21T00:00:00Z")
    assert found[0] == longest  # the last one comes first
    assert sorted(one.until for one in found[1:]) == [RISK.until, longer.until]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    file = keep_acceptance(tmp_path, RISK, AT)
    file.write_text("{}")

    with pytest.raises(BadInput, match="is not an accepted risk") as refused:
        acceptances(tmp_path, "2026-11-21T00:00:00Z")
    assert str(file) in str(refused.value)


def test_the_next_plan_of_the_same_cluster_reads_it_as_if_it_were_in_the_policy(tmp_path: Path) -> None:
    lake, told = Lake(tmp_path), risk(by="li")
    keep_acceptance(tmp_path / "C1", RISK, AT)
    policy = Policy(accepted=(told,))

    next_day = "2026-11-21T02:00:00Z"
    assert with_acceptances(policy, lake.run("C1", "r2"), next_day).accepted == (told, RISK)
    assert with_acceptances(policy, lake.run("C2", "r2"), next_day).accepted == (told,)


def test_a_run_decides_by_it(tmp_path: Path) -> None:
    keep_acceptance(tmp_path / "C1", RISK, AT.replace(hour=1))
    planning = Planning(no_session, Lake(tmp_path).run("C1", "r2"), Policy())
    snapshot(planning, pay_cluster())

    assert planning.judging.accepted == (RISK,)


def test_the_folder_is_no_run_of_the_cluster(tmp_path: Path) -> None:
    keep_acceptance(tmp_path / "C1", RISK, AT)

    assert list(Lake(tmp_path).runs("C1")) == []
