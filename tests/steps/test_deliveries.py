"""Queues that are added as recommended: offsets of both runs say whether more messages come again than predicted."""

from typing import TYPE_CHECKING

import msgspec
import pytest

from rocketmq_capacity.plan_file.ledger import LedgerFigure
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from tests.fixtures.days import Days, entry, expansion
from tests.steps.test_ledger import inventory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow
READ = 100_000
BACK = 90_000
"""Messages by which one offset goes back."""


def of_day(day: int) -> Inventory:
    """Two topics with 4 queues, and on the second day with 6; then one offset of the second one has gone back."""
    queues = 4 if day == 20 else 6
    document = msgspec.json.decode(b"".join(render_inventory(inventory(day, {"carts": queues, "orders": queues}))))
    for group in document["consumer_groups"]:
        for offset in group["offsets"]:
            is_back = day > 20 and offset["topic"] == "orders" and offset["queue_id"] == 1
            offset |= {"broker_offset": READ, "consumer_offset": READ - BACK if is_back else READ}
    for topic in document["topics"]:
        for offset in topic["offsets"]:
            offset["max_offset"] = READ
    return parse_inventory(msgspec.json.encode(document), source="inventory")


def twice(plan: Plan, id_: str) -> LedgerFigure:
    (found,) = (one for one in entry(plan, id_).predictions if one.figure == "messages_twice_worst")
    return found


def test_an_offset_that_went_back_further_than_predicted_is_a_wrong_prediction(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> None:
    days = Days(spark, tmp_path_factory.mktemp("lake"))
    first = days.plan(20, of_day(20))
    second = days.plan(21, of_day(21))
    carts, orders = (expansion(first, topic) for topic in ("carts", "orders"))

    assert orders.transition
    bound = orders.transition.messages_twice_worst
    assert bound is not None
    assert bound < BACK
    assert (entry(second, orders.id).state, entry(second, orders.id).is_prediction_wrong) == ("FAILED", True)
    found = twice(second, orders.id)
    assert (found.predicted, found.came, found.is_right) == (bound, BACK, False)

    assert entry(second, carts.id).state == "VERIFIED"
    found = twice(second, carts.id)
    assert (found.came, found.is_right) == (None, None)
    assert found.why == "no broker counts what is delivered twice; no offset went back"
