"""AVG: contiguous blocks of queues, one block for each consumer; RocketMQ's default."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column

NAME: Final = "AVG"


def owner_index(queue: Column, queues: Column, consumers: Column) -> Column:
    """Index of the consumer that owns each queue; the first ``queues % consumers`` consumers own one more.

    Shape: three int columns -> one int column of the same rows; null in, null out.
    Units: ``queue`` is a 0-based rank in rebalance order; the others are counts > 0.
    Errors: ``consumers = 0`` fails the job (division by zero under ANSI mode).
    Source: AllocateMessageQueueAveragely.java, rocketmq-all-5.3.3.

    ======  ======  =========  =====
    queue   queues  consumers  owner
    ======  ======  =========  =====
    2       8       3          0
    3       8       3          1
    7       8       3          2
    ======  ======  =========  =====
    """
    extra = queues % consumers
    small = F.floor(queues / consumers).cast("int")
    boundary = extra * (small + 1)
    in_large = F.floor(queue / (small + 1))
    in_small = extra + F.floor((queue - boundary) / F.greatest(small, F.lit(1)))
    return F.when(queue < boundary, in_large).otherwise(in_small).cast("int")
