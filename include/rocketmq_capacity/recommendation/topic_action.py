"""The type of actions on topics: the changes that an action tries, and what it recommends."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rocketmq_capacity.model.cases import Case
from rocketmq_capacity.recommendation.facts import Topic
from rocketmq_capacity.recommendation.outcomes import Outcome
from rocketmq_capacity.recommendation.preflight import Safety
from rocketmq_capacity.tables import Recommendation


@dataclass(frozen=True)
class Answered:
    """The result of an action for a topic.

    Attributes:
        recommendations: what is to be done.
        refusals: by rule, why the action does not answer it (a sentence).
        helped: (rule, consumer_group) of the groups' findings that its recommendations answer.
    """

    recommendations: tuple[Recommendation, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)
    helped: frozenset[tuple[str, str]] = frozenset()


def nothing_to_try(_: Topic) -> Iterable[Case]:
    """The cases of an action that changes no queues."""
    return ()


@dataclass(frozen=True)
class TopicAction:
    """An action on a topic.

    Attributes:
        answers: topic, outcomes by id of the case, and safety -> the result.
        cases: the changes of the topic's queues that should be tried.
    """

    answers: Callable[[Topic, Mapping[str, Outcome], Safety], Answered]
    cases: Callable[[Topic], Iterable[Case]] = nothing_to_try
