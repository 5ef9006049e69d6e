"""What a run decides otherwise than the deployment: the strategies that it computes, what differs, what is stored."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.own_policy import OwnPolicy, PolicyDifference
from rocketmq_capacity.settings.policy import Policy, PolicyChanges, read_policy
from rocketmq_capacity.snapshot.inventory import (
    FORMAT,
    Client,
    Inventory,
    InventoryBroker,
    InventoryGroup,
    InventoryOwnedQueue,
    InventorySubscription,
    InventoryTopic,
    TopicQueues,
)
from rocketmq_capacity.steps.app import of_run, policy_of
from rocketmq_capacity.steps.own_policy import computed, differences_of, store_own_policy
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.store.lake import Lake, Run

ALL = Policy().strategies


def stored(folder: Path, *clients: dict[str, Any], **group: Any) -> Run:
    """A run with the snapshot of a cluster with one group, of clients that read a topic of four queues."""
    members = tuple(Client(client_id=f"c{number}", **client) for number, client in enumerate(clients))
    reads = (InventorySubscription(topic="pay", expression_type="TAG", expression="*"),)
    queues = TopicQueues(broker_name="broker-a", read_queue_nums=4, write_queue_nums=4, perm=6)
    inventory = Inventory(
        format=FORMAT,
        cluster_name="C1",
        taken_at="2026-11-20T02:00:00Z",
        brokers=(InventoryBroker(broker_name="broker-a", broker_id=0),),
        topics=(InventoryTopic(topic="pay", queues=(queues,)),),
        consumer_groups=(InventoryGroup(consumer_group="g_pay", clients=members, subscriptions=reads, **group),),
    )
    run = Lake(folder).run("C1", "r1")
    snapshot(Planning(lambda: pytest.fail("needs no Spark"), run, Policy()), inventory)
    return run


def owned(*queue_ids: int) -> tuple[InventoryOwnedQueue, ...]:
    return tuple(InventoryOwnedQueue(topic="pay", broker_name="broker-a", queue_id=queue_id) for queue_id in queue_ids)


def asked(*strategies: str, changes: str = "") -> Policy:
    return read_policy(None, PolicyChanges(strategies, changes))


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (None, ("POP", "AVG")),
        ("CONSISTENT_HASH", ("POP", "CONSISTENT_HASH")),
        ("MACHINE_ROOM_NEARBY", ("POP", "MACHINE_ROOM_NEARBY-AVG")),
        ("com.acme.Own", ("POP",)),
    ],
    ids=["the default", "as reported", "as the policy computes it", "no class of somebody's own"],
)
def test_what_clients_run_is_computed_beside_what_was_chosen(
    tmp_path: Path, reported: str | None, expected: tuple[str, ...]
) -> None:
    run = stored(tmp_path, {"allocate_strategy": reported})

    assert computed(asked("POP"), Policy(), [run]) == expected


def test_a_popping_group_has_pop_computed(tmp_path: Path) -> None:
    popping = stored(tmp_path, {"allocate_strategy": "AVG"}, message_request_mode="POP")
    proxied = stored(tmp_path / "proxied", {"protocol": "GRPC"})

    assert computed(asked("CONSISTENT_HASH"), Policy(), [popping]) == ("CONSISTENT_HASH", "AVG", "POP")
    assert computed(asked("AVG"), Policy(), [proxied]) == ("AVG", "POP")


def test_what_the_owners_of_queues_tell_is_computed(tmp_path: Path) -> None:
    by_circle = stored(tmp_path, *({"owned_queues": owned(first, first + 2)} for first in (0, 1)))

    assert computed(asked("POP", "AVG"), Policy(), [by_circle]) == ("POP", "AVG", "AVG_BY_CIRCLE")


def test_what_the_policy_tells_of_groups_is_computed(tmp_path: Path) -> None:
    told = asked("POP", changes="current_strategies: {g_pay: AVG_BY_CIRCLE}")

    assert computed(told, Policy(), [stored(tmp_path, {})]) == ("POP", "AVG_BY_CIRCLE")


def test_differences_have_the_key_and_both_values() -> None:
    changes = "thresholds: {HOT_QUEUE: {peak: 3.0}}\nexclude: {topics: ['^bench_']}\nclient_heap_mib: {default: 512}"

    found = differences_of(Policy(), asked(changes=changes))

    assert found == (
        PolicyDifference(key="client_heap_mib.default", deployment=None, run=512),
        PolicyDifference(key="exclude.topics", deployment=[], run=["^bench_"]),
        PolicyDifference(key="thresholds.HOT_QUEUE.peak", deployment=Policy().thresholds.HOT_QUEUE.peak, run=3.0),
    )
    assert [one.in_words() for one in found][:2] == [
        "client_heap_mib.default is 512 instead of none",
        "exclude.topics is ^bench_ instead of []",
    ]


@pytest.mark.parametrize("replaces_plan", [False, True])
def test_a_run_stores_what_differs_and_every_step_computes_the_same(tmp_path: Path, *, replaces_plan: bool) -> None:
    args = Namespace(policy=None, strategies="POP", policy_changes="", replaces_plan=replaces_plan)
    run = stored(tmp_path, {"allocate_strategy": "CONSISTENT_HASH"})

    store_own_policy(args, run)

    difference = PolicyDifference(key="strategies", deployment=list(ALL), run=["POP", "CONSISTENT_HASH"])
    assert OwnPolicy.read(run.own_policy) == OwnPolicy(
        is_trial=not replaces_plan, differences=(difference,), strategies=("POP", "CONSISTENT_HASH")
    )
    assert of_run(policy_of(args), run).strategies == ("POP", "CONSISTENT_HASH")


def test_a_run_that_decides_what_the_deployment_does_is_no_trial(tmp_path: Path) -> None:
    run = stored(tmp_path, {})
    store_own_policy(Namespace(policy=None, strategies="POP", policy_changes=""), run)
    assert run.own_policy.exists()
    same = "consistent_hash: {virtual_nodes: 10}"

    store_own_policy(Namespace(policy=None, strategies=",".join(ALL), policy_changes=same), run)
    assert not run.own_policy.exists()

    in_another_order = Namespace(policy=None, strategies=",".join(reversed(ALL)), policy_changes="")
    store_own_policy(in_another_order, run)
    assert OwnPolicy.read(run.own_policy) == OwnPolicy(is_trial=False, differences=(), strategies=ALL)
    assert of_run(policy_of(in_another_order), run) == Policy()


def test_a_stored_policy_that_is_damaged_is_named(tmp_path: Path) -> None:
    run = stored(tmp_path, {})
    run.own_policy.write_text('{"is_trial": 1}')

    with pytest.raises(BadInput, match=r"own_policy\.json: is not a stored policy"):
        of_run(Policy(), run)
