"""While a broker that crashed is missing, nothing is recommended that its missing queues explain."""

from datetime import timedelta
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, InventoryTopic, parse_utc
from tests.assessment.cases import a_group, a_topic, members, takes
from tests.recommendation.answers import Answers, answer
from tests.recommendation.cases import broker
from tests.simulation.clusters import AT, cluster, queues

WAITS: Final = (
    "UNDECIDED: queues are missing here with lost brokers (broker-c). Wait until they are back: nothing else may be"
    " wrong."
)
LOST: Final = {"rule": "BROKER_LOSS", "broker_name": "broker-c", "by": "li", "why": "sold", "until": "2027-01-01"}


def pay(*brokers: str, each: int = 4) -> InventoryTopic:
    return a_topic("pay", *(queues(name, each) for name in brokers), order=False, message_type="NORMAL")


def having(*topics: InventoryTopic, clients: int = 8, hours_ago: float = 0, **facts: Any) -> Inventory:
    """A cluster of the brokers of its topics; a group reads ``pay``, and another one the rest."""
    names = sorted({place.broker_name for topic in topics for place in topic.queues or ()})
    of_pay = [one for one in topics if one.topic == "pay"]
    groups: list[InventoryGroup] = [a_group("g_pay", members(clients), of_pay, lag=0, **facts)]
    if others := [one for one in topics if one.topic != "pay"]:
        groups.append(a_group("g_other", members(8), others, lag=0))
    moment = utc_text(parse_utc(AT) - timedelta(hours=hours_ago))
    return replace(cluster(topics, groups, map(broker, names)), taken_at=moment)


def accepting(**facts: Any) -> Policy:
    return Policy.model_validate({"accepted": [LOST | facts]})


NOW = having(pay("broker-a"))
BEFORE = having(pay("broker-a", "broker-c"), hours_ago=24)


def of_pay(answers: Answers) -> list[str]:
    return [row["action"] for row in answers.rows if row["topic"] == "pay" or row["consumer_group"] == "g_pay"]


def test_idle_clients_wait_for_the_queues_of_the_lost_broker() -> None:
    without, waiting = answer(NOW), answer(NOW, history=[BEFORE])

    assert {"EXPAND_QUEUES", "SCALE_CONSUMERS"} <= set(of_pay(without))
    assert of_pay(waiting) == ["INVESTIGATE"]
    look = waiting.one("INVESTIGATE", "g_pay")
    assert (look["rules"], look["reason"]) == (["IDLE_CONSUMERS"], WAITS)
    assert waiting.judged.found("IDLE_CONSUMERS", "g_pay") is not None


@pytest.mark.parametrize(
    ("facts", "is_awaited"),
    [
        ({"severity": "CRITICAL"}, False),
        ({"severity": "WARNING"}, True),
        ({}, True),
        ({"severity": "CRITICAL", "until": "2026-11-19"}, True),
        ({"severity": "CRITICAL", "broker_name": "broker-b"}, True),
        ({"severity": "CRITICAL", "rule": "BROKER_DISK"}, True),
    ],
    ids=["lost", "may be lost", "as first found", "is over", "another broker", "another rule"],
)
def test_nobody_waits_for_a_broker_whose_loss_is_accepted(facts: dict[str, Any], is_awaited: bool) -> None:
    answers = answer(NOW, accepting(**facts), history=[BEFORE])
    assert (of_pay(answers) == ["INVESTIGATE"]) == is_awaited


def test_what_was_not_on_the_lost_broker_does_not_wait() -> None:
    other = a_topic("other", queues("broker-a"), order=False, message_type="NORMAL")
    answers = answer(having(pay("broker-a"), other), history=[having(pay("broker-a", "broker-c"), other, hours_ago=24)])

    assert of_pay(answers) == ["INVESTIGATE"]
    assert "SCALE_CONSUMERS" in answers.actions("g_other")
    assert "EXPAND_QUEUES" in answers.actions(topic="other")


def test_a_topic_that_is_left_on_one_broker_is_not_created_on_another() -> None:
    other = a_topic("other", queues("broker-a"), queues("broker-b"), order=False, message_type="NORMAL")
    now = having(pay("broker-a"), other, clients=2)
    before = having(pay("broker-a", "broker-c"), other, clients=2, hours_ago=24)
    without, waiting = answer(now), answer(now, history=[before])

    assert "CREATE_TOPIC_ON_BROKER" in without.actions(topic="pay")
    assert waiting.actions(topic="pay") == ["INVESTIGATE"]
    assert waiting.one("INVESTIGATE", topic="pay")["reason"] == WAITS


