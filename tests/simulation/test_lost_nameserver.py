"""A lost name server: what its loss leaves of a small cluster, and what the what-if says of it, worked out by hand.

The topic ``pay`` has 4 queues on broker-a and 4 on broker-b. ``g_pay`` reads it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.lost_nameserver import LostNameserver, PartialLists
from rocketmq_capacity.simulation.lost_nameservers import SubscriptionRow, entries_of, partial_lists
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryNameserver, InventoryRoute, TopicQueues
from rocketmq_capacity.tables import Broker as BrokerRow
from rocketmq_capacity.tables import TopicQueue
from tests.assessment.cases import a_topic
from tests.fixtures.units import units_of
from tests.simulation.clusters import after, broker, client, cluster, group, queues

FIRST, SECOND, THIRD = "10.0.9.1:9876", "10.0.9.2:9876", "10.0.9.3:9876"
NO_LISTS = PartialLists(topics=0, topic_names=(), queues=0, groups=0, group_names=())


def registered(name: str, *nameservers: str, **config: str) -> Any:
    """A broker that registers with these name servers."""
    return replace(broker(name), config={"namesrvAddr": ";".join(nameservers), **config})


def a_cluster(*brokers: Any, nameservers: tuple[str, ...] = (FIRST, SECOND), **facts: Any) -> Inventory:
    pay = a_topic("pay", rates={})
    found = cluster([pay], [group("g_pay", [client("10.0.0.1@1#1")], [pay])], brokers or None)
    return replace(found, nameservers=nameservers, **facts)


def lost(address: str, loss: str = "SILENT") -> dict[str, Any]:
    return {"change": "lose_nameserver", "nameserver": address, "loss": loss}


def gives(address: str, *layout: TopicQueues) -> InventoryNameserver:
    return InventoryNameserver(nameserver_addr=address, routes=(InventoryRoute(topic="pay", queues=layout),))


def route(inventory: Inventory) -> dict[str, int | None]:
    """The readable queues of ``pay``, by broker."""
    return {each.broker_name: each.read_queue_nums for each in inventory.topics[0].queues or ()}


def test_a_name_server_that_knows_no_more_than_the_others_takes_nothing_with_it() -> None:
    before = a_cluster(registered("broker-a", FIRST, SECOND), registered("broker-b", FIRST, SECOND))
    now = after(before, lost(SECOND))

    assert now.nameservers == (FIRST,)
    assert (now.topics, now.consumer_groups) == (before.topics, before.consumer_groups)


def test_a_broker_that_registers_with_it_alone_is_gone() -> None:
    now = after(a_cluster(registered("broker-a", FIRST, SECOND), registered("broker-b", SECOND)), lost(SECOND))

    assert [one.broker_name for one in now.brokers] == ["broker-a"]
    assert route(now) == {"broker-a": 4}


def test_a_broker_that_registers_with_two_lost_ones_is_gone_with_the_second() -> None:
    brokers = registered("broker-a", FIRST, SECOND, THIRD), registered("broker-b", SECOND, THIRD)
    before = a_cluster(*brokers, nameservers=(FIRST, SECOND, THIRD))

    assert route(after(before, lost(SECOND))) == {"broker-a": 4, "broker-b": 4}
    assert route(after(before, lost(SECOND), lost(THIRD))) == {"broker-a": 4}


def test_if_none_is_left_clients_keep_their_routes() -> None:
    brokers = registered("broker-a", FIRST), registered("broker-b", FIRST)
    now = after(a_cluster(*brokers, nameservers=(FIRST,)), lost(FIRST))

    assert now.nameservers == ()
    assert route(now) == {"broker-a": 4, "broker-b": 4}


def test_routes_are_those_that_the_others_give() -> None:
    views = (InventoryNameserver(nameserver_addr=FIRST), gives(SECOND, queues("broker-a")))
    before = a_cluster(nameserver_views=views)

    assert route(after(before, lost(FIRST))) == {"broker-a": 4}
    assert route(after(before, lost(SECOND))) == {"broker-a": 4, "broker-b": 4}
    assert after(before, lost(SECOND)).nameserver_views is None


def test_the_others_are_compared_with_the_route_that_is_left() -> None:
    views = (InventoryNameserver(nameserver_addr=FIRST), *(gives(one, queues("broker-a")) for one in (SECOND, THIRD)))
    before = a_cluster(nameservers=(FIRST, SECOND, THIRD), nameserver_views=views)

    # The two that are left agree; without the third, the first two still differ.
    same, other = (after(before, lost(one)).nameserver_views or () for one in (FIRST, THIRD))
    assert [(one.nameserver_addr, one.routes) for one in same] == [(SECOND, None), (THIRD, None)]
    assert other == views[:2]


def test_the_route_that_is_left_has_every_broker_that_one_of_the_others_gives() -> None:
    views = (
        InventoryNameserver(nameserver_addr=FIRST),
        gives(SECOND, queues("broker-b", 6)),
        gives(THIRD, queues("broker-a"), queues("broker-b")),
    )
    now = after(a_cluster(nameservers=(FIRST, SECOND, THIRD), nameserver_views=views), lost(FIRST))

    assert route(now) == {"broker-a": 4, "broker-b": 6}
    assert [one.routes is None for one in now.nameserver_views or ()] == [False, False]


@pytest.mark.parametrize(
    ("nameservers", "changes", "problem"),
    [
        ((FIRST, SECOND), [lost("10.0.9.1:987")], f"the nearest name server is '{FIRST}'"),
        ((FIRST,), [lost(FIRST), lost(FIRST)], "names no name server that is left"),
    ],
)
def test_a_name_server_that_is_not_there_is_refused(
    nameservers: tuple[str, ...], changes: Sequence[Mapping[str, Any]], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem) as caught:
        after(a_cluster(nameservers=nameservers), *changes)
    assert caught.value.place == f"changes[{len(changes) - 1}].nameserver"


def entry(
    *changes: Mapping[str, Any], left: tuple[str, ...] = (FIRST,), config: Mapping[str, str] | None = None
) -> LostNameserver:
    """What is said of the first lost name server."""
    every = tuple(dict.fromkeys([*left, *(one["nameserver"] for one in changes if "nameserver" in one)]))
    brokers = registered("broker-a", *every, **config or {}), registered("broker-b", *every)
    return entry_of(units_of(a_cluster(*brokers, nameservers=every)).cluster.brokers, changes, left)


def entry_of(
    brokers: Sequence[BrokerRow], changes: Sequence[Mapping[str, Any]], left: tuple[str, ...]
) -> LostNameserver:
    scenario = Scenario.model_validate({"name": "lost", "changes": list(changes)})
    timing = Timing(failed_polls=scenario.failed_polls)
    return next(entries_of(scenario, brokers, left, timing, NO_LISTS))


def spans(one: LostNameserver) -> list[tuple[str, float, float | None, str]]:
    return [(span.clients, span.from_s, span.until_s, span.route) for span in one.routes]


@pytest.mark.parametrize(("loss", "asked_s"), [("SILENT", 66.0), ("KILL", 33.0)])
def test_clients_of_a_dead_name_server_ask_another_one(loss: str, asked_s: float) -> None:
    # A poll comes every 30 s and takes 3 s at most. A silent name server costs one.
    assert spans(entry(lost(SECOND, loss))) == [
        ("ASK_ANOTHER", 0.0, None, "CURRENT"),
        ("ASK_IT", 0.0, asked_s, "AS_BEFORE"),
        ("ASK_IT", asked_s, None, "CURRENT"),
        ("KNOW_IT_ALONE", 0.0, None, "AS_BEFORE"),
        ("NEW", 0.0, None, "CURRENT"),
    ]


@pytest.mark.parametrize(
    ("losses", "polls"),
    [
        ([], 0),
        (["KILL"], 0),
        (["SILENT"], 1),
        (["KILL", "KILL"], 1),
        (["KILL", "SILENT"], 2),
        (["SILENT", "SILENT"], 2),
        (["CUT_OFF"], 0),
    ],
)
def test_each_dead_name_server_may_cost_a_poll_but_the_first_that_is_killed(losses: list[str], polls: int) -> None:
    changes = [lost(f"10.0.9.{number}:9876", loss) for number, loss in enumerate(losses)]

    assert Scenario.model_validate({"name": "lost", "changes": changes}).failed_polls == polls


def test_without_another_one_clients_keep_their_routes_and_new_ones_do_not_start() -> None:
    one = entry(lost(SECOND), left=())

    assert spans(one) == [("KNOW_IT_ALONE", 0.0, None, "AS_BEFORE"), ("NEW", 0.0, None, "NONE")]
    assert one.lost_brokers == ()
    assert "No client notices new queues, topics or brokers, or lost ones." in one.stops


def test_a_name_server_that_is_cut_off_expires_the_brokers() -> None:
    one = entry(lost(SECOND, "CUT_OFF"))

    # The last registration was 0 to 30 s ago, a broker expires 120 s after it, and the name server looks every 5 s.
    assert (one.expires_first_s, one.expires_last_s) == (90.0, 125.0)
    # Back again: a broker registers within 30 s, and a client asks within 30 s; both take 3 s at most.
    assert one.back_s == 66.0
    assert spans(one) == [
        ("ASK_ANOTHER", 0.0, None, "CURRENT"),
        ("ASK_IT", 0.0, 90.0, "AS_BEFORE"),
        ("ASK_IT", 90.0, 125.0, "SHRINKING"),
        ("ASK_IT", 125.0, None, "LAST"),
        ("NEW", 0.0, 125.0, "SHRINKING"),
        ("NEW", 125.0, None, "NONE"),
    ]


@pytest.mark.parametrize(
    ("config", "first_s", "last_s", "back_s"),
    [
        ({"registerNameServerPeriod": "60000"}, 60.0, 125.0, 96.0),
        ({"registerNameServerPeriod": "3000"}, 90.0, 125.0, 66.0),  # a broker takes 10 s at least; the other has 30 s
        # It tells name servers every second that it lives, and expires 10 s after it did.
        ({"enableSlaveActingMaster": "true"}, 9.0, 125.0, 66.0),
        ({"enableSlaveActingMaster": "true", "brokerNotActiveTimeoutMillis": "200000"}, 90.0, 205.0, 66.0),
    ],
)
def test_brokers_expire_by_their_own_settings(
    config: dict[str, str], first_s: float, last_s: float, back_s: float
) -> None:
    one = entry(lost(SECOND, "CUT_OFF"), config=config)

    assert (one.expires_first_s, one.expires_last_s, one.back_s) == (first_s, last_s, back_s)


def test_brokers_that_only_lost_ones_list_are_named() -> None:
    brokers = registered("broker-a", FIRST, SECOND), registered("broker-b", SECOND)
    rows = units_of(a_cluster(*brokers)).cluster.brokers
    one = entry_of(rows, [lost(SECOND)], (FIRST,))

    assert one.lost_brokers == ("broker-b",)
    assert any("lists broker-b: clients that ask one of them do not see their queues" in text for text in one.stops)


def test_if_a_broker_does_not_tell_where_it_registers_that_is_unknown() -> None:
    one = entry_of(units_of(a_cluster()).cluster.brokers, [lost(SECOND)], (FIRST,))

    assert one.lost_brokers is None
    assert "It is unknown which brokers register only with lost name servers." in one.stops


@pytest.mark.parametrize("loss", ["SILENT", "KILL", "CUT_OFF"])
def test_nobody_is_told_to_stop_the_last_name_server(loss: str) -> None:
    last, one_of_two = entry(lost(SECOND, loss), left=()), entry(lost(SECOND, loss))

    assert not any("stop" in text.lower() for text in last.advice)
    assert any("stop it" in text for text in one_of_two.advice) == (loss == "CUT_OFF")


@pytest.mark.parametrize(
    ("loss", "left", "is_told"),
    [("SILENT", (), True), ("CUT_OFF", (FIRST,), True), ("SILENT", (FIRST,), False), ("KILL", (FIRST,), False)],
)
def test_other_changes_that_clients_may_not_notice_are_marked(loss: str, left: tuple[str, ...], is_told: bool) -> None:
    more = {"change": "lose_broker", "broker_name": "broker-b"}
    as_if = "The other changes of this scenario are computed as if every client noticed them."

    assert (as_if in entry(lost(SECOND, loss), more, left=left).stops) == is_told
    assert as_if not in entry(lost(SECOND, loss), left=left).stops


def test_lists_can_be_partial_only_of_topics_on_several_brokers() -> None:
    def place(topic: str, broker_name: str, perm: int = 6) -> TopicQueue:
        return TopicQueue(
            topic=topic,
            broker_name=broker_name,
            kind="BUSINESS",
            read_queue_nums=4,
            write_queue_nums=4,
            perm=perm,
            broker_state="LISTED",
            has_answered=True,
        )

    places = [
        *(place("pay", name) for name in ("broker-a", "broker-b")),
        place("ship", "broker-a"),
        *(place("closed", name, perm) for name, perm in (("broker-a", 6), ("broker-b", 2))),
    ]
    reads = [SubscriptionRow("g_pay", "pay"), SubscriptionRow("g_ship", "ship"), SubscriptionRow("g_left_out", "pay")]

    assert partial_lists(places, reads, ["g_pay", "g_ship"]) == PartialLists(
        topics=1, topic_names=("pay",), queues=8, groups=1, group_names=("g_pay",)
    )
