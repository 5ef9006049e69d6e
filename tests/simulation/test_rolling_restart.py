"""A rolling restart: what each batch moves, how long queues wait, and what would make it shorter."""

from itertools import pairwise
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.rolling_restart import RestartTotals, RollingRestartResult
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import Ending
from rocketmq_capacity.simulation.changes.rolling_restart import RollingRestart as Asked
from rocketmq_capacity.simulation.restarted import changes_its_id
from rocketmq_capacity.simulation.rolling_restarts import rolling_restart
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.snapshot.inventory import Client, Inventory
from tests.fixtures.units import units_of
from tests.simulation.clusters import after, client, cluster, group, pay_cluster, queues, topic

SETTLED: Final = 600.0
"""A pause in which every change has spread."""


def restart(
    inventory: Inventory,
    batch: int,
    pause_s: float = SETTLED,
    ending: Ending = "SHUTDOWN",
    policy: Policy | None = None,
) -> RollingRestartResult:
    policy = policy or Policy.model_validate({"strategies": ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"]})
    units = units_of(inventory, policy)
    found = AssessedGroup(units.group("g_pay"), units.cluster, policy, Strategies(policy))
    change = Asked(change="rolling_restart", consumer_group="g_pay", batch=batch, pause_s=pause_s, ending=ending)
    return rolling_restart(found, change, Timing.of(units.cluster, policy))


def asked(*told: Any, **more: Any) -> RestartTotals:
    found = restart(*told, **more).asked
    assert found is not None
    return found


def named(*client_ids: str) -> Inventory:
    """The cluster with clients of these ids."""
    pay = topic("pay", queues("broker-a"), queues("broker-b"))
    members: list[Client] = [client(one) for one in client_ids]
    return cluster([pay], [group("g_pay", members, [pay], message_model="CLUSTERING")])


def test_two_clients_hand_their_four_queues_to_each_other_and_back() -> None:
    found = restart(pay_cluster(2), 1)

    # By AVG each has the four queues of a broker. Both sort by their addresses, so each gets its own queues back.
    assert [(one.client_ids, one.moved_at_stop, one.moved_at_start) for one in found.steps] == [
        (("10.0.0.1@1#1",), 4, 4),
        (("10.0.0.2@1#1",), 4, 4),
    ]
    assert found.asked is not None
    assert (found.asked.steps, found.asked.rebalances, found.asked.moved_queues) == (2, 4, 16)
    # Each wait is 1 s on average and 53.5 s at worst, in both rebalances of a step.
    assert (found.asked.unread_longest_expected_s, found.asked.unread_longest_worst_s) == (1.0, 107.0)
    assert (found.asked.settles_s, found.asked.lasts_s) == (107.0, 2 * 60 + SETTLED)


def test_three_clients_pass_on_neighbouring_blocks_of_queues() -> None:
    found = restart(pay_cluster(3), 1)

    # AVG gives 3, 3, 2 queues: ABC DEF GH. Without the first: ABCD EFGH, and D, E and F stay with or go to another.
    # Without one client, the others own the blocks ABCD and EFGH.
    #   the first is down:  A B C D of the second, E F G H of the third. New owners: A B C, E F.
    #   the second is down: A B C D of the first, E F G H of the third. New owners: D, E F.
    #   the third is down:  A B C D of the first, E F G H of the second. New owners: D, G H.
    assert [(one.moved_at_stop, one.moved_at_start) for one in found.steps] == [(5, 5), (3, 3), (3, 3)]


def test_a_pause_that_is_too_short_adds_up_the_waits_of_a_queue() -> None:
    short = restart(pay_cluster(3), 1, pause_s=10.0)

    # Queues D, E and F move in two of the three steps.
    assert short.asked is not None
    assert short.asked.unread_longest_worst_s == 2 * 107.0
    assert short.advice[0].startswith("Pause for 107 s or more")
    assert any(one.pause_s == 107.0 and one.unread_longest_worst_s == 107.0 for one in short.alternatives)
    assert not any(words.startswith("Pause") for words in restart(pay_cluster(3), 1, pause_s=107.0).advice)


def test_nobody_reads_while_every_client_is_down() -> None:
    whole = asked(pay_cluster(2), 2)

    # 60 s without a client, then 1 s on average until the first has started and 0.5 s until its first pull.
    assert whole.steps == 1
    assert whole.unread_longest_expected_s == 60.0 + 1.0
    assert whole.busy_ratio is None


@pytest.mark.parametrize(
    ("client_id", "changes"),
    [
        ("10.0.0.1@4711#98765", True),
        ("10.0.0.1@4711#98765@unit", True),
        ("10.0.0.1@pay-1", False),
        ("10.0.0.1@4711", False),
        ("what_if_1@g_pay", False),
    ],
)
def test_an_id_of_a_process_changes_and_an_instance_name_stays(client_id: str, changes: bool) -> None:
    assert changes_its_id(client_id) is changes


def test_ids_by_process_on_one_machine_come_back_in_another_order() -> None:
    new = asked(named("10.0.0.1@1#1", "10.0.0.1@2#1"), 1)
    same = asked(named("10.0.0.1@pay-1", "10.0.0.1@pay-2"), 1)

    # The first client comes back as the last, so it takes the second block, and the other client the first one.
    assert (new.client_ids, same.client_ids) == ("NEW", "SAME")
    assert (new.moved_queues, same.moved_queues) == (16, 16)
    three = restart(named("10.0.0.1@1#1", "10.0.0.1@2#1", "10.0.0.1@3#1"), 1)
    kept = next(one for one in three.alternatives if one.client_ids == "SAME")
    assert three.asked is not None
    assert three.asked.moved_queues != kept.moved_queues == 2 * (5 + 3 + 3)


def test_killed_clients_leave_messages_uncommitted_and_the_advice_is_to_shut_them_down() -> None:
    shut, killed = restart(pay_cluster(2), 1), restart(pay_cluster(2), 1, ending="KILL")

    # Four queues of 10 messages a second, 2.5 s since the last commit, in each of the two steps.
    assert shut.asked is not None
    assert killed.asked is not None
    assert killed.asked.messages_twice_expected == pytest.approx((shut.asked.messages_twice_expected or 0) + 2 * 100)
    assert any("by shutdown() and not by KILL" in words for words in killed.advice)
    assert not any("shutdown()" in words for words in shut.advice)


def test_a_killed_client_that_consumes_in_order_leaves_its_locks() -> None:
    inventory = pay_cluster(2)
    orderly = replace(inventory, consumer_groups=tuple(replace(one, orderly=True) for one in inventory.consumer_groups))

    assert 60 <= asked(orderly, 1, ending="KILL").lock_wait_worst_s <= 61


def test_every_strategy_and_several_batches_are_compared() -> None:
    found = restart(pay_cluster(8), 3, pause_s=200.0)

    ways = {(one.strategy, one.batch) for one in found.alternatives if one.pause_s == 200.0 and one.client_ids == "NEW"}
    every = {(name, batch) for name in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH") for batch in (1, 2, 3, 4)}
    assert ways == every - {("AVG", 3)}
    unread = [one.unread_longest_worst_s for one in found.alternatives]
    assert all(one is not None and other is not None and one <= other for one, other in pairwise(unread))
    best = next(one for one in found.alternatives if one.strategy == "CONSISTENT_HASH" and one.batch == 3)
    assert found.asked is not None
    assert best.moved_queues < found.asked.moved_queues
    assert any(words.startswith("With CONSISTENT_HASH") for words in found.advice)


def test_a_strategy_that_leaves_queues_unread_is_no_way_to_restart() -> None:
    pay = topic("pay", queues("hz@a", 1), queues("sh@b", 7))
    members = [client(f"10.0.0.{number}@1") for number in range(1, 5)]
    policy = Policy.model_validate({"strategies": ["AVG", "AVG_BY_CIRCLE", "MACHINE_ROOM"], "machine_rooms": ["hz"]})
    found = restart(cluster([pay], [group("g_pay", members, [pay])]), 1, policy=policy)

    # MACHINE_ROOM divides the queue of hz@a alone: few queues move, because nobody reads the others.
    assert {one.strategy for one in found.alternatives} == {"AVG", "AVG_BY_CIRCLE"}
    assert not any("MACHINE_ROOM" in words for words in found.advice)

    apart = replace(pay, queues=(queues("hz@a", 1),), offsets=None)
    whole = restart(cluster([apart], [group("g_pay", members, [apart])]), 1, policy=policy)
    assert "MACHINE_ROOM" in {one.strategy for one in whole.alternatives}


def test_of_a_large_group_some_steps_are_computed_and_sums_are_estimated() -> None:
    pay = topic("pay", *(queues(f"broker-{number}", 250) for number in range(4)))
    members = [client(f"10.0.{number // 250}.{number % 250}@1#1") for number in range(2_000)]
    found = restart(cluster([pay], [group("g_pay", members, [pay], message_model="CLUSTERING")]), 1, pause_s=30.0)

    assert found.asked is not None
    assert found.asked.steps == 2_000
    assert found.asked.computed_steps == len(found.steps) == 200_000 // 3_000
    assert (found.steps[0].step, found.steps[-1].step) == (1, 2_000)
    assert found.asked.unread_longest_worst_s is None  # the pause is too short, and most steps are not computed
    # 1,000 queues for 2,000 clients: client k of the first 1,000 owns queue k. Without it, queue k and all later queues
    # move on by one: 1,001 - k of them. Without one of the others, none moves.
    exact = 2 * sum(range(1, 1_001))
    assert found.asked.moved_queues == pytest.approx(exact, rel=0.05)


def test_what_cannot_be_computed_is_said() -> None:
    mixed = named("10.0.0.1@1#1", "10.0.0.2@1#1")
    (own,) = mixed.consumer_groups
    first, second = own.clients or ()
    other = replace(second, allocate_strategy="AVG_BY_CIRCLE")
    mixed = replace(mixed, consumer_groups=(replace(own, clients=(first, other)),))
    found = restart(mixed, 1)

    assert (found.undecided, found.asked, found.alternatives) == ("its clients run different strategies", None, ())


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"message_model": "BROADCASTING"}, "each read every queue"),
        ({"message_request_mode": "POP"}, "whose clients pop"),
        ({"message_model": "LITE_SELECTIVE"}, "LITE topic"),
        ({"clients": ()}, "no clients"),
        ({"clients": (client("a", protocol="GRPC"),)}, "gRPC"),
    ],
)
def test_a_group_whose_clients_divide_no_queues_is_refused(facts: dict[str, Any], words: str) -> None:
    inventory = pay_cluster(2)
    odd = replace(inventory, consumer_groups=tuple(replace(one, **facts) for one in inventory.consumer_groups))

    with pytest.raises(BadInput, match=words) as refused:
        after(odd, {"change": "rolling_restart", "consumer_group": "g_pay", "batch": 1, "pause_s": 30.0})
    assert refused.value.place == "changes[0].consumer_group"


def test_a_batch_of_more_clients_than_there_are_is_refused() -> None:
    with pytest.raises(BadInput, match="is 3; expected at most 2, the clients that the group has"):
        after(pay_cluster(2), {"change": "rolling_restart", "consumer_group": "g_pay", "batch": 3, "pause_s": 30.0})


def test_the_cluster_stays_as_it_is() -> None:
    assert after(
        pay_cluster(2), {"change": "rolling_restart", "consumer_group": "g_pay", "batch": 1, "pause_s": 30.0}
    ) == after(pay_cluster(2))
