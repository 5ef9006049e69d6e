"""Four plans of a real cluster that a broker joins: its gates open as topics get queues there and clients take them.

One topic gets its queues as the plan says, one gets others, and the clients of one learn of them late. The broker
refuses the groups of two: one of these waits, the other gets its queues too early.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import replace as dataclass_with
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.model.broker_figures import COMMIT_LOG, CONSUME_QUEUE
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.cluster.clients import Consumer
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.cluster.snapshots import snapshot_of
from tests.fixtures.days import Days, entry, more_brokers, rates
from tests.oracle.requirement import started_or_skipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

AS_PLANNED, OTHERWISE, LATE_CLIENTS, WAITS, TOO_EARLY = TOPICS = ("pay", "ship", "cart", "stock", "audit")
NEVER_MS: Final = 3_600_000
USED: Final = {"broker-a": "0.90", "broker-b": "0.10"}
"""How full the disks are said to be; the brokers of a test share one disk."""
Plans = tuple[Plan, Plan, Plan, Plan]


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Cluster, Clients]]:
    cluster = started_or_skipped(Cluster([Broker("broker-a")]).start)
    with contextlib.closing(cluster), Clients(cluster.nameserver) as clients:
        yield cluster, clients


@pytest.fixture(scope="module")
def plans(running: tuple[Cluster, Clients], spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Plans:
    cluster, clients = running
    unaware = start(cluster, clients)
    days = Days(spark, tmp_path_factory.mktemp("lake"))
    alone = days.plan(20, seen(cluster))
    days.advise(20, more_brokers(1, 3))

    cluster.add_broker(Broker("broker-b", config={"autoCreateSubscriptionGroup": "false"}))
    for topic in (AS_PLANNED, OTHERWISE, LATE_CLIENTS):
        cluster.create_group(f"g_{topic}")
    joined = days.plan(21, seen(cluster))

    (other,) = creation(joined, OTHERWISE).commands
    assert "-r 2 -w 2" in other
    for command in (*creation(joined, AS_PLANNED).commands, *creation(joined, LATE_CLIENTS).commands):
        cluster.mqadmin(command)
    cluster.mqadmin(other.replace("-r 2 -w 2", "-r 3 -w 3"))
    (unsafe,) = creation(joined, TOO_EARLY).commands
    cluster.mqadmin(unsafe.removeprefix("# "))
    cluster.create_group(f"g_{WAITS}")
    taken = {AS_PLANNED: 4, OTHERWISE: 5, LATE_CLIENTS: 2, WAITS: 2, TOO_EARLY: 4}
    clients.settled(with_queues_of=taken)
    in_part = days.plan(22, seen(cluster))

    for command in (other, *creation(in_part, WAITS).commands):
        cluster.mqadmin(command)
    cluster.create_group(f"g_{TOO_EARLY}")
    for number, consumer in unaware.items():
        clients.stop_consumer(number)
        clients.start_consumer(consumer)
    clients.settled(with_queues_of={**taken, OTHERWISE: 4, LATE_CLIENTS: 4, WAITS: 4})
    return alone, joined, in_part, days.plan(23, seen(cluster))


def start(cluster: Cluster, clients: Clients) -> dict[int, Consumer]:
    """Topics, and two clients of each, that take a load; those that do not learn of new queues until they start again.

    By their number, with what they are started with then.
    """
    unaware = {}
    for topic in TOPICS:
        cluster.create_topic(topic, {"broker-a": 2}, message_type="NORMAL")
        for index in (1, 2):
            consumer = Consumer(f"g_{topic}", f"{topic}-{index}", [topic])
            if topic == LATE_CLIENTS:
                unaware[clients.start_consumer(dataclass_with(consumer, poll_nameserver_ms=NEVER_MS))] = consumer
            else:
                clients.start_consumer(consumer)
    clients.settled()
    for topic in TOPICS:
        clients.start_load(topic, 20, by_route=True)
    return unaware


def seen(cluster: Cluster) -> Inventory:
    """A snapshot in which the first broker's disk is full."""
    now, figures = snapshot_of(cluster), (COMMIT_LOG, CONSUME_QUEUE)
    return replace(
        now,
        brokers=tuple(
            replace(one, runtime={**(one.runtime or {}), **dict.fromkeys(figures, USED[one.broker_name])})
            for one in now.brokers
        ),
    )


def creation(plan: Plan, topic: str) -> PlanRecommendation:
    (found,) = (one for one in plan.recommendations if (one.action, one.topic) == ("CREATE_TOPIC_ON_BROKER", topic))
    return found


def addition(plan: Plan) -> PlanRecommendation:
    (found,) = (one for one in plan.recommendations if one.action == "ADD_BROKER")
    return found


def gate(plan: Plan, id_: str) -> tuple[int, str, str]:
    """Its step, its state and why."""
    found = entry(plan, id_)
    assert found.state == "BEGUN"
    assert found.gate
    return found.gate.step, found.gate.state, found.gate.why


