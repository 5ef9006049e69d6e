"""The cases that are tried for a topic, and the recommendations for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.layout import is_hidden_by_broker
from rocketmq_capacity.catalogue.offered import offered
from rocketmq_capacity.model.cases import QueueChange
from rocketmq_capacity.recommendation.afterwards import with_afterwards
from rocketmq_capacity.recommendation.facts import AdvisedTopic, TopicRefusals
from rocketmq_capacity.recommendation.investigate import investigate
from rocketmq_capacity.recommendation.outcomes import outcomes
from rocketmq_capacity.recommendation.preflight import topic_safety
from rocketmq_capacity.recommendation.topic_action import TopicAction


@dataclass(frozen=True)
class TopicAnswers:
    """The recommendations for a topic, and what the answers for its groups need to know."""

    recommendations: Sequence[tables.Recommendation]
    refusals: TopicRefusals


@cache
def topic_actions() -> tuple[TopicAction, ...]:
    """All actions on topics: the ``TOPIC_ACTIONS`` of each module of this package."""
    return tuple(offered(__package__, "TOPIC_ACTIONS"))


def topic_cases(topic: AdvisedTopic) -> list[QueueChange]:
    """Every change of the topic's queues that should be tried."""
    return [case for action in topic_actions() for case in action.cases(topic)]


def topic_answers(topic: AdvisedTopic) -> TopicAnswers:
    """The smallest safe change for each of the topic's findings; ``topic.effects`` are those of its cases."""
    safety, tried = topic_safety(topic), outcomes(topic.effects)
    said = [action.answers(topic, tried, safety) for action in topic_actions()]
    changes = [change for one in said for change in one.recommendations]
    refusals = {rule: reason for one in said for rule, reason in one.refusals.items()}
    answered = {rule for one in changes for rule in one.rules}
    # More queues show nothing where the permission hides them all.
    write_only = {place.place.broker_name for place in topic.places if place.place.is_write_only}
    left = [
        one
        for one in topic.findings
        if not is_hidden_by_broker(one) and (one.rule not in answered or one.broker_name in write_only)
    ]
    addresses = [place.address for place in topic.places]
    looks = []
    if left:
        looks.append(
            investigate(
                left, topic.cluster, topic=topic.name, addresses=addresses, refusals=refusals, waits=topic.waits
            )
        )
    return TopicAnswers(
        recommendations=with_afterwards([*changes, *looks], topic.cluster.nameserver),
        refusals=TopicRefusals(
            topic=topic.name,
            is_ordered=safety.is_ordered,
            forbids=safety.forbids,
            refusals=refusals,
            answered=tuple(sorted(answered)),
            helped=tuple(sorted({pair for one in said for pair in one.helped})),
        ),
    )
