"""What is true of a whole cluster: too little is known of it, it looks unlike itself, its name servers are unknown."""

from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryFailure,
    InventoryGroup,
    InventoryTopic,
    TopicQueues,
)
from tests.assessment.cases import a_group, a_topic, member, members
from tests.recommendation.answers import Answers, answer, options
from tests.recommendation.cases import broker, java_members
from tests.simulation.clusters import cluster, queues, reads

POLICY = Policy.model_validate({
    "strategies": ["AVG"],
    "thresholds": {"EXPAND_QUEUES": {"headroom": 0.5}, "IDLE_CONSUMERS": {"warning_ratio": 0.3}},
})
READ_COMMANDS = ("consumerConnection", "consumerProgress", "consumerStatus", "topicRoute", "topicStatus", "clusterList")


def _topic(name: str, *layout: TopicQueues, **facts: Any) -> InventoryTopic:
    return a_topic(name, *layout, order=False, message_type="NORMAL", **facts)


def _troubled() -> tuple[list[InventoryTopic], list[InventoryGroup]]:
    """Idle clients, queues that nobody can read, a topic on one broker, shared ids, different subscriptions."""
    idle = _topic("idle", queues("broker-a", 2), queues("broker-b", 2))
    short = _topic("short", queues("broker-a", 2, 4), queues("broker-b", 4))
    once = _topic("once", queues("broker-a", 4))
    groups = [
        a_group("idle", java_members(6), [idle]),
        a_group("shares", [member("c01"), member("c01"), member("c02")], [short]),
        a_group(
            "differs",
            [member("c01", subscriptions=(reads("once", "A"),)), member("c02", subscriptions=(reads("once", "B"),))],
            [once],
        ),
    ]
    return [idle, short, once], groups


def _backwards(inventory: Inventory) -> Inventory:
    """The same cluster, listed the other way round."""
    return replace(
        inventory,
        brokers=inventory.brokers[::-1],
        topics=tuple(replace(t, queues=(t.queues or ())[::-1]) for t in inventory.topics[::-1]),
        consumer_groups=tuple(replace(g, clients=(g.clients or ())[::-1]) for g in inventory.consumer_groups[::-1]),
    )


@pytest.fixture(scope="module")
def incomplete() -> Answers:
    """Of 28 readable queues 12 lie on a broker that did not answer."""
    topics, groups = _troubled()
    silent = _topic("silent", queues("broker-a", 0), queues("broker-b", 12))
    failures = [
        InventoryFailure(broker_addr="broker-b:10911", request="GET_ALL_TOPIC_CONFIG", error="timed out after 5 s")
    ]
    inventory = cluster([*topics, silent], groups, (broker("broker-a"), broker("broker-b")), failures)
    return answer(inventory, POLICY)


@pytest.fixture(scope="module")
def unlike_itself() -> Inventory:
    """Of 20 groups three are newly flagged; broker-c, without a topic yet, did not answer; no name server is told."""
    topics, groups = _troubled()
    calm = [a_group(f"g{i:02}", members(1), [topics[0]]) for i in range(17)]
    failures = [
        InventoryFailure(broker_addr="broker-c:10911", request="GET_BROKER_CONFIG", error="timed out after 5 s")
    ]
    brokers = (broker("broker-a"), broker("broker-b"), broker("broker-c"))
    return cluster(topics, [*groups, *calm], brokers, failures)


@pytest.fixture(scope="module")
def suspect(unlike_itself: Inventory) -> Answers:
    return answer(unlike_itself, POLICY, earlier=[])


def test_below_the_bound_nothing_is_changed(incomplete: Answers) -> None:
    assert {row["action"] for row in incomplete.rows} <= {"INVESTIGATE", "FIX_CLIENT_ID", "FIX_SUBSCRIPTION"}
    for row in incomplete.rows:
        assert not row["is_manual"]
        assert all(command.split()[1] in READ_COMMANDS for command in row["commands"])


def test_what_would_be_changed_is_undecided(incomplete: Answers) -> None:
    for consumer_group, topic in (("idle", None), (None, "short"), (None, "once")):
        assert "UNDECIDED: the snapshot covers " in incomplete.one("INVESTIGATE", consumer_group, topic)["reason"]


def test_the_snapshot_itself_is_looked_into(incomplete: Answers) -> None:
    (found,) = [row for row in incomplete.rows if row["consumer_group"] is row["topic"] is None]

    assert found["rules"] == ["SNAPSHOT_INCOMPLETE"]
    assert found["reason"] == "Find out why these were not read, and take another snapshot: broker-b."


def test_of_a_suspect_snapshot_no_command_can_be_run(suspect: Answers) -> None:
    for action, topic in (
        ("EXPAND_QUEUES", "idle"),
        ("RAISE_READ_QUEUES", "short"),
        ("CREATE_TOPIC_ON_BROKER", "once"),
    ):
        for found in suspect.all(action, topic=topic):
            assert found["is_manual"]
            assert "Do not run the commands unchanged: the snapshot is suspect (SUSPECT_SNAPSHOT)" in found["reason"]
            assert all(command.startswith("# ") for command in found["commands"])
        assert suspect.all(action, topic=topic)


def test_a_suspect_snapshot_is_taken_again_first(suspect: Answers) -> None:
    (found,) = [row for row in suspect.rows if "SUSPECT_SNAPSHOT" in row["rules"]]

    assert "Take another snapshot before you change anything." in found["reason"]


def test_an_unknown_name_server_is_left_to_be_filled_in(suspect: Answers) -> None:
    for row in suspect.rows:
        for command in row["commands"]:
            assert options(command.removeprefix("# "))["-n"] == "<name server>"


def test_a_broker_that_did_not_answer_gets_no_topic(suspect: Answers) -> None:
    found = suspect.all("CREATE_TOPIC_ON_BROKER", topic="idle")

    assert len(found) == 1
    assert "broker-c did not answer every request" in found[0]["reason"]


def test_headroom_is_kept_free(suspect: Answers) -> None:
    """Half as many queues again as the six clients are nine; twelve are two for each of them."""
    found = suspect.one("EXPAND_QUEUES", topic="idle")

    assert {options(command.removeprefix("# "))["-w"] for command in found["commands"]} == {"6"}


def test_what_the_policy_does_not_compute_is_not_recommended(suspect: Answers) -> None:
    assert suspect.all("SWITCH_TO_POP") == suspect.all("CHANGE_STRATEGY") == []
    assert suspect.all("SCALE_CONSUMERS", "idle")


def test_the_same_cluster_in_another_order_gets_the_same_answers(unlike_itself: Inventory, suspect: Answers) -> None:
    again = answer(_backwards(unlike_itself), POLICY, earlier=[])

    assert again.rows == suspect.rows
