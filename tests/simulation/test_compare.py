import random
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from rocketmq_capacity.allocation.allocate import allocate
from rocketmq_capacity.allocation.fleet import fleet_of
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.allocation import Allocation
from rocketmq_capacity.contracts.dataset import enforce
from rocketmq_capacity.contracts.finding import Finding
from rocketmq_capacity.contracts.scenario_effect import ScenarioEffect
from rocketmq_capacity.contracts.strategy_load import StrategyLoad
from rocketmq_capacity.simulation.compare import compare, findings_added, findings_cleared
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.tables import snapshot_tables
from tests.simulation.clusters import after, ids_of, pay_cluster
from tests.simulation.sides import LOAD, METRICS, Side, rows

if TYPE_CHECKING:
    from rocketmq_capacity.contracts.dataset import Dataset


def effects(before: Mapping[type["Dataset"], DataFrame], after: Mapping[type["Dataset"], DataFrame]) -> dict[Any, Row]:
    """The comparison's rows by group and strategy."""
    found = enforce(compare(before, after), ScenarioEffect).collect()
    by_key = {(row.consumer_group, row.strategy): row for row in found}
    assert len(by_key) == len(found)
    return by_key


def one_group(
    owners: Iterable[tuple[int, str]],
    read: int = 4,
    strategy: str = "AVG",
    is_applicable: bool = True,
    idle: Iterable[str] = (),
) -> Side:
    """A group that reads one topic on one broker; ``owners`` are queue ids and client ids."""
    return Side(
        queues={("t", "b"): (read, 6)},
        reads={("g", "t")},
        owners=[(strategy, "g", "t", "b", queue_id, client_id) for queue_id, client_id in owners],
        loads={("g", strategy): (is_applicable, list(idle))},
    )


WHOLE = one_group([(0, "c1"), (1, "c1"), (2, "c2"), (3, "c2")])
ORPHANED = one_group([(0, "c1"), (1, "c1"), (2, "c2")])
ONCE, TWICE = one_group([(0, "c1")], read=1), one_group([(0, "c1"), (0, "c1")], read=1)
POP_ALL = one_group([(-1, "c1"), (-1, "c2"), (-1, "c1")], strategy="POP")
POP_SOME = one_group([(0, "c2"), (0, "c1"), (1, "c1"), (2, "c2"), (3, "c1"), (3, "c2")], strategy="POP")
CASES = {
    "two other owners": (WHOLE, one_group([(0, "c1"), (1, "c2"), (2, "c2"), (3, "c3")])),
    "fewer queues": (WHOLE, one_group([(0, "c1"), (1, "c1"), (2, "c1")], read=3)),
    "more queues": (one_group([(0, "c1"), (1, "c1"), (2, "c1")], read=3), WHOLE),
    "no longer orphaned": (ORPHANED, WHOLE),
    "newly orphaned": (WHOLE, ORPHANED),
    "orphaned as before": (ORPHANED, ORPHANED),
    "a second consumer": (ONCE, TWICE),
    "two consumers as before": (TWICE, TWICE),
    "pop shared out": (POP_ALL, POP_SOME),
    "pop from everywhere": (POP_SOME, POP_ALL),
    "nothing left": (one_group([(0, "c1")], read=1), one_group([], read=0)),
    "newly applicable": (one_group([], is_applicable=False, idle=["c1"]), one_group([(0, "c1")], idle=["c2", "c3"])),
    "no longer applicable": (one_group([(0, "c1")]), one_group([], is_applicable=False)),
}
"""Before and after; each becomes a group and a topic of its own, so that one job answers for all of them."""


@pytest.fixture(scope="module")
def cases(spark: SparkSession) -> dict[str, Row]:
    """The row of each case that has one."""
    before, after = (Side.of_many({name: sides[i] for name, sides in CASES.items()}) for i in (0, 1))
    return {group: row for (group, _), row in effects(before.tables(spark), after.tables(spark)).items()}


