from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker, InventoryFailure
from tests.simulation.clusters import (
    after,
    broker,
    client,
    cluster,
    group,
    ids_of,
    lags_of,
    owned_by,
    pay_cluster,
    queues,
    rates_of,
    samples_of,
    the_group,
    the_topic,
    topic,
)

ADD_C = {"change": "add_broker", "broker_name": "broker-c", "topics_like": "broker-a"}
LOSE_B = {"change": "lose_broker", "broker_name": "broker-b"}
LOSE_MASTER = {"change": "lose_master", "broker_name": "broker-b"}
SLOW_B = {"change": "slow_broker", "broker_name": "broker-b", "latency_ms": 800, "for_s": 60}
READ_B = {"change": "read_only_broker", "broker_name": "broker-b"}
ROOMS = Policy.model_validate({
    "rooms": {
        "brokers": [{"pattern": "^(?P<room>[^@]+)@"}],
        "clients": [{"cidr": "10.1.0.0/16", "room": "hz"}, {"pattern": "^(?P<room>[a-z]+)-"}],
    }
})


def test_a_new_broker_has_the_topics_of_the_one_it_is_like() -> None:
    pay = topic("pay", queues("broker-a", 4, 3), queues("broker-b", 8))
    ship = topic("ship", queues("broker-b"))
    changed = after(cluster([pay, ship]), ADD_C)
    assert changed.brokers[-1] == InventoryBroker(broker_name="broker-c", broker_id=0, broker_addr=None, broker_perm=6)
    assert the_topic(changed).queues == (*(pay.queues or ()), queues("broker-c", 4, 3))
    assert the_topic(changed, "ship") == ship


def test_a_new_broker_has_the_address_that_is_given() -> None:
    changed = after(pay_cluster(), ADD_C | {"broker_addr": "10.0.1.3:10911"})
    assert changed.brokers[-1].broker_addr == "10.0.1.3:10911"


def test_the_topic_named_after_a_broker_is_not_copied_to_another() -> None:
    own = topic("broker-a", queues("broker-a", 1))
    assert the_topic(after(cluster([own]), ADD_C), "broker-a") == own


def test_a_broker_like_a_read_only_one_can_be_written_all_the_same() -> None:
    pay = topic("pay", queues("broker-a", perm=4), queues("broker-b"))
    quiet = topic("quiet", queues("broker-b", perm=4))
    brokers = [broker("broker-a", perm=4), broker("broker-b")]
    assert (the_topic(after(cluster([pay, quiet], brokers=brokers), ADD_C)).queues or ())[-1].perm == 6
    like_b = after(cluster([pay, quiet], brokers=brokers), ADD_C | {"topics_like": "broker-b"})
    assert (the_topic(like_b, "quiet").queues or ())[-1].perm == 4  # the topic itself is read only


def test_a_new_broker_takes_its_even_share_of_the_traffic() -> None:
    changed = after(pay_cluster(), ADD_C)
    assert rates_of(changed) == {
        (f"broker-{name}", i): pytest.approx(80 / 12) for name in ("a", "b", "c") for i in range(4)
    }


def test_queues_of_a_new_broker_start_without_lag() -> None:
    changed = after(pay_cluster(), ADD_C)
    assert {queue: lag for queue, lag in lags_of(changed).items() if queue[0] == "broker-c"} == {
        ("broker-c", i): 0 for i in range(4)
    }
    assert set(owned_by(changed)) == {None}


def test_clients_of_its_topics_are_seen_on_a_new_broker() -> None:
    pay, ship = topic("pay", queues("broker-a")), topic("ship", queues("broker-b"))
    known, unknown = client("c", seen_on=("broker-a",)), client("d", seen_on=None)
    aside = client("e", subscriptions=None, owned_queues=None, seen_on=("broker-b",))
    before = cluster([pay, ship], [group("g_pay", [known, unknown], [pay]), group("g_ship", [aside], [ship])])
    changed = after(before, ADD_C)
    assert [c.seen_on for c in the_group(changed).clients or ()] == [("broker-a", "broker-c"), None]
    assert the_group(changed, "g_ship") == the_group(before, "g_ship")


