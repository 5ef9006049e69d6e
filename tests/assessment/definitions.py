"""The metrics as planning defines them, in plain Python over exact fractions: the judge of what numpy computes."""

import math
from collections.abc import Sequence
from fractions import Fraction

Metrics = dict[str, float]


def metrics(x: Sequence[float | None], least_max: Fraction, even: Fraction | None = None) -> Metrics | None:
    """PEAK, FLOOR, EXCESS, GINI and CV of a vector; None under two clients, without load, or with an unknown part.

    ``least_max`` is the load that the busiest client must at least have, ``even`` an even share (None: the mean).
    """
    if len(x) < 2 or any(one is None for one in x):
        return None
    exact = sorted(Fraction(one) for one in x if one is not None)
    n, total = len(exact), sum(exact, Fraction(0))
    if total == 0:
        return None
    mean = total / n
    gini = sum((2 * i - n - 1) * one for i, one in enumerate(exact, start=1)) / (n * total)
    variance = sum(((one - mean) ** 2 for one in exact), Fraction(0)) / n
    return {
        "peak": float(exact[-1] / mean),
        "floor": float(least_max / (even or mean)),
        "excess": float(exact[-1] / mean / (least_max / (even or mean))),
        "gini": float(gini),
        "cv": math.sqrt(variance) / float(mean),
        "max": float(exact[-1]),
        "min": float(exact[0]),
        "mean": float(mean),
    }


def least_max_count(queues: int, clients: int) -> Fraction:
    """Whole queues: the busiest client has at least the ceiling of an even share."""
    return Fraction(math.ceil(Fraction(queues, clients)))


def least_max_weighted(weights: Sequence[float], clients: int) -> Fraction:
    """The heaviest queue is somebody's, and so is at least an even share."""
    exact = [Fraction(weight) for weight in weights]
    return max(*exact, sum(exact, Fraction(0)) / clients) if exact else Fraction(0)
