"""A plan by a policy that tells whose groups are, what is accepted, and when nothing may be changed."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from rocketmq_capacity.vocabulary import changes_cluster
from tests.fixtures.plan_here import PlanHere

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

Planned = Callable[..., tuple[dict[str, Any], Path]]
BEFORE, NOW, LATER = (f"2026-11-{day}T02:00:00Z" for day in (19, 20, 26))
POLICY: Final = """
groups:
  - {match: '^g_pay', owner: payments, tier: 1, max_lag_s: 60, standby: 1}
  - {match: '^g_night', owner: reports, tier: 2, schedule: '0 6-22 * * *'}
  - {match: '.', owner: platform}
accepted:
  - {rule: DUPLICATE_CLIENT_ID, consumer_group: g_twin, by: li, why: until the rollout, until: 2026-11-25}
  - {rule: DUPLICATE_CLIENT_ID, consumer_group: g_gone, by: li, why: until the rollout, until: 2026-11-25}
  - {rule: IDLE_CONSUMERS, consumer_group: g_crowd, by: wang, why: until the rollout, until: 2026-11-25}
freeze:
  - {from: 2026-11-20T00:00:00Z, to: 2026-11-21T00:00:00Z, why: the sale}
"""


def group(name: str, clients: list[str], lag: int = 0, read_at: str | None = None) -> dict[str, Any]:
    return {
        "consumer_group": name,
        "message_model": "CLUSTERING",
        "message_request_mode": "PULL",
        "subscriptions": [{"topic": "pay", "expression_type": "TAG", "expression": "*"}],
        "clients": [{"client_id": one, "allocate_strategy": "AVG", "seen_on": ["broker-a"]} for one in clients],
        "offsets": [
            {
                "topic": "pay",
                "broker_name": "broker-a",
                "queue_id": queue,
                "broker_offset": 5_000,
                "consumer_offset": 5_000 - lag,
                "last_timestamp": read_at,
            }
            for queue in range(4)
        ],
    }


def cluster(taken_at: str, crowd: int = 0) -> dict[str, Any]:
    return {
        "format": "rocketmq-capacity/inventory/1",
        "cluster_name": "C1",
        "taken_at": taken_at,
        "brokers": [
            {"broker_name": "broker-a", "broker_id": 0, "broker_addr": "10.0.1.1:10911", "broker_perm": 6},
        ],
        "topics": [
            {
                "topic": "pay",
                "message_type": "NORMAL",
                "order": False,
                "queues": [{"broker_name": "broker-a", "read_queue_nums": 4, "write_queue_nums": 4, "perm": 6}],
                "offsets": [
                    {
                        "broker_name": "broker-a",
                        "queue_id": i,
                        "min_offset": 0,
                        "max_offset": 5_000,
                        "put_msgs_per_s": 10,
                    }
                    for i in range(4)
                ],
            }
        ],
        "consumer_groups": [
            group("g_pay", [f"10.0.0.{i}@1#1" for i in range(1, 6)], 3_000, f"{taken_at[:11]}01:55:00Z"),
            group("g_night", [], 4_000, f"{taken_at[:8]}18T20:00:00Z"),
            group("g_twin", ["10.0.2.1@1#1"] * 2),
            *([group("g_crowd", [f"10.0.3.{i}@1#1" for i in range(crowd)])] if crowd else []),
        ],
    }


@pytest.fixture
def planned(plan_here: PlanHere) -> Planned:
    """Plans the cluster of a moment, and gives plan.json and its folder."""

    def plan(taken_at: str, *before: dict[str, Any], crowd: int = 0) -> tuple[dict[str, Any], Path]:
        out = plan_here(cluster(taken_at, crowd), POLICY, history=before)
        return json.loads((out / "plan.json").read_bytes()), out

    return plan


def found(plan: dict[str, Any], group: str) -> dict[str, dict[str, Any]]:
    return {one["rule"]: one for one in plan["findings"] if one["consumer_group"] == group}


def test_a_plan_says_whose_everything_is_what_is_accepted_and_that_nothing_may_be_changed(planned: Planned) -> None:
    plan, out = planned(NOW)

    assert {one["consumer_group"]: (one["owner"], one["tier"]) for one in plan["groups"]} == {
        "g_pay": ("payments", 1),
        "g_night": ("reports", 2),
        "g_twin": ("platform", None),
    }
    # Five clients of four queues: the one that is idle is a standby.
    assert set(found(plan, "g_pay")) == {"LAG_STATE"}
    late = found(plan, "g_pay")["LAG_STATE"]
    assert (late["owner"], late["evidence"]["max_lag_s"], late["evidence"]["late_queues"]) == ("payments", 60, 4)
    assert found(plan, "g_night") == {}
    twin = found(plan, "g_twin")["DUPLICATE_CLIENT_ID"]
    assert twin["accepted"] == {"by": "li", "why": "until the rollout", "until": "2026-11-25"}
    in_causes = {one for cause in plan["causes"] for one in cause["findings"]}
    assert in_causes == {one["id"] for one in plan["findings"] if one["accepted"] is None}
    assert [one["state"] for one in plan["accepted"]] == ["ACCEPTED", "UNMATCHED", "UNMATCHED"]
    assert plan["freeze"]["why"] == "the sale"
    assert len(plan["notes"]) == 2
    commands = [command for one in plan["recommendations"] for command in one["commands"]]
    assert commands
    # The answers to these findings change clients, not the cluster: what only looks is not frozen.
    assert all(command.startswith("mqadmin ") and not changes_cluster(command) for command in commands)
    assert {file.name for file in (out / "by-owner").iterdir()} == {"payments.csv", "platform.csv", "reports.csv"}
    with (out / "by-owner/payments.csv").open(newline="") as file:
        assert "LAG_STATE" in {line["rule"] for line in csv.DictReader(file)}


def test_on_the_day_after_the_risk_is_back_and_after_the_freeze_commands_can_be_run(planned: Planned) -> None:
    plan, _ = planned(LATER)

    assert found(plan, "g_twin")["DUPLICATE_CLIENT_ID"]["accepted"] is None
    assert [one["state"] for one in plan["accepted"]] == ["EXPIRED", "EXPIRED", "EXPIRED"]
    assert plan["freeze"] is None
    commands = [command for one in plan["recommendations"] for command in one["commands"]]
    assert any(command.startswith("mqadmin ") for command in commands)


@pytest.mark.parametrize(("crowd_before", "state"), [(5, "WORSE"), (12, "ACCEPTED")])
def test_an_accepted_risk_is_back_where_it_is_worse_than_in_the_plans_before(
    planned: Planned, crowd_before: int, state: str
) -> None:
    # One of five clients is idle, which is a note; eight of twelve are a warning.
    plan, _ = planned(NOW, cluster(BEFORE, crowd_before), crowd=12)

    idle = found(plan, "g_crowd")["IDLE_CONSUMERS"]
    assert (idle["severity"], idle["accepted"] is None) == ("WARNING", state == "WORSE")
    assert plan["accepted"][2]["state"] == state
