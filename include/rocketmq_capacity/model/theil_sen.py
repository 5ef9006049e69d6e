"""A robust trend of a figure over days: the median of the slopes between each two days (Theil, Sen).

With a season, such as a week, only days of the same weekday are compared (Hirsch, Slack, Smith), and each weekday has a
level of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.model.trend import Trend

WEEK: Final = 7
LEAST_DAYS: Final = 7
"""With fewer daily points there is no trend: each day of the week once."""
LEAST_SEASONS: Final = 3
"""With fewer days of a season there is no trend: the last ones are foretold from two before them."""
NO_SEASON: Final = 1
Z: Final = 1.959964
"""Of the normal distribution: 95 % of it are within so many deviations."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """A line for each day of the season: its level on day 0, NaN if it was never seen; all have one slope."""

    slope: float
    lower: float
    upper: float
    levels: Numbers

    def at(self, days: Numbers) -> Numbers:
        levels = np.where(np.isnan(self.levels), np.nanmedian(self.levels), self.levels)
        return levels[_of_season(days, len(levels))] + self.slope * days


def trend_of(days: Sequence[float], values: Sequence[float], season: int = NO_SEASON) -> Trend | None:
    """The trend of daily points; None if they are too few, or if it does not foretell the last days better.

    The last days, at most a week, are foretold from those before, and compared with the naive forecast: what was a week
    earlier, or else the last value known then.

    Args:
        days: of each point, ascending; 0 is today.
        values: the figure on each day.
        season: after so many days the same figure is expected again; 1 without a season. The figure of today is then
            the one of the day of the season that has most.

    Sources: Sen (1968), Estimates of the regression coefficient based on Kendall's tau; Hirsch, Slack and Smith (1982),
    Techniques of trend analysis for monthly water quality data. The interval is by the variance of tau.
    """
    if len(values) < max(LEAST_DAYS, 0 if season == NO_SEASON else LEAST_SEASONS * season):
        return None
    x, y = np.asarray(days, np.float64), np.asarray(values, np.float64)
    held_out = min(WEEK, len(y) // 3)
    foretold = _fitted(x[:-held_out], y[:-held_out], season).at(x[-held_out:])
    if np.abs(foretold - y[-held_out:]).mean() >= np.abs(_naive(x, y, held_out) - y[-held_out:]).mean():
        return None
    whole = _fitted(x, y, season)
    return Trend(float(np.nanmax(whole.levels)), whole.slope, whole.lower, whole.upper, len(y))


def _fitted(x: Numbers, y: Numbers, season: int) -> _Fit:
    of_season = _of_season(x, season)
    first, second = np.triu_indices(len(x), 1)
    is_same = of_season[first] == of_season[second]
    first, second = first[is_same], second[is_same]
    slopes = np.sort((y[second] - y[first]) / (x[second] - x[first]))
    points = np.bincount(of_season, minlength=season)
    within = Z * sqrt(float((points * (points - 1) * (2 * points + 5)).sum()) / 18)
    low = max(round((len(slopes) - within) / 2), 0)
    high = min(round((len(slopes) + within) / 2), len(slopes) - 1)
    slope = float(np.median(slopes))
    rest = y - slope * x
    levels = [float(np.median(rest[of_season == day])) if points[day] else np.nan for day in range(season)]
    return _Fit(slope, float(slopes[low]), float(slopes[high]), np.array(levels, np.float64))


def _of_season(days: Numbers, season: int) -> Integers:
    return np.floor(days).astype(np.int64) % season


def _naive(x: Numbers, y: Numbers, held_out: int) -> Numbers:
    known = dict(zip(x[:-held_out].tolist(), y[:-held_out].tolist(), strict=True))
    last = y[-held_out - 1]
    return np.array([known.get(day - WEEK, last) for day in x[-held_out:].tolist()])
