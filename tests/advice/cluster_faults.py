"""Faults of brokers and name servers, and of the snapshot itself."""

from typing import Final

from tests.advice.choices import about, dice_of, only_topic, some_broker, some_group, with_clients
from tests.advice.faults import named
from tests.advice.fleet import Fleet
from tests.advice.healthy import set_busy
from tests.advice.judge import Expected
from tests.advice.model import Place
from tests.advice.shape import NAMESERVERS, Row
from tests.advice.written import address_of

LOOKS: Final = ("INVESTIGATE",)
SKEWS: Final = ("ALLOCATION_SKEW", "CROSS_TOPIC_SKEW", "TRAFFIC_SKEW")


def a_disk_that_fills(fleet: Fleet) -> Expected:
    broker = some_broker(fleet, of=lambda one: not one.has_slave)
    broker.disk_ratio = 0.8
    return Expected("BROKER_DISK", ("WARNING",), LOOKS, broker_name=broker.name)


def a_disk_that_is_full(fleet: Fleet) -> Expected:
    """The disk of its slave is as full: both are one finding."""
    broker = some_broker(fleet, of=lambda one: one.has_slave)
    broker.disk_ratio = 0.88
    return Expected("BROKER_DISK", ("CRITICAL",), LOOKS, broker_name=broker.name)


def a_disk_that_will_be_full_in_days(fleet: Fleet) -> Expected:
    """It keeps messages for ten days now, has those of the first days, and is not yet too full."""
    broker = some_broker(fleet, of=lambda one: not one.has_slave)
    broker.disk_ratio, broker.disk_growth, broker.keeps_h = 0.7, 0.02, 240
    return Expected("BROKER_DISK", ("WARNING",), LOOKS, broker_name=broker.name)


def a_broker_that_nobody_may_lose(fleet: Fleet) -> Expected:
    """Most queues of a topic are on one broker: without it, its group is too weak by far."""
    group = some_group(fleet, "plain", "filtered", alone=True)
    topic = only_topic(fleet, group)
    large, *others = sorted(topic.places)
    topic.places = {large: Place(8, 8)} | {broker: Place(1, 1) for broker in others}
    topic.rates = dict.fromkeys(topic.readable, 20.0)
    with_clients(fleet, group, len(topic.readable))
    set_busy(fleet.model, group, 0.45, dice_of(fleet, "busy"), one_lost=None)
    return Expected("BROKER_LOSS", ("WARNING",), LOOKS, broker_name=large, may_name=about(fleet, group) - set(others))


def a_broker_that_does_not_answer(fleet: Fleet) -> Expected:
    broker = some_broker(fleet)
    fleet.edits.append(lambda inventory: _silence(inventory, broker.name, address_of(broker)))
    return Expected("SNAPSHOT_INCOMPLETE", ("CRITICAL",), LOOKS, broker_name=broker.name)


def _silence(inventory: Row, broker_name: str, address: str) -> None:
    """Take away what only this broker could have told."""
    for request in ("GET_ALL_TOPIC_CONFIG", "GET_BROKER_RUNTIME_INFO"):
        inventory["failures"].append({"broker_addr": address, "request": request, "error": "timed out after 5 s"})
    for row in inventory["brokers"]:
        if row["broker_addr"] == address:
            del row["config"], row["runtime"], row["version"]
    for row in (*inventory["topics"], *inventory["consumer_groups"]):
        row["offsets"] = [one for one in row.get("offsets", ()) if one["broker_name"] != broker_name]
    for row in inventory["consumer_groups"]:
        for client in row["clients"]:
            client["seen_on"] = [name for name in client["seen_on"] if name != broker_name]


def many_groups_flagged_at_once(fleet: Fleet) -> Expected:
    """One broker lists nobody any more, which is new for each of its groups."""
    broker = some_broker(fleet)
    fleet.remember()
    flagged = [group for group in fleet.model.groups.values() if broker.name in fleet.model.brokers_of(group)]
    for group in flagged:
        for one in group.clients[:1]:
            one.unseen_by = frozenset({broker.name})
    return Expected(
        "SUSPECT_SNAPSHOT",
        ("WARNING",),
        LOOKS,
        also=frozenset({"MEMBERSHIP_DISAGREEMENT"}),
        may_name=frozenset({name for group in flagged for name in about(fleet, group)}),
    )


