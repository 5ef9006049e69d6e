"""Loads, metrics, idle clients, orphans and doubly owned queues of every strategy, by their definitions.

Random groups; what each strategy gives to whom is taken from the allocation, which has judges of its own.
"""

import random
from collections import Counter
from collections.abc import Mapping

import pytest

from rocketmq_capacity.snapshot.inventory import InventoryTopic
from rocketmq_capacity.vocabulary import java_order
from tests.assessment import definitions
from tests.assessment.cases import Part, Queue, a_topic, ids, member, members
from tests.assessment.judge import Judgement, Row
from tests.simulation.clusters import queues

PART = Part()
GROUPS = 30
_chance = random.Random(20_261_120)
_RATES: dict[Queue, float | None] = {}
_LAGS: dict[tuple[str, Queue], int | None] = {}
_COPIES: dict[str, Counter[str]] = {}
"""How many consumers of a group have an id."""


def _random_topic(name: str) -> InventoryTopic:
    layout = [queues("broker-a", _chance.randint(1, 6)), queues("broker-b", _chance.randint(0, 6))]
    unknown = _chance.random() < 0.1
    rates = {
        (q.broker_name, i): None if unknown and i == 0 else round(_chance.expovariate(1 / 20), 3)
        for q in layout
        for i in range(q.read_queue_nums or 0)
    }
    _RATES.update({(name, broker, i): rate for (broker, i), rate in rates.items()})
    return a_topic(name, *layout, rates=rates)


def _random_group(number: int) -> str:
    name = f"random_{number:02}"
    topics = [_random_topic(f"{name}_{i}") for i in range(_chance.randint(1, 3))]
    PART.topics.extend(topics)
    every = [(t.topic, q.broker_name, i) for t in topics for q in t.queues or () for i in range(q.read_queue_nums or 0)]
    lags = {queue: None if number % 9 == 0 else _chance.randint(0, 3_000) for queue in every}
    _LAGS.update({(name, queue): lag for queue, lag in lags.items()})
    clients = [f"10.0.0.{i}@{_chance.randint(1, 99)}" for i in range(1, _chance.randint(1, 9) + 1)]
    if number % 5 == 0:
        clients.append(clients[0])
    _COPIES[name] = Counter(clients)
    return PART.group(name, [member(client) for client in clients], *(t.topic for t in topics), lags=lags)


RANDOM = [_random_group(number) for number in range(GROUPS)]


def _owned(judged: Judgement, group: str, strategy: str) -> dict[str, set[Queue]]:
    """The queues of each client id; a popped broker's queues are spelled out."""
    own: dict[str, set[Queue]] = {client: set() for client in _COPIES[group]}
    for row in judged.allocation:
        if (row["consumer_group"], row["strategy"]) == (group, strategy):
            place = (row["topic"], row["broker_name"])
            some = (
                [q for q in _readable(group) if q[:2] == place] if row["queue_id"] < 0 else [(*place, row["queue_id"])]
            )
            own[row["client_id"]].update(some)
    return own


def _readable(group: str) -> list[Queue]:
    return [queue for of, queue in _LAGS if of == group]


def _sum(weights: Mapping[Queue, float | None], of: set[Queue]) -> float | None:
    known = [weights[queue] for queue in of]
    return None if None in known else sum(weight for weight in known if weight is not None)


