"""Five days of a cluster: a client is slow for two of them, and its finding opens and closes with the second plan."""

from typing import TYPE_CHECKING

import msgspec
import pytest

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from tests.fixtures.days import Days
from tests.steps.test_ledger import inventory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow
SLOW_DAYS = (21, 22)


def of_day(day: int) -> Inventory:
    """One of six clients takes fifty times as long on slow days."""
    document = msgspec.json.decode(b"".join(render_inventory(inventory(day, {"carts": 6}))))
    if day in SLOW_DAYS:
        document["consumer_groups"][0]["clients"][0]["status"][0]["consume_rt_ms"] = 50.0
    return parse_inventory(msgspec.json.encode(document), source="inventory")


def outlier(plan: Plan) -> tuple[str, str | None] | None:
    """The state of what is found of the client, and since when; None if the plan does not name it."""
    assert plan.changes
    found = [(str(one.state), one.since or None) for one in plan.findings if one.rule == "CLIENT_OUTLIER"]
    found += [("CLOSING", one.since) for one in plan.changes.closing]
    found += [("GONE", None) for one in plan.changes.gone if one.rule == "CLIENT_OUTLIER"]
    return found[0] if found else None


def test_what_one_measurement_decides_opens_and_closes_with_the_second_plan(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> None:
    days = Days(spark, tmp_path_factory.mktemp("lake"))
    plans = [days.plan(day, of_day(day)) for day in (20, 21, 22, 23, 24)]
    first = "2026-11-21T02:00:00Z"

    assert plans[0].changes is None
    assert all(not one.state for one in plans[0].findings)
    assert [outlier(plan) for plan in plans[1:]] == [
        ("PENDING", first),
        ("OPEN", first),
        ("CLOSING", first),
        ("GONE", None),
    ]
    assert [len(plan.changes.new) for plan in plans[1:] if plan.changes] == [0, 1, 0, 0]
