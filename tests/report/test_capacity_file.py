"""capacity.json: bounds for autoscalers, as the plan has them."""

import json
from typing import Any

import msgspec

from rocketmq_capacity.report.capacity_file import capacity_of_plan
from rocketmq_capacity.store.json_file import json_file
from tests.report.from_rows import plan_of
from tests.report.made_scenario import a_scenario
from tests.report.row_builders import a_cluster, a_group
from tests.report.varied_cluster import varied_rows


def _capacity(**group: Any) -> dict[str, Any]:
    plan = plan_of({"cluster": [a_cluster(completeness_ratio=0.97)], "group_status": [a_group("g", **group)]})
    capacity: dict[str, Any] = json.loads(json_file(capacity_of_plan(plan)))
    return capacity


def test_the_file_says_until_when_it_holds_and_how_much_of_the_cluster_answered() -> None:
    found = _capacity()

    assert (found["taken_at"], found["valid_until"]) == ("2026-11-20T02:00:00Z", "2026-11-21T02:00:00Z")
    assert (found["completeness"], found["scenario"]) == (0.97, None)


def test_the_file_of_a_what_if_says_that_it_is_one() -> None:
    plan = plan_of(varied_rows(3), scenario=a_scenario())

    assert capacity_of_plan(plan).scenario == a_scenario()["name"]


def test_a_group_has_its_bounds_with_what_forbids_fewer_and_what_they_are_made_from() -> None:
    found = _capacity(
        connections=4,
        min_replicas=4,
        target_replicas=4,
        max_replicas=8,
        max_useful_replicas=6,
        scale_down_blocked_by=("STUCK_QUEUE", "TOO_FEW_STORED_DAYS"),
        bounds_confidence="MEDIUM",
        provision_code="FITS",
        peak_at="2026-11-19T14:05:00Z",
        peak_days=5,
        peak_rates=12,
    )

    assert found["groups"] == [
        {
            "consumer_group": "g",
            "clients": 4,
            "min_safe": 4,
            "target": 4,
            "max_useful": 6,
            "min_replicas": 4,
            "max_replicas": 8,
            "scale_down_allowed": False,
            "blocked_by": ["STUCK_QUEUE", "TOO_FEW_STORED_DAYS"],
            "basis": {"hour": "2026-11-19T14:00:00Z", "samples": 13, "days": 5},
            "confidence": "MEDIUM",
            "verdict": "UNDECIDED",
            "reason": "no client reports its response time",
            "reason_code": "FITS",
        }
    ]


def test_without_a_peak_of_its_own_the_basis_is_the_hour_of_the_snapshot() -> None:
    (group,) = _capacity()["groups"]

    assert group["basis"] == {"hour": "2026-11-20T02:00:00Z", "samples": 1, "days": 0}
    assert msgspec.json.decode(json.dumps(group))["min_replicas"] is None
