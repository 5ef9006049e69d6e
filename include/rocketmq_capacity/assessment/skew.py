"""How unevenly a load lies on the clients of a group.

For x_1..x_n with mean m: PEAK = max/m, FLOOR = the lowest PEAK that whole queues allow, EXCESS = PEAK/FLOOR and at
least 1, GINI = sum_i (2i-n-1) x_(i) / (n sum x) over ascending x, CV = population standard deviation / m.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from rocketmq_capacity.contracts.dataset import Metrics
from rocketmq_capacity.contracts.division import Flags

Numbers = npt.NDArray[np.float64]
"""NaN is unknown."""

_NAMES: Final = ("peak", "floor", "excess", "gini", "cv", "max", "min", "mean")
_OF_EXCLUSIVE: Final = ("floor", "excess")
"""Metrics that say nothing where several clients share a queue."""


def floors(loads: Numbers, clients: int) -> Numbers:
    """FLOOR: no division of whole queues among so many clients has a lower PEAK, whoever owns which queue.

    The busiest client bears at least an even share. And of the ``k * clients + 1`` heaviest queues some client owns at
    least k + 1, so that it bears at least the k + 1 lightest of these; with k = 0 that is the heaviest queue. Of equal
    queues it bears ceil(queues / clients).

    Shape: a row a load, a column a queue -> one a load; NaN where a part of it is unknown, and without queues, clients
    or load.
    Source: lower bounds of P||Cmax, as in Dell'Amico and Martello, ORSA Journal on Computing 7 (1995).

    >>> floors(np.array([[10.0, 10.0, 10.0, 10.0, 10.0], [9.0, 5.0, 5.0, 5.0, 1.0]]), 4)
    array([1.6 , 1.44])
    """
    kinds, queues = loads.shape
    if not clients or not queues:
        return np.full(kinds, np.nan)
    even = loads.sum(axis=1) / clients  # of the smallest numbers that there are, a share is 0
    sums = np.zeros((kinds, queues + 1))
    np.cumsum(np.sort(loads, axis=1)[:, ::-1], axis=1, out=sums[:, 1:])
    heaviest = np.arange(1, queues + 1, clients)
    lightest = np.arange(1, len(heaviest) + 1)
    most = (sums[:, heaviest] - sums[:, heaviest - lightest]).max(axis=1)
    floor: Numbers = np.maximum(most / np.where(even > 0, even, np.nan), 1)
    return floor


def metrics(x: Numbers, floor: Numbers, is_shared: Flags) -> list[Metrics | None]:
    """The contract's METRICS of several loads; None under two clients, without load, or where a part is unknown.

    Shape: a row a load, a column a client; the others one entry a load -> one a load.

    Args:
        x: the load of each client.
        floor: of :func:`floors`.
        is_shared: of each load whether clients share queues, as under POP: then it has neither FLOOR nor EXCESS.
    """
    n = x.shape[1]
    if n < 2:
        return [None] * len(x)
    total = x.sum(axis=1)
    is_defined = (total / n > 0) & (floor > 0)  # what is not a number is not above 0 either
    total = np.where(is_defined, total, np.nan)
    mean, most = total / n, x.max(axis=1)
    peak = most / mean
    ranked = np.sort(x, axis=1) @ np.arange(1.0, n + 1)
    deviation = np.sqrt(np.square(x - mean[:, None]).sum(axis=1) / n)
    gini = (2 * ranked - (n + 1) * total) / (n * total)
    # Queues that nobody owns, and queues that two own, leave a PEAK that no division of all of them has.
    excess = np.maximum(peak / floor, 1)
    figures = np.stack([peak, floor, excess, gini, deviation / mean, most, x.min(axis=1), mean], axis=1)
    return [
        {name: value for name, value in zip(_NAMES, row, strict=True) if not (shares and name in _OF_EXCLUSIVE)}
        if is_known
        else None
        for row, is_known, shares in zip(figures.tolist(), is_defined.tolist(), is_shared.tolist(), strict=True)
    ]
