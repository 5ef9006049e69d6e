"""The rows that a plan is made of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocketmq_capacity.contracts.cluster import Cluster
from rocketmq_capacity.contracts.failure import Failure
from rocketmq_capacity.contracts.finding import Finding
from rocketmq_capacity.contracts.finding_since import FindingSince
from rocketmq_capacity.contracts.group_status import GroupStatus
from rocketmq_capacity.contracts.recommendation import Recommendation
from rocketmq_capacity.contracts.strategy_load import StrategyLoad


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of each dataset, in any order; the page also needs those of ``client_load``, of some groups alone."""

    cluster: Sequence[Cluster]
    failure: Sequence[Failure] = ()
    group_status: Sequence[GroupStatus] = ()
    strategy_load: Iterable[StrategyLoad] = ()
    """Read once: a large cluster's rows need not all be in memory."""
    finding: Sequence[Finding] = ()
    finding_since: Sequence[FindingSince] = ()
    """None where there is no run before."""
    recommendation: Sequence[Recommendation] = ()
