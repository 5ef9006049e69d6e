"""Which differences of figures matter: the one rule for a what-if and for two plans compared.

A change matters if it crosses a bound or brings or takes a finding, which others say; or if a figure changes by a tenth
of what it was and by an absolute floor as well. A change from or to an unknown figure matters.
"""

from typing import Final

LEAST_RATIO: Final = 0.1
"""Of what the figure was."""
BUSY_FLOOR: Final = 0.05
"""Of a client's time: five points."""
PEAK_FLOOR: Final = 0.1
"""Of PEAK, the busiest client's load over the average."""
NUMBER_FLOOR: Final = 1.0
"""Of what is counted: clients, queues."""
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
