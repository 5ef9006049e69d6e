"""Faults of topics: where they are, who reads them, and who writes them."""

from typing import Final

from tests.advice.choices import about, dice_of, only_topic, some_group
from tests.advice.faults import named
from tests.advice.fleet import Fleet
from tests.advice.healthy import set_busy
from tests.advice.judge import Expected
from tests.advice.model import Broker, Group, Place, Topic
from tests.advice.shape import Queue, Row

NEW: Final = "new_orders"


def queues_that_cannot_be_read(fleet: Fleet) -> Expected:
    group = some_group(fleet, "plain", "circle")
    topic = only_topic(fleet, group)
    broker = dice_of(fleet, "unreadable").choice(sorted(topic.places))
    place = topic.places[broker]
    place.write += 1
    topic.rates[Queue(topic.name, broker, place.write - 1)] = 10.0
    return Expected(
        "READ_LESS_THAN_WRITE",
        ("CRITICAL",),
        ("RAISE_READ_QUEUES",),
        topic=topic.name,
        broker_name=broker,
        may_name=_readers(fleet, topic),
    )


def a_topic_on_a_single_broker(fleet: Fleet) -> Expected:
    group = some_group(fleet, "plain", "filtered", alone=True)
    topic = only_topic(fleet, group)
    queues = len(topic.readable)
    broker = sorted(topic.places)[0]
    topic.places = {broker: Place(queues, queues)}
    topic.rates = dict.fromkeys(topic.readable, 10.0)
    set_busy(fleet.model, group, 0.3, dice_of(fleet, "busy"), one_lost=None)
    return Expected(
        "TOPIC_COVERAGE",
        ("INFO",),
        ("CREATE_TOPIC_ON_BROKER",),
        topic=topic.name,
        also=frozenset({"BROKER_LOSS"}),
        may_name=about(fleet, group),
    )


def an_empty_broker(fleet: Fleet) -> Expected:
    """A broker was added, and no topic was created on it."""
    number = len(fleet.model.brokers)
    new = Broker(f"hz@broker-{number:02}", "hz", number)
    fleet.model.brokers[new.name] = new
    return Expected(
        "TOPIC_COVERAGE",
        ("INFO",),
        ("CREATE_TOPIC_ON_BROKER",),
        broker_name=new.name,
        may_name=frozenset(fleet.model.topics),
    )


def a_topic_that_no_broker_has(fleet: Fleet) -> Expected:
    """A group subscribes to a second topic, which was never created."""
    group = some_group(fleet, "plain", "circle")

    def subscribe(inventory: Row) -> None:
        (row,) = (one for one in inventory["consumer_groups"] if one["consumer_group"] == group.name)
        for each in (row, *row["clients"]):
            each["subscriptions"].append({"topic": NEW, "expression_type": "TAG", "expression": "*"})

    fleet.edits.append(subscribe)
    return Expected("TOPIC_COVERAGE", ("WARNING", "INFO"), ("INVESTIGATE",), topic=NEW, may_name=about(fleet, group))


def a_topic_that_nobody_reads(fleet: Fleet) -> Expected:
    topic = _new_topic(fleet, 25.0)
    return Expected("TOPIC_UNREAD", ("WARNING", "INFO"), ("INVESTIGATE",), topic=topic.name)


def a_topic_that_nobody_writes(fleet: Fleet) -> Expected:
    """Its group still runs; the history shows no message."""
    topic = _new_topic(fleet, 0.0)
    usual = some_group(fleet, "plain", of=lambda one: len(one.clients) >= 3)
    group = Group("g_of_old", "plain", [topic.name], clients=usual.clients[:2])
    fleet.model.groups[group.name] = group
    fleet.remember()
    return Expected("STALE_OBJECT", ("INFO",), ("INVESTIGATE",), topic=topic.name, may_name=about(fleet, group))


def producers_that_can_lose_their_way(fleet: Fleet) -> Expected:
    """Producers of a version that can send to a wrong broker for ever."""
    chance = dice_of(fleet, "producers")

    def downgrade(inventory: Row) -> None:
        chance.choice(inventory["producers"])["version"] = "V4_9_4"

    fleet.edits.append(downgrade)
    return Expected("PERMANENT_DISPLACEMENT", ("INFO",), ("INVESTIGATE",))


def _new_topic(fleet: Fleet, rate: float) -> Topic:
    """A topic where an existing one is, with four queues a broker."""
    like = fleet.model.topics[dice_of(fleet, "like").choice(sorted(fleet.model.topics))]
    topic = Topic(NEW, "NORMAL", {broker: Place(4, 4) for broker in like.places}, {})
    topic.rates = dict.fromkeys(topic.readable, rate)
    fleet.model.topics[NEW] = topic
    return topic


def _readers(fleet: Fleet, topic: Topic) -> frozenset[str]:
    return frozenset({topic.name, *topic.places, *(group.name for group in fleet.model.readers(topic.name))})


FAULTS: Final = named(
    queues_that_cannot_be_read,
    a_topic_on_a_single_broker,
    an_empty_broker,
    a_topic_that_no_broker_has,
    a_topic_that_nobody_reads,
    producers_that_can_lose_their_way,
) | named(a_topic_that_nobody_writes, with_history=True)
