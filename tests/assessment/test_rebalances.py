"""REBALANCE_FREQUENCY: members that come and go, told apart from a deployment."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryFailure, parse_utc
from tests.assessment.cases import a_group, a_topic
from tests.assessment.judge import Row, judge
from tests.recommendation.cases import broker
from tests.simulation.clusters import AT, cluster, queues

Started = dict[str, str]
"""Client ids and when they were started."""
HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")
STEADY: Started = {f"{host}@1": "2026-11-19T20:00:00Z" for host in HOSTS}


def at(minutes_ago: float, started: Started | None, **facts: Any) -> Inventory:
    """The cluster so many minutes ago, whose group has these clients; None: they are unknown."""
    group = a_group("g_pay", (), [a_topic("pay", queues("broker-a", 8))])
    clients = (
        None
        if started is None
        else tuple(
            Client(client_id=name, client_addr=f"{name.partition('@')[0]}:40000", started_at=moment)
            for name, moment in started.items()
        )
    )
    taken = parse_utc(AT) - timedelta(minutes=minutes_ago)
    inventory = cluster(
        [a_topic("pay", queues("broker-a", 8))], [replace(group, clients=clients)], (broker("broker-a"),)
    )
    return replace(inventory, taken_at=utc_text(taken), **facts)


def found(*inventories: Inventory, **thresholds: Any) -> list[Row]:
    policy = Policy.model_validate({"thresholds": {"REBALANCE_FREQUENCY": thresholds}})
    judged = judge(inventories[-1], policy, inventories[:-1])
    return [one for one in judged.findings if one["rule"] == "REBALANCE_FREQUENCY"]


def every_ten_minutes(*each: Started | None) -> list[Inventory]:
    """The last of them is the planned one."""
    return [at(10 * (len(each) - 1 - place), started) for place, started in enumerate(each)]


def with_client(name: str, moment: str = "2026-11-20T01:00:00Z") -> Started:
    return {**STEADY, name: moment}


RESTARTED = [with_client("10.0.0.9@1", f"2026-11-20T01:{minute}:00Z") for minute in (10, 20, 30, 40)]
RENAMED = [with_client(f"10.0.0.9@{number}") for number in range(4)]
FLAPPING = [with_client("10.0.0.9@1"), STEADY] * 3 + [with_client("10.0.0.9@1")]


@pytest.mark.parametrize("course", [RESTARTED, RENAMED, FLAPPING], ids=["restarted", "renamed", "flapping"])
def test_a_host_whose_client_comes_three_times_is_named(course: Sequence[Started]) -> None:
    (finding,) = found(*every_ten_minutes(*course))

    assert finding["severity"] == "WARNING"
    assert finding["subjects"] == ["10.0.0.9"]
    assert finding["evidence"]["hosts"] == [{"host": "10.0.0.9", "came": 3, "clients": 1}]
    assert finding["evidence"]["clients"] == 5


def test_a_deployment_that_is_taken_back_is_none() -> None:
    first = {f"{host}@2": "2026-11-20T01:10:00Z" for host in HOSTS}
    back = {f"{host}@3": "2026-11-20T01:20:00Z" for host in HOSTS}

    assert found(*every_ten_minutes(STEADY, {**STEADY, **first}, first, {**first, **back}, back)) == []


def test_pods_that_are_replaced_again_and_again_elsewhere_are_told_of_the_group() -> None:
    course = [{f"10.0.{turn}.{number}@1": "2026-11-20T01:00:00Z" for number in range(4)} for turn in range(4)]
    (finding,) = found(*every_ten_minutes(*course))

    assert finding["subjects"] == []
    assert (finding["evidence"]["came"], finding["evidence"]["left"]) == (12, 12)
    assert finding["message"] == "In 0.5 hours at least 12 clients came and 12 left, of 4 at the same time at most."


def test_what_does_not_change_or_is_not_known_is_silent() -> None:
    assert found(*every_ten_minutes(*[STEADY] * 6)) == []
    assert found(*every_ten_minutes(RESTARTED[0], None, RESTARTED[2], None, RESTARTED[3])) == []
    assert found(at(0, STEADY)) == []


def test_snapshots_that_are_far_apart_old_or_with_failures_are_not_compared() -> None:
    broken = (InventoryFailure(broker_addr="10.0.1.1:10911", request="GET_ALL_TOPIC_CONFIG", error="timed out"),)

    assert found(*(at(61 * (3 - place), one) for place, one in enumerate(RESTARTED))) == []
    assert found(*(at(200 + 10 * (3 - place), one) for place, one in enumerate(RESTARTED)), at(0, STEADY)) == []
    assert found(*(replace(one, failures=broken) for one in every_ten_minutes(*RESTARTED))) == []
    assert found(*every_ten_minutes(*RESTARTED), returns=4.0) == []
