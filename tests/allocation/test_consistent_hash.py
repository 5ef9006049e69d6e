"""What the fleets of the differential test are too small, or too ordinary, to reach."""

from hashlib import md5

from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.allocation.consistent_hash import ring
from rocketmq_capacity.allocation.rows import AllocationRows
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.fixtures.units import units_of
from tests.simulation.clusters import client, cluster, group, queues, topic


def ring_word_for_word(client_ids: list[str], virtual_nodes: int) -> dict[int, int]:
    """The ring as Java makes it: nodes are put one by one into a map from their hash to the consumer."""
    nodes = {}
    for place, client_id in enumerate(client_ids):
        for replica in range(virtual_nodes):
            digest = md5(f"{client_id}-{replica}".encode(), usedforsecurity=False).digest()
            nodes[int.from_bytes(digest[:4], "big")] = place
    return dict(sorted(nodes.items()))


def divisions_of(inventory: Inventory) -> list[Division]:
    return [Division.of(facts) for facts in units_of(inventory).business_groups]


def test_where_two_virtual_nodes_hash_alike_the_later_consumer_stays() -> None:
    client_ids = [f"10.0.0.{number:03}@1#ü" for number in range(150)]
    (division,) = divisions_of(cluster([], [group("g_pay", map(client, client_ids))]))

    keys, owner = ring(division, 1000)

    expected = ring_word_for_word(client_ids, 1000)
    assert len(expected) < 150_000  # some do hash alike
    assert dict(zip(keys.tolist(), owner.tolist(), strict=True)) == expected
    assert keys.tolist() == list(expected)


def test_a_topic_whose_queues_change_is_hashed_anew() -> None:
    policy = Policy(strategies=("CONSISTENT_HASH",))
    owned = []
    for count in (9, 4):
        pay = topic("pay", queues("broker-a", count), queues("broker-b", 13 - count))
        members = (client(f"c{number}") for number in range(3))
        (division,) = divisions_of(cluster([pay], [group("g_pay", members, [pay])]))
        (rows,) = rows_of(division, Strategies(policy))
        owned.append(owners_by_queue(rows))

    first, second = owned
    assert {len(first), len(second)} == {13}
    both = first.keys() & second.keys()
    assert len(both) == 8
    assert all(first[queue] == second[queue] for queue in both)


def owners_by_queue(rows: AllocationRows) -> dict[tuple[str, int], int]:
    return {(queue.broker_name, queue.queue_id): client for client, queue in rows.named()}