def test_an_empty_broker_does_not_get_a_topic_of_the_lost_one() -> None:
    def with_empty(inventory: Inventory) -> Inventory:
        return replace(inventory, brokers=(*inventory.brokers, broker("broker-d")))

    now = with_empty(having(pay("broker-a", "broker-b"), clients=2))
    before = with_empty(having(pay("broker-a", "broker-b", "broker-c"), clients=2, hours_ago=24))

    assert "CREATE_TOPIC_ON_BROKER" in of_pay(answer(now))
    assert "CREATE_TOPIC_ON_BROKER" not in of_pay(answer(now, history=[before]))


def test_a_topic_that_was_on_the_lost_broker_alone_is_not_created_again() -> None:
    other = a_topic("other", queues("broker-a"), order=False, message_type="NORMAL")
    before = having(pay("broker-c"), other, clients=2, hours_ago=24)
    reading = before.consumer_groups[0]
    now = replace(having(other), consumer_groups=(replace(reading, offsets=()), before.consumer_groups[1]))

    reasons = {row["reason"] for row in answer(now, history=[before]).all("INVESTIGATE", "g_pay")}
    assert reasons == {WAITS}
    assert WAITS not in {row["reason"] for row in answer(now).rows}


def test_no_topic_shrinks_meanwhile() -> None:
    def daily(*names: str) -> list[Inventory]:
        return [having(pay(*names, each=64), clients=2, hours_ago=24 * day) for day in range(16, 0, -1)]

    now = having(pay("broker-a", "broker-b", each=64), clients=2)
    assert "SHRINK_QUEUES" in of_pay(answer(now, history=daily("broker-a", "broker-b")))
    assert of_pay(answer(now, history=daily("broker-a", "broker-b", "broker-c"))) == []


def test_no_broker_is_added_meanwhile() -> None:
    full = {"commitLogDiskRatio": "0.86", "consumeQueueDiskRatio": "0.86"}

    def filled(inventory: Inventory) -> Inventory:
        return replace(inventory, brokers=tuple(replace(one, runtime=full) for one in inventory.brokers))

    without, waiting = answer(filled(NOW)), answer(filled(NOW), history=[BEFORE])
    assert "ADD_BROKER" in without.actions()
    assert "ADD_BROKER" not in waiting.actions()
    assert any(
        row["reason"].startswith(
            "UNDECIDED whether another broker would help: wait until lost brokers are back (broker-c)"
        )
        for row in waiting.all("INVESTIGATE")
    )


def test_clients_that_do_the_work_of_all_get_no_help_meanwhile() -> None:
    """Four queues with 10 messages a second each; a client needs 90 ms of each second for a message."""
    facts = {"consume_threads": 1, "consume_batch_size": 1, "status": takes("pay", 90.0)}
    (group,) = NOW.consumer_groups
    clients = tuple(replace(one, **facts) for one in group.clients or ())
    now = replace(NOW, consumer_groups=(replace(group, clients=clients),))

    assert answer(now).judged.found("CONSUMER_CAPACITY", "g_pay") is not None
    assert {"EXPAND_QUEUES", "RAISE_CONSUME_THREADS"} <= set(of_pay(answer(now)))
    waiting = answer(now, history=[BEFORE])
    assert waiting.one("INVESTIGATE", "g_pay")["rules"] == ["CONSUMER_CAPACITY", "IDLE_CONSUMERS"]
    assert of_pay(waiting) == ["INVESTIGATE"]


def test_a_group_keeps_its_clients_meanwhile() -> None:
    facts = {"consume_threads": 10, "consume_batch_size": 1, "status": takes("pay", 10.0)}

    def with_clients(inventory: Inventory) -> Inventory:
        (group,) = inventory.consumer_groups
        clients = tuple(replace(one, **facts) for one in group.clients or ())
        return replace(inventory, consumer_groups=(replace(group, clients=clients),))

    now, before = (
        with_clients(having(pay("broker-a", "broker-b"))),
        having(pay("broker-a", "broker-b", "broker-c"), hours_ago=24),
    )
    without, waiting = answer(now).judged.group("g_pay"), answer(now, history=[before]).judged.group("g_pay")

    assert (without["scale_down_allowed"], waiting["scale_down_allowed"]) == (True, False)
    assert waiting["scale_down_blocked_by"] == ["BROKER_LOSS"]
    assert (without["min_replicas"], waiting["min_replicas"]) == (3, 8)


def test_idle_clients_are_not_taken_away_by_an_autoscaler_meanwhile() -> None:
    without, waiting = (answer(NOW, history=each).judged.group("g_pay") for each in ([], [BEFORE]))
    assert (without["min_replicas"], without["max_replicas"]) == (4, 4)
    assert (waiting["min_replicas"], waiting["max_replicas"]) == (8, 8)
