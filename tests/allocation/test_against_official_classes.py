"""Row for row what RocketMQ's own classes give, over thousands of generated cases."""

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import pytest

from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.allocation.columns import allocation_columns
from rocketmq_capacity.allocation.rows import AllocationRows
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.tables import Allocation
from rocketmq_capacity.tables.arrow import table_of_columns
from rocketmq_capacity.tables.dataset import Queue
from tests.allocation.fleets import Fleet, random_fleet
from tests.allocation.official import Expected, Row, never_asked, official_allocation
from tests.fixtures.units import units_of
from tests.oracle.java_oracle import JavaOracle
from tests.oracle.requirement import started_or_skipped
from tests.oracle.rocketmq_version import NEWEST

FLEETS: Final = [(1, 10, ["hz", "sh"]), (2, 10, ["", "hz", "nowhere"]), (3, 1, []), (4, 0, None)]
"""Seed, virtual nodes, machine rooms."""
NAMED_IN_REASON: Final = re.compile(r"\(throws for ([^)]*)\)")


@dataclass(frozen=True)
class Planned:
    """A fleet with what the official classes give it, and its groups as the strategies see them."""

    fleet: Fleet
    expected: Expected
    strategies: Strategies
    divisions: list[Division]

    @property
    def asked(self) -> Iterable[tuple[Division, str]]:
        """Every clustering group with every strategy."""
        for division in self.divisions:
            for strategy in () if division.group.is_broadcasting else self.fleet.policy.strategies:
                yield division, strategy

    def rows(self) -> dict[str, list[AllocationRows]]:
        """The rows of each group."""
        return {one.group.consumer_group: list(rows_of(one, self.strategies)) for one in self.divisions}


@pytest.fixture(scope="module", params=FLEETS, ids=lambda fleet: f"seed {fleet[0]}")
def planned(request: pytest.FixtureRequest, java_oracle: JavaOracle) -> Planned:
    seed, virtual_nodes, machine_rooms = request.param
    fleet = random_fleet(seed, 250, virtual_nodes=virtual_nodes, machine_rooms=machine_rooms)
    groups = units_of(fleet.inventory, fleet.policy).business_groups
    expected = official_allocation(fleet, java_oracle)
    return Planned(fleet, expected, Strategies(fleet.policy), [Division.of(group) for group in groups])


def test_a_fleet_is_allocated_as_the_official_classes_do(planned: Planned) -> None:
    got = Counter(named for each in planned.rows().values() for rows in each for named in _named(rows))

    assert planned.expected.asked > 2000
    assert len(planned.expected.rows) > 10_000
    assert _first_of(got - planned.expected.rows) == []
    assert _first_of(planned.expected.rows - got) == []


@pytest.mark.java
def test_the_newest_official_classes_give_the_same() -> None:
    fleet = random_fleet(5, 40, machine_rooms=["hz", "sh"])
    groups = units_of(fleet.inventory, fleet.policy).business_groups
    with closing(started_or_skipped(JavaOracle(NEWEST).start)) as oracle:
        expected = official_allocation(fleet, oracle)
    rows = (rows for group in groups for rows in rows_of(Division.of(group), Strategies(fleet.policy)))
    got = Counter(named for each in rows for named in _named(each))

    assert len(expected.rows) > 1_000
    assert got == expected.rows


def test_the_table_of_a_fleet_holds_what_the_official_classes_give(planned: Planned) -> None:
    table = table_of_columns(Allocation, allocation_columns(planned.rows()))

    assert Counter(Row(**row) for row in table.to_pylist()) == planned.expected.rows


def test_a_strategy_is_refused_where_the_official_class_throws(planned: Planned) -> None:
    refused = {
        (division.group.consumer_group, strategy)
        for division, strategy in planned.asked
        if not planned.strategies.verdict(strategy, division).is_applicable
    }

    assert refused == planned.expected.refused | never_asked(planned.fleet)


def test_a_strategy_throws_for_the_topics_for_which_the_official_class_throws(planned: Planned) -> None:
    expected = planned.expected
    partly = expected.thrown.keys() & expected.allocated.keys()
    assert len(partly) > 50
    assert any(_is_retry(expected.thrown[key]) for key in partly)  # the retry topic alone is not allocated
    assert any(_is_retry(expected.allocated[key]) for key in partly)  # nothing but the retry topic is
    for division, strategy in planned.asked:
        key = (division.group.consumer_group, strategy)
        verdict = planned.strategies.verdict(strategy, division)
        assert division.queues.topic_names(verdict.throws_for) == (expected.thrown[key] if key in partly else set())
        assert (verdict.reason is None) == (key in expected.allocated and key not in partly)
        owners = planned.strategies.owners(strategy, division)
        if key in partly:
            named = NAMED_IN_REASON.findall(verdict.reason or "")
            assert {topic for names in named for topic in names.split(", ")} == expected.thrown[key]
            business = {topic for topic in expected.thrown[key] if not topic.startswith("%")}
            assert division.queues.topic_names(owners.unknown) == business
        elif key in expected.allocated:
            assert owners.unknown == frozenset()


def test_a_client_id_owns_once_the_business_queues_that_its_consumers_are_given(planned: Planned) -> None:
    given = dict[tuple[str, str], set[tuple[str, Queue]]]()
    for row in planned.expected.rows:
        if not row.topic.startswith("%"):
            queue = Queue(row.topic, row.broker_name, row.queue_id)
            given.setdefault((row.consumer_group, row.strategy), set()).add((row.client_id, queue))

    owned = 0
    for division, strategy in planned.asked:
        reported = given.get((division.group.consumer_group, strategy), set())
        assert _reported(planned.strategies, strategy, division) == reported
        found = _owned(planned.strategies, strategy, division)
        assert len(found) == len(set(found))
        assert set(found) == {pair for one in reported for pair in _each_queue(one, division)}
        owned += len(found)
    assert owned > 5_000


def _is_retry(topics: set[str]) -> bool:
    return all(topic.startswith("%RETRY%") for topic in topics)


def _named(rows: AllocationRows) -> Iterable[Row]:
    division = rows.division
    for client, queue in rows.named():
        yield Row(
            rows.strategy,
            division.group.consumer_group,
            queue.topic,
            queue.broker_name,
            queue.queue_id,
            division.members.client_ids[client],
        )


def _reported(strategies: Strategies, strategy: str, division: Division) -> set[tuple[str, Queue]]:
    ids = division.members.client_ids
    return {(ids[client], queue) for client, queue in strategies.reported(strategy, division)}


def _owned(strategies: Strategies, strategy: str, division: Division) -> list[tuple[str, Queue]]:
    ids, names = division.members.client_ids, division.queues.names
    owners = strategies.owners(strategy, division)
    pairs = zip(owners.client.tolist(), owners.queue.tolist(), strict=True)
    return [
        *((ids[client], names[queue]) for client, queue in pairs),
        *((ids[client], queue) for client, queue in owners.strangers),
    ]


def _each_queue(owned: tuple[str, Queue], division: Division) -> list[tuple[str, Queue]]:
    """A client id with a queue, or with each queue of the broker where it pops all of them."""
    client_id, popped = owned
    if popped.queue_id >= 0:
        return [owned]
    of_broker = (popped.topic, popped.broker_name)
    return [(client_id, queue) for queue in division.queues.names if (queue.topic, queue.broker_name) == of_broker]


def _first_of(rows: Counter[Row]) -> list[Row]:
    """Few enough to read, of one group."""
    return sorted(rows.elements(), key=lambda row: (row.consumer_group, row.strategy, row))[:20]
