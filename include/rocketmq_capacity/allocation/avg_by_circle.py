"""AVG_BY_CIRCLE: queues dealt out one by one, as cards are."""

from typing import Final

from pyspark.sql import Column

NAME: Final = "AVG_BY_CIRCLE"


def owner_index(queue: Column, queues: Column, consumers: Column) -> Column:  # noqa: ARG001  (one shape for all)
    """Index of the consumer that owns each queue.

    Shape, units and errors: as ``avg.owner_index``; ``queues`` does not matter.
    Source: AllocateMessageQueueAveragelyByCircle.java, rocketmq-all-5.3.3.
    """
    return queue % consumers
