"""NAMESERVER_DISAGREEMENT: which queues two clients read, or none, and who takes them by which list.

The topic ``pay`` has the queues a0 to a3 on broker-a and b0 to b3 on broker-b. By AVG the first of two clients takes
a0 to a3, and the second one b0 to b3. The second name server gives broker-a alone: the first client takes a0 and a1,
the second one a2 and a3.
"""

from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import (
    Client,
    Inventory,
    InventoryGroup,
    InventoryNameserver,
    InventoryOwnedQueue,
    InventoryRoute,
    TopicQueues,
)
from tests.assessment.cases import a_topic
from tests.assessment.judge import Row, judge
from tests.simulation.clusters import client, cluster, group, queues, reads

FIRST, SECOND, THIRD = "10.0.9.1:9876", "10.0.9.2:9876", "10.0.9.3:9876"
ONE, TWO = "10.0.0.1@1#1", "10.0.0.2@1#1"
A, B = "broker-a", "broker-b"


def member(client_id: str, *owned: tuple[str, int], **facts: Any) -> Client:
    """A client that reports to own these queues; without any it reports nothing."""
    held = tuple(InventoryOwnedQueue(topic="pay", broker_name=name, queue_id=queue_id) for name, queue_id in owned)
    return client(client_id, owned_queues=held or None, **facts)


def disagreement(
    *members: Client,
    views: tuple[InventoryNameserver, ...] | None = None,
    nameservers: tuple[str, ...] = (FIRST, SECOND),
    policy: Policy | None = None,
    **of_group: Any,
) -> Row:
    pay = a_topic("pay", rates={})
    inventory = cluster([pay], [group("g_pay", members, [pay], **of_group)])
    inventory = replace(inventory, nameservers=nameservers, nameserver_views=views or (gives(queues(A)),))
    return judge(inventory, policy).finding("NAMESERVER_DISAGREEMENT")


def gives(*layout: TopicQueues, at: str = SECOND) -> InventoryNameserver:
    return InventoryNameserver(nameserver_addr=at, routes=(InventoryRoute(topic="pay", queues=layout),))


def of_queues(row: Row) -> dict[str, tuple[str, str]]:
    """By queue, whether it is unread and whether it is read twice."""
    named = {(one["queue"]["broker_name"], one["queue"]["queue_id"]): one for one in row["evidence"]["divided_queues"]}
    return {f"{name[-1]}{queue_id}": (one["unread"], one["read_twice"]) for (name, queue_id), one in named.items()}


def takers(row: Row, broker_name: str, queue_id: int) -> dict[str, list[str]]:
    """By name server, the clients that take a queue."""
    (one,) = (
        one
        for one in row["evidence"]["divided_queues"]
        if (one["queue"]["broker_name"], one["queue"]["queue_id"]) == (broker_name, queue_id)
    )
    return {" ".join(each["nameservers"]): each["client_ids"] for each in one["takers"]}


def test_without_owned_queues_every_client_may_ask_either_name_server() -> None:
    row = disagreement(member(ONE), member(TWO))

    # a0 and a1 are taken by the first client in both lists.
    both, unread = ("MAYBE", "MAYBE"), ("MAYBE", "NO")
    assert of_queues(row) == {"a2": both, "a3": both, "b0": unread, "b1": unread, "b2": unread, "b3": unread}
    assert row["evidence"]["divided_groups"] == [
        {
            "consumer_group": "g_pay",
            "unread_queues": 0,
            "unread_queues_at_most": 6,
            "twice_queues": 0,
            "twice_queues_at_most": 2,
            "clients": 2,
            "placed_clients": 0,
            "undecided": None,
        }
    ]
    assert takers(row, A, 2) == {FIRST: [ONE], SECOND: [TWO]}
    assert takers(row, B, 0) == {FIRST: [TWO], SECOND: []}
    assert (
        "Of g_pay, up to 6 queues are read by nobody and up to 2 queues are read twice. Queue broker-a:2 of pay is"
        f" taken by {ONE} with the list of {FIRST}; {TWO} with the list of {SECOND}. It is unknown which list 2 clients"
        " of it has."
    ) in row["message"]


def test_what_clients_own_tells_which_list_they_have() -> None:
    row = disagreement(member(ONE, (A, 0), (A, 1), (A, 2), (A, 3)), member(TWO, (A, 2), (A, 3)))

    twice, unread = ("NO", "YES"), ("YES", "NO")
    assert of_queues(row) == {"a2": twice, "a3": twice, "b0": unread, "b1": unread, "b2": unread, "b3": unread}
    (whole,) = row["evidence"]["divided_groups"]
    assert (whole["unread_queues"], whole["unread_queues_at_most"], whole["placed_clients"]) == (4, 4, 2)
    assert "Of g_pay, 4 queues are read by nobody and 2 queues are read twice." in row["message"]
    assert "unknown which list" not in row["message"]


