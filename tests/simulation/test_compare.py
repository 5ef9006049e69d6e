import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryGroup, InventoryTopic
from rocketmq_capacity.tables import ScenarioEffect
from tests.simulation.clusters import after, client, cluster, group, ids_of, pay_cluster, queues, reads, topic
from tests.simulation.sides import Effects, Side, effects, moved


def one_group(*client_ids: str, read: int = 4, broker: str = "b", **facts: Any) -> Inventory:
    """Group g that reads topic t, which has so many queues on one broker."""
    t = topic("t", queues(broker, read), rates={})
    return cluster([t], [group("g", [client(one, subscriptions=None) for one in client_ids], [t], **facts)])


def compared(before: Inventory, after: Inventory, strategy: str = "AVG", **policy: Any) -> ScenarioEffect | None:
    """What the change does to the group under one strategy."""
    decided = Policy.model_validate({"strategies": [strategy], **policy})
    return effects(before, after, decided).get(("g", strategy))


def under_config(before: Inventory, after: Inventory, **own: Sequence[int]) -> tuple[int | None, float | None]:
    """What moves where each client has a list of queues."""
    lists = {
        name: [{"topic": "t", "broker_name": "b", "queue_id": queue_id} for queue_id in ids]
        for name, ids in own.items()
    }
    found = compared(before, after, "CONFIG", config_assignments={"g": lists})
    assert found is not None
    return found.moved_queues, found.moved_ratio


def test_a_queue_of_both_sides_with_another_owner_has_moved() -> None:
    before, other_owners = one_group("c1", "c2", "old"), one_group("c1", "c2", "new")

    assert under_config(before, other_owners, c1=[0], c2=[2], old=[1, 3], new=[1, 3]) == (2, 0.5)


def test_only_the_queues_of_both_sides_count() -> None:
    three, four = one_group("c1", "new", read=3), one_group("c1", "old")

    assert under_config(four, three, c1=[0, 1], old=[2, 3], new=[2]) == (1, 1 / 3)
    assert under_config(three, four, c1=[0, 1], old=[2, 3], new=[2]) == (1, 1 / 3)


def test_a_queue_that_nobody_owns_is_owned_by_nobody() -> None:
    orphaned, whole = one_group("c1", "c2"), one_group("c1", "c2", "c3")
    lists: dict[str, Sequence[int]] = {"c1": [0, 1], "c2": [2], "c3": [3]}

    assert under_config(orphaned, whole, **lists) == (1, 1 / 4)
    assert under_config(whole, orphaned, **lists) == (1, 1 / 4)
    assert under_config(orphaned, orphaned, **lists) == (0, 0.0)


def test_a_second_consumer_of_the_same_id_is_another_owner() -> None:
    once, twice = one_group("c1", read=1), one_group("c1", "c1", read=1)
    changed, same = compared(once, twice), compared(twice, twice)

    assert changed is not None
    assert (changed.moved_queues, changed.moved_ratio) == (1, 1.0)
    assert same is not None
    assert same.moved_queues == 0


def test_under_pop_the_set_of_clients_counts() -> None:
    from_everywhere = one_group("c1", "c1", "c2", pop_share_queue_num=-1)
    # Nobody takes what falls to the second c1, queue 2, and c2 alone pops queue 3.
    shared_out = one_group("c1", "c1", "c2", pop_share_queue_num=1)
    with_another_copy = one_group("c1", "c1", "c1", "c2", pop_share_queue_num=-1)

    for before, after_it, count in (
        (from_everywhere, shared_out, 2),
        (shared_out, from_everywhere, 2),
        (from_everywhere, with_another_copy, 0),
    ):
        found = compared(before, after_it, "POP")
        assert found is not None
        assert (found.moved_queues, found.moved_ratio) == (count, count / 4)


