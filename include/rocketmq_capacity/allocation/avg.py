"""AVG: contiguous blocks of queues, one block for each consumer; RocketMQ's default."""

from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.settings.policy import Policy

NAME: Final = vocabulary.AVG


def owner_index(queue: Integers, queues: Integers, consumers: Integers | int) -> Integers:
    """Index of the consumer that owns each queue; the first ``queues % consumers`` consumers own one more.

    Shape: int64 arrays of one length, one entry a queue -> one of the same length.
    Units: ``queue`` is a 0-based rank in rebalance order; the others are counts > 0.
    Source: AllocateMessageQueueAveragely.java, rocketmq-all-5.3.3.

    >>> owner_index(np.arange(8), np.full(8, 8), 3)
    array([0, 0, 0, 1, 1, 1, 2, 2])
    """
    small = queues // consumers
    extra = queues - small * consumers
    is_in_small = queue >= extra * (small + 1)
    owner: Integers = (queue - extra * is_in_small) // np.maximum(small + ~is_in_small, 1)
    return owner


def shares(division: Division, _: Policy) -> Shares:
    """The share of each consumer."""
    return Shares.of_owners(division.first_place + owner_index(*division.queues.in_topic, division.consumers))
