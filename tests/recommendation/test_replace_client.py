"""REPLACE_CLIENT: what is recommended to a group with one sick client."""

from typing import Any

import msgspec
import pytest

from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup
from tests.assessment.cases import a_group, a_topic, ids, member, takes
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.simulation.clusters import broker, cluster, queues

TWO = (queues("broker-a", 12), queues("broker-b", 12))


def a_plan(*ms: float, rate: float, threads: tuple[int, ...] = (), **facts: Any) -> PlainPlan:
    """One group whose clients take so many milliseconds; those beyond ``threads`` have eight."""
    every = [
        member(client_id, consume_threads=of, consume_batch_size=1, status=takes("pay", each))
        for client_id, each, of in zip(ids(len(ms)), ms, (*threads, *[8] * len(ms)), strict=False)
    ]
    rates = {(place.broker_name, i): rate for place in TWO for i in range(12)}
    topic = a_topic("pay", *TWO, rates=rates)
    group: InventoryGroup = a_group("g_pay", every, [topic], **facts)
    inventory: Inventory = cluster([topic], [group], (broker("broker-a"), broker("broker-b")))
    return plain_plan(inventory)


CHANGES = {
    "RAISE_CONSUME_THREADS",
    "EXPAND_QUEUES",
    "SCALE_CONSUMERS",
    "SHORTEN_CALLS",
    "CHANGE_STRATEGY",
    "INVESTIGATE",
}


@pytest.mark.parametrize(
    "plan",
    [
        a_plan(1_000.0, 5.0, 5.0, rate=0.8, threads=(2,)),
        a_plan(250.0, 5.0, 5.0, rate=0.8),
        a_plan(2_500.0, 5.0, 5.0, rate=0.8),
    ],
    ids=["1,000 ms and 2 threads", "50 times", "500 times"],
)
def test_a_sick_client_is_replaced_and_nothing_else_is_advised(plan: PlainPlan) -> None:
    (only,) = [one for one in plan.recommendations if one.consumer_group == "g_pay"]

    assert (only.action, only.rules) == ("REPLACE_CLIENT", ("CLIENT_OUTLIER",))
    assert "c01" in only.reason
    assert not any(one.topic == "pay" and one.action in CHANGES for one in plan.recommendations)
    assert all("needed" not in one.message for one in plan.findings if one.consumer_group == "g_pay")


def test_one_that_only_lacks_threads_needs_threads_and_no_restart() -> None:
    (only,) = a_plan(40.0, 40.0, 40.0, rate=4.0, threads=(1, 8, 8)).recommendations

    assert only.reason.startswith(
        "Give c01 as many consume threads as the others have (consumeThreadMin). c01 has 1 consume thread, "
    )
    assert "Replace or restart" not in only.reason
    assert "threads or queues do not mend it" not in only.reason


def test_one_that_lacks_threads_gets_as_many_as_all_clients_need() -> None:
    plan = a_plan(40.0, 40.0, 40.0, rate=24.0, threads=(1, 8, 8))
    reasons = {one.action: one.reason for one in plan.recommendations}

    assert reasons["RAISE_CONSUME_THREADS"].startswith("Run at least 11 consume threads in every client instead of 8.")
    assert reasons["REPLACE_CLIENT"].startswith(
        "Give c01 at least 11 consume threads, as all clients (consumeThreadMin). c01 has 1 consume thread, "
    )


def test_who_is_slow_is_replaced_and_who_lacks_threads_gets_some() -> None:
    (only,) = a_plan(400.0, 40.0, 40.0, 40.0, 40.0, rate=1.0, threads=(8, 1, 8, 8, 8)).recommendations

    assert only.reason.startswith("Replace or restart c01: c01 takes 400.0 ms for a call")
    assert " Far worse than their peers as well: c02." in only.reason
    assert only.reason.endswith(
        "More clients, threads or queues do not mend it. Give c02 as many consume threads as the others have"
        " (consumeThreadMin). A restart with the same set-up does not mend it, and neither do more clients or queues."
    )


def test_its_commands_save_the_stacks_and_change_nothing() -> None:
    (only,) = a_plan(1_000.0, 5.0, 5.0, rate=0.8, threads=(2,)).recommendations

    assert [one.split()[1] for one in only.commands] == ["consumerStatus"]
    assert only.commands[0].endswith("-g g_pay -i c01 -s")
    assert only.is_manual
    assert (only.check_command or "").startswith("mqadmin consumerStatus")
    assert "2 threads" not in (only.way_back or "")


def test_it_says_how_busy_the_group_is_with_a_healthy_client_instead() -> None:
    (only,) = a_plan(1_000.0, 5.0, 5.0, rate=0.8, threads=(2,)).recommendations

    # Eight queues of 0.8 msg/s x 1,000 ms / 2 threads, and x 5 ms / 8 threads.
    assert msgspec.json.decode(only.before) == {"utilisation_ratio": 3.2}
    assert msgspec.json.decode(only.after) == {"utilisation_ratio": 0.004}


Samples = dict[tuple[str, str, int], list[tuple[int, int]]]


def _growing(client: int) -> tuple[tuple[str, str, int], Samples]:
    """The first of the eight queues of a client, whose lag grows, and samples of all queues."""
    place, queue_id = divmod(client * 8, 12)
    growing = ("pay", ("broker-a", "broker-b")[place], queue_id)
    every = [("pay", name, i) for name in ("broker-a", "broker-b") for i in range(12)]
    lags = {queue: [(90_000 + 1_000 * n, 89_990 + 1_000 * n) for n in range(10)] for queue in every}
    return growing, lags | {growing: [(90_000 + 1_000 * n, 88_000 + 10 * n) for n in range(10)]}


def test_a_backlog_of_its_queues_needs_no_other_answer() -> None:
    queue, samples = _growing(0)
    plan = a_plan(1_000.0, 5.0, 5.0, rate=0.8, threads=(2,), samples=samples, lags={queue: 11_000})
    rules = {one.rule for one in plan.findings if one.consumer_group == "g_pay"}

    assert "LAG_STATE" in rules
    assert "CONSUMER_CAPACITY" not in rules
    (only,) = [one for one in plan.recommendations if one.consumer_group == "g_pay"]
    assert (only.action, set(only.rules)) == ("REPLACE_CLIENT", rules)


def test_a_backlog_of_the_other_clients_is_answered_by_itself() -> None:
    queue, samples = _growing(1)
    plan = a_plan(1_000.0, 5.0, 5.0, rate=0.8, threads=(2,), samples=samples, lags={queue: 11_000})
    rules = {one.action: one.rules for one in plan.recommendations if one.consumer_group == "g_pay"}

    assert "CONSUMER_CAPACITY" not in {one.rule for one in plan.findings}  # they have time left

    assert rules["REPLACE_CLIENT"] == ("CLIENT_OUTLIER",)
    assert "LAG_STATE" in rules["INVESTIGATE"]
