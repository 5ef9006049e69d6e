"""A strategy that throws for a topic: the topic keeps its owners, and the others are divided (rebalanceByTopic).

MACHINE_ROOM_NEARBY throws for each topic with a queue on ``archive``, a broker without a room.
"""

from collections.abc import Iterable
from typing import Any

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.snapshot.inventory import Client, InventoryGroup, InventoryTopic
from tests.assessment.cases import a_group, a_topic, member, owned, takes
from tests.assessment.judge import Judgement, Row, judge
from tests.simulation.clusters import cluster, queues, reads

NEARBY = "MACHINE_ROOM_NEARBY-AVG"
POLICY = Policy.model_validate({
    "strategies": [NEARBY, "AVG", "CONSISTENT_HASH"],
    "rooms": {
        "brokers": [{"pattern": "^(?P<room>[a-z]+)-"}],
        "clients": [{"pattern": "^(?P<room>[a-z]+)-"}],
    },
})
PAY = a_topic("pay", queues("hz-a", 4), queues("sh-a", 4))
"""NEARBY divides it: hz-a's queues among the clients of hz, sh-a's among those of sh."""
OLD = a_topic("old", queues("archive", 4))
"""NEARBY throws for it."""
RETRY = a_topic("%RETRY%g", queues("archive", 2))
IDS = ("hz-1", "hz-2", "sh-1", "sh-2")


def judged(clients: Iterable[Client], *topics: InventoryTopic, policy: Policy = POLICY, **facts: Any) -> Judgement:
    """What is said of the group g that reads these topics."""
    topics = topics or (PAY, OLD)
    return judge(cluster([PAY, OLD, RETRY], [a_group("g", clients, topics, **facts)]), policy)


def clients(**facts: Any) -> list[Client]:
    """The usual four; unless told otherwise they run NEARBY and do not say what they own."""
    return [member(one, **({"allocate_strategy": "MACHINE_ROOM_NEARBY"} | facts)) for one in IDS]


def telling(*of_old: tuple[int, ...]) -> list[Client]:
    """The usual four, which say that they own these queues of OLD beside their shares of PAY."""
    of_pay = [("hz-a", 0), ("hz-a", 2), ("sh-a", 0), ("sh-a", 2)]
    return [
        member(
            one,
            allocate_strategy="MACHINE_ROOM_NEARBY",
            owned_queues=owned(
                *(("pay", broker, first + i) for i in range(2)), *(("old", "archive", queue) for queue in mine)
            ),
            consume_threads=10,
            consume_batch_size=1,
            status=(*takes("pay", 10.0), *takes("old", 10.0)),
        )
        for one, (broker, first), mine in zip(IDS, of_pay, of_old, strict=True)
    ]


def topics_of(rows: Iterable[Row], strategy: str = NEARBY) -> set[str]:
    return {row["topic"] for row in rows if row["strategy"] == strategy}


# The strategy's entry


def test_a_topic_for_which_a_strategy_throws_is_named_and_leaves_no_metrics() -> None:
    found = judged(clients())
    entry = found.load("g", NEARBY)

    assert (entry["is_applicable"], entry["reason"]) == (
        True,
        "Machine room is null for broker archive (throws for old)",
    )
    assert entry["count"] is entry["traffic"] is entry["lag"] is None
    assert entry["idle_clients"] == entry["orphan_queues"] == entry["doubly_owned_queues"] == []
    assert topics_of(found.allocation) == {"pay"}
    assert NEARBY not in {row["strategy"] for row in found.client_loads}
    assert found.load("g", "AVG")["reason"] is None
    assert found.load("g", "AVG")["count"] is not None


def test_each_topic_is_named_with_what_rocketmq_says_of_it() -> None:
    first, second = a_topic("a", queues("archive", 1)), a_topic("b", queues("elsewhere", 1), queues("hz-a", 1))
    inventory = cluster([first, second, PAY, OLD], [a_group("g", clients(), [first, second, PAY, OLD])])

    assert judge(inventory, POLICY).load("g", NEARBY)["reason"] == (
        "Machine room is null for broker archive (throws for a, old); "
        "Machine room is null for broker elsewhere (throws for b)"
    )


