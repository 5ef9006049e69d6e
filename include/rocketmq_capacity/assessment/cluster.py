"""What a rule of the whole cluster is."""

from collections.abc import Callable, Iterator

from rocketmq_capacity.contracts import Finding
from rocketmq_capacity.contracts.facts import ClusterFacts, Disagreements
from rocketmq_capacity.settings.policy import Policy

ClusterRule = Callable[[ClusterFacts, Disagreements, Policy], Iterator[Finding]]
"""It looks at name servers and brokers, and at no group or topic of its own."""
