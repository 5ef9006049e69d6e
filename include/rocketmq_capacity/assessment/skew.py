"""How unevenly a load lies on the clients of a group.

For x_1..x_n with mean m: PEAK = max/m, FLOOR = the least PEAK that whole queues allow, EXCESS = PEAK/FLOOR,
GINI = sum_i (2i-n-1) x_(i) / (n sum x) over ascending x, CV = population standard deviation / m.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from rocketmq_capacity.contracts.dataset import Metrics

Numbers = npt.NDArray[np.float64]
"""NaN is unknown."""

_NAMES: Final = ("peak", "floor", "excess", "gini", "cv", "max", "min", "mean")


def metrics(x: Numbers, least_max: Numbers, even: Numbers) -> list[Metrics | None]:
    """The contract's METRICS of several loads; None under two clients, without load, or where a part is unknown.

    Shape: a row a load, a column a client; the others one entry a load -> one a load.

    Args:
        x: the load of each client.
        least_max: the load that the busiest client must at least have.
        even: what FLOOR divides ``least_max`` by; NaN: the mean of x.
    """
    n = x.shape[1]
    if n < 2:
        return [None] * len(x)
    total = x.sum(axis=1)
    is_defined = (total > 0) & (least_max > 0)  # what is not a number is not above 0 either
    total = np.where(is_defined, total, np.nan)
    mean, most = total / n, x.max(axis=1)
    peak, floor = most / mean, least_max / np.where(np.isnan(even), mean, even)
    ranked = np.sort(x, axis=1) @ np.arange(1.0, n + 1)
    deviation = np.sqrt(np.square(x - mean[:, None]).sum(axis=1) / n)
    gini = (2 * ranked - (n + 1) * total) / (n * total)
    figures = np.stack([peak, floor, peak / floor, gini, deviation / mean, most, x.min(axis=1), mean], axis=1)
    return [
        dict(zip(_NAMES, row, strict=True)) if is_known else None
        for row, is_known in zip(figures.tolist(), is_defined.tolist(), strict=True)
    ]
