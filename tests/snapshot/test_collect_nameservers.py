"""Every name server is asked; a different answer is reported, and one that does not answer is a failure."""

from collections import Counter

import pytest

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.snapshot.collect import CollectOptions
from rocketmq_capacity.snapshot.inventory import InventoryNameserver, InventoryRoute, ListedBroker, TopicQueues
from tests.snapshot.told_cluster import Answer, Rule, ToldBroker, only, snapshot_of, topic_table

ONCE = CollectOptions(settings=ConnectionSettings(attempts=1))
QUICK = CollectOptions(settings=ConnectionSettings(request_timeout_s=1.5, attempts=1))
NOBODY: Answer = (0, {"brokerAddrTable": {}, "clusterAddrTable": {}})


def route(**queues: int) -> Answer:
    """The body of 105: so many queues on each broker."""
    return 0, {
        "brokerDatas": [],
        "queueDatas": [
            {"brokerName": name, "readQueueNums": number, "writeQueueNums": number, "perm": 6}
            for name, number in queues.items()
        ],
    }


def told(*topics: str, **queues: int) -> dict[int, Rule | None]:
    """A name server that knows these topics, all with the same route."""
    routes: dict[str, Answer] = dict.fromkeys(topics, route(**queues))
    return {105: lambda request: routes.get(request.ext_fields["topic"]), 206: (0, {"topicList": list(topics)})}


def on(broker_name: str, queues: int) -> TopicQueues:
    return TopicQueues(broker_name=broker_name, read_queue_nums=queues, write_queue_nums=queues, perm=6)


def test_name_servers_that_agree_have_views_without_a_difference() -> None:
    same = told("pay", a=4)
    inventory = snapshot_of([ToldBroker("a")], name_server=same, other_name_servers=[same])

    assert inventory.nameserver_views == tuple(
        InventoryNameserver(nameserver_addr=address) for address in sorted(inventory.nameservers or ())
    )
    assert inventory.failures == ()


def test_one_name_server_alone_agrees_with_nobody() -> None:
    assert snapshot_of([ToldBroker("a")]).nameserver_views is None


def test_what_either_knows_is_in_the_inventory_and_what_one_lacks_in_its_view() -> None:
    broker = ToldBroker("a", rules={21: topic_table("pay")})
    cut_off: dict[int, Rule] = {106: NOBODY, 206: (0, {"topicList": []})}
    inventory = snapshot_of([broker], name_server=cut_off, other_name_servers=[told("pay", a=4)])

    assert [one.broker_addr for one in inventory.brokers] == [broker.address]
    assert [(topic.topic, topic.queues) for topic in inventory.topics] == [("pay", (on("a", 4),))]
    first, second = inventory.nameservers or ()
    assert {view.nameserver_addr: (view.brokers, view.routes) for view in inventory.nameserver_views or ()} == {
        first: ((), (InventoryRoute(topic="pay", queues=()),)),
        second: (None, None),
    }
    assert broker.codes() >= {21, 202}
    assert inventory.failures == ()


def test_routes_that_differ_are_listed_as_each_name_server_gives_them() -> None:
    brokers = [ToldBroker("a"), ToldBroker("b")]
    inventory = snapshot_of(
        brokers,
        topics=("pay", "ship"),
        name_server={105: only("topic", "pay", route(a=4, b=4))},
        other_name_servers=[{105: only("topic", "pay", route(a=4))}],
    )

    (differs,) = (view for view in inventory.nameserver_views or () if view.routes)
    assert differs.nameserver_addr == (inventory.nameservers or ())[1]
    assert differs.routes == (InventoryRoute(topic="pay", queues=(on("a", 4),)),)
    assert differs.brokers is None
    assert [topic.queues for topic in inventory.topics] == [(on("a", 4), on("b", 4)), ()]


@pytest.mark.parametrize("is_first", [True, False], ids=["the first one", "the second one"])
def test_a_broker_that_one_name_server_has_lost_keeps_its_queues_whichever_is_asked_first(is_first: bool) -> None:
    """Its queues are there: who plans without them would create a topic anew that its broker has."""
    whole, cut = told("pay", a=4, b=16), told("pay", a=4)
    first, second = (cut, whole) if is_first else (whole, cut)
    inventory = snapshot_of([ToldBroker("a"), ToldBroker("b")], name_server=first, other_name_servers=[second])

    assert [topic.queues for topic in inventory.topics] == [(on("a", 4), on("b", 16))]
    (differs,) = (view for view in inventory.nameserver_views or () if view.routes)
    assert differs.nameserver_addr == (inventory.nameservers or ())[0 if is_first else 1]
    assert differs.routes == (InventoryRoute(topic="pay", queues=(on("a", 4),)),)


def test_a_broker_at_another_address_is_listed() -> None:
    elsewhere: Answer = (
        0,
        {
            "brokerAddrTable": {"a": {"brokerName": "a", "cluster": "C1", "brokerAddrs": {"0": "10.0.0.9:10911"}}},
            "clusterAddrTable": {"C1": ["a"]},
        },
    )
    inventory = snapshot_of([ToldBroker("a")], other_name_servers=[{106: elsewhere}])

    (differs,) = (view for view in inventory.nameserver_views or () if view.brokers is not None)
    assert differs.brokers == (ListedBroker(broker_name="a", broker_id=0, broker_addr="10.0.0.9:10911"),)


def test_a_route_that_was_on_its_way_is_asked_for_once_more() -> None:
    asked: Counter[str] = Counter()

    def late(request: Command) -> Answer | None:
        asked[request.ext_fields["topic"]] += 1
        return route(a=4) if asked[request.ext_fields["topic"]] > 1 else None

    inventory = snapshot_of(
        [ToldBroker("a")], name_server={105: route(a=4)}, other_name_servers=[{105: late, 206: (0, {"topicList": []})}]
    )

    assert [view.routes for view in inventory.nameserver_views or ()] == [None, None]
    assert asked == {"pay": 2}


def test_a_name_server_that_does_not_answer_is_a_failure_and_no_disagreement() -> None:
    inventory = snapshot_of([ToldBroker("a")], other_name_servers=[{106: None}], options=QUICK)

    (failure,) = inventory.failures or ()
    assert (failure.broker_addr, failure.request) == ((inventory.nameservers or ())[1], "GET_BROKER_CLUSTER_INFO")
    assert inventory.nameserver_views is None
    assert [broker.broker_name for broker in inventory.brokers] == ["a"]


def test_a_route_that_one_does_not_tell_is_unknown_there() -> None:
    inventory = snapshot_of(
        [ToldBroker("a")], name_server={105: route(a=4)}, other_name_servers=[{105: (1, "broken")}], options=ONCE
    )

    assert [view.routes for view in inventory.nameserver_views or ()] == [None, None]
    assert [failure.request for failure in inventory.failures or ()] == ["GET_ROUTEINFO_BY_TOPIC"]


def test_rocketmqs_own_topics_are_not_compared() -> None:
    inventory = snapshot_of(
        [ToldBroker("a")],
        topics=("BenchmarkTest",),
        name_server={105: route(a=4)},
        other_name_servers=[{105: (17, "no route")}],
    )

    assert [view.routes for view in inventory.nameserver_views or ()] == [None, None]
