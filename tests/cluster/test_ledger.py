"""Two plans of a real cluster: in between one recommendation is carried out by mqadmin, one wrongly, and one not."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pytest

from rocketmq_capacity.plan_file.plan import Plan
from tests.cluster.clients import Consumer
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.cluster.test_queue_plans import snapshot_of
from tests.fixtures.days import Days, entry, expansion, rates
from tests.oracle.requirement import started_or_skipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

TOPICS: Final = ("carts", "orders", "stock")
CLIENTS: Final = 3


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
    clients.settled()
    days = Days(spark, tmp_path_factory.mktemp("lake"))
    first = days.plan(20, snapshot_of(cluster))

    for command in expansion(first, "carts").commands:
        cluster.mqadmin(command)
    (command,) = expansion(first, "orders").commands
    assert "-r 3 -w 3" in command
    cluster.mqadmin(command.replace("-r 3 -w 3", "-r 4 -w 4"))
    clients.settled()
    return first, days.plan(21, snapshot_of(cluster))


def test_what_mqadmin_carried_out_is_verified_by_what_the_clients_own(plans: tuple[Plan, Plan]) -> None:
    first, second = plans
    found = entry(second, expansion(first, "carts").id)

    assert (found.state, found.why) == ("VERIFIED", None)
    assert {(one.figure, one.came) for one in found.predictions} == {
        ("idle", 0),
        ("orphan_queues", 0),
        ("doubly_owned_queues", 0),
        ("peak", 1.0),
    }


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
