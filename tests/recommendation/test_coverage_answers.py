"""TOPIC_COVERAGE is answered by a few topics, each with all its commands."""

from typing import Any, Final

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import InventoryTopic
from tests.assessment.cases import a_group, a_topic, members
from tests.recommendation.answers import Answers, answer, options
from tests.recommendation.cases import broker
from tests.simulation.clusters import cluster, queues

PLAIN: Final[dict[str, Any]] = {"order": False, "message_type": "NORMAL"}
A, B, C, D = (f"broker-{letter}" for letter in "abcd")


def answered(topics: list[InventoryTopic], *brokers: str, **policy: Any) -> Answers:
    group = a_group("g", members(2), topics)
    return answer(cluster(topics, [group], [broker(one) for one in brokers]), Policy.model_validate(policy))


def test_brokers_without_topics_are_answered_by_one_recommendation_a_topic_with_all_its_commands() -> None:
    topics = [a_topic(f"t{number:02}", queues(A, 4), queues(B, 4), **PLAIN) for number in range(12)]

    found = answered(topics, A, B, C, D)

    created = found.all("CREATE_TOPIC_ON_BROKER")
    assert [one["topic"] for one in created] == [f"t{number:02}" for number in range(5)]
    for one in created:
        assert [options(command)["-b"] for command in one["commands"]] == [f"{C}:10911", f"{D}:10911"]
        assert {options(command)["-r"] for command in one["commands"]} == {"4"}
        assert [queue["broker_name"] for queue in one["after"]["queues"]] == [A, B, C, D]
        assert one["reason"].startswith("Create it on broker-c, broker-d with 4 queues each, as elsewhere:")
    assert [one["action"] for one in found.rows if "TOPIC_COVERAGE" in one["rules"]] == [
        one["action"] for one in created
    ]


def test_a_topic_that_differs_from_its_siblings_is_left_alone() -> None:
    on_all = [a_topic(f"t{number:02}", queues(A, 4), queues(B, 4), queues(C, 4), **PLAIN) for number in range(4)]
    on_two = a_topic("differs", queues(A, 4), queues(C, 4), **PLAIN)

    found = answered([*on_all, on_two], A, B, C)

    assert found.all(topic="differs") == []
    assert found.judged.rules(topic="differs") == set()


def test_a_topic_that_is_not_where_the_policy_places_it_is_created_there() -> None:
    topics = [
        a_topic("pay", queues(A, 4), **PLAIN),
        a_topic("pay_elsewhere", queues(A, 4), queues(B, 4), queues(C, 4), **PLAIN),
    ]

    found = answered(topics, A, B, C, placement=[{"topics": "^pay", "brokers": [A, B]}])

    (command,) = found.one("CREATE_TOPIC_ON_BROKER", topic="pay")["commands"]
    assert options(command)["-b"] == f"{B}:10911"
    assert found.actions(topic="pay_elsewhere") == ["INVESTIGATE"]
    assert found.one("INVESTIGATE", topic="pay_elsewhere")["reason"] == (
        "Find out what is right, the brokers of the topic or the policy's placement: The policy places it on broker-a,"
        " broker-b, and it is also on broker-c."
    )
