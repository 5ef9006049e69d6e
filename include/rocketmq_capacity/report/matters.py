"""Which differences of figures matter: the one rule for a what-if and for two plans compared.

A change matters if it crosses a bound or brings or takes a finding, which others say; or if a figure changes by a tenth
of what it was and by an absolute floor as well. A change from or to an unknown figure matters.
"""

from collections.abc import Mapping
from typing import Any, Final

from rocketmq_capacity.report.figures import PER_CENT, unit_of

LEAST_RATIO: Final = 0.1
"""Of what the figure was."""
BUSY_FLOOR: Final = 0.05
"""Of a client's time: five points."""
PEAK_FLOOR: Final = 0.1
"""Of PEAK, the busiest client's load over the average."""
NUMBER_FLOOR: Final = 1.0
"""Of what is counted: clients, queues."""
LOAD_FLOORS: Final[Mapping[str, float]] = {
    "idle": NUMBER_FLOOR,
    "orphans": NUMBER_FLOOR,
    "count_peak": PEAK_FLOOR,
    "traffic_peak": PEAK_FLOOR,
}
"""Of what a strategy means for a group."""
DIGITS: Final = 9
"""Decimals of a difference; further ones are errors of floating point."""


def matters(before: float | None, after: float | None, floor: float) -> bool:
    """Whether the change of a figure is worth a line, apart from bounds and findings."""
    if before is None or after is None:
        return before is not after
    step = round(abs(after - before), DIGITS)
    return step >= floor and step >= round(abs(before) * LEAST_RATIO, DIGITS)


def busy_share_matters(before: float | None, after: float | None, bound: float) -> bool:
    """Whether the change of a busy share matters: it crosses the bound, or is large enough."""
    if before is not None and after is not None and (before > bound) != (after > bound):
        return True
    return matters(before, after, BUSY_FLOOR)


def load_matters(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> bool:
    """Whether what a strategy means for a group changes by so much that it matters; both have the same figures."""
    return any(matters(value, after[name], LOAD_FLOORS[name]) for name, value in before.items())


def move_matters(queues: int | None, ratio: float | None) -> bool:
    """Whether so many of a group's queues get another owner that it matters; None: moves are not defined."""
    return bool(queues) and ratio is not None and ratio >= LEAST_RATIO


def figures_matter(before: Any, after: Any, rule: str, name: str = "") -> bool:
    """Whether figures as JSON differ by so much that it matters: in a number, or in anything that is no number.

    Args:
        before: the figures.
        after: the same later.
        rule: whose evidence they are; empty: no rule's.
        name: that of the figure, which says its unit.
    """
    if before == after:
        return False
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        parts = before.keys() | after.keys()
        return any(figures_matter(before.get(part), after.get(part), rule, part) for part in parts)
    if isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        return any(figures_matter(*pair, rule, name) for pair in zip(before, after, strict=True))
    if _is_number(before) and _is_number(after):
        return matters(before, after, _floor(name, rule))
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _floor(name: str, rule: str) -> float:
    unit = unit_of(name, rule)
    if unit == PER_CENT:
        return BUSY_FLOOR
    # What has no unit compares loads with one another, as PEAK does.
    return NUMBER_FLOOR if unit else PEAK_FLOOR
