"""The type of actions on topics: the changes that an action tries, and what it recommends."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rocketmq_capacity.model.cases import QueueChange
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.outcomes import CaseOutcome
from rocketmq_capacity.recommendation.preflight import Safety
from rocketmq_capacity.tables import Recommendation


@dataclass(frozen=True)
class ActionResult:
    """The result of an action for a topic.

    Attributes:
        recommendations: what is to be done.
        refusals: by rule, why the action does not answer it (a sentence).
        helped: (rule, consumer_group) of the groups' findings that its recommendations answer.
    """

    recommendations: tuple[Recommendation, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)
    helped: frozenset[tuple[str, str]] = frozenset()


def nothing_to_try(_: AdvisedTopic) -> Iterable[QueueChange]:
    """The cases of an action that changes no queues."""
    return ()


@dataclass(frozen=True)
class TopicAction:
    """An action on a topic.

    Attributes:
        answers: topic, outcomes by id of the case, and safety -> the result.
        cases: the changes of the topic's queues that should be tried.
    """

    answers: Callable[[AdvisedTopic, Mapping[str, CaseOutcome], Safety], ActionResult]
    cases: Callable[[AdvisedTopic], Iterable[QueueChange]] = nothing_to_try
