"""Which alternative is drawn next to today's strategy, and which clients get a bar."""

import pytest

from rocketmq_capacity.plan_file.group import PlanSkew, StrategyPlan
from rocketmq_capacity.report import loads
from rocketmq_capacity.report.limits import BARS_BUSIEST, BARS_IDLEST
from rocketmq_capacity.report.loads import COUNT, LAG, TRAFFIC, best_alternative, measure_of
from rocketmq_capacity.tables import ClientLoad
from rocketmq_capacity.tables.dataset import Queue
from tests.report.row_builders import a_load

QUEUE = Queue("pay", "broker-a", 0)


def strategy(name, peak, *, orphans=0, doubly=0, idle=0, applicable=True, metric="count"):
    skew = None if peak is None else PlanSkew(peak=peak, floor=None, excess=None, gini=None, cv=None)
    return StrategyPlan(
        strategy=name,
        applicable=applicable,
        reason=None,
        idle_clients=("c",) * idle,
        orphan_queues=(QUEUE,) * orphans,
        doubly_owned_queues=(QUEUE,) * doubly,
        count=skew if metric == "count" else None,
        traffic=skew if metric == "traffic" else None,
        lag=skew if metric == "lag" else None,
    )


def loads_of(rows, *args):
    return loads.loads_of([ClientLoad(**row) for row in rows], *args)


@pytest.mark.parametrize(
    ("others", "best"),
    [
        ([strategy("B", 1.2), strategy("C", 1.1)], "C"),
        ([strategy("C", 1.1), strategy("B", 1.1)], "B"),
        ([strategy("B", 1.1, idle=1), strategy("C", 1.1)], "C"),
        ([strategy("B", 1.0, orphans=1), strategy("C", 1.5)], "C"),
        ([strategy("B", 1.0, applicable=False), strategy("C", 1.5)], "C"),
        ([strategy("B", None), strategy("C", 1.5)], "C"),
        ([strategy("B", 1.901)], None),
        ([strategy("B", 1.9)], "B"),
        ([strategy("B", 1.0, doubly=1)], None),
        ([strategy("POP", 1.0)], None),
        ([], None),
    ],
)
def test_the_best_alternative_is_safe_first_even_next_and_worth_the_change(others, best):
    now = strategy("A", 2.0)

    found = best_alternative([now, *others], now, COUNT)

    assert (found and found.strategy) == best


def test_a_safer_strategy_is_an_alternative_even_where_it_is_no_more_even():
    now = strategy("A", 1.0, orphans=2)

    found = best_alternative([now, strategy("B", 1.5)], now, COUNT)

    assert found is not None
    assert found.strategy == "B"


@pytest.mark.parametrize("now", [None, strategy("B", 2.0, applicable=False), strategy("POP", 2.0)])
def test_there_is_no_alternative_to_a_strategy_that_is_not_known_cannot_run_or_pops(now):
    assert best_alternative([strategy("A", 1.0), *([now] if now else [])], now, COUNT) is None


@pytest.mark.parametrize(
    ("rules", "metric", "measure"),
    [
        (["IDLE_CONSUMERS"], "count", COUNT),
        (["TRAFFIC_SKEW"], "traffic", TRAFFIC),
        (["ALLOCATION_SKEW", "LAG_SKEW"], "lag", LAG),
        (["TRAFFIC_SKEW"], "count", COUNT),
    ],
)
def test_a_group_is_drawn_by_the_load_that_its_findings_are_about(rules, metric, measure):
    assert measure_of(rules, strategy("A", 2.0, metric=metric)) is measure


def test_every_client_of_a_small_group_has_a_bar_with_the_busiest_first_and_equals_in_javas_order():
    clients = ["10.0.0.2@1", "10.0.0.10@1", "c@1"]
    rows = [a_load("g", "A", client, queues) for client, queues in zip(clients, (1, 1, 5), strict=True)]

    loads = loads_of(rows, COUNT, "A", None)

    assert loads
    assert [bar.name for bar in loads.bars] == ["c@1", "10.0.0.10@1", "10.0.0.2@1"]
    assert loads.average == 7 / 3


def test_the_clients_between_the_busiest_and_the_least_busy_are_one_average():
    rows = [a_load("g", name, f"c{n:03}", queues) for n in range(100) for name, queues in (("A", n), ("B", 50))]

    loads = loads_of(rows, COUNT, "A", "B")

    assert loads
    rest = loads.bars[BARS_BUSIEST]
    between = range(BARS_IDLEST, 100 - BARS_BUSIEST)
    assert len(loads.bars) == BARS_BUSIEST + 1 + BARS_IDLEST
    assert (loads.bars[0].name, loads.bars[-1].name) == ("c099", "c000")
    assert (rest.name, rest.is_rest) == (f"{len(between)} more, average", True)
    assert (rest.current, rest.alternative) == (sum(between) / len(between), 50)


@pytest.mark.parametrize("values", [[1.0], [0.0, 0.0], [1.0, None]])
def test_a_load_of_one_client_of_nothing_or_not_known_is_not_drawn(values):
    rows = [a_load("g", "A", f"c{n}", 1, msgs_per_s=value) for n, value in enumerate(values)]

    assert loads_of(rows, TRAFFIC, "A", None) is None
