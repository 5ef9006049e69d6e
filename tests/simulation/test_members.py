import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, InventoryConsumeStatus
from tests.simulation.clusters import (
    after,
    client,
    cluster,
    group,
    ids_of,
    owned_by,
    pay_cluster,
    queues,
    reads,
    the_group,
    topic,
)


def test_clients_are_added_by_their_ids() -> None:
    changed = after(
        pay_cluster(2), {"change": "add_clients", "consumer_group": "g_pay", "client_ids": ["10.0.0.13@1#1", "x"]}
    )
    assert ids_of(changed) == ["10.0.0.1@1#1", "10.0.0.2@1#1", "10.0.0.13@1#1", "x"]


def test_an_id_that_is_there_already_becomes_a_duplicate() -> None:
    changed = after(
        pay_cluster(2), {"change": "add_clients", "consumer_group": "g_pay", "client_ids": ["10.0.0.1@1#1"]}
    )
    assert ids_of(changed) == ["10.0.0.1@1#1", "10.0.0.2@1#1", "10.0.0.1@1#1"]


def test_made_up_ids_say_so_and_are_listed_once() -> None:
    two = {"change": "add_clients", "consumer_group": "g_pay", "count": 2}
    assert ids_of(after(pay_cluster(1), two)) == ["10.0.0.1@1#1", "what_if_1@g_pay", "what_if_2@g_pay"]
    assert ids_of(after(pay_cluster(1), two, two))[3:] == ["what_if_3@g_pay", "what_if_4@g_pay"]


def test_the_room_rule_of_the_contract_reads_no_room_from_a_made_up_id() -> None:
    policy = Policy.model_validate({"rooms": {"clients": [{"pattern": "^(?P<room>[a-z]+)-"}]}})
    made_up = ids_of(after(pay_cluster(1), {"change": "add_clients", "consumer_group": "g_pay", "count": 1}))[1]
    assert policy.rooms is not None
    assert policy.rooms.of_client(made_up, None) is None


def test_a_new_client_is_like_most_of_its_group() -> None:
    pay = topic("pay", queues("broker-a"))
    unlike = client(
        "c1",
        language="GO",
        version="V4_9_7",
        allocate_strategy="AVG_BY_CIRCLE",
        consume_threads=64,
        consume_batch_size=32,
        pull_threshold_for_queue=10,
        pull_threshold_size_for_queue_mib=1,
        subscriptions=(reads("pay", "vip"),),
    )
    before = cluster([pay], [group("g_pay", [unlike, client("c2"), client("c3")], [pay])])
    new = (the_group(after(before, {"change": "add_clients", "consumer_group": "g_pay", "count": 1})).clients or ())[-1]
    like = client(
        "what_if_1@g_pay",
        client_addr=None,
        started_at=None,
        owned_queues=None,
        status=(InventoryConsumeStatus(topic="pay", consume_rt_ms=10.0),),
    )
    assert new == like


def test_of_equally_frequent_settings_the_smallest_is_taken_whatever_the_order() -> None:
    members = [client("c1", consume_threads=64), client("c2", consume_threads=20), client("c3", consume_threads=None)]
    for order in (members, members[::-1]):
        changed = after(
            cluster([topic("pay", queues("broker-a"))], [group("g_pay", order)]),
            {"change": "add_clients", "consumer_group": "g_pay", "count": 1},
        )
        assert (the_group(changed).clients or ())[-1].consume_threads == 20