@pytest.mark.parametrize(
    ("case", "moved_queues", "moved_ratio"),
    [("two other owners", 2, 0.5), ("fewer queues", 1, 1 / 3), ("more queues", 1, 1 / 3)],
)
def test_a_queue_of_both_sides_with_another_owner_has_moved(
    cases: dict[str, Row], case: str, moved_queues: int, moved_ratio: float
) -> None:
    assert (cases[case].moved_queues, cases[case].moved_ratio) == (moved_queues, moved_ratio)


@pytest.mark.parametrize(
    ("case", "moved_queues"), [("no longer orphaned", 1), ("newly orphaned", 1), ("orphaned as before", 0)]
)
def test_a_queue_that_nobody_owns_is_owned_by_nobody(cases: dict[str, Row], case: str, moved_queues: int) -> None:
    assert (cases[case].moved_queues, cases[case].moved_ratio) == (moved_queues, moved_queues / 4)


def test_a_second_consumer_of_the_same_id_is_another_owner(cases: dict[str, Row]) -> None:
    assert (cases["a second consumer"].moved_queues, cases["a second consumer"].moved_ratio) == (1, 1.0)
    assert cases["two consumers as before"].moved_queues == 0


@pytest.mark.parametrize("case", ["pop shared out", "pop from everywhere"])
def test_under_pop_the_set_of_clients_counts(cases: dict[str, Row], case: str) -> None:
    assert (cases[case].strategy, cases[case].moved_queues, cases[case].moved_ratio) == ("POP", 2, 0.5)


def test_without_a_queue_on_both_sides_there_is_no_ratio(cases: dict[str, Row]) -> None:
    assert (cases["nothing left"].moved_queues, cases["nothing left"].moved_ratio) == (0, None)


def test_a_strategy_that_could_not_be_run_before_has_nothing_to_compare_with(cases: dict[str, Row]) -> None:
    row = cases["newly applicable"]
    assert (row.moved_queues, row.moved_ratio) == (None, None)
    assert (row.before_idle, row.before_count, row.before_traffic) == (None, None, None)
    assert (row.after_idle, row.after_count, row.after_traffic) == (2, METRICS, None)


def test_a_strategy_that_can_no_longer_be_run_has_no_row(cases: dict[str, Row]) -> None:
    assert set(CASES) - set(cases) == {"no longer applicable"}


def some_side(seed: random.Random, groups: list[str], like: Side | None = None) -> Side:
    """A random side; ``like`` another one, most of its rows stay."""
    topics, brokers, clients = ["pay", "ship", "bill", "%RETRY%g", "ghost"], ["a", "b"], ["c1", "c2", "c3"]
    strategies = ["AVG", "CONFIG", "POP", "BROADCASTING"]

    def changes() -> bool:
        return like is None or seed.random() < 0.3

    side = Side()
    for topic in topics[:4]:
        for broker in brokers:
            layout = (seed.choice([0, 3, 4, 5, 6, 6, None]), seed.choice([6, 6, 6, 6, 6, 4, 4, 2, None]))
            side.queues[topic, broker] = layout if like is None or changes() else like.queues[topic, broker]
    for group in groups:
        fresh = {(group, topic) for topic in topics if seed.random() < 0.7}
        side.reads |= fresh if like is None or changes() else {pair for pair in like.reads if pair[0] == group}
        for strategy in strategies:
            if strategy != "BROADCASTING":
                side.loads[group, strategy] = (seed.random() < 0.8, seed.sample(clients, seed.randint(0, 3)))
            for topic in topics:
                for broker in brokers:
                    key = (strategy, group, topic, broker)
                    if not changes():
                        side.owners += [row for row in (like or side).owners if row[:4] == key]
                    elif strategy == "POP" and seed.random() < 0.5:
                        side.owners += [(*key, -1, seed.choice(clients)) for _ in range(seed.randint(0, 4))]
                    else:
                        ids = [seed.randint(0, 6) for _ in range(seed.randint(0, 6))]  # some beyond what is readable
                        side.owners += [(*key, queue_id, seed.choice(clients)) for queue_id in ids]
    return side


