"""The units of an inventory against the same units gathered from its tables."""

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import asdict, replace

from rocketmq_capacity import tables
from rocketmq_capacity.model.facts import Facts
from rocketmq_capacity.settings.policy import Policy, read_policy
from rocketmq_capacity.snapshot.inventory import (
    FORMAT,
    Inventory,
    InventoryConsumeStatus,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryOwnedQueue,
    Sample,
)
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, read_inventory
from rocketmq_capacity.snapshot.resolved import Resolved
from rocketmq_capacity.snapshot.units import UNITS_A_TABLE, UnitMaker
from tests.allocation.fleets import random_fleet
from tests.fixtures.generated import generated, policy_for_generated
from tests.fixtures.units import units_of
from tests.simulation.clusters import client, group, queues, reads, topic
from tests.simulation.clusters import cluster as small_cluster
from tests.snapshot.gathered import gathered

SAMPLE: Final = Path(__file__).parents[2] / "include/sample/inventory.json"


def is_gathered(inventory: Inventory, policy: Policy, history: tuple[Inventory, ...] = ()) -> bool:
    """Assert that each unit has what the tables have; whether there are groups and topics at all."""
    found = units_of(inventory, policy, history)
    groups, topics = gathered(inventory, policy, history)
    # The tables have no rates of earlier moments; tests/snapshot/test_past_rates.py judges them. What grew since then
    # is judged by tests/assessment/test_dead_letters.py.
    now = [replace(one, past=None, dead_letters=None) for one in found.business_groups]
    for ours, theirs in ((now, groups), (found.topics, topics)):
        assert len(ours) == len(theirs)
        for our, their in zip(ordered(ours), ordered(theirs), strict=True):
            # No table has for how long something is unused.
            assert our | {"unused_days": None} == their
    return bool(groups and topics)


def plain(value: Any) -> Any:
    """Facts as dicts, the lists of them in an order that both sides have."""
    if isinstance(value, Facts):
        return {name: plain(part) for name, part in asdict(value).items()}
    if isinstance(value, tuple) and value and isinstance(value[0], Facts):
        return ordered(value)
    return value


def ordered(parts: Iterable[Facts]) -> list[Any]:
    return sorted(map(plain, parts), key=repr)


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    file = tmp_path / "policy.yaml"
    file.write_text(policy_for_generated(), encoding="utf-8")
    return read_policy(file)


def cluster(seed: int, taken_at: str = "2026-11-20T02:00:00Z", *, complete: bool = True) -> Inventory:
    drawn = {**generated(40, seed, complete=complete), "taken_at": taken_at}
    return parse_inventory(msgspec.json.encode(drawn), source="generated")


def test_the_units_of_the_sample_are_those_of_its_tables() -> None:
    assert is_gathered(read_inventory(SAMPLE), Policy())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_units_of_a_cluster_of_chance_are_those_of_its_tables(seed: int, policy: Policy) -> None:
    inventory = cluster(seed, complete=seed > 1)

    assert is_gathered(inventory, policy)
    kinds = {unit.facts.kind for unit in units_of(inventory, policy).topics}
    assert {"BUSINESS", "RETRY", "SYSTEM", "EXCLUDED"} <= kinds


@pytest.mark.parametrize(("groups", "seed"), [(40, 1), (40, 2), pytest.param(300, 22, marks=pytest.mark.slow)])
def test_a_cluster_of_chance_is_known_well_enough_to_be_judged_or_clearly_not(groups: int, seed: int) -> None:
    for is_complete in (True, False):
        drawn = msgspec.json.encode({**generated(groups, seed, complete=is_complete), "consumer_groups": []})
        ratio = units_of(parse_inventory(drawn, source="generated")).cluster.cluster.completeness_ratio
        assert (ratio >= Policy().thresholds.PROVISION.min_completeness) is is_complete


def test_the_units_of_a_fleet_with_odd_names_are_those_of_its_tables() -> None:
    fleet = random_fleet(5, 60)

    assert is_gathered(fleet.inventory, fleet.policy)


@pytest.mark.parametrize(
    ("told_ms", "expected"), [(0.0, 0.0), (1e-9, 1e-9), (5e-324, None), (2.0**31, 2.0**31), (1e18, None), (None, None)]
)
def test_a_call_as_short_or_long_as_no_client_measures_is_unknown(
    told_ms: float | None, expected: float | None
) -> None:
    member = client("c1", status=(InventoryConsumeStatus(topic="pay", consume_rt_ms=told_ms),))
    units = units_of(small_cluster([topic("pay", queues("broker-a"))], [group("g_pay", [member])]), Policy())

    assert [one.consume_rt_ms for one in units.business_groups[0].consumed] == [expected]


