"""The metrics as planning defines them, in plain Python over exact fractions: the judge of what numpy computes."""

import math
from collections.abc import Sequence
from fractions import Fraction

Metrics = dict[str, float]


def metrics(x: Sequence[float | None], floor: Fraction | None) -> Metrics | None:
    """PEAK, FLOOR, EXCESS, GINI and CV of a vector; None under two clients, without load, or with an unknown part.

    Without ``floor`` there is no EXCESS either.
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
    peak = exact[-1] / mean
    return {
        "peak": float(peak),
        **({} if floor is None else {"floor": float(floor), "excess": max(float(peak / floor), 1.0)}),
        "gini": float(gini),
        "cv": math.sqrt(variance) / float(mean),
        "max": float(exact[-1]),
        "min": float(exact[0]),
        "mean": float(mean),
    }


def count_floor(queues: int, clients: int) -> Fraction:
    """Whole queues: the busiest client has at least the ceiling of an even share."""
    share = Fraction(queues, clients)
    return math.ceil(share) / share


def weighted_floor(weights: Sequence[float], clients: int) -> Fraction:
    """An even share is somebody's; and of any k * clients + 1 queues, k + 1 are."""
    none = Fraction(0)
    heaviest = sorted(map(Fraction, weights), reverse=True)
    share = sum(heaviest, none) / clients
    together = [sum(heaviest[: k * clients + 1][-k - 1 :], none) for k in range(math.ceil(len(heaviest) / clients))]
    return max(share, *together) / share if share else Fraction(1)
