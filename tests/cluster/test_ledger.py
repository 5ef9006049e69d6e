"""Two plans of a real cluster: in between one recommendation is carried out by mqadmin, one wrongly, and one not.

Two changes in steps are begun: all is read of one topic, and messages are left in the other.
"""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pytest

from rocketmq_capacity.plan_file.plan import Plan
from tests.cluster.clients import Consumer
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.cluster.snapshots import snapshot_of
from tests.fixtures.days import Days, entry, expansion, fewer_queues, rates
from tests.oracle.requirement import started_or_skipped
from tests.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE_S: Final = 180.0
TOPICS: Final = ("carts", "orders", "stock")
CLIENTS: Final = 3
IN_STEPS: Final = ("parcels", "returns")
LEFT: Final = 12
"""Messages that nobody reads of ``returns``, in a queue that goes."""


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Cluster, Clients]]:
    cluster = started_or_skipped(Cluster([Broker("broker-a")]).start)
    with contextlib.closing(cluster), Clients(cluster.nameserver) as clients:
        yield cluster, clients


@pytest.fixture(scope="module")
def plans(
    running: tuple[Cluster, Clients], spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> tuple[Plan, Plan]:
    cluster, clients = running
    for topic in TOPICS:
        cluster.create_topic(topic, {"broker-a": 2})
        for number in range(CLIENTS):
            clients.start_consumer(Consumer(f"g_{topic}", f"{topic}-{number}", [topic]))
    away = {}
    for topic in IN_STEPS:
        cluster.create_topic(topic, {"broker-a": 4})
        away[topic] = clients.start_consumer(Consumer(f"g_{topic}", topic, [topic]))
    clients.settled()
    for topic in ("carts", *IN_STEPS):
        clients.produce(topic, 100)
    until(lambda: not unread(cluster, "carts", *IN_STEPS), PATIENCE_S)
    clients.stop_consumer(away["returns"])
    clients.produce("returns", LEFT, weights={("broker-a", queue): float(queue == 3) for queue in range(4)})
    days = Days(spark, tmp_path_factory.mktemp("lake"))
    first = days.plan(20, snapshot_of(cluster))
    for topic in IN_STEPS:
        days.advise(20, fewer_queues(topic, ["broker-a"], 4, 2))

    for command in expansion(first, "carts").commands:
        cluster.mqadmin(command)
    (command,) = expansion(first, "orders").commands
    assert "-r 3 -w 3" in command
    cluster.mqadmin(command.replace("-r 3 -w 3", "-r 4 -w 4"))
    for topic in IN_STEPS:
        cluster.mqadmin(command.replace("-t orders", f"-t {topic}").replace("-r 3 -w 3", "-r 4 -w 2"))
    clients.settled()
    return first, days.plan(21, snapshot_of(cluster))


def unread(cluster: Cluster, *topics: str) -> int:
    """Messages that groups have not committed yet."""
    groups = snapshot_of(cluster).consumer_groups or ()
    return sum(
        (one.broker_offset or 0) - (one.consumer_offset or 0)
        for group in groups
        for one in group.offsets or ()
        if one.topic in topics
    )


def test_what_mqadmin_carried_out_is_verified_by_what_the_clients_own(plans: tuple[Plan, Plan]) -> None:
    first, second = plans
    found = entry(second, expansion(first, "carts").id)

    assert (found.state, found.why) == ("VERIFIED", None)
    assert {(one.figure, one.came) for one in found.predictions} == {
        ("idle", 0),
        ("orphan_queues", 0),
        ("doubly_owned_queues", 0),
        ("peak", 1.0),
        ("messages_twice_worst", None),
    }
    (twice,) = (one for one in found.predictions if one.figure == "messages_twice_worst")
    assert twice.why == "no broker counts what is delivered twice; no offset went back"


def test_what_was_carried_out_wrongly_has_failed(plans: tuple[Plan, Plan]) -> None:
    first, second = plans
    found = entry(second, expansion(first, "orders").id)

    assert found.state == "FAILED"
    assert {(one.figure, one.predicted, one.came) for one in found.changes} == {
        ("read_queue_nums", 3, 4),
        ("write_queue_nums", 3, 4),
    }
    assert rates(second) == {"EXPAND_QUEUES": (1, 0, 1)}


def test_what_was_not_carried_out_is_open(plans: tuple[Plan, Plan]) -> None:
    first, second = plans
    standing = expansion(second, "stock").standing

    assert standing
    assert (standing.state, standing.since) == ("OPEN", first.taken_at)


def test_a_change_in_steps_goes_on_once_all_groups_have_read_the_queues_that_go(plans: tuple[Plan, Plan]) -> None:
    parcels, returns = (entry(plans[1], f"shrink-{topic}") for topic in IN_STEPS)

    assert parcels.gate
    assert (parcels.state, parcels.gate.step, parcels.gate.state) == ("BEGUN", 3, "OPEN")
    assert returns.gate
    assert (returns.state, returns.gate.step, returns.gate.state) == ("BEGUN", 3, "CLOSED")
    assert returns.gate.why == f"not read yet in the queues that go: g_returns {LEFT}"
