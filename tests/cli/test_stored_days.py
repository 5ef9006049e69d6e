"""The size of a group by the days before, through the command line: --history, --scenario and capacity.json."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import render_inventory
from tests.assessment.cases import a_group, a_topic, members, takes
from tests.cli.planned import plan_of
from tests.simulation.clusters import cluster, queues

NOW = datetime(2026, 11, 20, 2, tzinfo=UTC)
WHAT_IF = "name: the sale\nchanges: [{change: scale_traffic, factor: 16}]\n"


def _tonight(msgs_per_s: float, days_ago: int = 0) -> Inventory:
    """Eight clients that handle 1,000 messages a second each, and 24 queues on two brokers that get these messages."""
    rates = {(broker, i): msgs_per_s / 24 for broker in ("broker-a", "broker-b") for i in range(12)}
    topic = a_topic("t", queues("broker-a", 12), queues("broker-b", 12), rates=rates, stored_days=0)
    clients = members(8, consume_threads=10, consume_batch_size=1, status=takes("t", 10.0))
    taken_at = (NOW - timedelta(days=days_ago)).isoformat().replace("+00:00", "Z")
    return replace(cluster([topic], [a_group("g", clients, [topic], lag=0)]), taken_at=taken_at)


def _planned(folder: Path, before: float, days: int, *options: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """plan.json and capacity.json of a night with 240 msg/s, after so many days with another rate."""
    (folder / "history").mkdir()
    for day in range(1, days + 1):
        (folder / "history" / f"{day}.json").write_bytes(b"".join(render_inventory(_tonight(before, day))))
    (folder / "tonight.json").write_bytes(b"".join(render_inventory(_tonight(240.0))))
    plan_of(folder / "tonight.json", folder / "out", "--history", folder / "history", *options)
    plan, capacity = (json.loads((folder / "out" / name).read_bytes()) for name in ("plan.json", "capacity.json"))
    return plan, capacity


def _sent_away(plan: dict[str, Any]) -> list[str]:
    return [one["reason"] for one in plan["recommendations"] if one["action"] == "SCALE_CONSUMERS"]


@pytest.mark.parametrize(("before", "days"), [(240.0, 13), (48_000.0, 14)])
def test_nobody_is_sent_away_after_too_few_days_or_after_busy_ones(tmp_path: Path, before: float, days: int) -> None:
    plan, capacity = _planned(tmp_path, before, days)
    (group,) = capacity["groups"]

    assert _sent_away(plan) == []
    assert (group["verdict"], group["scale_down_allowed"]) != ("OVER_PROVISIONED", True)
    assert group["min_replicas"] >= 8
    assert group["basis"]["days"] == days
    assert plan["groups"][0]["peak_factor"] == pytest.approx(max(1.0, before / 240), abs=1e-3)


def test_after_fourteen_quiet_days_clients_go_and_a_what_if_has_the_same_days(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    plan, capacity = _planned(tmp_path / "plain", 240.0, 14)

    (group,) = capacity["groups"]
    assert (group["verdict"], group["target"], group["confidence"]) == ("OVER_PROVISIONED", 3, "HIGH")
    assert [reason.startswith("Run 3 instead of 8 clients") for reason in _sent_away(plan)] == [True]
    assert (capacity["scenario"], capacity["valid_until"]) == (None, "2026-11-21T02:00:00Z")

    (tmp_path / "changed").mkdir()
    scenario = tmp_path / "what-if.yaml"
    scenario.write_text(WHAT_IF)
    plan, capacity = _planned(tmp_path / "changed", 240.0, 14, "--scenario", scenario)

    (group,) = capacity["groups"]
    # 3,840 msg/s over eight clients; six would own four queues of 160 each.
    assert (capacity["scenario"], group["verdict"], group["basis"]["days"]) == ("the sale", "RIGHT_PROVISIONED", 14)
    assert plan["groups"][0]["utilisation"]["estimate"] == pytest.approx(0.48)
    assert group["blocked_by"]