def test_queues_lost_of_the_other_topics_are_still_named() -> None:
    # Of the list [hz-1, hz-1] the second takes nothing: hz-a's last two queues are lost, and its first two read twice.
    twins = [member("hz-1", allocate_strategy="MACHINE_ROOM_NEARBY") for _ in range(2)]
    entry = judged([*twins, *clients()[2:]]).load("g", NEARBY)

    assert [queue["queue_id"] for queue in entry["orphan_queues"]] == [2, 3]
    assert [queue["queue_id"] for queue in entry["doubly_owned_queues"]] == [0, 1]
    assert {queue["topic"] for queue in entry["orphan_queues"] + entry["doubly_owned_queues"]} == {"pay"}
    assert entry["idle_clients"] == []


def test_where_it_throws_for_all_topics_a_strategy_is_not_applicable() -> None:
    for found in (judged(clients(), OLD), judged(clients(), OLD, RETRY)):
        entry = found.load("g", NEARBY)
        assert (entry["is_applicable"], entry["count"]) == (False, None)
        assert "old" in entry["reason"]
        assert topics_of(found.allocation) == set()


def test_a_client_without_a_room_makes_it_throw_for_all_topics() -> None:
    entry = judged([*clients(), member("9")]).load("g", NEARBY)

    assert (entry["is_applicable"], entry["reason"]) == (False, "Machine room is null for consumer id 9")


def test_metrics_are_of_business_topics_so_that_a_retry_topic_is_named_and_leaves_them() -> None:
    found = judged(clients(), PAY, RETRY)
    entry, without = found.load("g", NEARBY), judged(clients(), PAY).load("g", NEARBY)

    assert (entry["is_applicable"], entry["reason"]) == (
        True,
        "Machine room is null for broker archive (throws for %RETRY%g)",
    )
    assert entry | {"reason": None} == without
    assert entry["count"]["peak"] == 1
    assert topics_of(found.allocation) == {"pay"}
    assert sum(row["queues"] for row in found.client_loads if row["strategy"] == NEARBY) == 8


def test_where_a_retry_topic_alone_is_divided_no_metric_is_known() -> None:
    retry = a_topic("%RETRY%g", queues("hz-a", 2))
    found = judge(cluster([OLD, retry], [a_group("g", clients(), [OLD, retry])]), POLICY)
    entry = found.load("g", NEARBY)

    assert (entry["is_applicable"], entry["reason"]) == (
        True,
        "Machine room is null for broker archive (throws for old)",
    )
    assert entry["count"] is None
    assert topics_of(found.allocation) == {"%RETRY%g"}


# Who owns what today


def test_old_owners_that_are_not_known_are_no_orphans_and_nobody_is_idle() -> None:
    one_room = [*clients()[:2], *(member(f"sh-{n}", allocate_strategy="MACHINE_ROOM_NEARBY") for n in range(9))]
    for found in (judged(clients()), judged(one_room)):
        assert found.rules("g") == set()
        assert found.group("g")["provision_status"] == "UNDECIDED"


def test_a_group_whose_owners_are_not_known_is_undecided_and_says_where() -> None:
    timed = clients(consume_threads=10, consume_batch_size=1, status=(*takes("pay", 10.0), *takes("old", 10.0)))
    found = judged(timed).group("g")

    assert (found["provision_status"], found["utilisation"]) == ("UNDECIDED", None)
    assert found["provision_reason"] == (
        "who owns old is unknown: there its strategy throws, and the queues keep their old owners"
    )


def test_old_owners_that_the_clients_report_are_the_owners() -> None:
    picky = POLICY.model_copy(
        update={"thresholds": Thresholds.model_validate({"LOW_UTILISATION": {"silent_ratio": 0}})}
    )
    found = judged(telling((0, 1), (2,), (3,), ()), policy=picky)

    # One client owns four queues and one two, although none needs more than three; no queue is without an owner.
    assert found.rules("g") == {"ALLOCATION_SKEW"}
    assert found.group("g")["provision_status"] != "UNDECIDED"
    # Of 20 + 20, 20 + 10, 20 + 10 and 20 messages a second of 10 ms, over ten threads.
    assert found.group("g")["utilisation"] == pytest.approx(0.04)


