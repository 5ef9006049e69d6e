"""What always holds of what happens between two states of a group, whatever the group."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import Ending
from rocketmq_capacity.simulation.delays import Delay, chance_later, later
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.views import MOST_CLIENTS, NONE, Interleavings
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker
from tests.fixtures.units import units_of
from tests.simulation.clusters import after, broker, client, cluster, group, pay_cluster, queues, topic
from tests.simulation.test_transition import AVG, FEWER, MORE, WIDER, change, orderly, state

DRAWS: Final = 1_000_000
SECONDS: Final = some.floats(0, 200, allow_nan=False)
DELAYS: Final = some.builds(
    Delay.of, SECONDS, some.lists(some.floats(0.5, 60), max_size=3).map(tuple), some.floats(0, 400)
)


@given(DELAYS, DELAYS)
def test_best_is_at_most_expected_and_that_at_most_worst(one: Delay, other: Delay) -> None:
    found = later(one, other)

    assert 0 <= found.best <= found.expected <= found.worst
    assert 0 <= chance_later(one, other) <= 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Delay.of(0.5, (30, 20)), Delay.of(0, (30, 20))),
        (Delay.of(90, (30, 10, 20)), Delay.of(100, (1,))),
        (Delay.of(1, ()), Delay.of(0, (2,))),
        (Delay.of(1, ()), Delay.of(0, ())),
    ],
)
def test_the_mean_is_that_of_many_draws(one: Delay, other: Delay) -> None:
    drawn = np.random.default_rng(1)

    def draws(delay: Delay) -> Any:
        return delay.least + sum(drawn.uniform(0, span, DRAWS) for span in delay.spans)

    apart = np.asarray(draws(one) - draws(other))
    assert later(one, other).expected == pytest.approx(np.maximum(apart, 0).mean(), rel=0.01, abs=0.01)
    assert chance_later(one, other) == pytest.approx((apart > 0).mean(), abs=0.01)


COUNTS: Final = some.integers(1, 6)


@pytest.mark.slow
@settings(max_examples=25)
@given(COUNTS, some.integers(1, 9), COUNTS, some.sampled_from(["SHUTDOWN", "KILL", "SILENT"]), some.booleans())
def test_every_queue_is_owned_once_on_both_sides_and_intervals_are_in_order(
    clients: int, queues_each: int, more: int, ending: Ending, is_orderly: bool
) -> None:
    t = topic("pay", queues("broker-a", queues_each), queues("broker-b", queues_each))
    members = [client(f"c{number}", status=None, owned_queues=None) for number in range(clients)]
    before = cluster([t], [group("g_pay", members, [t], orderly=is_orderly)])
    added = {"change": "add_clients", "consumer_group": "g_pay", "count": more}
    removed = {"change": "remove_clients", "consumer_group": "g_pay", "count": clients - 1}

    for each in ([added], [removed], [WIDER], []):
        now = state(after(before, *each, policy=AVG))
        assert {len(own) for own in state(before).readers.values()} == {1}
        assert {len(own) for own in now.readers.values()} == {1}
        rows, whole = change(before, *each, ending=ending)
        assert whole.moved_queues + whole.new_queues + whole.ownerless_queues == len(rows)
        for row in rows:
            assert row.unread_best_s is not None
            assert row.unread_expected_s is not None
            assert row.unread_worst_s is not None
            assert 0 <= row.unread_best_s <= row.unread_expected_s <= row.unread_worst_s
            assert 0 <= row.twice_best_s <= row.twice_expected_s <= row.twice_worst_s
            assert 0 <= row.lock_wait_best_s <= row.lock_wait_expected_s <= row.lock_wait_worst_s
            if row.messages_twice_worst is not None:
                assert 0 <= (row.messages_twice_expected or 0) <= row.messages_twice_worst


@settings(max_examples=50)
@given(some.integers(1, 12), some.integers(1, 30))
def test_more_clients_never_raise_a_clients_share_under_avg(clients: int, queue_count: int) -> None:
    t = topic("pay", queues("broker-a", queue_count))

    def shares(number: int) -> dict[str, int]:
        members = [client(f"c{place:03}", status=None, owned_queues=None) for place in range(number)]
        own = [owners[0] for owners in state(cluster([t], [group("g_pay", members, [t])])).readers.values()]
        return {one: own.count(one) for one in set(own)}

    few, many = shares(clients), shares(clients + 1)
    assert all(many.get(one, 0) <= share for one, share in few.items())


STRATEGIES: Final = some.sampled_from(["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"])
EACH: Final = {
    name: Policy.model_validate({"strategies": [name], "current_strategies": {"default": name}})
    for name in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
}


def divided(clients: int, queues_each: Sequence[int], strategy: str, *, is_orderly: bool) -> Inventory:
    """A group that reads a topic of so many queues on each broker."""
    t = topic("pay", *(queues(f"broker-{number}", count) for number, count in enumerate(queues_each)))
    members = [
        client(f"c{number:02}", status=None, owned_queues=None, allocate_strategy=strategy) for number in range(clients)
    ]
    return cluster([t], [group("g_pay", members, [t], orderly=is_orderly)])


LAYOUTS: Final = some.lists(some.integers(1, 7), min_size=1, max_size=3)


@settings(max_examples=30)
@given(some.integers(1, 8), LAYOUTS, STRATEGIES, some.booleans())
def test_whatever_the_group_nothing_changed_moves_nothing(
    clients: int, layout: Sequence[int], strategy: str, is_orderly: bool
) -> None:
    rows, whole = change(divided(clients, layout, strategy, is_orderly=is_orderly), policy=EACH[strategy])

    assert rows == []
    assert (whole.moved_queues, whole.new_queues, whole.ownerless_queues) == (0, 0, 0)
    assert (whole.most_unread_at_once, whole.most_twice_at_once) == (0, 0)
    assert (whole.unread_longest_worst_s, whole.messages_twice_worst, whole.messages_skipped_worst) == (0, 0, 0)


@pytest.mark.slow
@settings(max_examples=30)
@given(some.integers(2, 8), LAYOUTS, STRATEGIES, some.integers(1, 3))
def test_what_moves_is_what_has_another_owner_and_each_queue_has_one(
    clients: int, layout: Sequence[int], strategy: str, more: int
) -> None:
    before = divided(clients, layout, strategy, is_orderly=False)
    added = {"change": "add_clients", "consumer_group": "g_pay", "count": more}
    removed = {"change": "remove_clients", "consumer_group": "g_pay", "count": min(more, clients - 1)}

    for one in (added, removed):
        was = state(before, policy=EACH[strategy]).readers
        now = state(after(before, one, policy=EACH[strategy]), policy=EACH[strategy]).readers
        rows, whole = change(before, one, policy=EACH[strategy])
        assert was.keys() == now.keys()
        assert {len(own) for own in (*was.values(), *now.values())} == {1}
        assert {(row.broker_name, row.queue_id) for row in rows} == {
            (queue.broker_name, queue.queue_id) for queue in now if was[queue] != now[queue]
        }
        assert whole.moved_queues == len(rows)
        assert max(whole.most_unread_at_once, whole.most_twice_at_once) <= len(rows)


INTERVALS: Final = some.sampled_from([20.0, 30.0, 60.0])


def paced(rebalance_s: float, route_s: float, heartbeat_s: float) -> Policy:
    intervals = {"rebalance_s": rebalance_s, "poll_nameserver_s": route_s, "heartbeat_s": heartbeat_s}
    return Policy.model_validate({"strategies": ["AVG"], "thresholds": {"TRANSITION": intervals}})


@settings(max_examples=30)
@given(INTERVALS, INTERVALS, INTERVALS, some.sampled_from(["SHUTDOWN", "KILL", "SILENT"]))
def test_an_orderly_consumer_waits_for_the_lock_as_long_as_it_lives_whatever_the_intervals(
    rebalance_s: float, route_s: float, heartbeat_s: float, ending: Ending
) -> None:
    policy = paced(rebalance_s, route_s, heartbeat_s)
    rows, whole = change(orderly(pay_cluster(2)), FEWER, ending=ending, policy=policy)

    for row in rows:
        assert row.twice_worst_s == 0
        assert row.unread_worst_s is not None
        assert row.lock_wait_worst_s <= row.unread_worst_s
    # A lock that nobody gives back lives for 60 s, and a client that lacks one tries again after a second.
    # Once a silent client is missed, its locks have run out.
    assert whole.lock_wait_worst_s == {"SHUTDOWN": 0.0, "KILL": 61.0, "SILENT": 0.0}[ending]


@settings(max_examples=30)
@given(INTERVALS, INTERVALS, INTERVALS, some.sampled_from([FEWER, MORE, WIDER]), some.booleans())
def test_longer_intervals_never_shorten_what_is_unread(
    rebalance_s: float, route_s: float, heartbeat_s: float, one: Mapping[str, Any], is_orderly: bool
) -> None:
    before = orderly(pay_cluster(2)) if is_orderly else pay_cluster(2)
    shortest, longer = (
        change(before, one, policy=policy)[0]
        for policy in (paced(20.0, 20.0, 20.0), paced(rebalance_s, route_s, heartbeat_s))
    )

    for quick, slow in zip(shortest, longer, strict=True):
        assert (quick.unread_expected_s or 0.0) <= (slow.unread_expected_s or 0.0) + 1e-3
        assert (quick.unread_worst_s or 0.0) <= (slow.unread_worst_s or 0.0)
        assert quick.twice_worst_s <= slow.twice_worst_s


MOVES: Final = some.lists(some.tuples(some.integers(NONE, 4), some.integers(0, 4)), max_size=12)


@given(MOVES, some.frozensets(some.integers(0, 4), max_size=2))
def test_the_worst_interleaving_is_the_worst_of_all(moves: Sequence[tuple[int, int]], gone: frozenset[int]) -> None:
    moves = [(old, new) for old, new in moves if new not in gone]
    found = Interleavings.of([old for old, _ in moves], [new for _, new in moves], gone)

    def at(switched: frozenset[int]) -> tuple[int, int]:
        """Queues that nobody reads, and that two read."""
        unread = twice = 0
        for old, new in moves:
            if old == new:
                continue
            reads = [old not in switched and old not in gone and old != NONE, new in switched]
            unread += not any(reads)
            twice += all(reads)
        return unread, twice

    every = [at(frozenset(client for client, is_in in enumerate(bits) if is_in)) for bits in product((0, 1), repeat=5)]
    unread, twice = found.unread(), found.twice()
    assert (unread.queues, twice.queues) == (max(one for one, _ in every), max(one for _, one in every))
    assert unread.switched is not None
    assert at(frozenset(unread.switched))[0] == unread.queues
    assert twice.switched is not None
    assert at(frozenset(twice.switched))[1] == twice.queues


@given(some.lists(some.tuples(some.integers(0, 30), some.integers(0, 30)), min_size=60, max_size=90))
def test_with_many_clients_the_bound_is_never_below_any_interleaving(moves: Sequence[tuple[int, int]]) -> None:
    found = Interleavings.of([old for old, _ in moves], [new for _, new in moves])
    bound = found.unread()

    drawn = np.random.default_rng(1).random((50, 31)) < 0.5
    for switched in drawn:
        assert sum(switched[old] and not switched[new] for old, new in moves) <= bound.queues
    gives, takes = {old for old, new in moves if old != new}, {new for old, new in moves if old != new}
    assert (bound.switched is None) is (len(gives | takes) > MOST_CLIENTS and bool(gives & takes))


def test_a_broker_without_a_config_has_the_defaults() -> None:
    units = units_of(cluster([], [], [InventoryBroker(broker_name="a", broker_id=0), broker("b")]))

    timing = Timing.of(units.cluster, Policy())

    assert (timing.is_real_time, timing.channel_expired_s, set((timing.observed or {}).values())) == (
        True,
        120,
        {False},
    )
