"""CONFIG lists that the fleets of the differential test seldom draw."""

from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.settings.policy import Policy
from tests.fixtures.units import units_of
from tests.simulation.clusters import client, cluster, group, queues, topic


def test_a_queue_that_a_list_names_twice_is_given_twice_and_owned_once() -> None:
    queue = {"topic": "pay", "broker_name": "broker-a", "queue_id": 1}
    policy = Policy.model_validate({"strategies": ["CONFIG"], "config_assignments": {"g_pay": {"c1": [queue, queue]}}})
    pay = topic("pay", queues("broker-a", 2))
    (facts,) = units_of(cluster([pay], [group("g_pay", [client("c1")], [pay])]), policy).business_groups
    division, strategies = Division.of(facts), Strategies(policy)

    (rows,) = rows_of(division, strategies)
    owners = strategies.owners("CONFIG", division)

    assert [queue.queue_id for _, queue in rows.named()] == [1, 1]
    assert (owners.queue.tolist(), owners.client.tolist(), owners.strangers) == ([1], [0], ())
