"""Topics of which the number of queues is left as it is: PRIORITY, LITE and static ones."""

import pytest

from tests.assessment.cases import members
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import Cases
from tests.simulation.clusters import queues

CASES = Cases()
NARROW = (queues("broker-a", 2), queues("broker-b", 2))
LEVELS = "since it is a PRIORITY topic: each of its queues is a level"
LITE = "since it is a LITE topic: brokers and producers hash its lite topics over all of its write queues"
STATIC = "since it is a static topic, whose queues updateStaticTopic and remappingStaticTopic alone may change."
CASES.case("levels_idle", members(6), *NARROW, message_type="PRIORITY")
CASES.case("levels_unequal", members(2), queues("broker-a", 2), queues("broker-b", 4), message_type="PRIORITY")
CASES.case("levels_on_one", members(2), queues("broker-a", 3), message_type="PRIORITY")
CASES.case("levels_hidden", members(2), queues("broker-a", 2, 4), queues("broker-b", 2, 4), message_type="PRIORITY")
CASES.case("lite_clustering", members(6), *NARROW, message_type="LITE")
CASES.case("lite_bound", members(6), *NARROW, message_type="LITE", message_model="LITE_SELECTIVE")
CASES.case("lite_unequal", members(2), queues("broker-a", 2), queues("broker-b", 4), message_type="LITE")
CASES.case("lite_on_one", members(2), queues("broker-a", 3), message_type="LITE", message_model="LITE_SELECTIVE")
CASES.case("static_idle", members(6), queues("__syslo__global", 2))
CASES.case("static_hidden", members(2), queues("__syslo__global", 2, 4))
CASES.case("lmq_idle", members(6), queues("broker-a", 1))
CASES.topics[-1] = type(CASES.topics[-1])(topic="%LMQ%lmq_idle", queues=(queues("broker-a", 1, 3),))
CASES.topic("levels_beside", *NARROW, message_type="PRIORITY")
CASES.topic("normal_beside", *NARROW)
CASES.group("reads_both", members(3), "levels_beside", "normal_beside")


@pytest.mark.parametrize(("name", "why"), [("levels_idle", LEVELS), ("lite_clustering", LITE), ("static_idle", STATIC)])
def test_idle_clients_are_no_reason_for_more_queues(answered: Answers, name: str, why: str) -> None:
    assert answered.judged.rules(name) == {"IDLE_CONSUMERS"}
    assert answered.all("EXPAND_QUEUES", topic=name) == []
    reason = answered.one("SCALE_CONSUMERS", consumer_group=name)["reason"]
    assert f"The number of its queues stays as it is, {why}" in reason


@pytest.mark.parametrize("name", ["levels_unequal", "lite_unequal"])
def test_brokers_with_unlike_counts_are_left_as_they_are(answered: Answers, name: str) -> None:
    assert answered.actions(topic=name) == []


def test_a_priority_topic_is_created_with_the_same_levels_on_another_broker(answered: Answers) -> None:
    found = answered.one("CREATE_TOPIC_ON_BROKER", topic="levels_on_one")

    # The cases' brokers are of 5.3.3, which does not take this message type.
    assert found["is_manual"]
    assert found["reason"].endswith("broker-b runs V5_3_3, and PRIORITY topics came with 5.4.")
    (command,) = found["commands"]
    assert {key: options(command.removeprefix("# "))[key] for key in ("-r", "-w", "-a")} == {
        "-r": "3",
        "-w": "3",
        "-a": "+message.type=PRIORITY",
    }


def test_a_lite_topic_is_created_nowhere_else(answered: Answers) -> None:
    assert answered.actions(topic="lite_on_one") == ["INVESTIGATE"]
    assert f"It is not created on more brokers, {LITE}" in answered.one("INVESTIGATE", topic="lite_on_one")["reason"]


def test_levels_that_consumers_cannot_see_are_made_readable(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="levels_hidden")
    assert {(one["read_queue_nums"], one["write_queue_nums"]) for one in found["after"]["queues"]} == {(4, 4)}


def test_a_group_that_is_bound_to_a_lite_topic_may_have_more_clients_than_queues(answered: Answers) -> None:
    assert answered.judged.rules("lite_bound") == set()
    assert answered.all(consumer_group="lite_bound") == answered.all(topic="lite_bound") == []


def test_no_recommendation_changes_a_static_topic(answered: Answers) -> None:
    assert answered.actions(topic="static_idle") == []
    assert answered.actions(topic="static_hidden") == ["INVESTIGATE"]
    assert answered.one("INVESTIGATE", topic="static_hidden")["reason"] == f"Its queues stay as they are, {STATIC}"


def test_nothing_is_said_of_an_lmq(answered: Answers) -> None:
    assert [row for row in answered.rows if "%LMQ%" in str(row)] == []


def test_remainders_are_mended_by_queues_of_the_other_topics(answered: Answers) -> None:
    assert answered.judged.rules("reads_both") == {"CROSS_TOPIC_SKEW"}
    assert answered.all("EXPAND_QUEUES", topic="levels_beside") == []
    assert answered.one("EXPAND_QUEUES", topic="normal_beside")["rules"] == ["CROSS_TOPIC_SKEW"]
