"""How unevenly a load is spread over the clients of a group.

For x_1..x_n with mean m: PEAK = max/m, FLOOR = the lowest PEAK that whole queues allow, EXCESS = PEAK/FLOOR and at
least 1, GINI = sum_i (2i-n-1) x_(i) / (n sum x) over ascending x, CV = population standard deviation / m.
"""

from typing import Final

import numpy as np

from rocketmq_capacity.model.arrays import Flags, Numbers
from rocketmq_capacity.tables.dataset import Metrics

_NAMES: Final = ("peak", "floor", "excess", "gini", "cv", "max", "min", "mean")
_OF_EXCLUSIVE: Final = ("floor", "excess")
"""Metrics that are not defined if several clients share a queue."""


def floors(loads: Numbers, clients: int) -> Numbers:
    """FLOOR: a PEAK that no division of whole queues among this number of clients can be below.

    The busiest client has at least an even share. Some client owns at least k + 1 of the ``k * clients + 1`` heaviest
    queues, so its load is at least that of the k + 1 lightest of these; with k = 0 that is the heaviest queue. Of equal
    queues it has ceil(queues / clients).

    Shape: a row a load, a column a queue -> one entry a load; NaN if a part of the load is unknown, and without queues,
    clients or load.
    Source: lower bounds of P||Cmax, as in Dell'Amico and Martello, ORSA Journal on Computing 7 (1995).

    >>> floors(np.array([[10.0, 10.0, 10.0, 10.0, 10.0], [9.0, 5.0, 5.0, 5.0, 1.0]]), 4)
    array([1.6 , 1.44])
    """
    kinds, queues = loads.shape
    if not clients or not queues:
        return np.full(kinds, np.nan)
    even = loads.sum(axis=1) / clients  # may be 0 for the smallest numbers above 0
    sums = np.zeros((kinds, queues + 1))
    np.cumsum(np.sort(loads, axis=1)[:, ::-1], axis=1, out=sums[:, 1:])
    heaviest = np.arange(1, queues + 1, clients)
    lightest = np.arange(1, len(heaviest) + 1)
    most = (sums[:, heaviest] - sums[:, heaviest - lightest]).max(axis=1)
    floor: Numbers = np.maximum(most / np.where(even > 0, even, np.nan), 1)
    return floor


def floor_of_equal(queues: int, clients: int) -> float:
    """FLOOR of equal queues; NaN without queues or clients. It has the value of :func:`floors`.

    >>> floor_of_equal(5, 4)
    1.6
    """
    return -(-queues // clients) / (queues / clients) if queues and clients else np.nan


def metrics(x: Numbers, floor: Numbers, is_shared: Flags) -> list[Metrics | None]:
    """The METRICS of several loads; None with fewer than two clients, without load, or if a part is unknown.

    Shape: ``x`` has a row a load and a column a client, the others have one entry a load -> one entry a load.

    Args:
        x: the load of each client.
        floor: of :func:`floors`.
        is_shared: whether clients share queues, as under POP; such a load has neither FLOOR nor EXCESS.
    """
    n = x.shape[1]
    if n < 2:
        return [None] * len(x)
    total = x.sum(axis=1)
    is_defined = (total / n > 0) & (floor > 0)  # False for NaN
    total = np.where(is_defined, total, np.nan)
    mean, most = total / n, x.max(axis=1)
    peak = most / mean
    ranked = np.sort(x, axis=1) @ np.arange(1.0, n + 1)
    deviation = np.sqrt(np.square(x - mean[:, None]).sum(axis=1) / n)
    gini = (2 * ranked - (n + 1) * total) / (n * total)
    # With orphan or doubly owned queues, PEAK may be below FLOOR, which is for a division of all queues.
    excess = np.maximum(peak / floor, 1)
    figures = np.stack([peak, floor, excess, gini, deviation / mean, most, x.min(axis=1), mean], axis=1)
    return [
        {name: value for name, value in zip(_NAMES, row, strict=True) if not (shares and name in _OF_EXCLUSIVE)}
        if is_known
        else None
        for row, is_known, shares in zip(figures.tolist(), is_defined.tolist(), is_shared.tolist(), strict=True)
    ]
