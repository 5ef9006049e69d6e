"""More queues for a group that is too busy at a peak of only one of its topics."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryTopic, PastRate
from tests.assessment.cases import a_group, a_topic, members, pops, takes
from tests.assessment.judge import judge
from tests.simulation.clusters import cluster, queues, reads

NOW = datetime(2026, 11, 20, 2, tzinfo=UTC)
DAYS = 14


def a_peaking_topic(name: str, each: int, measured: float, peak: float) -> InventoryTopic:
    """A topic of so many queues; its messages a second now, and at noon of the last days."""
    times = [NOW - timedelta(days=day, hours=14) for day in range(DAYS)]
    past = tuple(PastRate(at=utc_text(at), put_msgs_per_s=peak) for at in sorted(times))
    rates = {("broker-a", i): measured / each for i in range(each)}
    return replace(a_topic(name, queues("broker-a", each), rates=rates), rates=past)


def a_cluster(each: int, measured: float, clients: int = 24) -> Inventory:
    """A group on a topic that peaks at 14,400 msg/s and one that never does; a client handles 1,000 msg/s."""
    topics = [a_peaking_topic("peaks", each, measured, 14_400.0), a_peaking_topic("steady", 8, 80.0, 80.0)]
    status = (*takes("peaks", 10.0), *takes("steady", 10.0))
    every = members(clients, consume_threads=10, consume_batch_size=1, status=status)
    return cluster(topics, [a_group("g", every, topics, lag=0)])


def test_the_queues_are_the_fewest_for_the_peak_of_the_topic() -> None:
    evidence = judge(a_cluster(8, 144.0)).finding("CONSUMER_CAPACITY", "g")["evidence"]

    # 14,400 / 8 + 10 msg/s now; over 21 queues 685.7 + 10, over 20 it would be 730.
    assert evidence["peak_utilisation_ratio"] == 1.81
    assert evidence["needed_queues"] == {"topic": "peaks", "queues_per_broker": 21, "clients": 21}
    assert evidence["queues_busy_ratio"] == 0.6957


def test_a_group_with_these_queues_and_clients_is_as_busy_at_its_peak_as_it_was_told() -> None:
    enough = judge(a_cluster(21, 144.0, clients=21)).group("g")

    assert enough["provision_status"] != "UNDER_PROVISIONED"
    assert enough["provision_reason"].startswith("the busiest client is busy for 69.5 %")
    assert judge(a_cluster(20, 144.0)).group("g")["provision_status"] == "UNDER_PROVISIONED"
    assert judge(a_cluster(21, 144.0, clients=20)).group("g")["provision_status"] == "UNDER_PROVISIONED"


def test_a_group_that_also_pops_needs_more_queues_and_clients_for_a_pulled_topic() -> None:
    """A client handles 1,000 msg/s with all threads that it may have; at 600 each, five have a queue of their own."""
    pulled = a_topic("t", queues("broker-a", 2), rates={("broker-a", 0): 1_500.0, ("broker-a", 1): 1_500.0})
    popped = a_topic("u", queues("broker-a", 2), rates={("broker-a", 0): 1.0, ("broker-a", 1): 1.0})
    status = (*takes("t", 64.0), *takes("u", 64.0))
    clients = members(2, consume_threads=64, consume_batch_size=1, status=status)
    group = a_group("g", clients, [pulled, popped], subscriptions=(reads("t"), pops("u")), lag=0)
    evidence = judge(cluster([pulled, popped], [group])).finding("CONSUMER_CAPACITY", "g")["evidence"]

    assert evidence["needed_clients"] is None
    assert evidence["needed_queues"] == {"topic": "t", "queues_per_broker": 5, "clients": 5}
