"""The queues of topics as producers see them, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.model.facts import Place, Reads

NOT_KNOWN: Final = -1
"""In place of a number of queues."""


@dataclass(frozen=True, slots=True)
class WrittenQueues:
    """Where producers write some topics.

    Attributes:
        brokers: the index of each broker, by its name.
        broker_of_facts: the broker of each of the places that consumers see.
        takes: how many queues producers see at each of these; 0 if unknown.
        topic: the index of a topic, once for each of its brokers.
        broker: this broker.
        queues: how many queues producers see there; NOT_KNOWN if unknown.
        written_topic: the index of a topic, once for each queue that is written.
        written_broker: this queue's broker.
        put_msgs_per_s: messages a second that are written to it; NaN if unknown.
        pass_ratio: of each topic the share of the messages that pass the group's filter; NaN if unknown.
    """

    brokers: dict[str, int]
    broker_of_facts: Integers
    takes: Integers
    topic: Integers
    broker: Integers
    queues: Integers
    written_topic: Integers
    written_broker: Integers
    put_msgs_per_s: Numbers
    pass_ratio: Numbers

    @classmethod
    def of(cls, topics: Sequence[Reads], facts: Sequence[Place]) -> "WrittenQueues":
        """The queues of topics; ``facts`` are the places that consumers see."""
        places = [(topic, place) for topic, reads in enumerate(topics) for place in reads.topic.places]
        written = [(topic, one) for topic, reads in enumerate(topics) for one in reads.topic.written]
        names = [place.broker_name for _, place in places]
        of_written = [one.broker_name for _, one in written]
        of_facts = [place.broker_name for place in facts]
        brokers = {name: index for index, name in enumerate(dict.fromkeys([*names, *of_written, *of_facts]))}
        queues = [place.writable for _, place in places]
        rates = [one.put_msgs_per_s for _, one in written]
        ratios = [reads.pass_ratio for reads in topics]
        return cls(
            brokers,
            np.array([brokers[name] for name in of_facts], np.int64),
            np.array([place.writable or 0 for place in facts], np.int64),
            np.array([topic for topic, _ in places], np.int64),
            np.array([brokers[name] for name in names], np.int64),
            np.array([NOT_KNOWN if number is None else number for number in queues], np.int64),
            np.array([topic for topic, _ in written], np.int64),
            np.array([brokers[name] for name in of_written], np.int64),
            np.array([np.nan if rate is None else rate for rate in rates], np.float64),
            np.array([np.nan if ratio is None else ratio for ratio in ratios], np.float64),
        )
