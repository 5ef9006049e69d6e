"""FIX_CLIENT_ID and FIX_SUBSCRIPTION: what is set up wrongly in clients; the commands only look."""

from typing import Any

import pytest

from rocketmq_capacity.snapshot.inventory import Client
from tests.assessment.cases import ago, member, members
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import NAMESERVER, Cases
from tests.simulation.clusters import queues, reads

CASES = Cases()
_two = (queues("broker-a", 3), queues("broker-b", 3))


def _twice(**facts: Any) -> list[Client]:
    return [member(client_id, **facts) for client_id in ("c01", "c01", "c02")]


CASES.case("same_id", _twice(), *_two)
CASES.case("same_id_old", _twice(language="JAVA", version="V4_8_0"), *_two)
CASES.case("same_id_new", _twice(language="JAVA", version="V4_9_0"), *_two)
CASES.case("same_id_of_python", _twice(language="PYTHON", version="V4_8_0"), *_two)
CASES.case("same_id_unknown_version", _twice(language="JAVA", version="HIGHER_VERSION"), *_two)
CASES.case("same_id_own_strategy", _twice(allocate_strategy="com.acme.Own"), *_two)
CASES.case(
    "same_id_one_unknown_strategy",
    [member("c01", allocate_strategy="AVG"), member("c01", allocate_strategy="com.acme.Own"), member("c02")],
    *_two,
)
_two_strategies = [member("c01", allocate_strategy=name) for name in ("AVG_BY_CIRCLE", "AVG")]
CASES.case("same_id_two_strategies", [*_two_strategies, member("c02")], *_two)
CASES.case("same_id_other_order", [*reversed(_two_strategies), member("c02")], *_two)
CASES.case("same_id_broadcasts", _twice(), *_two, message_model="BROADCASTING")
CASES.case("own_ids", members(3), *_two)
CASES.topic("differs_1", *_two)
CASES.topic("differs_2", *_two)
CASES.group(
    "differs",
    [
        member("c01", subscriptions=(reads("differs_1"), reads("differs_2"))),
        member("c02", subscriptions=(reads("differs_1"), reads("differs_2"))),
        member("c03", subscriptions=(reads("differs_1"),)),
    ],
    "differs_1",
    "differs_2",
)
CASES.topic("filters", *_two)
CASES.group(
    "filters",
    [
        member("c01", subscriptions=(reads("filters", "TagA"),)),
        member("c02", subscriptions=(reads("filters", "TagB"),)),
    ],
    "filters",
)
CASES.topic("just_started", *_two)
CASES.group(
    "just_started",
    [
        member("c01", subscriptions=(reads("just_started", "TagA"),), started_at=ago(60)),
        member("c02", subscriptions=(reads("just_started", "TagB"),)),
    ],
    "just_started",
)
BEFORE_4_9 = "Java clients before 4.9.0 use their process id alone, which repeats: upgrade them."


def test_who_shares_an_id_is_named_and_what_it_costs(answered: Answers) -> None:
    """Of six queues c01, c01 and c02 take two each; the second c01 takes the first one's."""
    found = answered.one("FIX_CLIENT_ID", "same_id")

    assert found["rules"] == ["DUPLICATE_CLIENT_ID", "ORPHAN_QUEUE"]
    assert found["reason"] == (
        "Give each consumer an id of its own (instanceName or clientIP in its set-up); now shared: c01. Then queues"
        " that nobody reads go from 2 to 0 and queues that are read twice go from 2 to 0."
    )
    assert (found["before"]["orphan_queues"], found["before"]["doubly_owned_queues"]) == (2, 2)
    assert (found["after"]["orphan_queues"], found["after"]["doubly_owned_queues"]) == (0, 0)


def test_every_broker_is_asked_who_is_in_the_group(answered: Answers) -> None:
    found = answered.one("FIX_CLIENT_ID", "same_id")

    assert not found["is_manual"]
    assert [command.split()[1] for command in found["commands"]] == ["consumerConnection"] * 2
    assert [options(command) for command in found["commands"]] == [
        {"-n": NAMESERVER, "-g": "same_id", "-b": f"{broker}:10911"} for broker in ("broker-a", "broker-b")
    ]


def test_old_java_clients_are_to_be_upgraded(answered: Answers) -> None:
    assert BEFORE_4_9 in answered.one("FIX_CLIENT_ID", "same_id_old")["reason"]
    for name in ("same_id", "same_id_new", "same_id_of_python", "same_id_unknown_version"):
        assert BEFORE_4_9 not in answered.one("FIX_CLIENT_ID", name)["reason"]


@pytest.mark.parametrize("name", ["same_id_own_strategy", "same_id_one_unknown_strategy"])
def test_what_cannot_be_computed_is_not_said(answered: Answers, name: str) -> None:
    """Nor is it where only the second of two consumers with one id runs what cannot be computed."""
    found = answered.one("FIX_CLIENT_ID", name)

    assert "go from" not in found["reason"]
    assert found["before"] == found["after"] == dict.fromkeys(("idle", "orphan_queues", "doubly_owned_queues", "count"))


def test_consumers_with_one_id_may_run_different_strategies(answered: Answers) -> None:
    found = answered.one("FIX_CLIENT_ID", "same_id_two_strategies")

    assert found["before"]["orphan_queues"] > 0
    assert found["after"]["orphan_queues"] is not None


def test_the_order_of_consumers_in_the_inventory_changes_nothing(answered: Answers) -> None:
    first, second = (answered.one("FIX_CLIENT_ID", f"same_id_{name}") for name in ("two_strategies", "other_order"))

    assert (first["before"], first["after"]) == (second["before"], second["after"])
    assert first["reason"] == second["reason"]


def test_who_broadcasts_may_share_ids(answered: Answers) -> None:
    assert answered.actions("same_id_broadcasts") == []
    assert answered.actions("own_ids") == []


def test_clients_that_subscribe_differently_are_named(answered: Answers) -> None:
    """c03's share of differs_2 is read by nobody."""
    found = answered.one("FIX_SUBSCRIPTION", "differs")

    assert "SUBSCRIPTION_MISMATCH" in found["rules"]
    assert "ORPHAN_QUEUE" in found["rules"]
    assert found["reason"].startswith(
        "Let every client subscribe to the same topics with the same filters. These differ from most: c03."
    )
    assert (found["before"]["orphan_queues"], found["after"]["orphan_queues"]) == (2, 0)
    assert [options(command) for command in found["commands"]] == [{"-n": NAMESERVER, "-g": "differs"}]
    assert found["commands"][0].startswith("mqadmin consumerStatus ")


def test_other_filters_are_another_subscription(answered: Answers) -> None:
    found = answered.one("FIX_SUBSCRIPTION", "filters")

    assert found["rules"] == ["SUBSCRIPTION_MISMATCH"]
    assert "go from" not in found["reason"], "every queue has one reader before and after"


def test_a_client_that_has_just_started_is_not_compared(answered: Answers) -> None:
    assert answered.all("FIX_SUBSCRIPTION", "just_started") == []
