"""Queues that get more messages than the settings of their reader let it pull.

After an answer with messages, a client waits for ``pull_interval_ms`` before it pulls the queue again, and an answer
has at most ``pull_batch_size`` messages. So the two bound what it reads of each queue, however many threads it has. Of
popped queues they say nothing: an answer has ``popBatchNums`` messages there, and all clients pop every queue. Source:
DefaultMQPushConsumerImpl.pullMessage and popMessage, rocketmq-all-5.3.3.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from rocketmq_capacity.model.arrays import Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.model.owners import Owners
from rocketmq_capacity.tables.dataset import Queue

MS: Final = 1000
"""Milliseconds of a second."""


@dataclass(frozen=True, slots=True)
class SlowPulls:
    """Queues that get more than their reader pulls, and its settings.

    Attributes:
        queues: the queues.
        client_ids: who reads them.
        pull_batch_size: messages of an answer at most, of the reader that is slowest.
        pull_interval_ms: its pause after each answer.
        most_msgs_per_s: messages a second that it pulls of one queue at most.
    """

    queues: frozenset[Queue]
    client_ids: tuple[str, ...]
    pull_batch_size: int
    pull_interval_ms: int
    most_msgs_per_s: float


def slow_pulls(division: Division, owners: Owners, msgs_per_s: Numbers) -> SlowPulls | None:
    """The queues of a group that get more than their readers pull; None if there are none, or nobody reports a pause.

    Args:
        division: the queues and the clients.
        owners: who reads which queue.
        msgs_per_s: messages a second that the group gets from each queue; NaN if unknown.
    """
    members = division.members
    paused = [one for one in members.consumers if one.pull_interval_ms and one.pull_batch_size]
    if not paused:
        return None
    slowest = min(paused, key=_most)
    bounds = np.full(len(members.client_ids), np.inf)
    bounds[[members.client_ids.index(one.client_id) for one in paused]] = [_most(one) for one in paused]
    is_behind = (msgs_per_s[owners.queue] > bounds[owners.client]) & ~division.is_popped[owners.queue]
    if not is_behind.any():
        return None
    names = division.queues.names
    return SlowPulls(
        frozenset(names[queue] for queue in owners.queue[is_behind].tolist()),
        tuple(members.client_ids[client] for client in np.unique(owners.client[is_behind]).tolist()),
        slowest.pull_batch_size or 0,
        slowest.pull_interval_ms or 0,
        _most(slowest),
    )


def _most(consumer: Consumer) -> float:
    """Messages a second that a client with a pause pulls of one queue at most."""
    return (consumer.pull_batch_size or 0) * MS / (consumer.pull_interval_ms or 1)
