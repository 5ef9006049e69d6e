"""A recorded inventory as of another moment."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.snapshot.dated import dated
from rocketmq_capacity.snapshot.fingerprint import fingerprint
from rocketmq_capacity.snapshot.inventory import Inventory, PastDisk
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, read_inventory, render_inventory
from tests.fixtures.plain_plan import plain_plan

TODAY = datetime(2027, 3, 1, tzinfo=UTC)
TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
MILLISECONDS = re.compile(r"1[789]\d{11}")


@pytest.fixture(scope="module")
def sample() -> Inventory:
    return read_inventory(sample_inventory())


def moments(value: Any, place: str = "$") -> dict[str, datetime]:
    """Every moment that an inventory holds, by its place, whatever member holds it."""
    if isinstance(value, dict):
        return {k: v for name, one in value.items() for k, v in moments(one, f"{place}.{name}").items()}
    if isinstance(value, list):
        return {k: v for index, one in enumerate(value) for k, v in moments(one, f"{place}[{index}]").items()}
    if isinstance(value, str) and TIME.fullmatch(value):
        return {place: datetime.fromisoformat(value)}
    if isinstance(value, str) and MILLISECONDS.fullmatch(value):
        return {place: datetime.fromtimestamp(int(value) / 1000, UTC)}
    return {}


def test_every_moment_of_the_sample_moves_by_as_much(sample: Inventory) -> None:
    was = moments(json.loads(b"".join(render_inventory(sample))))
    now = moments(json.loads(b"".join(render_inventory(dated(sample, TODAY)))))

    recorded = now.pop("$.recorded_at")
    assert recorded == was["$.taken_at"]
    assert now["$.taken_at"] == TODAY
    assert now.keys() == was.keys()
    assert {now[place] - was[place] for place in was} == {TODAY - recorded}
    kinds = {re.sub(r"\[\d+\]", "", place) for place in was}
    assert {"$.consumer_groups.clients.started_at", "$.consumer_groups.offsets.samples.at"} < kinds
    assert {"$.brokers.master_changed_at", "$.consumer_groups.clients.owned_queues.last_pulled_at"} < kinds
    assert "$.brokers.runtime.earliestMessageTimeStamp" in kinds


def test_the_disks_of_earlier_days_move_as_well(sample: Inventory) -> None:
    was = PastDisk(at="2026-11-19T02:00:00Z", used_ratio=0.5)
    stored = replace(sample, brokers=(replace(sample.brokers[0], disks=(was,)),))
    (broker,) = dated(stored, stored.taken_at_utc + timedelta(days=30)).brokers

    assert broker.disks == (PastDisk(at="2026-12-19T02:00:00Z", used_ratio=0.5),)


def test_it_is_planned_as_before(sample: Inventory) -> None:
    was, now = plain_plan(sample), plain_plan(dated(sample, TODAY))

    def said(plan: Any) -> list[Any]:
        return [(one.rule, one.severity, one.subjects, one.message) for one in plan.findings]

    assert said(now) == said(was)
    assert len(said(was)) > 8
    assert [one.id for one in now.recommendations] == [one.id for one in was.recommendations]


def test_it_is_a_snapshot_of_its_own_and_read_as_it_was_written(sample: Inventory) -> None:
    today = dated(sample, TODAY)

    assert fingerprint(today) != fingerprint(sample)
    assert parse_inventory(b"".join(render_inventory(today)), source="it") == today


def test_dated_twice_it_still_says_when_it_was_recorded(sample: Inventory) -> None:
    assert dated(dated(sample, TODAY - timedelta(days=1)), TODAY) == dated(sample, TODAY)


def test_what_is_unknown_stays_unknown(sample: Inventory) -> None:
    group = replace(sample.consumer_groups[0], clients=None, offsets=None)
    broker = replace(sample.brokers[0], runtime=None)
    bare = replace(sample, consumer_groups=(group,), brokers=(broker,))

    today = dated(bare, TODAY)

    assert (today.consumer_groups, today.brokers) == (bare.consumer_groups, bare.brokers)
