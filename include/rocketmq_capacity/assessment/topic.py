"""The input of the rules of topics."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rocketmq_capacity.model.facts import ClusterFacts, TopicWithReaders
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding, Producer
from rocketmq_capacity.vocabulary import BUSINESS, UNDER


@dataclass(frozen=True, slots=True)
class AssessedTopic:
    """A topic of a snapshot under a policy.

    Attributes:
        unit: the facts of the topic and of its readers.
        cluster: the facts of the whole cluster.
        policy: thresholds.
        producers: all running producers; it is unknown which of them send to the topic.
        at_ease: groups whose busiest client is known to have time left at the peak, and whose lag does not grow.
    """

    unit: TopicWithReaders
    cluster: ClusterFacts
    policy: Policy
    producers: tuple[Producer, ...] = ()
    at_ease: Collection[str] = frozenset()

    @property
    def name(self) -> str:
        """Its name."""
        return self.unit.facts.topic

    @property
    def is_business(self) -> bool:
        """Whether it is a business topic: not RocketMQ's own, and not excluded by the policy."""
        return self.unit.facts.kind == BUSINESS


class GroupEase(NamedTuple):
    """The columns of ``group_status`` that say whether the clients of a group have time left."""

    consumer_group: str
    provision_status: str
    utilisation_upper: float | None
    peak_factor: float | None


def at_ease(groups: Iterable[GroupEase], policy: Policy) -> frozenset[str]:
    """The groups whose busiest client is known to be busy for at most ``busy_ratio`` at the peak; lag does not grow."""
    most = policy.thresholds.LOW_UTILISATION.busy_ratio
    return frozenset(
        one.consumer_group
        for one in groups
        if one.provision_status != UNDER
        and one.utilisation_upper is not None
        and one.utilisation_upper * (one.peak_factor or 1.0) <= most
    )


TopicRule = Callable[[AssessedTopic], Iterator[Finding]]
"""A rule about one topic."""
