"""Topics without a queue that producers see, and what a producer gets that writes to one."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from rocketmq_capacity.assessment.topic_failures import TopicLoss
from rocketmq_capacity.assessment.unrouted import KnownTopic, unrouted_topics, without_queues
from rocketmq_capacity.tables import TopicQueue, UnroutedTopic
from tests.fixtures.units import units_of
from tests.simulation.clusters import broker, cluster


def loss(topic: str, lost: str, there: bool | None) -> TopicLoss:
    return TopicLoss(topic, lost, 0.0, 4, 0, True, there)


def test_only_topics_that_are_known_to_be_writable_nowhere_have_a_row() -> None:
    places = [
        *(loss("read", "a", False), loss("read", "b", False)),
        *(loss("half", "a", False), loss("half", "b", True)),
        *(loss("maybe", "a", False), loss("maybe", "b", None)),
    ]
    declared = [KnownTopic(name, True) for name in ("read", "half", "maybe", "without_facts")]

    assert without_queues([KnownTopic("gone", False), *declared], places) == [
        KnownTopic("gone", False),
        KnownTopic("read", True),
    ]


def template(broker_name: str, write_queue_nums: int = 8, perm: int = 6) -> TopicQueue:
    return TopicQueue(
        topic="TBW102",
        kind="SYSTEM",
        broker_name=broker_name,
        read_queue_nums=write_queue_nums,
        write_queue_nums=write_queue_nums,
        perm=perm,
        broker_state="MASTER",
        has_answered=True,
    )


def of_missing(enabled: Mapping[str, str | None], *templates: TopicQueue) -> UnroutedTopic:
    """Of a topic that no broker has."""
    brokers = [
        replace(broker(name), config=None if told is None else {"autoCreateTopicEnable": told})
        for name, told in enabled.items()
    ]
    facts = units_of(cluster([], [], brokers)).cluster
    readers = {"gone": ["g_b", "g_a"]}
    (row,) = unrouted_topics([KnownTopic("gone", False)], templates, readers, facts)
    return row


@pytest.mark.parametrize(
    ("enabled", "templates", "outcome", "created"),
    [
        ({"a": "false", "b": "false"}, (), "NO_ROUTE", {}),
        # TBW102 is left of a time in which it was on: clients send, and brokers refuse with TOPIC_NOT_EXIST.
        ({"a": "false", "b": "false"}, (template("b"),), "REFUSED", {}),
        # DefaultMQProducer.defaultTopicQueueNums is 4, BrokerConfig.defaultTopicQueueNums 8.
        ({"a": "true", "b": "true"}, (template("a"), template("b", 2)), "CREATED", {"a": 4, "b": 2}),
        ({"a": "true", "b": "false"}, (template("a"), template("b")), "CREATED", {"a": 4}),
        ({"a": "true", "b": None}, (template("a"), template("b")), "CREATED", {"a": 4}),
        # A read-only broker is in no producer's route.
        ({"a": "true", "b": "false"}, (template("a", perm=4),), "NO_ROUTE", {}),
        ({"a": "false", "b": None}, (template("b"),), None, None),
        ({"a": "true"}, (), None, None),
        ({"a": None}, (), None, None),
    ],
)
def test_what_a_producer_gets_for_a_topic_that_no_broker_has(
    enabled: Mapping[str, str | None],
    templates: tuple[TopicQueue, ...],
    outcome: str | None,
    created: dict[str, int] | None,
) -> None:
    row = of_missing(enabled, *templates)

    assert (row.outcome, row.created_queue_nums) == (outcome, created)
    assert row.consumer_groups == ("g_a", "g_b")


def test_a_topic_that_is_writable_nowhere_is_not_made_again() -> None:
    facts = units_of(cluster([], [], [replace(broker("a"), config={"autoCreateTopicEnable": "true"})])).cluster
    (row,) = unrouted_topics([KnownTopic("read", True)], [template("a")], {}, facts)

    assert (row.outcome, row.created_queue_nums, row.consumer_groups) == ("NO_ROUTE", None, ())
