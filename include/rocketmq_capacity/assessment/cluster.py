"""The type of the rules of the whole cluster."""

from collections.abc import Callable, Iterator

from rocketmq_capacity.contracts import Finding
from rocketmq_capacity.contracts.facts import ClusterFacts, Disagreements
from rocketmq_capacity.settings.policy import Policy

ClusterRule = Callable[[ClusterFacts, Disagreements, Policy], Iterator[Finding]]
"""A rule that looks at name servers and brokers, and not at single groups or topics."""
