"""Observations name queues; of a batch of groups, each is found in the division of its own group."""

from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.queue_index import NamedQueues, QueueIndex
from rocketmq_capacity.model.ragged import lengths
from rocketmq_capacity.tables.dataset import Queue
from tests.fixtures.units import units_of
from tests.simulation.clusters import client, cluster, group, queues, topic

PAY = topic("pay", queues("broker-a", 2), queues("broker-b", 3))
SHIP = topic("ship", queues("broker-b", 1))
CLOSED = topic("closed", queues("broker-a", 4, perm=2))


def test_each_name_is_found_in_its_own_group_and_what_consumers_cannot_see_is_not() -> None:
    groups = [group("g_both", [client("c1")], [SHIP, PAY, CLOSED]), group("g_pay", [client("c1")], [PAY])]
    divisions = [Division.of(facts) for facts in units_of(cluster([PAY, SHIP, CLOSED], groups)).business_groups]
    both = [
        ("ship", "broker-b", 0),
        ("pay", "broker-a", 1),
        ("pay", "broker-b", 0),
        ("pay", "broker-a", 2),  # beyond its queues
        ("pay", "broker-a", -1),  # no queue
        ("ship", "broker-a", 0),  # not there
        ("gone", "broker-a", 0),
        ("closed", "broker-a", 0),
    ]
    pay = [("ship", "broker-b", 0), ("pay", "broker-b", 2), ("pay", "broker-b", 2)]
    index = QueueIndex([division.queues for division in divisions])

    found = index.find(NamedQueues(lengths([both, pay]), *map(list, zip(*both, *pay, strict=True))))

    names = [name for division in divisions for name in division.queues.names]
    assert (index.queues, index.first_of_group.tolist()) == (11, [0, 6])
    assert found.tolist() == [5, 1, 2, *[-1] * 5, -1, 10, 10]
    assert [names[place] for place in found.tolist() if place >= 0] == [Queue(*one) for one in (*both[:3], *pay[1:])]


def test_groups_without_queues_have_none_to_find() -> None:
    index = QueueIndex([
        Division.of(facts).queues for facts in units_of(cluster([], [group("g", [], [])])).business_groups
    ])
    assert index.find(NamedQueues(lengths([[0]]), ["pay"], ["broker-a"], [0])).tolist() == [-1]