@pytest.mark.slow
def test_it_counts_what_the_definition_counts(spark: SparkSession) -> None:
    chance = random.Random(2)
    groups = [f"g{i}" for i in range(80)]
    before = some_side(chance, groups)
    after = some_side(chance, groups, like=before)
    expected = {}
    for (group, strategy), (is_applicable, idle) in after.loads.items():
        if not is_applicable:
            continue
        kept = before.readable(group) & after.readable(group)
        other = [q for q in kept if before.owners_of(group, strategy, q) != after.owners_of(group, strategy, q)]
        was_applicable, was_idle = before.loads[group, strategy]
        ratio = len(other) / len(kept) if kept else None
        expected[group, strategy] = (
            (len(other), ratio, len(was_idle), len(idle)) if was_applicable else (None, None, None, len(idle))
        )
    found = effects(before.tables(spark), after.tables(spark))
    assert {
        key: (row.moved_queues, row.moved_ratio, row.before_idle, row.after_idle) for key, row in found.items()
    } == expected
    assert sum(counts[0] or 0 for counts in expected.values()) > 300  # the groups are worth comparing


def side_of(spark: SparkSession, inventory: Inventory, policy: Policy) -> dict[type["Dataset"], DataFrame]:
    """A side as the stages make it; loads say only that every strategy can be run."""
    tables = {
        dataset: spark.createDataFrame(table, schema=dataset.spark_schema()).coalesce(1)
        for dataset, table in snapshot_tables(inventory, policy).items()
    }
    loads: list[tuple[Any, ...]] = [("g_pay", name, True, [], None, None) for name in policy.strategies]
    return {
        **tables,
        Allocation: rows(spark, Allocation, allocate(fleet_of(tables, policy), policy).collect()),
        StrategyLoad: rows(spark, StrategyLoad, loads, LOAD),
    }


@pytest.mark.slow
def test_consistent_hash_moves_the_queues_of_the_lost_client_alone(spark: SparkSession) -> None:
    before, policy = pay_cluster(3), Policy(strategies=("AVG", "CONSISTENT_HASH"))
    lost = ids_of(before)[0]
    changed = after(before, {"change": "remove_clients", "consumer_group": "g_pay", "client_ids": [lost]})
    was, now = side_of(spark, before, policy), side_of(spark, changed, policy)
    found = {strategy: row.moved_queues for (_, strategy), row in effects(was, now).items()}
    owned = was[Allocation].where(f"strategy = 'CONSISTENT_HASH' and client_id = '{lost}'").count()
    # AVG gives 8 queues to 3 clients as 3 3 2 and to the last two as 4 4: queue 3 alone stays where it was not lost.
    assert found == {"AVG": 5, "CONSISTENT_HASH": owned}


FINDINGS: list[tuple[Any, ...]] = [
    ("IDLE_CONSUMERS", "WARNING", "g", "t", None, ["c1"], "{}", "one stands idle"),
    ("HOT_QUEUE", "INFO", None, "t", None, ["b 0"], "{}", "hot"),
    ("BROKER_LOSS", "INFO", None, None, "b", [], "{}", "lost"),
]


def test_findings_are_added_and_cleared_by_what_they_are_about(spark: SparkSession) -> None:
    worse = ("HOT_QUEUE", "CRITICAL", None, "t", None, ["b 0"], '{"share": 1}', "hotter")
    others = ("IDLE_CONSUMERS", "WARNING", "g", "t", None, ["c1", "c2"], "{}", "two stand idle")
    before = rows(spark, Finding, FINDINGS)
    after = rows(spark, Finding, [worse, others])
    added = enforce(findings_added(before, after), Finding).collect()
    cleared = enforce(findings_cleared(before, after), Finding).collect()
    assert [tuple(row) for row in added] == [others]
    assert sorted(tuple(row) for row in cleared) == sorted([FINDINGS[0], FINDINGS[2]])


def test_equal_findings_are_neither_added_nor_cleared(spark: SparkSession) -> None:
    before, after = rows(spark, Finding, FINDINGS), rows(spark, Finding, FINDINGS[::-1])
    assert findings_added(before, after).isEmpty()
    assert findings_cleared(before, after).isEmpty()
