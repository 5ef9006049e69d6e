"""AVG_BY_CIRCLE: the consumers get queues in turn, one at a time."""

from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.settings.policy import Policy

NAME: Final = vocabulary.AVG_BY_CIRCLE


def owner_index(queue: Integers, _queues: Integers, consumers: Integers | int) -> Integers:
    """Index of the consumer that owns each queue.

    Shape and units: as ``avg.owner_index``, whose arguments it takes; the number of queues makes no difference.
    Source: AllocateMessageQueueAveragelyByCircle.java, rocketmq-all-5.3.3.

    >>> owner_index(np.arange(8), np.full(8, 8), 3)
    array([0, 1, 2, 0, 1, 2, 0, 1])
    """
    return np.remainder(queue, consumers)


def shares(division: Division, _: Policy) -> Shares:
    """The share of each consumer."""
    return Shares.of_owners(division.first_place + owner_index(*division.queues.in_topic, division.consumers))