def test_a_full_disk_asks_for_a_broker_and_the_first_gate_is_closed_until_all_are_there(plans: Plans) -> None:
    alone, *later = plans

    assert (addition(alone).before["brokers"], addition(alone).after["brokers"]) == (1, 2)
    assert [gate(plan, "add-3") for plan in later] == [(1, "CLOSED", "2 of 3 brokers take messages")] * 3


def test_once_it_has_joined_the_plan_says_which_topics_go_there(plans: Plans) -> None:
    alone, joined, *_ = plans

    why = "2 brokers take messages, and no business topic has a queue on broker-b"
    assert gate(joined, addition(alone).id) == (1, "OPEN", why)
    of_topics = [(one.action, one.topic) for one in joined.recommendations if one.topic is not None]
    assert of_topics == [("CREATE_TOPIC_ON_BROKER", topic) for topic in sorted(TOPICS)]


def test_a_topic_waits_until_the_new_broker_has_its_group(plans: Plans) -> None:
    _, joined, in_part, _ = plans
    refused = creation(joined, WAITS)

    assert refused.manual
    assert all(command.startswith("# ") for command in refused.commands)
    assert f"would refuse those that are not created there: g_{WAITS}." in refused.reason
    assert not creation(joined, AS_PLANNED).manual
    assert not creation(in_part, WAITS).manual


def test_queues_of_a_broker_that_refuses_their_group_are_found_until_it_is_created_there(plans: Plans) -> None:
    _, joined, in_part, spread = plans
    (found,) = (one for one in in_part.findings if one.rule == "STUCK_QUEUE")

    assert (found.consumer_group, found.broker_name, found.severity) == (f"g_{TOO_EARLY}", "broker-b", "CRITICAL")
    assert [(one["broker_name"], one["state"]) for one in found.evidence["queues"]] == [("broker-b", "REFUSED")] * 2
    assert "STUCK_QUEUE" not in {one.rule for one in spread.findings}
    statuses = [
        one.reading_status
        for plan in (in_part, spread)
        for one in plan.groups
        if one.consumer_group == f"g_{TOO_EARLY}"
    ]
    assert statuses == ["UNREAD", "READ"]
    states = [entry(plan, creation(joined, TOO_EARLY).id).state for plan in (in_part, spread)]
    assert states == ["CARRIED_OUT", "VERIFIED"]


def test_the_second_gate_is_closed_until_clients_have_taken_the_queues(plans: Plans) -> None:
    alone, _, in_part, spread = plans

    assert gate(in_part, addition(alone).id) == (2, "CLOSED", f"queues that no client has taken: g_{LATE_CLIENTS} 2")
    step, state, why = gate(spread, addition(alone).id)
    assert (step, state) == (2, "OPEN")
    assert why.startswith("every business topic has as many queues on each of 2 brokers")


def test_a_topic_is_verified_once_its_clients_own_what_was_predicted(plans: Plans) -> None:
    _, joined, in_part, spread = plans
    found = entry(in_part, creation(joined, AS_PLANNED).id)

    assert (found.state, found.why) == ("VERIFIED", None)
    assert {(one.figure, one.predicted, one.came) for one in found.predictions if one.is_right is not None} == {
        ("idle", 0, 0),
        ("orphan_queues", 0, 0),
        ("doubly_owned_queues", 0, 0),
        ("peak", 1.0, 1.0),
    }
    assert entry(spread, found.id) == found


def test_clients_that_do_not_know_of_the_queues_yet_are_no_wrong_prediction(plans: Plans) -> None:
    _, joined, in_part, spread = plans
    id_ = creation(joined, LATE_CLIENTS).id
    group = f"g_{LATE_CLIENTS}"

    found = entry(in_part, id_)
    assert found.state == "CARRIED_OUT"
    assert found.why == f"queues of {group} have no reader, or several: its clients may not have divided them yet"
    assert ("orphan_queues", 2, None) in {(one.figure, one.came, one.is_right) for one in found.predictions}
    assert entry(spread, id_).state == "VERIFIED"


def test_other_queues_than_the_plan_asked_for_have_failed_and_stay_so_once_they_are_set_right(plans: Plans) -> None:
    _, joined, in_part, spread = plans
    found = entry(in_part, creation(joined, OTHERWISE).id)

    assert (found.state, found.is_prediction_wrong) == ("FAILED", False)
    assert {(one.of, one.predicted, one.came) for one in found.changes} == {("broker-b", 2, 3)}
    assert entry(spread, found.id) == found


def test_what_waits_is_open_and_verified_when_it_is_done(plans: Plans) -> None:
    _, joined, in_part, spread = plans
    standing = creation(in_part, WAITS).standing

    assert standing
    assert (standing.state, standing.since) == ("OPEN", joined.taken_at)
    assert entry(spread, creation(joined, WAITS).id).state == "VERIFIED"
    assert rates(spread) == {"CREATE_TOPIC_ON_BROKER": (4, 0, 1)}
