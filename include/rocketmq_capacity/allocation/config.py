"""CONFIG: the lists of the policy, unchecked, as AllocateMessageQueueByConfig returns them."""

from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.dataset import Queue

NAME: Final = vocabulary.CONFIG


def refusal(division: Division, policy: Policy) -> str | None:
    """Why the strategy cannot run."""
    if division.group.consumer_group not in policy.config_assignments:
        return "the policy has no config_assignments for this group"
    return None


def shares(division: Division, policy: Policy) -> Shares:
    """The share of each consumer: its listed queues, existing or not, of topics that have readable queues.

    Source: AllocateMessageQueueByConfig.java, rocketmq-all-5.3.3.
    """
    topics = {reads.topic.topic: index for index, reads in enumerate(division.queues.topics)}
    known = {name: index for index, name in enumerate(division.queues.names)}
    pairs, strangers = [], []
    first = dict(zip(division.members.client_ids, division.members.first.tolist(), strict=True))
    for client_id, listed in policy.config_assignments[division.group.consumer_group].items():
        for assigned in listed if client_id in first else ():
            queue = Queue(assigned.topic, assigned.broker_name, assigned.queue_id)
            if queue in known:
                pairs.append((known[queue], first[client_id]))
            elif queue.topic in topics:
                strangers.append((first[client_id], topics[queue.topic], queue))
    given = np.array(pairs, np.int64).reshape(-1, 2)
    return Shares(given[:, 0], given[:, 1], strangers=tuple(strangers))
