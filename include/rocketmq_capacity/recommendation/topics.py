"""What is tried for a topic, and what is recommended for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.cases import Case
from rocketmq_capacity.recommendation.check_producer_keys import check_producer_keys
from rocketmq_capacity.recommendation.create_topic import create_topic_on_brokers, creation_cases, creation_refusal
from rocketmq_capacity.recommendation.expand_queues import (
    Expansion,
    expand_queues,
    expansion,
    expansion_cases,
    expansion_refusal,
    judged_layouts,
)
from rocketmq_capacity.recommendation.facts import Topic, TopicRefusals
from rocketmq_capacity.recommendation.investigate import investigate
from rocketmq_capacity.recommendation.layouts import IDLE, UNEQUAL, tried_layouts
from rocketmq_capacity.recommendation.outcomes import Outcome, outcomes
from rocketmq_capacity.recommendation.preflight import Safety, topic_safety
from rocketmq_capacity.recommendation.raise_read_queues import raise_read_queues, raising_case


@dataclass(frozen=True)
class TopicAnswers:
    """What is recommended for a topic, and what that leaves to the answers for its groups."""

    recommendations: Sequence[contracts.Recommendation]
    refusals: TopicRefusals


def topic_cases(topic: Topic) -> list[Case]:
    """Every change of the topic's queues that is worth trying."""
    raising = raising_case(topic)
    return [
        *expansion_cases(topic, tried_layouts(topic)).values(),
        *([raising] if raising else []),
        *creation_cases(topic).values(),
    ]


def topic_answers(topic: Topic) -> TopicAnswers:
    """The smallest safe change for each of the topic's findings; ``topic.effects`` are those of its cases."""
    safety, tried = topic_safety(topic), outcomes(topic.effects)
    judged = judged_layouts(topic, tried_layouts(topic), tried)
    chosen = expansion(judged)
    why_not = {IDLE: expansion_refusal(topic, judged), UNEQUAL: creation_refusal(topic, tried)}
    refusals: dict[str, str] = {rule: reason for rule, reason in why_not.items() if reason}
    changes = list(_changes(topic, chosen, tried, safety))
    answered = {rule for one in changes for rule in one.rules}
    left = investigate(topic.findings, answered, topic.cluster, topic=topic.name, refusals=refusals)
    return TopicAnswers(
        recommendations=[*changes, *([left] if left else [])],
        refusals=TopicRefusals(
            topic=topic.name,
            is_ordered=safety.is_ordered,
            forbids=safety.forbids,
            refusals=refusals,
            answered=tuple(sorted(answered)),
            helped=tuple(sorted(chosen.helped)) if chosen else (),
        ),
    )


def _changes(
    topic: Topic, chosen: Expansion | None, tried: Mapping[str, Outcome], safety: Safety
) -> Iterator[contracts.Recommendation]:
    if chosen:
        yield expand_queues(topic, chosen, safety)
    raised = raise_read_queues(topic, tried, safety)
    if raised:
        yield raised
    yield from create_topic_on_brokers(topic, tried, safety)
    yield from check_producer_keys(topic)
