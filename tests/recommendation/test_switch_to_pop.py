"""SWITCH_TO_POP: only where clients, brokers and topics can all do it."""

from typing import Final

import pytest

from tests.assessment.cases import members
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import NAMESERVER, Cases, java_members
from tests.simulation.clusters import queues

CASES = Cases()
_two = (queues("broker-a", 1), queues("broker-b", 1))
CASES.topic("pop", *_two)
CASES.topic("pop_also", *_two)
CASES.group("pop", java_members(4), "pop", "pop_also", consume_type="CONSUME_PASSIVELY")
CASES.case("pop_of_6", java_members(4, version="V6_0_0"), *_two)
CASES.case("pop_in_turn", java_members(4, allocate_strategy="AVG_BY_CIRCLE"), *_two)
CASES.case("pop_early", [*java_members(3), *java_members(4, version="V5_3_1")[3:]], *_two)
CASES.case("pop_hashed", java_members(6, allocate_strategy="CONSISTENT_HASH"), *_two)
CASES.case("pop_old_client", [*java_members(3), *java_members(4, version="V4_9_8")[3:]], *_two)
CASES.case("pop_unknown_client", members(4), *_two)
CASES.case("pop_go_client", members(4, language="GO", version="V5_3_3"), *_two)
CASES.case("pop_in_order", java_members(4), *_two, orderly=True)
CASES.case("pop_fifo", java_members(4), *_two, message_type="FIFO")
CASES.case("pop_lite_pull", java_members(4), *_two, consume_type="CONSUME_ACTIVELY")
CASES.case("pop_old_broker", java_members(6), *_two, queues("old", 1))
CASES.case("pop_without_timer", java_members(6), *_two, queues("timerless", 1))
CASES.case("pop_masterless", java_members(6), *_two, queues("masterless", 1))
CASES.case("pop_silent", java_members(6), *_two, queues("silent", 1))
CASES.case("pop_few", java_members(5), queues("broker-a", 2), queues("broker-b", 1))
CASES.case("pop_enough", java_members(2), *_two)
CANNOT: Final = (
    "pop_old_client",
    "pop_unknown_client",
    "pop_go_client",
    "pop_in_order",
    "pop_fifo",
    "pop_lite_pull",
    "pop_old_broker",
    "pop_without_timer",
    "pop_masterless",
)


def test_every_topic_is_switched_on_every_broker(answered: Answers) -> None:
    found = answered.one("SWITCH_TO_POP", "pop")

    assert [options(command) for command in found["commands"]] == [
        {"-n": NAMESERVER, "-b": f"{broker}:10911", "-t": topic, "-g": "pop", "-m": "POP", "-q": "8"}
        for topic in ("pop", "pop_also")
        for broker in ("broker-a", "broker-b")
    ]
    assert not found["is_manual"]
    assert found["rules"] == ["IDLE_CONSUMERS"]


def test_idle_clients_have_work_then(answered: Answers) -> None:
    found = answered.one("SWITCH_TO_POP", "pop")

    assert (found["before"]["message_request_mode"], found["after"]["message_request_mode"]) == ("PULL", "POP")
    assert found["after"]["pop_share_queue_num"] == 8
    assert (found["before"]["idle"], found["after"]["idle"]) == (2, 0)
    assert "idle clients go from 2 to 0." in found["reason"]
    assert "setClientRebalance(false)" in found["reason"]


def test_later_versions_can_pop(answered: Answers) -> None:
    assert answered.one("SWITCH_TO_POP", "pop_of_6")["after"]["idle"] == 0


@pytest.mark.parametrize(("name", "is_told"), [("pop", False), ("pop_in_turn", False), ("pop_hashed", True)])
def test_clients_by_whose_strategy_no_broker_assigns_queues_need_another_one(
    answered: Answers, name: str, is_told: bool
) -> None:
    assert ("Set AVG as their strategy in the same restart" in answered.one("SWITCH_TO_POP", name)["reason"]) is is_told


@pytest.mark.parametrize(("name", "is_told"), [("pop", False), ("pop_early", True)])
def test_clients_that_may_pull_for_ever_are_upgraded_first(answered: Answers, name: str, is_told: bool) -> None:
    assert ("Upgrade them to 5.3.2 or later first" in answered.one("SWITCH_TO_POP", name)["reason"]) is is_told


@pytest.mark.parametrize("name", CANNOT)
def test_who_cannot_pop_is_not_asked_to(answered: Answers, name: str) -> None:
    assert answered.judged.found("IDLE_CONSUMERS", name) is not None
    assert "SWITCH_TO_POP" not in answered.actions(name)


def test_without_idle_clients_there_is_no_reason_to(answered: Answers) -> None:
    assert answered.actions("pop_enough") == []


def test_a_few_idle_clients_are_no_reason_to(answered: Answers) -> None:
    figures = answered.judged.finding("IDLE_CONSUMERS", "pop_few")["evidence"]

    assert (figures["idle"], figures["clients"]) == (2, 5)
    assert "EXPAND_QUEUES" in answered.actions("pop_few") or "SCALE_CONSUMERS" in answered.actions("pop_few")
    assert "SWITCH_TO_POP" not in answered.actions("pop_few")


def test_a_broker_that_did_not_answer_makes_it_a_comment(answered: Answers) -> None:
    found = answered.one("SWITCH_TO_POP", "pop_silent")

    assert found["is_manual"]
    assert found["reason"].endswith("Do not run the commands unchanged: silent did not answer every request.")
    assert all(command.startswith("# mqadmin setConsumeMode ") for command in found["commands"])
