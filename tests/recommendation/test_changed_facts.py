"""A group's facts in a case: its topic's queues as they would be, and everything else as it is."""

from typing import Any

import pytest

from rocketmq_capacity.model.cases import QueueChange, QueueCounts
from rocketmq_capacity.model.facts import ClusterFacts, GroupFacts, Place, Reads, TopicFacts
from rocketmq_capacity.recommendation.cases import changed_facts
from rocketmq_capacity.recommendation.facts import AdvisedCluster
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.snapshot.cluster import Broker
from rocketmq_capacity.tables.snapshot.cluster import Cluster as ClusterRow

CLUSTER = AdvisedCluster(
    ClusterFacts(
        cluster=ClusterRow(
            cluster_name="c", taken_at="2026-01-01T00:00:00Z", fingerprint="0", nameservers=(), completeness_ratio=1.0
        ),
        brokers=(Broker(broker_name="broker-b", broker_id=0, room="hz", has_answered=False),),
    ),
    Policy(),
    is_suspect=False,
)


def _place(broker_name: str, **facts: Any) -> Place:
    usual: dict[str, Any] = {
        "read_queue_nums": 2,
        "write_queue_nums": 2,
        "perm": 6,
        "broker_state": "MASTER",
        "has_answered": True,
    }
    return Place(broker_name=broker_name, **usual | facts)


def _group(*places: Place) -> GroupFacts:
    reads = (
        Reads(
            topic=TopicFacts(topic=name, kind=kind, places=places),
            is_declared_by_group=True,
            message_request_mode="PULL",
            pop_share_queue_num=0,
        )
        for name, kind in (("pay", "BUSINESS"), ("sms", "BUSINESS"), ("%RETRY%g", "RETRY"))
    )
    return GroupFacts(
        consumer_group="g",
        kind="BUSINESS",
        message_request_mode="PULL",
        connections=1,
        distinct_client_ids=1,
        reads=tuple(reads),
    )


def _changed(*places: Place) -> dict[str, tuple[Place, ...]]:
    """Places of each topic that is left once "pay" has five queues on broker-b."""
    counts = QueueCounts(broker_name="broker-b", read_queue_nums=5, write_queue_nums=5)
    changed = changed_facts(_group(*places), QueueChange(case_id="1", topic="pay", counts=(counts,)), CLUSTER)
    return {reads.topic.topic: reads.topic.places for reads in changed.reads}


def test_only_the_named_broker_of_the_named_topic_changes() -> None:
    a, b = _place("broker-a"), _place("broker-b", perm=7, room="sh", has_answered=False)

    assert _changed(a, b) == {
        "pay": (
            a,
            _place("broker-b", read_queue_nums=5, write_queue_nums=5, perm=7, room="sh", has_answered=False),
        ),
        "sms": (a, b),
    }


@pytest.mark.parametrize("places", [(), (_place("broker-b", perm=None),)])
def test_what_is_not_known_of_the_place_is_as_on_a_healthy_master(places: tuple[Place, ...]) -> None:
    assert _changed(*places)["pay"] == (_place("broker-b", read_queue_nums=5, write_queue_nums=5, room="hz"),)


def test_retry_topics_weigh_nothing_and_are_left_out() -> None:
    assert list(_changed(_place("broker-b"))) == ["pay", "sms"]