def test_without_a_queue_on_both_sides_there_is_no_ratio() -> None:
    found = compared(one_group("c1"), one_group("c1", broker="another"))

    assert found is not None
    assert (found.moved_queues, found.moved_ratio) == (0, None)


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(one_group(), id="without clients"),
        pytest.param(one_group("c1", message_model="BROADCASTING"), id="broadcasting"),
        pytest.param(cluster([]), id="not there"),
    ],
)
def test_a_strategy_that_could_not_be_run_before_has_nothing_to_compare_with(before: Inventory) -> None:
    row = compared(before, one_group("c1", "c2", "c3", read=1))

    assert row is not None
    assert (row.moved_queues, row.moved_ratio) == (None, None)
    assert (row.before_idle, row.before_count, row.before_traffic) == (None, None, None)
    assert row.after_idle == 2
    assert row.after_count is not None
    assert (row.after_count["max"], row.after_count["min"]) == (1, 0)
    assert row.after_traffic is None


def test_a_strategy_that_can_no_longer_be_run_has_no_row() -> None:
    assert compared(one_group("c1"), one_group()) is None
    assert compared(one_group("c1"), one_group("c1", message_model="BROADCASTING")) is None


TOPICS, CLIENTS, BROKERS = ("pay", "ship", "bill", "%RETRY%g", "ghost"), ("c1", "c2", "c3"), ("a", "b")
"""No broker has the topic ghost."""


class Chance(random.Random):
    """Sides of chance; a side that is like another one keeps most of its parts."""

    def side(self, groups: Sequence[str], like: Inventory | None = None) -> Inventory:
        topics = {one.topic: one for one in like.topics} if like else {}
        readers = {one.consumer_group: one for one in like.consumer_groups} if like else {}
        return cluster(
            [self.kept(topics.get(name)) or self.topic(name) for name in TOPICS if name != "ghost"],
            [self.kept_in_part(readers[name]) if name in readers else self.group(name) for name in groups],
        )

    def kept(self, part: InventoryTopic | None) -> InventoryTopic | None:
        return part if self.random() < 0.7 else None

    def kept_in_part(self, like: InventoryGroup) -> InventoryGroup:
        fresh = self.group(like.consumer_group)
        parts = ("message_model", "orderly", "pop_share_queue_num", "subscriptions", "clients")
        return replace(like, **{name: getattr(fresh, name) for name in parts if self.random() < 0.3})

    def topic(self, name: str) -> InventoryTopic:
        counts, perms = (0, 3, 4, 5, 6, 6, None), (6, 6, 6, 6, 6, 4, 4, 2, None)
        return topic(name, *(queues(broker, self.choice(counts), 4, self.choice(perms)) for broker in BROKERS))

    def group(self, name: str) -> InventoryGroup:
        read = [one for one in TOPICS if self.random() < 0.7]
        return group(
            name,
            self.clients(),
            message_model=self.choices((None, "CLUSTERING", "BROADCASTING"), (4, 5, 1))[0],
            orderly=self.random() < 0.1,
            pop_share_queue_num=self.choice((None, 0, 1, 1, 2)),
            subscriptions=tuple(map(reads, read)),
        )

    def clients(self) -> list[Client]:
        ids = self.choices(CLIENTS, k=self.choice((0, 1, 2, 3, 4, 5)))
        return [client(one, subscriptions=self.own()) for one in ids]

    def own(self) -> Any:
        is_told = self.random() < 0.15
        return tuple(reads(one) for one in TOPICS if self.random() < 0.7) if is_told else None

    def lists(self) -> Mapping[str, list[Mapping[str, Any]]]:
        """Lists of CONFIG: queues may repeat, and need not be readable."""
        return {
            name: [
                {"topic": self.choice(TOPICS), "broker_name": self.choice(BROKERS), "queue_id": self.randint(0, 6)}
                for _ in range(self.randint(0, 12))
            ]
            for name in CLIENTS
        }


