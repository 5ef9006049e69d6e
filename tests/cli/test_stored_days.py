"""The size of a group by the days before: a history, a what-if of the command line, and capacity.json."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import render_inventory
from tests.assessment.cases import a_group, a_topic, members, takes
from tests.cli.planned import plan_of
from tests.fixtures.plan_here import PlanHere
from tests.simulation.clusters import cluster, queues

NOW = datetime(2026, 11, 20, 2, tzinfo=UTC)
WHAT_IF = "name: the sale\nchanges: [{change: scale_traffic, factor: 16}]\n"


BEFORE: Final = {"young": (240.0, 13), "busy": (48_000.0, 14), "quiet": (240.0, 14)}
"""Group, and topic -> its messages a second on each of so many days before. Tonight they are 240 for each."""
TONIGHT: Final = dict.fromkeys(BEFORE, 240.0)


def _inventory(msgs_per_s: Mapping[str, float], days_ago: int = 0) -> Inventory:
    """Eight clients of each group that handle 1,000 messages a second each, and 24 queues that get these messages."""
    topics, groups = [], []
    for name, rate in msgs_per_s.items():
        rates = {(broker, i): rate / 24 for broker in ("broker-a", "broker-b") for i in range(12)}
        topics.append(a_topic(name, queues("broker-a", 12), queues("broker-b", 12), rates=rates, stored_days=0))
        clients = members(8, consume_threads=10, consume_batch_size=1, status=takes(name, 10.0))
        groups.append(a_group(name, clients, [topics[-1]], lag=0))
    taken_at = utc_text(NOW - timedelta(days=days_ago))
    return replace(cluster(topics, groups), taken_at=taken_at)


@dataclass(frozen=True)
class Night:
    """plan.json and capacity.json."""

    plan: dict[str, Any]
    capacity: dict[str, Any]

    def group(self, name: str) -> dict[str, Any]:
        """What capacity.json has of a group."""
        (found,) = (one for one in self.capacity["groups"] if one["consumer_group"] == name)
        return dict(found)

    def planned(self, name: str) -> dict[str, Any]:
        """What plan.json has of a group."""
        (found,) = (one for one in self.plan["groups"] if one["consumer_group"] == name)
        return dict(found)

    def sent_away(self, name: str) -> list[str]:
        """Why clients of a group go."""
        of_group = (one for one in self.plan["recommendations"] if one["consumer_group"] == name)
        return [one["reason"] for one in of_group if one["action"] == "SCALE_CONSUMERS"]


def _history() -> list[Inventory]:
    """Fourteen days, the earliest first."""
    return [
        _inventory({name: rate for name, (rate, days) in BEFORE.items() if day <= days}, day)
        for day in range(14, 0, -1)
    ]


def _night(folder: Path) -> Night:
    return Night(*(json.loads((folder / name).read_bytes()) for name in ("plan.json", "capacity.json")))


@pytest.fixture(scope="module")
def tonight(plan_here: PlanHere) -> Night:
    """The plan of the night."""
    now, *before = (json.loads(b"".join(render_inventory(one))) for one in (_inventory(TONIGHT), *_history()))
    return _night(plan_here(now, "{}", history=before))


@pytest.mark.parametrize("name", ["young", "busy"])
def test_nobody_is_sent_away_after_too_few_days_or_after_busy_ones(tonight: Night, name: str) -> None:
    before, days = BEFORE[name]
    group = tonight.group(name)

    assert tonight.sent_away(name) == []
    assert (group["verdict"], group["scale_down_allowed"]) != ("OVER_PROVISIONED", True)
    assert group["min_replicas"] >= 8
    assert group["basis"]["days"] == days
    assert tonight.planned(name)["peak_factor"] == pytest.approx(max(1.0, before / 240), abs=1e-3)


def test_after_fourteen_quiet_days_clients_go(tonight: Night) -> None:
    group = tonight.group("quiet")

    assert (group["verdict"], group["target"], group["confidence"]) == ("OVER_PROVISIONED", 3, "HIGH")
    assert [reason.startswith("Run 3 instead of 8 clients") for reason in tonight.sent_away("quiet")] == [True]
    assert (tonight.capacity["scenario"], tonight.capacity["valid_until"]) == (None, "2026-11-21T02:00:00Z")


def test_a_what_if_has_the_same_days(tmp_path: Path) -> None:
    (tmp_path / "what-if.yaml").write_text(WHAT_IF)
    (tmp_path / "history").mkdir()
    for number, one in enumerate(_history()):
        (tmp_path / "history" / f"{number}.json").write_bytes(b"".join(render_inventory(one)))
    (tmp_path / "tonight.json").write_bytes(b"".join(render_inventory(_inventory(TONIGHT))))
    options = ("--history", tmp_path / "history", "--scenario", tmp_path / "what-if.yaml")
    changed = _night(plan_of(tmp_path / "tonight.json", tmp_path / "out", *options).folder)

    group = changed.group("quiet")
    # 3,840 msg/s over eight clients; six would own four queues of 160 each.
    assert (changed.capacity["scenario"], group["verdict"]) == ("the sale", "RIGHT_PROVISIONED")
    assert group["basis"]["days"] == 14
    assert changed.planned("quiet")["utilisation"]["estimate"] == pytest.approx(0.48)
    assert group["blocked_by"]
