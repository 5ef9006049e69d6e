"""What happens between two states of a group: who is late, who is early, and what that costs."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import Ending
from rocketmq_capacity.simulation.state import State
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.transition import OwnerChange
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.tables import Transition
from rocketmq_capacity.tables.transition import TransitionOfGroup
from rocketmq_capacity.vocabulary import CONSUME_FROM_WHERE, FIRST_OFFSET, ConsumeFromWhere
from tests.fixtures.units import units_of
from tests.simulation.clusters import after, client, cluster, group, pay_cluster, queues, topic

AVG: Final = Policy.model_validate({"strategies": ["AVG"]})


def state(inventory: Inventory, name: str = "g_pay", policy: Policy = AVG) -> State:
    units = units_of(inventory, policy)
    found = State.of(AssessedGroup(units.group(name), units.cluster, policy, Strategies(policy)))
    assert found is not None
    return found


def change(
    before: Inventory,
    *changes: Mapping[str, Any],
    name: str = "g_pay",
    ending: Ending = "SHUTDOWN",
    policy: Policy = AVG,
) -> tuple[list[Transition], TransitionOfGroup]:
    """Every queue that the changes move, and the whole of them."""
    timing = Timing.of(units_of(before, policy).cluster, policy)
    between = OwnerChange(
        state(before, name, policy), state(after(before, *changes, policy=policy), name, policy), timing, ending
    )
    return list(between.rows()), between.totals()


FEWER: Final = {"change": "remove_clients", "consumer_group": "g_pay", "count": 1}
MORE: Final = {"change": "add_clients", "consumer_group": "g_pay", "client_ids": ["10.0.0.9@1#1"]}
WIDER: Final = {"change": "set_queues", "topic": "pay", "read_queue_nums": 6, "write_queue_nums": 6}


def orderly(inventory: Inventory, *versions: str) -> Inventory:
    """The same cluster, whose groups consume in order; their clients have these versions, as far as they are given."""
    groups = []
    for one in inventory.consumer_groups:
        clients = list(one.clients or ())
        for index, version in enumerate(versions):
            clients[index] = replace(clients[index], language="JAVA", version=version)
        groups.append(replace(one, orderly=True, clients=tuple(clients)))
    return replace(inventory, consumer_groups=tuple(groups))


def with_config(inventory: Inventory, **config: str) -> Inventory:
    return replace(inventory, brokers=tuple(replace(one, config=config) for one in inventory.brokers))


def test_nothing_changed_moves_nothing() -> None:
    rows, whole = change(pay_cluster())

    assert rows == []
    assert (whole.moved_queues, whole.unread_longest_worst_s, whole.messages_twice_worst) == (0, 0, 0)


def test_the_queues_of_a_client_that_shuts_down_are_unread_until_the_others_are_notified() -> None:
    rows, whole = change(pay_cluster(2), FEWER)

    assert {row.cause for row in rows} == {"SHUTDOWN"}
    assert {(row.unread_best_s, row.unread_expected_s, row.unread_worst_s) for row in rows} == {(0.5, 1.0, 53.5)}
    assert {(row.twice_worst_s, row.lock_wait_worst_s, row.starts_at) for row in rows} == {(0.0, 0.0, "COMMITTED")}
    assert {row.messages_twice_expected for row in rows} == {0.0}
    assert (whole.moved_queues, whole.most_unread_at_once, whole.most_twice_at_once) == (4, 4, 0)


def test_a_killed_client_leaves_five_seconds_of_messages_uncommitted() -> None:
    rows, _ = change(pay_cluster(2), FEWER, ending="KILL")

    assert {(row.cause, row.messages_twice_expected) for row in rows} == {("KILL", 25.0)}  # 10 a second, 2.5 s
    assert all((row.messages_twice_worst or 0) >= 50.0 for row in rows)


def test_a_silent_client_is_missed_once_its_last_heartbeat_has_expired() -> None:
    (row, *_), _ = change(pay_cluster(2), FEWER, ending="SILENT")

    # 120 s from a heartbeat up to 30 s old, 10 s between scans, 20 s between rebalances, a request, the first pull. At
    # worst the new owner's pulls are refused until its next heartbeat.
    assert (row.unread_best_s, row.unread_expected_s, row.unread_worst_s) == (90.5, 120.5, 183.5)


def test_the_brokers_own_settings_are_used() -> None:
    slow = with_config(pay_cluster(2), channelExpiredTimeout="60000", realTimeNotifyConsumerChange="false")

    (silent, *_), whole = change(slow, FEWER, ending="SILENT")
    (told, *_), _ = change(slow, FEWER)

    assert silent.unread_best_s == 30.5
    assert told.unread_expected_s == 5.625 + 0.5  # the earlier of a timer of 15 s and a loop of 20 s
    assert '"from_snapshot":["channelExpiredTimeout","realTimeNotifyConsumerChange"]' in whole.timers
    untold, _ = change(with_config(pay_cluster(2), notifyConsumerIdsChangedEnable="false"), FEWER)
    assert untold[0].unread_expected_s == 10.5


def test_a_killed_clients_lock_is_waited_for() -> None:
    rows, whole = change(orderly(pay_cluster(2)), FEWER, ending="KILL")

    # The lock lives 60 s from a renewal up to 20 s ago. The next try comes within 1 s, and the first pull 0.5 s later.
    # At worst pulls are refused for 30 s more.
    assert {(row.unread_best_s, row.unread_worst_s) for row in rows} == {(40.5, 91.5)}
    assert all(50 < (row.unread_expected_s or 0) < 52 for row in rows)
    assert 60 <= whole.lock_wait_worst_s <= 61
    shut, _ = change(orderly(pay_cluster(2)), FEWER)
    assert {row.lock_wait_worst_s for row in shut} == {0.0}


@pytest.mark.parametrize(
    ("versions", "lock_wait_s", "unread_s"),
    [
        # At worst the old reader is notified late (23 s), is in the middle of a long call, and gives the lock back 21 s
        # later; the new one asks each second. It reads 0.5 s later, and its first pull may be refused for 30 s.
        ((), 45.0, 53.5),
        (("V5_3_3", "V5_2_0"), 45.0, 53.5),
        # It tries again after 20 s, and has messages in memory, so it gives the lock back 20 s after that.
        (("V5_3_3", "V5_1_4"), 65.0, 72.5),
        # The new one asks each 20 s.
        (("V5_3_3", "V4_9_5"), 84.0, 91.5),
        # It knows a second after its start that it has the lock, and looks each 3 s.
        (("V4_9_4", "V5_3_3"), 84.0, 95.5),
    ],
)
def test_the_oldest_version_says_how_long_a_lock_is_waited_for(
    versions: tuple[str, ...], lock_wait_s: float, unread_s: float
) -> None:
    rows, whole = change(orderly(pay_cluster(2), *versions), MORE)

    assert whole.lock_wait_worst_s == lock_wait_s
    takes = [row for row in rows if row.new_owners == ("10.0.0.9@1#1",)]
    assert {row.unread_worst_s for row in takes} == {unread_s}


def test_a_new_queue_waits_until_an_old_client_knows_that_it_has_the_lock() -> None:
    rows, _ = change(orderly(pay_cluster(2), "V4_9_4"), WIDER)

    new = {(row.unread_best_s, row.unread_expected_s, row.unread_worst_s) for row in rows if not row.old_owners}
    assert new == {(0.5, 35.5, 106.5)}  # 10 s more on average, and 23 s at worst


def test_two_never_read_a_queue_that_is_consumed_in_order() -> None:
    rows, whole = change(orderly(pay_cluster(2)), WIDER)

    assert {(row.twice_best_s, row.twice_expected_s, row.twice_worst_s) for row in rows} == {(0.0, 0.0, 0.0)}
    assert (whole.twice_longest_worst_s, whole.most_twice_at_once) == (0, 0)


def test_a_new_client_may_read_what_the_old_one_has_not_given_up() -> None:
    rows, whole = change(pay_cluster(2), MORE)

    takes = [row for row in rows if row.new_owners == ("10.0.0.9@1#1",)]
    assert {row.cause for row in takes} == {"STARTS"}
    assert {row.cause for row in rows} == {"STARTS", "MEMBERS"}
    assert all(row.twice_worst_s == 22.5 and row.unread_worst_s == 53.5 for row in takes)
    assert whole.new_queues == 0


def test_a_new_queue_is_unread_until_the_route_and_the_rebalance_come_round() -> None:
    rows, whole = change(pay_cluster(2), WIDER)

    new = [row for row in rows if row.starts_at == "NEW_QUEUE"]
    assert {(row.old_owners, row.cause, row.unread_best_s, row.unread_expected_s) for row in new} == {
        ((), "ROUTE", 0.5, 25.5)
    }
    assert {row.unread_worst_s for row in new} == {83.5}
    assert whole.new_queues == 4
    # Of 80 messages a second each of 12 queues gets 6.67: so many in 53 s may be skipped, if they leave the memory.
    assert [row.messages_skipped_worst for row in new] == [pytest.approx(80 / 12 * 53, abs=0.01)] * 4


def test_a_group_that_is_offline_may_never_read_what_a_new_queue_gets_meanwhile() -> None:
    rows, whole = change(pay_cluster(0), WIDER)

    assert len(rows) == 4
    assert {(row.new_owners, row.unread_worst_s, row.starts_at, row.messages_skipped_worst) for row in rows} == {
        ((), None, "NEW_QUEUE", None)
    }
    assert (whole.moved_queues, whole.new_queues, whole.ownerless_queues) == (0, 0, 4)


def begins_at(where: ConsumeFromWhere | None, inventory: Inventory) -> Inventory:
    groups = tuple(replace(one, consume_from_where=where) for one in inventory.consumer_groups)
    return replace(inventory, consumer_groups=groups)


@pytest.mark.parametrize("where", [None, *(one for one in CONSUME_FROM_WHERE if one != FIRST_OFFSET)])
def test_a_queue_without_an_offset_may_be_begun_at_its_end(where: ConsumeFromWhere | None) -> None:
    found = _without_an_offset(where)

    assert found["broker-b", 3] == ("NO_OFFSET", 5000.0)
    assert found["broker-b", 2] == ("COMMITTED", 0.0)


def test_clients_that_begin_at_the_first_offset_skip_nothing() -> None:
    rows, whole = change(begins_at(FIRST_OFFSET, pay_cluster(2)), WIDER)

    assert {row.messages_skipped_worst for row in rows if row.starts_at == "NEW_QUEUE"} == {0.0}
    assert (whole.new_queues, whole.messages_skipped_worst) == (4, 0.0)
    assert _without_an_offset(FIRST_OFFSET)["broker-b", 3] == ("NO_OFFSET", 0.0)


def test_what_nobody_reads_is_unknown_wherever_clients_would_begin() -> None:
    rows, _ = change(begins_at(FIRST_OFFSET, pay_cluster(0)), WIDER)

    assert {(row.new_owners, row.starts_at, row.messages_skipped_worst) for row in rows} == {((), "NEW_QUEUE", None)}


def _without_an_offset(where: ConsumeFromWhere | None) -> dict[tuple[str, int], tuple[str | None, float | None]]:
    """Where reading begins if the last queue of broker-b has no offset, and what is skipped at worst."""
    before = begins_at(where, pay_cluster(2))
    (reader,) = before.consumer_groups
    kept = tuple(one for one in reader.offsets or () if (one.broker_name, one.queue_id) != ("broker-b", 3))
    rows, _ = change(replace(before, consumer_groups=(replace(reader, offsets=kept),)), FEWER)
    return {(row.broker_name, row.queue_id): (row.starts_at, row.messages_skipped_worst) for row in rows}


def test_another_strategy_comes_with_a_restart() -> None:
    both = Policy.model_validate({"strategies": ["AVG", "AVG_BY_CIRCLE"]})
    circle = {"change": "set_strategy", "consumer_group": "g_pay", "strategy": "AVG_BY_CIRCLE"}
    rows, _ = change(pay_cluster(2), circle, policy=both)

    assert {row.cause for row in rows} == {"RESTART"}
    assert all(row.twice_worst_s > 50 for row in rows)


def test_a_client_whose_name_server_is_lost_asks_another_one_a_period_later() -> None:
    both = Timing(), Timing(failed_polls=1)

    assert [timing.routed.span for timing in both] == [(0, 25, 53), (0, 25, 86)]


def test_unknown_rates_give_unknown_messages() -> None:
    silent = topic("pay", queues("broker-a"), rates={("broker-a", 0): None})
    members = [client(name, status=None) for name in ("1", "2")]
    rows, whole = change(cluster([silent], [group("g_pay", members, [silent])]), FEWER)

    assert {(row.messages_twice_expected, row.messages_twice_worst) for row in rows} == {(None, None)}
    assert whole.messages_twice_worst is None