def _loads(judged: Judgement, group: str) -> list[Row]:
    loads = [row for row in judged.strategy_loads if row["consumer_group"] == group and row["is_applicable"]]
    assert {"AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "POP"} == {row["strategy"] for row in loads}
    return loads


@pytest.mark.parametrize("group", RANDOM)
def test_the_load_of_a_client_is_the_weight_of_its_queues(judged: Judgement, group: str) -> None:
    lags = {queue: lag for (of, queue), lag in _LAGS.items() if of == group}
    for load in _loads(judged, group):
        own = _owned(judged, group, load["strategy"])
        rows = {
            row["client_id"]: (row["queues"], row["msgs_per_s"], row["lag"])
            for row in judged.client_loads
            if (row["consumer_group"], row["strategy"]) == (group, load["strategy"])
        }
        assert rows.keys() == own.keys()
        for client, mine in own.items():
            count, traffic, lag = rows[client]
            expected = _sum(_RATES, mine)
            assert count == len(mine)
            assert traffic == (None if expected is None else pytest.approx(expected))
            assert lag == _sum(lags, mine)


@pytest.mark.parametrize("group", RANDOM)
def test_metrics_are_as_defined(judged: Judgement, group: str) -> None:
    every = _readable(group)
    weights: dict[str, Mapping[Queue, float | None]] = {
        "traffic": {q: _RATES[q] for q in every},
        "lag": {q: _LAGS[group, q] for q in every},
    }
    for load in _loads(judged, group):
        own = _owned(judged, group, load["strategy"])
        is_shared = load["strategy"] == "POP"
        by_count = definitions.metrics(
            [len(mine) for mine in own.values()],
            None if is_shared else definitions.count_floor(len(every), len(own)),
        )
        assert load["count"] == (by_count and pytest.approx(by_count)), load["strategy"]
        for name, of in weights.items():
            known = [weight for weight in of.values() if weight is not None]
            expected = None
            if len(known) == len(every):
                vector = [_sum(of, mine) for mine in own.values()]
                floor = None if is_shared else definitions.weighted_floor(known, len(own))
                expected = definitions.metrics(vector, floor)
            assert load[name] == (expected and pytest.approx(expected)), (load["strategy"], name)


@pytest.mark.parametrize("group", RANDOM)
def test_idle_orphaned_and_doubly_owned_are_as_defined(judged: Judgement, group: str) -> None:
    for load in _loads(judged, group):
        own = _owned(judged, group, load["strategy"])
        readers: Counter[Queue] = Counter()
        for client, mine in own.items():
            readers.update(dict.fromkeys(mine, _COPIES[group][client]))
        twice = {queue for queue, consumers in readers.items() if consumers > 1}
        assert load["idle_clients"] == sorted((c for c, mine in own.items() if not mine), key=java_order)
        assert _queues(load["orphan_queues"]) == sorted(set(_readable(group)) - readers.keys())
        assert _queues(load["doubly_owned_queues"]) == ([] if load["strategy"] == "POP" else sorted(twice))


def _queues(rows: list[Row]) -> list[Queue]:
    return [(row["topic"], row["broker_name"], row["queue_id"]) for row in rows]


# What the definitions' own words give as examples.
PART.case("twelve_over_eight", members(12))
PART.case("three_on_eight", members(3))
PART.case("twins_on_eight", [member("twin"), member("twin"), member("zoe")])
PART.topic("ten", queues("broker-a", 10))
PART.topic("three", queues("broker-a", 3))
PART.group("largest_of_two", members(2), "ten", "three")
PART.group("reads_nothing_yet", members(2))
PART.case("five_over_four", members(4), queues("broker-a", 5))


def test_the_contracts_example_of_twelve_clients_on_eight_queues(judged: Judgement) -> None:
    found = judged.load("twelve_over_eight", "AVG")

    assert found["idle_clients"] == ids(12)[8:]
    figures = {name: round(found["count"][name], 4) for name in ("peak", "floor", "excess", "gini", "cv")}
    assert figures == {"peak": 1.5, "floor": 1.5, "excess": 1.0, "gini": 0.3333, "cv": 0.7071}


def test_the_floor_of_counts_is_a_matter_of_queues_and_clients_alone(judged: Judgement) -> None:
    # ceil(Q / n) / (Q / n), whoever owns the queues: of two ids one owns three and the other two (PEAK 1.2), because
    # three queues are lost.
    lost = judged.load("twins_on_eight", "AVG")["count"]
    assert (lost["peak"], lost["floor"], lost["excess"]) == pytest.approx((1.2, 1.0, 1.2))


def test_the_floor_of_equal_queues_is_that_of_counts_whatever_they_weigh(judged: Judgement) -> None:
    for group in ("three_on_eight", "twelve_over_eight", "twins_on_eight", "five_over_four"):
        for load in (judged.load(group, "AVG"), judged.load(group, "CONSISTENT_HASH")):
            floor, excess = load["count"]["floor"], load["count"]["excess"]
            assert [load[name]["floor"] for name in ("traffic", "lag")] == pytest.approx([floor] * 2)
            assert [load[name]["excess"] for name in ("traffic", "lag")] == pytest.approx([excess] * 2)


def test_five_equal_queues_over_four_clients_are_no_skew(judged: Judgement) -> None:
    found = judged.load("five_over_four", "AVG")

    for name in ("count", "traffic", "lag"):
        assert (found[name]["peak"], found[name]["floor"], found[name]["excess"]) == pytest.approx((1.6, 1.6, 1.0))
    assert judged.rules("five_over_four") == set()


def test_popped_queues_are_shared_so_that_nothing_is_in_excess(judged: Judgement) -> None:
    for group in ("three_on_eight", "twelve_over_eight", *RANDOM):
        for load in (judged.load(group, "POP")[name] for name in ("count", "traffic", "lag")):
            assert load is None or load.keys() == {"peak", "gini", "cv", "max", "min", "mean"}


def test_clients_beyond_the_largest_topic_are_of_no_use(judged: Judgement) -> None:
    assert judged.group("twelve_over_eight")["max_useful_clients"] == 8
    assert judged.group("largest_of_two")["max_useful_clients"] == 10
    assert judged.group("reads_nothing_yet")["max_useful_clients"] == 0


def test_a_finding_about_a_group_counts_its_consumers_and_its_ids(judged: Judgement) -> None:
    for group in RANDOM:
        found = judged.group(group)
        assert found["connections"] == _COPIES[group].total()
        assert found["distinct_client_ids"] == len(_COPIES[group])
