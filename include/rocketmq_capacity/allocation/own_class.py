"""A strategy class of the deployment's own: what it answered for exactly these clients and queues."""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.settings.own_strategy import OwnAnswers
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.dataset import Queue

NOT_ASKED: Final = "the class was not asked with these clients and queues: it is asked with those of a snapshot alone"


def asked_with(division: Division) -> tuple[tuple[tuple[str, str, int], ...], tuple[str, ...]]:
    """The arguments of the question to the class.

    Shape: (topic, broker name, number of queues) for each topic and broker; the client ids, equal ones as often as they
    have consumers.
    """
    places = tuple((reads.topic.topic, place.broker_name, place.readable) for reads, place in division.queues.of_topics)
    return places, tuple(one.client_id for one in division.members.consumers)


def by_topic(places: Iterable[tuple[str, str, int]]) -> dict[str, list[tuple[str, int]]]:
    """Broker names and numbers of queues by topic: a topic is divided without regard to the group's other topics."""
    topics: dict[str, list[tuple[str, int]]] = {}
    for topic, broker_name, number in places:
        topics.setdefault(topic, []).append((broker_name, number))
    return topics


def refusal(division: Division, policy: Policy) -> str | None:
    """Why the answer of the class is unknown, or None."""
    return NOT_ASKED if _answers(division, policy) is None else None


def throws(division: Division, policy: Policy) -> Mapping[int, str]:
    """The topics for which the class threw, each with its message."""
    answers = _answers(division, policy)
    thrown = {} if answers is None else answers.thrown
    names = (reads.topic.topic for reads in division.queues.topics)
    return {topic: thrown[name] for topic, name in enumerate(names) if name in thrown}


def shares(division: Division, policy: Policy) -> Shares:
    """The share of each consumer: the queues that the class gave it, existing or not.

    A queue that a list names twice counts once (RebalanceImpl.rebalanceByTopic makes a set of it).
    """
    answers = _answers(division, policy)
    known = {name: index for index, name in enumerate(division.queues.names)}
    first = dict(zip(division.members.client_ids, division.members.first.tolist(), strict=True))
    pairs, strangers = set[tuple[int, int]](), set[tuple[int, int, Queue]]()
    for topic, reads in enumerate(division.queues.topics):
        given = answers.given.get(reads.topic.topic, {}) if answers else {}
        for client_id, named in given.items():
            for queue in {Queue(*one) for one in named}:
                if queue in known:
                    pairs.add((known[queue], first[client_id]))
                else:
                    strangers.add((first[client_id], topic, queue))
    taken = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return Shares(taken[:, 0], taken[:, 1], strangers=tuple(sorted(strangers)))


def _answers(division: Division, policy: Policy) -> OwnAnswers | None:
    answers = policy.own_answers(division.group.consumer_group)
    if not answers:
        return None
    places, client_ids = asked_with(division)
    wanted = by_topic(places)
    for answer in answers:
        asked = by_topic(answer.places)
        if answer.client_ids == client_ids and all(asked.get(topic) == of_topic for topic, of_topic in wanted.items()):
            return answer
    return None
