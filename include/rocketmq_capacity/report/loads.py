"""The load of a group's clients under the strategy in use and under the best other one: what a chart draws."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rocketmq_capacity.plan_file.group import PlanSkew, StrategyPlan
from rocketmq_capacity.report.limits import BARS_BUSIEST, BARS_IDLEST
from rocketmq_capacity.tables.assess.clients import ClientLoad
from rocketmq_capacity.vocabulary import POP, java_order

WORTHWHILE: Final = 0.95
"""An alternative must bring the PEAK to at most this share of today's: less is not worth a change of strategy."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is counted: the plan's metric, the column of client_load, words for it and its unit."""

    metric: Literal["count", "traffic", "lag"]
    column: Literal["queues", "msgs_per_s", "lag"]
    title: str
    unit: str
    step: float
    """The least distance between two marks of an axis: there is no half queue."""

    def of(self, strategy: StrategyPlan) -> PlanSkew | None:
        """How unevenly this is spread over the group's clients under the strategy."""
        skew: PlanSkew | None = getattr(strategy, self.metric)
        return skew

    def on(self, client: ClientLoad) -> float | None:
        """How much of this the client has."""
        load: float | None = getattr(client, self.column)
        return load


COUNT: Final = Measure("count", "queues", "Queues", "queues", 1)
TRAFFIC: Final = Measure("traffic", "msgs_per_s", "Messages per second", "messages/s", 0)
LAG: Final = Measure("lag", "lag", "Lag", "messages", 1)
MEASURES: Final = (COUNT, TRAFFIC, LAG)

MEASURE_OF_RULE: Final[dict[str, Measure]] = {"LAG_SKEW": LAG, "TRAFFIC_SKEW": TRAFFIC, "HOT_QUEUE": TRAFFIC}
"""A group flagged by one of these is drawn by its measure; any other by queues."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One client, or the average of the clients that are not drawn; None where the load is not known."""

    name: str
    current: float | None
    alternative: float | None
    is_rest: bool = False


@dataclass(frozen=True, slots=True)
class Loads:
    """What one chart says."""

    measure: Measure
    current: str
    alternative: str | None
    average: float
    bars: tuple[Bar, ...]
    clients: int


def measured_by(rule: str) -> Measure:
    """What a rule measures."""
    return next((measure for name, measure in MEASURE_OF_RULE.items() if name == rule), COUNT)


def measure_of(rules: Collection[str], strategy: StrategyPlan) -> Measure:
    """What to draw for a group with findings of these rules; queues where the strategy's other metrics are unknown."""
    wished = next((measured_by(rule) for rule in MEASURE_OF_RULE if rule in rules), COUNT)
    return wished if wished.of(strategy) is not None else COUNT


def best_alternative(
    strategies: Sequence[StrategyPlan], now: StrategyPlan | None, measure: Measure
) -> StrategyPlan | None:
    """The strategy that leaves the fewest queues orphaned or doubly owned, then the most even one.

    None where none is better than the one in use: at least as safe, and its PEAK at most ``WORTHWHILE`` of today's.
    One that throws for a topic is no alternative. POP divides nothing: its clients share queues, so that it is compared
    with no other.
    """
    if now is None or not now.is_known or now.strategy == POP:
        return None
    whole = [one for one in strategies if one.applicable and not one.is_partial]
    others = [one for one in whole if one.strategy not in (now.strategy, POP) and measure.of(one) is not None]

    def key(strategy: StrategyPlan) -> tuple[int, int, float, int, str]:
        return *_harm(strategy), _peak(strategy, measure), len(strategy.idle_clients), strategy.strategy

    best = min(others, key=key, default=None)
    if best is None or _harm(best) > _harm(now):
        return None
    is_safer = _harm(best) < _harm(now)
    return best if is_safer or _peak(best, measure) <= WORTHWHILE * _peak(now, measure) else None


def is_less_even(best: StrategyPlan, now: StrategyPlan | None, measure: Measure) -> bool:
    """Whether the best alternative is only safer than the strategy in use."""
    return now is not None and _peak(best, measure) > _peak(now, measure)


def loads_of(rows: Sequence[ClientLoad], measure: Measure, current: str, alternative: str | None) -> Loads | None:
    """The busiest and the least busy clients under the current strategy, those between as one average.

    ``rows`` are the group's rows of client_load; None where the load of fewer than two clients is known.
    """
    now = _by_client(rows, measure, current)
    then = _by_client(rows, measure, alternative) if alternative else {}
    known = [value for value in now.values() if value is not None]
    if len(known) != len(now) or len(known) < 2 or sum(known) <= 0:
        return None
    names = sorted(now, key=lambda name: (-(now[name] or 0), java_order(name)))
    drawn = len(names) if len(names) <= BARS_BUSIEST + BARS_IDLEST + 1 else BARS_BUSIEST
    busiest, rest = names[:drawn], names[drawn:-BARS_IDLEST]
    idlest = names[drawn:][-BARS_IDLEST:]
    bars = [Bar(name, now[name], then.get(name)) for name in busiest]
    if rest:
        bars.append(_rest(rest, now, then))
    bars += [Bar(name, now[name], then.get(name)) for name in idlest]
    return Loads(measure, current, alternative, sum(known) / len(known), tuple(bars), len(names))


def _rest(names: Sequence[str], now: Mapping[str, float | None], then: Mapping[str, float | None]) -> Bar:
    def mean(values: Mapping[str, float | None]) -> float | None:
        known = [value for name in names if (value := values.get(name)) is not None]
        return sum(known) / len(known) if len(known) == len(names) else None

    return Bar(f"{len(names):,} more, average", mean(now), mean(then), is_rest=True)


def _by_client(rows: Sequence[ClientLoad], measure: Measure, strategy: str) -> dict[str, float | None]:
    return {row.client_id: measure.on(row) for row in rows if row.strategy == strategy}


def _harm(strategy: StrategyPlan) -> tuple[int, int]:
    return len(strategy.orphan_queues), len(strategy.doubly_owned_queues)


def _peak(strategy: StrategyPlan, measure: Measure) -> float:
    skew = measure.of(strategy)
    return math.inf if skew is None or skew.peak is None else skew.peak