def test_a_queue_without_an_old_owner_is_an_orphan() -> None:
    finding = judged(telling((0,), (2,), (), ())).finding("ORPHAN_QUEUE", "g")

    assert (finding["topic"], finding["evidence"]["orphans"]) == ("old", 2)
    assert finding["evidence"]["cause"] == "strategy MACHINE_ROOM_NEARBY"


def test_a_client_that_is_known_to_own_nothing_is_idle() -> None:
    # A fifth client of the first room: four queues among three clients, as AVG does it, leave it one; of sh-a none.
    newcomer = [
        member(f"sh-{n}", allocate_strategy="MACHINE_ROOM_NEARBY", owned_queues=(), started_at=None)
        for n in range(3, 6)
    ]
    assert judged([*telling((0, 1), (2, 3), (), ()), *newcomer]).finding("IDLE_CONSUMERS", "g")["subjects"] == ["sh-5"]


def test_orphans_of_the_topics_that_are_divided_are_found_though_others_are_unknown() -> None:
    twins = [member("hz-1", allocate_strategy="MACHINE_ROOM_NEARBY") for _ in range(2)]
    found = judged([*twins, *clients()[2:]])

    assert found.finding("ORPHAN_QUEUE", "g")["topic"] == "pay"
    assert found.finding("ORPHAN_QUEUE", "g")["evidence"]["orphans"] == 2
    duplicate = found.finding("DUPLICATE_CLIENT_ID", "g")
    assert duplicate["severity"] == "CRITICAL"
    assert (duplicate["evidence"]["orphan_queues"], duplicate["evidence"]["doubly_owned_queues"]) == (None, None)


def test_a_client_that_does_not_read_a_topic_has_no_old_queues_of_it() -> None:
    only_pay = [
        member(one, allocate_strategy="MACHINE_ROOM_NEARBY", subscriptions=(reads("pay"),)) for one in ("hz-8", "sh-8")
    ]

    assert judged([*telling((0,), (1,), (2,), ()), *only_pay]).finding("ORPHAN_QUEUE", "g")["evidence"]["orphans"] == 1


def test_in_a_mixed_group_the_others_take_their_share_of_the_topic() -> None:
    # AVG gives sh-2, the last of four, the last queue of old and the last two of pay.
    mixed = telling((0,), (1,), (2,), ())
    mixed[3] = member("sh-2", allocate_strategy="AVG")

    found = judged(mixed)

    assert found.group("g")["current_strategy"] == "MIXED"
    assert found.found("ORPHAN_QUEUE", "g") is None
    unknown = judged([*clients()[:3], member("sh-2", allocate_strategy="AVG")])
    assert unknown.finding("MIXED_STRATEGIES", "g")["evidence"]["orphan_queues"] is None
    assert unknown.rules("g") == {"MIXED_STRATEGIES"}


# What it runs


def without_name(*told: Client) -> list[Client]:
    return [member(one.client_id, owned_queues=one.owned_queues) for one in told]


def test_a_strategy_that_gives_what_is_owned_of_the_other_topics_is_the_one_in_use() -> None:
    found = judged(without_name(*telling((0, 1), (2, 3), (), ()))).group("g")

    assert (found["current_strategy"], found["current_strategy_source"]) == (NEARBY, "observed")


def test_a_strategy_that_gives_all_that_is_owned_comes_first() -> None:
    # AVG gives each client two queues of pay in the same order, and one of old.
    found = judged(without_name(*telling((0,), (1,), (2,), (3,)))).group("g")

    assert (found["current_strategy"], found["current_strategy_source"]) == ("AVG", "observed")


def test_a_strategy_that_gives_nothing_is_not_taken_for_the_one_in_use() -> None:
    retry = a_topic("%RETRY%g", queues("hz-a", 2))
    told = [member(one, owned_queues=owned(("old", "archive", queue))) for queue, one in enumerate(reversed(IDS))]
    group: InventoryGroup = a_group("g", told, [OLD, retry])

    found = judge(cluster([OLD, retry], [group]), POLICY).group("g")

    assert (found["current_strategy"], found["current_strategy_source"]) == ("AVG", "default")