def test_the_response_time_of_a_new_client_is_the_median_of_its_group_topic_by_topic() -> None:
    def consuming(client_id: str, pay: float | None, ship: float) -> Client:
        status = (
            InventoryConsumeStatus(topic="pay", consume_rt_ms=pay),
            InventoryConsumeStatus(topic="ship", consume_rt_ms=ship, consume_failed_msgs_per_s=1.0),
            InventoryConsumeStatus(topic="left", consume_rt_ms=1.0),
        )
        return client(client_id, status=status, subscriptions=(reads("pay"), reads("ship")))

    members = [consuming("c1", 10.0, 1.0), consuming("c2", None, 2.0), consuming("c3", 30.0, 9.0)]
    before = cluster([topic("pay", queues("broker-a"))], [group("g_pay", members)])
    changed = after(before, {"change": "add_clients", "consumer_group": "g_pay", "count": 1})
    assert (the_group(changed).clients or ())[-1].status == (
        InventoryConsumeStatus(topic="pay", consume_rt_ms=20.0),
        InventoryConsumeStatus(topic="ship", consume_rt_ms=2.0),
    )


def test_a_new_client_has_the_groups_subscriptions_where_most_report_none_of_their_own() -> None:
    members = [client("c1", subscriptions=None), client("c2", subscriptions=None), client("c3")]
    before = cluster([topic("pay", queues("broker-a"))], [group("g_pay", members)])
    changed = after(before, {"change": "add_clients", "consumer_group": "g_pay", "count": 1})
    assert (the_group(changed).clients or ())[-1].subscriptions is None


def test_a_new_client_is_seen_on_every_broker_that_names_one_of_its_group() -> None:
    members = [client("c1", seen_on=("broker-b",)), client("c2", seen_on=("broker-a",)), client("c3", seen_on=None)]
    before = cluster([topic("pay", queues("broker-a"))], [group("g_pay", members)])
    changed = after(before, {"change": "add_clients", "consumer_group": "g_pay", "count": 1})
    assert (the_group(changed).clients or ())[-1].seen_on == ("broker-a", "broker-b")


@pytest.mark.parametrize("nobody", [(), None])
def test_the_first_client_of_a_group_is_seen_on_the_brokers_of_its_topics(nobody: tuple[()] | None) -> None:
    before = cluster(
        [topic("pay", queues("broker-b"), queues("broker-a")), topic("ship", queues("broker-c"))],
        [group("g_pay", nobody)],
    )
    changed = after(before, {"change": "add_clients", "consumer_group": "g_pay", "count": 1})
    (new,) = the_group(changed).clients or ()
    assert (new.client_id, new.seen_on) == ("what_if_1@g_pay", ("broker-a", "broker-b"))
    assert (new.allocate_strategy, new.consume_threads, new.subscriptions, new.status) == (None, None, None, None)


@pytest.mark.parametrize(
    ("client_id", "address"), [("10.1.0.7@1#1", "10.1.0.7"), ("hz-7@1", None), ("10.1.0.700@1", None), ("@", None)]
)
def test_the_address_of_a_new_client_is_the_one_in_its_id(client_id: str, address: str | None) -> None:
    changed = after(pay_cluster(), {"change": "add_clients", "consumer_group": "g_pay", "client_ids": [client_id]})
    new = (the_group(changed).clients or ())[-1]
    assert new.client_addr == address
    rooms = Policy.model_validate({"rooms": {"clients": [{"cidr": "10.1.0.0/16", "room": "hz"}]}}).rooms
    assert rooms is not None
    assert rooms.of_client(new.client_id, new.client_addr) == ("hz" if address else None)


def test_clients_are_removed_by_their_ids() -> None:
    changed = after(
        pay_cluster(), {"change": "remove_clients", "consumer_group": "g_pay", "client_ids": ["10.0.0.2@1#1"]}
    )
    assert ids_of(changed) == ["10.0.0.1@1#1", "10.0.0.3@1#1"]


def test_each_mention_of_a_duplicated_id_removes_one_of_its_consumers() -> None:
    members = [client("c", consume_threads=1), client("d"), client("c", consume_threads=2)]
    before = cluster([topic("pay", queues("broker-a"))], [group("g_pay", members)])
    once = after(before, {"change": "remove_clients", "consumer_group": "g_pay", "client_ids": ["c"]})
    assert [(c.client_id, c.consume_threads) for c in the_group(once).clients or ()] == [("c", 1), ("d", 20)]
    twice = after(before, {"change": "remove_clients", "consumer_group": "g_pay", "client_ids": ["c", "c"]})
    assert ids_of(twice) == ["d"]


