"""All of producers: how each generation and the Proxy choose queues, how evenly, and what they do over time.

This module is the room's one door: other rooms import these names from here, and no module behind it.
"""

from rocketmq_capacity.producers.balance import (
    balance_of,
    is_hot,
    producer_balance,
    producer_shares,
    producers_rates,
    traced,
)
from rocketmq_capacity.producers.generation import GENERATIONS, Generation, generation_of
from rocketmq_capacity.producers.ordered import WriteQueue, moved_keys, moved_message_groups, ordered_write_queues
from rocketmq_capacity.producers.timeline import Known, ProducerTimelines, TopicQueuesOnBroker, producer_timeline
from rocketmq_capacity.producers.troubles import KILL, SILENT, Troubles

__all__ = [
    "GENERATIONS",
    "KILL",
    "SILENT",
    "Generation",
    "Known",
    "ProducerTimelines",
    "TopicQueuesOnBroker",
    "Troubles",
    "WriteQueue",
    "balance_of",
    "generation_of",
    "is_hot",
    "moved_keys",
    "moved_message_groups",
    "ordered_write_queues",
    "producer_balance",
    "producer_shares",
    "producer_timeline",
    "producers_rates",
    "traced",
]
