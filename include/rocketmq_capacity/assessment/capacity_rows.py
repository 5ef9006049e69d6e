"""The rows of ``client_capacity`` as arrays, because a fleet has a million of them."""

from dataclasses import dataclass

import numpy as np

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.arrays import Flags, Integers, Numbers

FIGURES = (
    "incoming_msgs_per_s",
    "consumed_msgs_per_s",
    "consume_rt_ms",
    "handles_at_once",
    "capacity_msgs_per_s",
    "busy_lower",
    "busy_ratio",
    "busy_upper",
    "measured_busy_ratio",
)


@dataclass(frozen=True)
class CapacityRows:
    """The work of the clients of a group for each topic of which they own queues. Arrays have one entry a row.

    Attributes:
        consumer_group: the group.
        topics: names of topics.
        topic: the index of each row's topic.
        client_ids: client ids.
        client: the index of each row's client id.
        queues: how many queues of the topic the client owns.
        is_rt_reported: whether the client itself reports its response time.
        figures: by name of FIGURES, one number a row; NaN if unknown.
    """

    consumer_group: str
    topics: list[str]
    topic: Integers
    client_ids: list[str]
    client: Integers
    queues: Integers
    is_rt_reported: Flags
    figures: dict[str, Numbers]


def capacity_rows(group: AssessedGroup) -> CapacityRows | None:
    """The rows of a group; None if the owners are unknown."""
    work = group.work
    if work is None:
        return None
    times = work.times
    client, topic = np.nonzero(work.queues)
    at = client, topic
    at_once = np.where(work.at_once > 0, work.at_once, np.nan)[client]
    capacity = at_once * 1000 / times.estimate[at]
    consumed = group.consumed_msgs_per_s[at]
    figures = (
        work.incoming_msgs_per_s[at],
        consumed,
        times.estimate[at],
        at_once,
        capacity,
        work.parts(times.lower)[at],
        work.parts(times.estimate)[at],
        work.parts(times.upper)[at],
        consumed / capacity,
    )
    return CapacityRows(
        group.name,
        [reads.topic.topic for reads in group.division.queues.topics],
        topic,
        group.client_ids,
        client,
        work.queues[at],
        times.is_reported[at],
        dict(zip(FIGURES, figures, strict=True)),
    )