def test_counted_clients_are_the_last_in_the_order_of_java() -> None:
    # U+FF5E stands behind U+1F600 by code points, and before it by UTF-16 code units, which Java compares.
    members = [client("\U0001f600"), client("10.0.0.2"), client("\uff5e"), client("10.0.0.10")]
    before = cluster([topic("pay", queues("broker-a"))], [group("g_pay", members)])
    for count, left in ((1, ["\U0001f600", "10.0.0.2", "10.0.0.10"]), (3, ["10.0.0.10"]), (4, [])):
        changed = after(before, {"change": "remove_clients", "consumer_group": "g_pay", "count": count})
        assert ids_of(changed) == left


def test_what_clients_owned_is_unknown_once_members_change() -> None:
    for change in (
        {"change": "add_clients", "consumer_group": "g_pay", "count": 1},
        {"change": "remove_clients", "consumer_group": "g_pay", "count": 1},
    ):
        assert set(owned_by(after(pay_cluster(), change))) == {None}


def test_other_groups_keep_what_they_reported() -> None:
    pay = topic("pay", queues("broker-a"))
    before = cluster([pay], [group("g_pay", [client("c")], [pay]), group("g_audit", [client("d")], [pay])])
    changed = after(before, {"change": "remove_clients", "consumer_group": "g_pay", "count": 1})
    assert the_group(changed, "g_audit") == the_group(before, "g_audit")


@pytest.mark.parametrize("change", ["add_clients", "remove_clients"])
def test_no_clients_more_or_less_leave_everything_as_it_was(change: str) -> None:
    before = pay_cluster()
    assert after(before, {"change": change, "consumer_group": "g_pay", "count": 0}) == before


@pytest.mark.parametrize(
    ("change", "place", "says"),
    [
        (
            {"change": "add_clients", "consumer_group": "g_pai", "count": 1},
            "changes[0].consumer_group",
            "is 'g_pai', which is not there; the nearest consumer group is 'g_pay'",
        ),
        (
            {"change": "remove_clients", "consumer_group": "g_pay", "client_ids": ["10.0.0.1@1#1", "10.0.0.9@1#1"]},
            "changes[0].client_ids[1]",
            "is '10.0.0.9@1#1', which is not there; the nearest client of the group is '10.0.0.3@1#1'",
        ),
        (
            {"change": "remove_clients", "consumer_group": "g_pay", "client_ids": ["10.0.0.1@1#1", "10.0.0.1@1#1"]},
            "changes[0].client_ids[1]",
            "is '10.0.0.1@1#1' once more than the group has it (1)",
        ),
        (
            {"change": "remove_clients", "consumer_group": "g_pay", "count": 4},
            "changes[0].count",
            "is 4; expected at most 3, the clients that the group has",
        ),
    ],
)
def test_members_that_are_not_there_are_refused(change: dict[str, object], place: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        after(pay_cluster(), change)
    assert (caught.value.source, caught.value.place, caught.value.problem) == ("what-if.yaml", place, says)


def test_a_cluster_without_groups_says_so() -> None:
    with pytest.raises(BadInput, match="there is no consumer group at all"):
        after(cluster([]), {"change": "add_clients", "consumer_group": "g", "count": 1})


def test_a_new_client_of_a_group_behind_a_proxy_speaks_grpc_as_well() -> None:
    members = [client(f"c{i}", protocol="GRPC", seen_on=("10.0.8.1:8080",)) for i in range(2)]
    changed = after(
        cluster([topic("pay", queues("broker-a"))], [group("g_pay", members)]),
        {"change": "add_clients", "consumer_group": "g_pay", "count": 1},
    )
    added = (the_group(changed).clients or ())[-1]
    assert (added.protocol, added.seen_on) == ("GRPC", ("10.0.8.1:8080",))