def test_a_unit_has_only_its_groups_business_and_also_queues_beyond_those_that_are_read() -> None:
    names = ("pay", "%RETRY%g_pay", "bench_load")
    member = client(
        "c1",
        subscriptions=tuple(map(reads, names)),
        owned_queues=tuple(InventoryOwnedQueue(topic=name, broker_name="broker-a", queue_id=0) for name in names),
        status=tuple(
            InventoryConsumeStatus(topic=name, consume_rt_ms=ms)
            for name, ms in [*dict.fromkeys(names, 5.0).items(), ("pay", 0.0)]
        ),
    )
    offsets = tuple(
        InventoryGroupOffset(topic=name, broker_name="broker-a", queue_id=queue_id, broker_offset=9, consumer_offset=4)
        for name in ("pay", "ship")
        for queue_id in range(4)
    )
    inventory = small_cluster(
        [topic("pay", queues("broker-a", read=2, write=4)), topic("ship", queues("broker-a", read=4, write=2))]
        + [topic(name, queues("broker-a", 1)) for name in names[1:]],
        [
            group("g_pay", [member], offsets=offsets),
            group("CID_RMQ_SYS_TRANS", [member]),
            group("bench_group", [member], offsets=None),
        ],
    )
    policy = Policy.model_validate({"exclude": {"topics": ["^bench_"], "consumer_groups": ["^bench_"]}})

    assert is_gathered(inventory, policy)
    units = units_of(inventory, policy)
    (found,) = units.business_groups
    assert {reads.topic.topic for reads in found.reads} == set(names)
    assert [own.topic for own in found.owned] == ["pay"]
    assert [(one.topic, one.consume_rt_ms) for one in found.consumed] == [("pay", 5.0), ("pay", 0.0)]
    assert [own.kind for own in found.subscriptions] == ["BUSINESS", "RETRY", "EXCLUDED"]
    assert [(one.consumer_group, one.queue_id) for one in units.topic("pay").stranded] == [("g_pay", 2), ("g_pay", 3)]
    assert sorted(zip(found.sampled.topics, found.sampled.queue_ids, strict=True)) == [
        ("pay", 0),
        ("pay", 1),
        *(("ship", queue_id) for queue_id in range(4)),
    ]
    assert units.topic("ship").stranded == ()
    readers = {(one.consumer_group, one.is_subscribed) for one in units.topic("ship").readers}
    assert readers == {("g_pay", False)}
    assert {one.kind for one in units.topic("pay").readers} == {"BUSINESS", "SYSTEM", "EXCLUDED"}
    has_offsets = {one.consumer_group: one.has_offsets for one in units.topic("pay").readers}
    assert has_offsets == {"g_pay": True, "CID_RMQ_SYS_TRANS": True, "bench_group": False}


def test_units_with_a_history_are_those_of_the_tables_with_it(policy: Policy) -> None:
    yesterday = cluster(1, "2026-11-19T02:00:00Z")
    a_moment_ago = cluster(2, "2026-11-20T01:59:55Z")  # a moment of which the inventory has a sample, too
    inventory = cluster(1)

    assert is_gathered(inventory, policy, (yesterday, a_moment_ago))
    moments = []
    for history in ((), (yesterday, a_moment_ago)):
        groups = units_of(inventory, policy, history).business_groups
        moments.append(sum(sum(facts.sampled.counts) for facts in groups))
    assert moments[0] < moments[1]


def test_an_empty_cluster_has_no_units_and_a_large_one_several_tables_of_them() -> None:
    empty = Inventory(
        format=FORMAT, cluster_name="C1", taken_at="2026-11-20T02:00:00Z", brokers=(), topics=(), consumer_groups=()
    )
    groups = tuple(InventoryGroup(consumer_group=f"g{number}") for number in range(UNITS_A_TABLE + 1))
    large = replace(empty, consumer_groups=groups)

    assert list(UnitMaker(Resolved(empty, Policy())).group_tables()) == []
    assert [(dataset, table.num_rows) for dataset, table in UnitMaker(Resolved(large, Policy())).group_tables()] == [
        (tables.GroupUnit, UNITS_A_TABLE),
        (tables.GroupUnit, 1),
    ]


@pytest.mark.parametrize("seconds", [[57, 58, 59], [59, 57, 58], [58, 58, 57], [57, 60, 59]])
def test_samples_are_by_time_and_the_later_counts_of_one_moment(seconds: list[int]) -> None:
    samples = tuple(
        Sample(at="2026-11-20T02:00:00Z" if at == 60 else f"2026-11-20T01:59:{at}Z", consumer_offset=number)
        for number, at in enumerate(seconds)
    )
    offset = InventoryGroupOffset(topic="pay", broker_name="broker-a", queue_id=0, consumer_offset=9, samples=samples)
    inventory = small_cluster([topic("pay", queues("broker-a"))], [group("g_pay", [client("a")], offsets=(offset,))])

    assert is_gathered(inventory, Policy())
    told = units_of(inventory, Policy()).business_groups[0].sampled
    by_time = {**dict(zip(seconds, range(3), strict=True)), 60: 9}
    assert told.counts == (len(by_time),)
    assert struct.unpack(f"<{len(by_time)}q", told.consumer_offset) == tuple(by_time[at] for at in sorted(by_time))
