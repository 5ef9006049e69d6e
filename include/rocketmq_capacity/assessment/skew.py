"""How unevenly a load lies on the clients of a group.

For x_1..x_n with mean m: PEAK = max/m, FLOOR = the least PEAK that whole queues allow, EXCESS = PEAK/FLOOR,
GINI = sum_i (2i-n-1) x_(i) / (n sum x) over ascending x, CV = population standard deviation / m.
"""

import pyspark.sql.functions as F
from pyspark.sql import Column


def metrics(loads: Column, clients: Column, least_max: Column) -> Column:
    """The contract's METRICS of one load; null under two clients, without load, or where a client's load is unknown.

    Shape: ``loads`` array<double> with one item for each client whose load is known, ``clients`` how many there are,
    ``least_max`` the load that the busiest client must at least have -> map<string,double>.
    """
    ascending = F.sort_array(loads)
    total = F.aggregate(ascending, F.lit(0.0), lambda sum_, x: sum_ + x)
    mean = total / clients
    squares = F.aggregate(ascending, F.lit(0.0), lambda sum_, x: sum_ + (x - mean) * (x - mean))
    ranked = F.transform(ascending, lambda x, i: (2 * (i + 1) - clients - 1) * x)
    peak = F.element_at(ascending, -1) / mean
    floor = least_max / mean
    is_defined = (clients >= 2) & (F.size(loads) == clients) & (total > 0) & (least_max > 0)
    return F.when(
        is_defined,
        F.create_map(
            *(F.lit("peak"), peak),
            *(F.lit("floor"), floor),
            *(F.lit("excess"), peak / floor),
            *(F.lit("gini"), F.aggregate(ranked, F.lit(0.0), lambda sum_, x: sum_ + x) / (clients * total)),
            *(F.lit("cv"), F.sqrt(squares / clients) / mean),
            *(F.lit("max"), F.element_at(ascending, -1)),
            *(F.lit("min"), F.element_at(ascending, 1)),
            *(F.lit("mean"), mean),
        ),
    )
