"""The input of the rules of topics."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rocketmq_capacity.contracts import Finding, Producer
from rocketmq_capacity.contracts.facts import ClusterFacts, TopicWithReaders
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.vocabulary import BUSINESS


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a snapshot under a policy.

    Attributes:
        unit: the facts of the topic and of its readers.
        cluster: the facts of the whole cluster.
        policy: thresholds.
        producers: all running producers; it is unknown which of them send to the topic.
    """

    unit: TopicWithReaders
    cluster: ClusterFacts
    policy: Policy
    producers: tuple[Producer, ...] = ()

    @property
    def name(self) -> str:
        """Its name."""
        return self.unit.facts.topic

    @property
    def is_business(self) -> bool:
        """Whether it is a business topic: not RocketMQ's own, and not excluded by the policy."""
        return self.unit.facts.kind == BUSINESS


TopicRule = Callable[[Topic], Iterator[Finding]]
"""A rule about one topic."""