def name_servers_that_disagree(fleet: Fleet) -> Expected:
    """The second name server still gives one topic fewer queues."""
    topic = only_topic(fleet, some_group(fleet, "plain", "circle"))
    broker = sorted(topic.places)[0]

    def differ(inventory: Row) -> None:
        (row,) = (one for one in inventory["topics"] if one["topic"] == topic.name)
        queues = [one for one in row["queues"] if one["broker_name"] != broker]
        view = {"nameserver_addr": NAMESERVERS[1], "routes": [{"topic": topic.name, "queues": queues}]}
        inventory["nameserver_views"] = [view]

    fleet.edits.append(differ)
    readers = {group.name for group in fleet.model.readers(topic.name)}
    return Expected(
        "NAMESERVER_DISAGREEMENT",
        ("WARNING", "CRITICAL"),
        LOOKS,
        may_name=frozenset({topic.name, broker, *readers}),
    )


def a_slave_that_lacks_a_topic(fleet: Fleet) -> Expected:
    broker = some_broker(fleet, of=lambda one: one.has_slave)
    lacks = dice_of(fleet, "lacks").choice([
        topic for topic in fleet.model.topics.values() if broker.name in topic.places
    ])
    place = lacks.places[broker.name]

    def drift(inventory: Row) -> None:
        for row in inventory["brokers"]:
            if row["broker_name"] == broker.name and row["broker_id"]:
                drifted = {"topic": lacks.name, "master_read_queue_nums": place.read}
                row["drifted_topics"] = [{**drifted, "master_write_queue_nums": place.write}]
                row["missing_groups"] = []
                row["master_changed_at"] = "2026-11-01T00:00:00Z"

    fleet.edits.append(drift)
    return Expected("SLAVE_DRIFT", ("WARNING",), LOOKS, broker_name=broker.name, may_name=frozenset({lacks.name}))


def a_broker_that_lost_its_master(fleet: Fleet) -> Expected:
    """Its slave is left, and refuses to be read."""
    broker = some_broker(fleet, of=lambda one: one.has_slave)

    def lose(inventory: Row) -> None:
        rows = inventory["brokers"]
        inventory["brokers"] = [row for row in rows if row["broker_name"] != broker.name or row["broker_id"]]
        for row in inventory["brokers"]:
            if row["broker_name"] == broker.name:
                row["config"]["slaveReadEnable"] = "false"

    fleet.edits.append(lose)
    topics = [topic for topic in fleet.model.topics.values() if broker.name in topic.places]
    held = {topic.name for topic in topics}
    brokers = {name for topic in topics for name in topic.places}
    readers = {group.name for group in fleet.model.groups.values() if held & set(group.topics)}
    return Expected(
        "BROKER_LOSS",
        ("CRITICAL",),
        LOOKS,
        broker_name=broker.name,
        also=frozenset({"FIFO_BROKEN"}),
        may_name=frozenset({*held, *brokers, *readers}),
    )


def a_broker_that_crashed(fleet: Fleet) -> Expected:
    """It has no slave, and is in no route any more; producers write to the queues of the others."""
    fleet.remember()
    model = fleet.model
    broker = some_broker(
        fleet,
        of=lambda one: not one.has_slave and all({*topic.places} != {one.name} for topic in model.topics.values()),
    )
    del model.brokers[broker.name]
    held = [topic for topic in model.topics.values() if broker.name in topic.places]
    for topic in held:
        del topic.places[broker.name]
        left = {queue: rate for queue, rate in topic.rates.items() if queue.broker_name != broker.name}
        more = (topic.rate - sum(left.values())) / len(left)
        topic.rates = {queue: rate + more for queue, rate in left.items()}
    names = {topic.name for topic in held}
    brokers = {name for topic in held for name in topic.places}
    readers = {group.name for group in model.groups.values() if names & set(group.topics)}
    return Expected(
        "BROKER_LOSS",
        ("CRITICAL",),
        LOOKS,
        broker_name=broker.name,
        also=frozenset({"IDLE_CONSUMERS", "CONSUMER_CAPACITY", "TOPIC_COVERAGE", *SKEWS}),
        may_name=frozenset({*names, *brokers, *readers}),
    )


FAULTS: Final = named(
    a_broker_that_lost_its_master,
    a_disk_that_fills,
    a_disk_that_is_full,
    a_broker_that_nobody_may_lose,
    a_broker_that_does_not_answer,
    name_servers_that_disagree,
    a_slave_that_lacks_a_topic,
) | named(many_groups_flagged_at_once, a_disk_that_will_be_full_in_days, a_broker_that_crashed, with_history=True)