def test_it_counts_what_the_definition_counts() -> None:
    chance = Chance(2)
    groups = [f"g{i}" for i in range(80)]
    inventory = chance.side(groups)
    changed = chance.side(groups, like=inventory)
    policy = Policy.model_validate({
        "strategies": ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "CONFIG", "POP"],
        "config_assignments": {name: chance.lists() for name in groups if chance.random() < 0.8},
    })
    before, after = (Side.of(side, policy) for side in (inventory, changed))

    expected = {}
    for key in after.owners.keys() - {(name, "BROADCASTING") for name in groups}:
        of_before = (*moved(before, after, *key), before.idle(*key)) if key in before.owners else (None, None, None)
        expected[key] = (*of_before, after.idle(*key))
    found = {
        key: (row.moved_queues, row.moved_ratio, row.before_idle, row.after_idle)
        for key, row in effects(inventory, changed, policy).items()
    }
    assert found == expected
    assert sum(counts[0] or 0 for counts in expected.values()) > 300  # the groups are worth comparing
    assert any(counts[0] is None for counts in expected.values())


def test_consistent_hash_moves_the_queues_of_the_lost_client_alone() -> None:
    before, policy = pay_cluster(3), Policy(strategies=("AVG", "CONSISTENT_HASH"))
    lost = ids_of(before)[0]
    changed = after(before, {"change": "remove_clients", "consumer_group": "g_pay", "client_ids": [lost]})

    found: Effects = effects(before, changed, policy)

    owned = [client_id for _, client_id in Side.of(before, policy).owners["g_pay", "CONSISTENT_HASH"]].count(lost)
    # AVG gives 8 queues to 3 clients as 3 3 2 and to the last two as 4 4: queue 3 alone stays where it was not lost.
    assert {strategy: row.moved_queues for (_, strategy), row in found.items()} == {"AVG": 5, "CONSISTENT_HASH": owned}
    assert owned > 0


ROOMS: Final = {"brokers": [{"pattern": "^(?P<room>hz)"}], "clients": [{"pattern": "^(?P<room>c)"}]}
NEARBY: Final = "MACHINE_ROOM_NEARBY-AVG"


def in_rooms(*client_ids: str, pay: Sequence[str] = ("hz-a",), ship: Sequence[str] = ("hz-a",)) -> Inventory:
    """Group g that reads two topics of four queues on each of these brokers; NEARBY throws where one is not in hz."""
    both = [topic(name, *(queues(broker) for broker in on), rates={}) for name, on in (("pay", pay), ("ship", ship))]
    return cluster(both, [group("g", [client(one, subscriptions=None) for one in client_ids], both)])


def nearby(before: Inventory, after: Inventory) -> ScenarioEffect:
    found = compared(before, after, NEARBY, rooms=ROOMS)
    assert found is not None
    return found


def test_queues_of_a_topic_for_which_a_strategy_throws_keep_their_owners() -> None:
    before, after = in_rooms("c1", "c2"), in_rooms("c1", "c2", "c3", ship=("hz-a", "old"))

    found = nearby(before, after)

    # Of pay's four queues the last goes to c3; ship's stay where they were.
    assert (found.moved_queues, found.moved_ratio) == (1, 1 / 8)
    assert (found.before_idle, found.after_idle, found.after_count) == (0, None, None)
    assert found.before_count is not None


def test_queues_that_a_client_leaves_behind_where_a_strategy_throws_have_moved() -> None:
    before, after = in_rooms("c1", "c2"), in_rooms("c1", ship=("hz-a", "old"))

    assert nearby(before, after).moved_queues == 2 + 2  # c1 takes pay's, and nobody ship's


def test_where_old_owners_are_not_known_it_is_not_known_what_moves() -> None:
    fine, throws = in_rooms("c1", "c2"), in_rooms("c1", "c2", ship=("hz-a", "old"))
    another_client, fewer_clients = in_rooms("c1", "c2", "c3", ship=("old",)), in_rooms("c1", ship=("old",))

    assert (nearby(throws, fine).moved_queues, nearby(throws, fine).moved_ratio) == (None, None)
    assert nearby(throws, throws).moved_queues == 0
    assert nearby(throws, in_rooms("c1", "c2", "c3", ship=("hz-a", "old"))).moved_queues == 1
    assert nearby(throws, in_rooms("c1", ship=("hz-a", "old"))).moved_queues is None
    # None of ship's queues are on both sides.
    assert nearby(fine, another_client).moved_queues == 1
    assert nearby(fine, fewer_clients).moved_queues == 2