@pytest.mark.parametrize(
    ("change", "place", "says"),
    [
        (ADD_C | {"broker_name": "broker-b"}, "broker_name", "is 'broker-b', which is there already"),
        (
            ADD_C | {"topics_like": "broker-z"},
            "topics_like",
            "is 'broker-z', which is not there; the nearest broker is",
        ),
        (ADD_C | {"broker_addr": "broker-b:10911"}, "broker_addr", "is 'broker-b:10911', the address of 'broker-b'"),
        (LOSE_B | {"broker_name": "broker-c"}, "broker_name", "which is not there; the nearest broker is 'broker-b'"),
        (READ_B | {"broker_name": "roker-a"}, "broker_name", "which is not there; the nearest broker is 'broker-a'"),
        (LOSE_MASTER | {"broker_name": "b"}, "broker_name", "which is not there; the nearest broker is"),
        (SLOW_B | {"broker_name": "b"}, "broker_name", "which is not there; the nearest broker is"),
        ({"change": "lose_room", "room": "hz"}, "room", "is 'hz', but the policy has no rooms"),
    ],
)
def test_brokers_that_are_not_there_or_there_already_are_refused(change: dict[str, Any], place: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        after(pay_cluster(), change)
    assert caught.value.place == f"changes[0].{place}"
    assert says in caught.value.problem


def test_a_broker_that_only_a_route_names_can_be_lost_but_not_added() -> None:
    pay = topic("pay", queues("broker-a"), queues("ghost"))
    before = cluster([pay], brokers=[broker("broker-a")])
    assert the_topic(after(before, LOSE_B | {"broker_name": "ghost"})).queues == (queues("broker-a"),)
    with pytest.raises(BadInput, match="is 'ghost', which is there already"):
        after(before, ADD_C | {"broker_name": "ghost"})


def test_a_lost_broker_takes_all_that_stood_on_it() -> None:
    before = pay_cluster()
    slave = broker("broker-b", broker_id=1)
    failures = [
        InventoryFailure(broker_addr="broker-a:10911", error="timed out"),
        InventoryFailure(broker_addr="broker-b:10912", error="timed out"),
    ]
    own = topic("broker-b", queues("broker-b", 1))
    before = replace(before, brokers=(*before.brokers, slave), topics=(*before.topics, own), failures=tuple(failures))
    changed = after(before, LOSE_B)
    assert [b.broker_name for b in changed.brokers] == ["broker-a"]
    assert changed.failures == (failures[0],)
    assert [t.topic for t in changed.topics] == ["pay"]  # no business topic "broker-b" is left behind
    assert the_topic(changed).queues == (queues("broker-a"),)
    assert {name for name, _ in rates_of(changed)} == {"broker-a"}
    assert {name for name, _ in lags_of(changed)} == {"broker-a"}


def test_clients_behind_a_proxy_are_seen_on_no_new_broker() -> None:
    """They send their heartbeats to the Proxy, which tells no broker of them."""
    pay = topic("pay", queues("broker-a", 2))
    proxied = [client("c", seen_on=("10.0.8.1:8080",)), client("d", seen_on=("10.0.8.1:8080",), protocol="GRPC")]
    local = client("e", seen_on=("10.0.1.1:8080", "broker-a"))
    before = cluster([pay], [group("g_pay", [*proxied, local], [pay])], [broker("broker-a")])
    changed = after(before, {"change": "add_broker", "broker_name": "broker-c", "topics_like": "broker-a"})

    assert [c.seen_on for c in the_group(changed).clients or ()] == [
        ("10.0.8.1:8080",),
        ("10.0.8.1:8080",),
        ("10.0.1.1:8080", "broker-a", "broker-c"),
    ]


def test_clients_outlive_a_broker_and_are_no_longer_seen_on_it() -> None:
    members = [client("c"), client("d", seen_on=("broker-b",)), client("e", seen_on=None), client("f", seen_on=())]
    pay = topic("pay", queues("broker-a"), queues("broker-b"))
    changed = after(cluster([pay], [group("g_pay", members, [pay])]), LOSE_B)
    assert ids_of(changed) == ["c", "d", "e", "f"]
    assert [c.seen_on for c in the_group(changed).clients or ()] == [("broker-a",), None, None, ()]
    assert set(owned_by(changed)) == {None}


def test_the_traffic_of_a_lost_broker_is_added_evenly_to_what_stays() -> None:
    rates = {("broker-a", 0): 30.0, ("broker-a", 1): 10.0, ("broker-b", 0): 8.0, ("broker-b", 1): 12.0}
    pay = topic("pay", queues("broker-a", 2), queues("broker-b", 2), rates=rates)
    changed = after(cluster([pay], [group("g_pay", [], [pay])]), LOSE_B)
    assert rates_of(changed) == {("broker-a", 0): 40.0, ("broker-a", 1): 20.0}
    assert set(samples_of(changed)) == {None}


def test_unknown_traffic_of_a_lost_broker_makes_the_rest_unknown() -> None:
    rates = {("broker-a", 0): 30.0, ("broker-a", 1): 10.0, ("broker-b", 0): None}
    pay = topic("pay", queues("broker-a", 2), queues("broker-b", 1), rates=rates)
    assert rates_of(after(cluster([pay]), LOSE_B)) == {("broker-a", 0): None, ("broker-a", 1): None}


def test_what_was_unknown_elsewhere_stays_unknown_there_alone() -> None:
    rates = {("broker-a", 0): None, ("broker-a", 1): 10.0, ("broker-b", 0): 4.0}
    pay = topic("pay", queues("broker-a", 2), queues("broker-b", 1), rates=rates)
    assert rates_of(after(cluster([pay]), LOSE_B)) == {("broker-a", 0): None, ("broker-a", 1): 12.0}


def test_a_broker_without_traffic_is_lost_without_a_trace_in_the_rates() -> None:
    rates = {("broker-a", 0): 30.0, ("broker-b", 0): 0.0}
    pay = topic("pay", queues("broker-a", 1), queues("broker-b", 1, perm=4), rates=rates)
    before = cluster([pay], [group("g_pay", [], [pay])])
    changed = after(before, LOSE_B)
    assert rates_of(changed) == {("broker-a", 0): 30.0}
    assert samples_of(changed) == samples_of(before)[:1]


def test_with_the_last_writable_queue_goes_the_traffic() -> None:
    rates = {("broker-a", 0): 30.0, ("broker-b", 0): 5.0}
    pay = topic("pay", queues("broker-a", 1, perm=4), queues("broker-b", 1), rates=rates)
    assert rates_of(after(cluster([pay]), LOSE_B)) == {("broker-a", 0): 30.0}
    alone = topic("pay", queues("broker-b", 1))
    changed = after(cluster([alone]), LOSE_B)
    assert (the_topic(changed).queues, the_topic(changed).offsets) == ((), ())


def test_offsets_on_a_lost_broker_go_even_where_its_queues_are_not_known() -> None:
    before = pay_cluster()
    before = replace(before, topics=(replace(the_topic(before), queues=None),))
    changed = after(before, LOSE_B)
    assert {name for name, _ in rates_of(changed)} == {"broker-a"}
    assert {name for name, _ in lags_of(changed)} == {"broker-a"}


def test_a_read_only_broker_loses_the_write_bit_and_its_traffic() -> None:
    before = pay_cluster()
    before = replace(before, brokers=(*before.brokers, broker("broker-b", broker_id=1)))
    changed = after(before, READ_B)
    assert [(b.broker_name, b.broker_perm) for b in changed.brokers] == [
        ("broker-a", 6),
        ("broker-b", 4),
        ("broker-b", 4),
    ]
    assert the_topic(changed).queues == (queues("broker-a"), queues("broker-b", perm=4))
    assert rates_of(changed) == {("broker-a", i): 20.0 for i in range(4)} | {("broker-b", i): 0.0 for i in range(4)}


def test_consumers_of_a_read_only_broker_go_on_as_they_are() -> None:
    changed = after(pay_cluster(), READ_B)
    assert owned_by(changed) == owned_by(pay_cluster())
    assert lags_of(changed) == lags_of(pay_cluster())
    assert set(samples_of(changed)) == {None}  # the lag of a queue that gets no messages moves otherwise


@pytest.mark.parametrize(("perm", "becomes"), [(6, 4), (4, 4), (2, 0), (0, 0), (None, None)])
def test_a_read_only_broker_leaves_its_queues_the_read_bit_alone(perm: int | None, becomes: int | None) -> None:
    pay = topic("pay", queues("broker-b", perm=perm), rates={})
    changed = after(cluster([pay], brokers=[broker("broker-b", perm=None)]), READ_B)
    assert the_topic(changed).queues == (queues("broker-b", perm=becomes),)
    assert changed.brokers[0].broker_perm == 4


def test_a_broker_that_is_read_only_already_stays_as_it_is() -> None:
    once = after(pay_cluster(), READ_B)
    assert after(once, READ_B) == once


def with_slave(**config: str) -> Inventory:
    """The cluster of ``pay``, with a slave of broker-b that has this configuration."""
    before = pay_cluster()
    return replace(before, brokers=(*before.brokers, replace(broker("broker-b", broker_id=1), config=config)))


def test_a_lost_master_leaves_its_slaves_and_their_queues() -> None:
    before = with_slave()
    changed = after(before, LOSE_MASTER)
    assert [(b.broker_name, b.broker_id) for b in changed.brokers] == [("broker-a", 0), ("broker-b", 1)]
    assert the_topic(changed).queues == the_topic(before).queues
    assert owned_by(changed) == owned_by(before)
    assert lags_of(changed) == lags_of(before)


def test_producers_go_to_other_brokers_than_one_without_a_master() -> None:
    changed = after(with_slave(), LOSE_MASTER)
    assert rates_of(changed) == {("broker-a", i): 20.0 for i in range(4)} | {("broker-b", i): 0.0 for i in range(4)}
    assert set(samples_of(changed)) == {None}


def test_an_acting_master_makes_the_route_read_only() -> None:
    changed = after(with_slave(enableSlaveActingMaster="true"), LOSE_MASTER)
    assert the_topic(changed).queues == (queues("broker-a"), queues("broker-b", perm=4))
    assert rates_of(changed)["broker-b", 0] == 0.0


def test_a_controller_makes_the_first_slave_the_new_master() -> None:
    before = with_slave(enableControllerMode="true")
    second = replace(broker("broker-b", broker_id=2), config={"enableControllerMode": "true"})
    before = replace(before, brokers=(second, *before.brokers))
    changed = after(before, LOSE_MASTER)
    assert [(b.broker_id, b.broker_addr) for b in changed.brokers if b.broker_name == "broker-b"] == [
        (2, "broker-b:10913"),
        (0, "broker-b:10912"),
    ]
    assert rates_of(changed) == rates_of(before)


def test_a_master_without_slaves_takes_its_broker_along() -> None:
    assert after(pay_cluster(), LOSE_MASTER) == after(pay_cluster(), LOSE_B)


def test_a_lost_master_takes_its_failures_along_and_leaves_those_of_its_slave() -> None:
    failures = tuple(InventoryFailure(broker_addr=f"broker-b:{port}", error="timed out") for port in (10911, 10912))
    changed = after(replace(with_slave(), failures=failures), LOSE_MASTER)
    assert changed.failures == failures[1:]


def test_a_broker_without_a_master_has_none_to_lose() -> None:
    with pytest.raises(BadInput, match=r"changes\[1\]\.broker_name: is 'broker-b', which has no master"):
        after(with_slave(), LOSE_MASTER, LOSE_MASTER)


def test_a_slow_broker_moves_neither_queues_nor_traffic() -> None:
    assert after(pay_cluster(), SLOW_B) == pay_cluster()


def room_cluster() -> Any:
    pay = topic("pay", queues("hz@broker-a"), queues("sh@broker-b"), queues("broker-c"))
    members = [client("hz-1"), client("x", client_addr="10.1.2.3:9"), client("sh-1"), client("lone", client_addr=None)]
    others = [client("sh-2", owned_queues=())]
    return cluster([pay], [group("g_pay", members, [pay]), group("g_sh", others, [pay])])


def test_a_lost_room_takes_its_brokers_and_its_clients() -> None:
    changed = after(room_cluster(), {"change": "lose_room", "room": "hz"}, policy=ROOMS)
    assert [b.broker_name for b in changed.brokers] == ["broker-c", "sh@broker-b"]
    assert the_topic(changed).queues == (queues("sh@broker-b"), queues("broker-c"))
    assert (ids_of(changed), ids_of(changed, "g_sh")) == (["sh-1", "lone"], ["sh-2"])
    assert rates_of(changed) == {(name, i): 15.0 for name in ("sh@broker-b", "broker-c") for i in range(4)}


def test_a_room_of_clients_alone_leaves_brokers_and_other_groups_untouched() -> None:
    before = room_cluster()
    policy = Policy.model_validate({"rooms": {"clients": [{"pattern": "^(?P<room>hz)-"}]}})
    changed = after(before, {"change": "lose_room", "room": "hz"}, policy=policy)
    assert changed.topics == before.topics
    assert ids_of(changed) == ["x", "sh-1", "lone"]
    assert set(owned_by(changed)) == {None}
    assert the_group(changed, "g_sh") == the_group(before, "g_sh")


def test_a_room_that_nothing_is_in_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(BadInput, match=r"changes\[0\]\.room: is 'hzz', which is not there; the nearest room is 'hz'"):
        after(room_cluster(), {"change": "lose_room", "room": "hzz"}, policy=ROOMS)
    with pytest.raises(BadInput, match="there is no room at all"):
        after(pay_cluster(), {"change": "lose_room", "room": "hx"}, policy=Policy.model_validate({"rooms": {}}))
