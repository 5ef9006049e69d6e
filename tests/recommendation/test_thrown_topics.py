"""Strategies that throw for a topic, here MACHINE_ROOM_NEARBY where a broker has no room: what is recommended then."""

from collections.abc import Iterable
from typing import Any, Final

import pytest

from rocketmq_capacity.recommendation.change_strategy import NO_ROOMS
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, InventoryBroker, InventoryTopic
from tests.assessment.cases import a_group, a_topic, member
from tests.recommendation.answers import Answers, answer
from tests.recommendation.cases import broker
from tests.simulation.clusters import cluster, queues

COVERAGE = "TOPIC_COVERAGE"
NEARBY = "MACHINE_ROOM_NEARBY-AVG"
POLICY = Policy.model_validate({
    "strategies": ["MACHINE_ROOM", NEARBY],
    "machine_rooms": ["hz"],
    "rooms": {
        "brokers": [{"pattern": "^(?P<room>[a-z]+)@"}],
        "clients": [{"pattern": "^(?P<room>[a-z]+)-"}],
    },
})
BROKERS = (broker("hz@a"), broker("sh@b"))
ARCHIVE = broker("archive")
"""It has no room."""
READ_ONLY_ARCHIVE = broker("archive", broker_perm=4)
PLAIN: Final[dict[str, Any]] = {"order": False, "message_type": "NORMAL"}


def running(strategy: str) -> list[Client]:
    return [member(name, allocate_strategy=strategy) for name in ("hz-1", "hz-2", "sh-1", "sh-2")]


def answered(
    clients: Iterable[Client], topics: Iterable[InventoryTopic], brokers: Iterable[InventoryBroker] = BROKERS
) -> Answers:
    """What is recommended for the group g that reads these topics."""
    topics = list(topics)
    return answer(cluster(topics, [a_group("g", clients, topics)], brokers), POLICY)


def test_a_strategy_that_throws_for_a_topic_is_never_recommended() -> None:
    # MACHINE_ROOM leaves sh@b's queues to nobody. NEARBY gives them to sh's clients, unless it throws for a topic.
    pay = a_topic("pay", queues("hz@a", 4), queues("sh@b", 4), **PLAIN)
    beside = queues("archive", 4, perm=4)
    runs = running("MACHINE_ROOM")

    assert answered(runs, [pay]).one("CHANGE_STRATEGY", "g")["after"]["strategy"] == NEARBY
    for name in ("old", "%RETRY%g"):
        found = answered(runs, [pay, a_topic(name, beside, **PLAIN)], (*BROKERS, READ_ONLY_ARCHIVE))
        assert found.judged.load("g", NEARBY)["is_applicable"]
        assert found.judged.finding("ORPHAN_QUEUE", "g", "pay")
        assert found.all("CHANGE_STRATEGY") == []


@pytest.mark.parametrize(("strategy", "knows_rooms"), [("AVG", False), (NEARBY, True)])
def test_who_leaves_a_strategy_of_rooms_is_told_that_clients_then_read_from_other_rooms(
    strategy: str, knows_rooms: bool
) -> None:
    pay = a_topic("pay", queues("hz@a", 4), queues("sh@b", 4), **PLAIN)
    inventory = cluster([pay], [a_group("g", running("MACHINE_ROOM"), [pay])], BROKERS)
    policy = POLICY.model_copy(update={"strategies": ("MACHINE_ROOM", strategy)})

    found = answer(inventory, policy).one("CHANGE_STRATEGY", "g")

    assert found["after"]["strategy"] == strategy
    assert (NO_ROOMS not in found["reason"]) is knows_rooms


def test_of_a_group_whose_owners_are_not_known_nothing_is_simulated() -> None:
    # Twice hz-1: a share of pay is lost, and what it owned of old is not known.
    pay, old = a_topic("pay", queues("hz@a", 4), queues("sh@b", 4), **PLAIN), a_topic("old", queues("archive"), **PLAIN)
    clients = [member("hz-1", allocate_strategy="MACHINE_ROOM_NEARBY"), *running("MACHINE_ROOM_NEARBY")]

    found = answered(clients, [pay, old], (*BROKERS, READ_ONLY_ARCHIVE))

    fixed = found.one("FIX_CLIENT_ID", "g")
    assert set(fixed["before"].values()) == set(fixed["after"].values()) == {None}
    assert found.all("CHANGE_STRATEGY") == found.all("SCALE_CONSUMERS") == []


def test_a_topic_is_not_created_where_a_strategy_would_throw() -> None:
    layout = (queues("hz@a", 4), queues("sh@b", 4))
    in_one_room, in_both = (a_topic("pay", *of, **PLAIN) for of in (layout[:1], layout))

    with_room = answered(running("MACHINE_ROOM_NEARBY"), [in_one_room])
    without = answered(running("MACHINE_ROOM_NEARBY"), [in_both], (*BROKERS, ARCHIVE))

    assert with_room.one("CREATE_TOPIC_ON_BROKER", topic="pay")["after"]["groups"][0]["idle"] == 0
    (lacking,) = (one for one in without.judged.findings if one["broker_name"] == "archive" and one["rule"] == COVERAGE)
    assert [one["topic"] for one in lacking["evidence"]["proposed"]] == ["pay"]
    assert without.all("CREATE_TOPIC_ON_BROKER") == []
    (left,) = (one for one in without.rows if COVERAGE in one["rules"])
    assert "are meant to have no business topics: archive" in left["reason"]


def test_a_change_that_makes_a_strategy_throw_leaves_the_old_queues_to_their_owners() -> None:
    # No client sees archive's queues while none of them is readable; with four, NEARBY throws, and nobody takes these.
    pay = a_topic("pay", queues("hz@a", 4), queues("sh@b", 4), queues("archive", 0, 4), **PLAIN)

    found = answered(running("MACHINE_ROOM_NEARBY"), [pay], (*BROKERS, ARCHIVE)).one("RAISE_READ_QUEUES", topic="pay")

    (before,), (after,) = found["before"]["groups"], found["after"]["groups"]
    assert (before["idle"], before["orphan_queues"]) == (0, 0)
    assert (after["idle"], after["orphan_queues"], after["doubly_owned_queues"]) == (0, 4, 0)
