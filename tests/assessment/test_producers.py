"""PERMANENT_DISPLACEMENT: producers whose version can displace a queue for ever (apache/rocketmq#7779)."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import Inventory, InventoryProducer
from tests.assessment.judge import Row, judge
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import pay_cluster


def producer(
    version: str | None, client_id: str = "10.0.0.9@9#9", group: str = "p_pay", **more: Any
) -> InventoryProducer:
    return InventoryProducer(producer_group=group, client_id=client_id, version=version, **{"language": "JAVA"} | more)


def cluster_of(*producers: InventoryProducer) -> Inventory:
    return replace(pay_cluster(), producers=producers)


def found(*producers: InventoryProducer) -> list[Row]:
    return [row for row in judge(cluster_of(*producers)).findings if row["rule"] == "PERMANENT_DISPLACEMENT"]


@pytest.mark.parametrize("version", ["V4_0_0", "V4_9_7", "V5_0_0", "V5_1_3"])
def test_a_producer_of_a_faulty_version_is_named(version: str) -> None:
    (row,) = found(producer(version), producer("V5_3_3", "good"))
    assert (row["severity"], row["subjects"]) == ("INFO", ["10.0.0.9@9#9"])
    assert row["evidence"]["producers"] == [{"producer_group": "p_pay", "version": version, "clients": 1}]


@pytest.mark.parametrize("version", ["V4_9_8", "V5_1_4", "V5_3_3", "V5_0_0_SNAPSHOT", "HIGHER_VERSION", None])
def test_a_producer_of_another_version_or_an_unknown_one_is_not(version: str | None) -> None:
    assert found(producer(version)) == []


def test_clients_of_other_languages_have_code_of_their_own() -> None:
    assert found(producer("V4_9_7", language="GO"), producer("V4_9_7", language=None)) == []


def test_producers_are_counted_by_group_and_version() -> None:
    (row,) = found(
        producer("V4_9_7", "a"),
        producer("V4_9_7", "a"),
        producer("V5_1_0", "b"),
        producer("V4_9_7", "c", group="p_ship"),
    )
    assert (row["evidence"]["clients"], row["subjects"]) == (4, ["a", "b", "c"])
    assert row["evidence"]["producers"] == [
        {"producer_group": "p_pay", "version": "V4_9_7", "clients": 2},
        {"producer_group": "p_pay", "version": "V5_1_0", "clients": 1},
        {"producer_group": "p_ship", "version": "V4_9_7", "clients": 1},
    ]
    assert row["evidence"]["fixed_in"] == ["4.9.8", "5.1.4"]


def test_an_inventory_without_producers_says_nothing_of_them() -> None:
    assert found() == []
    assert not [one for one in judge(pay_cluster()).findings if one["rule"] == "PERMANENT_DISPLACEMENT"]


def test_the_finding_is_looked_into() -> None:
    plan = plain_plan(cluster_of(producer("V4_9_7")))
    (answer,) = [one for one in plan.recommendations if "PERMANENT_DISPLACEMENT" in one.rules]
    assert (answer.action, answer.consumer_group, answer.topic) == ("INVESTIGATE", None, None)
    assert json.loads(answer.before) == {}
