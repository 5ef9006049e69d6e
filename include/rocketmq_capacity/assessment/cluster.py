"""The type of the rules of the whole cluster."""

from collections.abc import Callable, Iterator

from rocketmq_capacity.model.facts import ClusterFacts, Disagreements
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding

ClusterRule = Callable[[ClusterFacts, Disagreements, Policy], Iterator[Finding]]
"""A rule that looks at name servers and brokers, and not at single groups or topics."""