def test_clients_that_all_have_one_list_leave_only_what_it_lacks_unread() -> None:
    row = disagreement(member(ONE, (A, 0), (A, 1)), member(TWO, (A, 2), (A, 3)))

    assert of_queues(row) == dict.fromkeys(("b0", "b1", "b2", "b3"), ("YES", "NO"))


def test_clients_that_all_have_the_whole_list_are_not_hit() -> None:
    row = disagreement(member(ONE, *((A, n) for n in range(4))), member(TWO, *((B, n) for n in range(4))))

    assert of_queues(row) == {}
    assert "Of g_pay" not in row["message"]


def test_one_client_whose_list_is_unknown_gives_a_bound() -> None:
    row = disagreement(member(ONE, *((A, n) for n in range(4))), member(TWO))

    twice, unread = ("NO", "MAYBE"), ("MAYBE", "NO")
    assert of_queues(row) == {"a2": twice, "a3": twice, "b0": unread, "b1": unread, "b2": unread, "b3": unread}
    assert "up to 4 queues are read by nobody and up to 2 queues are read twice" in row["message"]
    assert "It is unknown which list 1 client of it has." in row["message"]


def test_owned_queues_that_no_list_gives_leave_every_list_possible() -> None:
    row = disagreement(member(ONE, (A, 0), (B, 3)), member(TWO, (A, 2), (A, 3)))

    assert of_queues(row)["a2"] == ("NO", "MAYBE")
    assert row["evidence"]["divided_groups"][0]["placed_clients"] == 1


def test_a_name_server_without_a_route_leaves_clients_their_old_list_or_none() -> None:
    row = disagreement(member(ONE), member(TWO), views=(gives(),))

    assert set(of_queues(row).values()) == {("MAYBE", "NO")}
    assert len(of_queues(row)) == 8
    assert takers(row, A, 0) == {FIRST: [ONE], SECOND: [ONE]}


def test_name_servers_with_the_same_list_count_as_one() -> None:
    views = (gives(queues(A)), gives(queues(A), at=THIRD))
    row = disagreement(member(ONE), member(TWO), views=views, nameservers=(FIRST, SECOND, THIRD))

    assert takers(row, A, 2) == {FIRST: [ONE], f"{SECOND} {THIRD}": [TWO]}


def test_if_every_name_server_differs_nobody_has_the_list_of_the_inventory() -> None:
    views = (gives(queues(A), at=FIRST), gives(queues(A)))
    row = disagreement(member(ONE), member(TWO), views=views)

    # Both give broker-a alone, so that no two clients have different lists.
    assert of_queues(row) == {}


def test_a_broker_that_only_one_name_server_lists_is_divided_too() -> None:
    views = (gives(queues(A), queues(B), queues("broker-c", 1)),)
    row = disagreement(member(ONE), member(TWO), views=views)

    # 9 queues: the first client takes a0 to a3 and b0, the second one b1 to b3 and c0.
    assert of_queues(row) == {"b0": ("MAYBE", "MAYBE"), "c0": ("MAYBE", "NO")}


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"protocol": "GRPC"}, "a Proxy assigns the queues of its gRPC clients"),
        ({"allocate_strategy": "com.acme.Own"}, "the strategy of its clients throws, or cannot be computed"),
    ],
)
def test_what_cannot_be_computed_says_why(facts: dict[str, Any], why: str) -> None:
    row = disagreement(member(ONE, **facts), member(TWO))

    (whole,) = row["evidence"]["divided_groups"]
    assert (whole["undecided"], whole["unread_queues_at_most"], row["evidence"]["divided_queues"]) == (why, None, [])


@pytest.mark.parametrize(
    "of_group", [{"message_model": "BROADCASTING"}, {"message_request_mode": "POP", "orderly": False}]
)
def test_groups_whose_clients_do_not_divide_queues_are_left_out(of_group: dict[str, Any]) -> None:
    row = disagreement(member(ONE), member(TWO), **of_group)

    assert row["evidence"]["divided_groups"] == []


def test_a_group_of_other_topics_is_left_out() -> None:
    pay, ship = (a_topic(name, rates={}) for name in ("pay", "ship"))
    groups = [two_clients("g_ship", "ship"), two_clients("g_pay", "pay")]
    inventory: Inventory = replace(
        cluster([pay, ship], groups), nameservers=(FIRST, SECOND), nameserver_views=(gives(queues(A)),)
    )
    row = judge(inventory).finding("NAMESERVER_DISAGREEMENT")

    assert [one["consumer_group"] for one in row["evidence"]["divided_groups"]] == ["g_pay"]


def two_clients(name: str, topic: str) -> InventoryGroup:
    members = [client(one, owned_queues=None, subscriptions=(reads(topic),)) for one in (ONE, TWO)]
    return group(name, members, subscriptions=(reads(topic),))
