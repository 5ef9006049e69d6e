"""A robust trend of a figure over days: the median of the slopes between each two days (Theil, Sen)."""

from collections.abc import Sequence
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from rocketmq_capacity.model.trend import Trend

LEAST_DAYS: Final = 7
"""With fewer daily points there is no trend: each day of the week once."""
WEEK: Final = 7
Z: Final = 1.959964
"""Of the normal distribution: 95 % of it are within so many deviations."""
Numbers = npt.NDArray[np.float64]


def trend_of(days: Sequence[float], values: Sequence[float]) -> Trend | None:
    """The trend of daily points; None if they are too few, or if it does not foretell the last days better.

    The last days, at most a week, are foretold from those before, and compared with the naive forecast: what was a week
    earlier, or else the last value known then.

    Args:
        days: of each point, ascending.
        values: the figure on each day.

    Source: Sen (1968), Estimates of the regression coefficient based on Kendall's tau; the interval is by its variance.
    """
    if len(values) < LEAST_DAYS:
        return None
    x, y = np.asarray(days, np.float64), np.asarray(values, np.float64)
    held_out = min(WEEK, len(y) // 3)
    earlier = _fitted(x[:-held_out], y[:-held_out])
    foretold = earlier.now + earlier.per_day * (x[-held_out:] - x[-held_out - 1])
    if np.abs(foretold - y[-held_out:]).mean() >= np.abs(_naive(x, y, held_out) - y[-held_out:]).mean():
        return None
    return _fitted(x, y)


def _fitted(x: Numbers, y: Numbers) -> Trend:
    first, second = np.triu_indices(len(x), 1)
    slopes = np.sort((y[second] - y[first]) / (x[second] - x[first]))
    points = len(x)
    within = Z * sqrt(points * (points - 1) * (2 * points + 5) / 18)
    low = max(round((len(slopes) - within) / 2), 0)
    high = min(round((len(slopes) + within) / 2), len(slopes) - 1)
    slope = float(np.median(slopes))
    now = float(np.median(y - slope * x)) + slope * float(x[-1])
    return Trend(now, slope, float(slopes[low]), float(slopes[high]), points)


def _naive(x: Numbers, y: Numbers, held_out: int) -> Numbers:
    known = dict(zip(x[:-held_out].tolist(), y[:-held_out].tolist(), strict=True))
    last = y[-held_out - 1]
    return np.array([known.get(day - WEEK, last) for day in x[-held_out:].tolist()])
