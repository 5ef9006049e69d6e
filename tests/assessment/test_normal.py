"""What is normal for RocketMQ's own topics and groups, for broadcasting and for popping is never flagged."""

from typing import Any

import pytest

from tests.assessment.cases import Part, ago, member, members, pops
from tests.assessment.judge import Judgement
from tests.simulation.clusters import queues, reads

PART = Part()

# Everything at once that would be wrong with a group that rebalances: equal ids, different filters and strategies, more
# clients than queues, brokers that disagree, a topic that is nowhere.
_BUSY = [
    *members(6, allocate_strategy="AVG", seen_on=("broker-a", "broker-b")),
    member("c06", allocate_strategy="AVG_BY_CIRCLE", seen_on=("broker-a",)),
]


def _troubled(name: str, group: str, *, filters: bool = True, **facts: Any) -> None:
    topic = PART.topic(name, queues("broker-a", 2), queues("broker-b", 2))
    other = member("c99", subscriptions=(reads(topic, "TagA" if filters else "*"),))
    PART.group(group, [*_BUSY, other], topic, **{"subscriptions": (reads(topic),), **facts})


SYSTEM_GROUPS = ["CID_RMQ_SYS_TRANS", "TOOLS_CONSUMER", "SELF_TEST_C_GROUP", "CID_ONSAPI_PULL", "__MONITOR_CONSUMER"]
for _group in SYSTEM_GROUPS:
    _troubled(f"read_by_{_group}", _group)
_troubled("read_by_a_tool", "tool_mirror")
_troubled("troubled", "troubled")
_troubled("broadcast", "broadcast", message_model="BROADCASTING", filters=False)
for _topic in ("%RETRY%own_topics_only", "%DLQ%own_topics_only", "RMQ_SYS_TRANS_HALF_TOPIC", "bench_read"):
    PART.topic(_topic, queues("broker-a", 1))
    PART.group(f"reads_{_topic}", members(4), _topic)
PART.topic("popped_unevenly")
PART.group("pops_unevenly", members(40), "popped_unevenly", subscriptions=(pops("popped_unevenly", 2),))
PART.topic("started_just_now")
PART.group(
    "rolling_restart",
    [
        *members(3, subscriptions=(reads("started_just_now"),), seen_on=("broker-a", "broker-b"), started_at=ago(600)),
        member("c04", subscriptions=(reads("started_just_now", "TagNew"),), seen_on=("broker-a",), started_at=ago(3)),
    ],
    "started_just_now",
)
PART.topic("read_by_nobody")
PART.group("without_clients", [], "read_by_nobody", lag=50_000)
PART.group("without_anything", None)


def test_the_same_trouble_is_found_in_a_group_that_rebalances(judged: Judgement) -> None:
    assert {
        "DUPLICATE_CLIENT_ID",
        "SUBSCRIPTION_MISMATCH",
        "MIXED_STRATEGIES",
        "IDLE_CONSUMERS",
        "MEMBERSHIP_DISAGREEMENT",
    } <= judged.rules("troubled")


@pytest.mark.parametrize("group", [*SYSTEM_GROUPS, "tool_mirror"])
def test_rocketmqs_own_groups_and_excluded_ones_are_not_judged(judged: Judgement, group: str) -> None:
    assert judged.rules(group) == set()
    assert group not in {row["consumer_group"] for row in judged.groups}


def test_a_broadcasting_group_is_judged_by_its_membership_alone(judged: Judgement) -> None:
    assert judged.rules("broadcast") == {"MEMBERSHIP_DISAGREEMENT"}
    assert judged.finding("MEMBERSHIP_DISAGREEMENT", "broadcast")["message"] == (
        "1 client is unknown to broker-b; a client that lost its connection to a broker reads nothing from it."
    )


@pytest.mark.parametrize(
    "topic",
    [
        "%RETRY%own_topics_only",
        "%DLQ%own_topics_only",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "bench_read",
    ],
)
def test_topics_that_are_not_business_make_nobody_idle(judged: Judgement, topic: str) -> None:
    assert judged.rules(f"reads_{topic}", topic) == set()
    assert judged.group(f"reads_{topic}")["topics"] == []


def test_consumers_that_pop_may_be_many(judged: Judgement) -> None:
    assert judged.rules("pops_unevenly") == set()


def test_a_consumer_that_has_just_started_may_differ(judged: Judgement) -> None:
    assert judged.rules("rolling_restart") == set()


def test_a_group_without_clients_is_not_judged(judged: Judgement) -> None:
    assert judged.rules("without_clients") == set()
    assert judged.rules("without_anything") == set()
