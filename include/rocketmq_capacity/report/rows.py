"""The rows that a plan is made of, and the rows that only its page shows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rocketmq_capacity.report.losses import FailureLoss
from rocketmq_capacity.tables.assess.brokers import BrokerLoad, ProducerBalance, TopicHeadroom
from rocketmq_capacity.tables.assess.client_costs import BrokerPool, ClientCost
from rocketmq_capacity.tables.assess.clients import ClientLoad
from rocketmq_capacity.tables.assess.events import EventNeed
from rocketmq_capacity.tables.assess.failures import ClusterFailure, GroupFailure, ProducerFailure, UnroutedTopic
from rocketmq_capacity.tables.assess.findings import (
    Finding,
    FindingBefore,
    FindingSince,
    LedgerBefore,
    LedgerRate,
    RunBefore,
)
from rocketmq_capacity.tables.assess.groups import GroupSize, GroupStatus, StrategyLoad
from rocketmq_capacity.tables.recommend import Recommendation
from rocketmq_capacity.tables.snapshot.cluster import Cluster, Failure
from rocketmq_capacity.tables.snapshot.groups import GroupDay, GroupHour
from rocketmq_capacity.tables.transition import RecommendedTransition


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRows:
    """Rows of each dataset, in any order."""

    cluster: Sequence[Cluster]
    failure: Sequence[Failure] = ()
    group_status: Sequence[GroupStatus] = ()
    strategy_load: Iterable[StrategyLoad] = ()
    """It is read only once, so it may be an iterator: not all rows of a large cluster need to be in memory."""
    finding: Sequence[Finding] = ()
    finding_since: Sequence[FindingSince] = ()
    """Empty if there is no run before."""
    run_before: Sequence[RunBefore] = ()
    """Empty, or the one run before."""
    finding_before: Sequence[FindingBefore] = ()
    ledger_before: Sequence[LedgerBefore] = ()
    ledger_rate: Sequence[LedgerRate] = ()
    recommendation: Sequence[Recommendation] = ()
    recommended_transition: Sequence[RecommendedTransition] = ()
    producer_balance: Sequence[ProducerBalance] = ()
    broker_load: Sequence[BrokerLoad] = ()
    client_cost: Sequence[ClientCost] = ()
    broker_pool: Sequence[BrokerPool] = ()
    topic_headroom: Sequence[TopicHeadroom] = ()
    event_need: Sequence[EventNeed] = ()
    losses: Sequence[FailureLoss] | None = None
    """The effect of each failure on the cluster; None if it is unknown."""


class DrawnQueue(NamedTuple):
    """The columns of ``allocation`` that a picture needs."""

    consumer_group: str
    strategy: str
    topic: str
    broker_name: str
    queue_id: int
    client_id: str


class QueueLag(NamedTuple):
    """The columns of ``group_offset`` that a picture needs."""

    consumer_group: str
    topic: str
    broker_name: str
    queue_id: int
    lag: int | None


class DiskDays(NamedTuple):
    """The columns of ``broker`` that a picture needs."""

    broker_name: str
    broker_id: int
    disk_days_ago: Sequence[float]
    disk_used_ratios: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRows:
    """What the page shows and the plan does not hold, in any order.

    Attributes:
        group_status: of each group; it has reasons that the plan does not hold.
        client_load: at least of the groups that :func:`~rocketmq_capacity.report.detail.detailed_groups` names.
        group_size: of the same groups.
        group_failure: of the same groups.
        losses: the effect of each failure on the cluster.
        cluster_failure: who can read and write without a master or a name server.
        producer_failure: what producers see when a broker is lost.
        unrouted_topic: topics without a queue that producers see.
        owned_queue: who owns the queues of the groups that :func:`~rocketmq_capacity.report.view.heat_map.heat_groups`
            names, under the strategy in use.
        queue_lag: what waits on the queues of the same groups.
        group_hour: of the groups that :func:`~rocketmq_capacity.report.detail.detailed_groups` names.
        group_day: of the same groups.
        disk_days: how full the disks of brokers were.
        busy_bound: busy share above which a busiest client is too busy; None if unknown, then pictures lack the line.
    """

    group_status: Sequence[GroupStatus]
    client_load: Sequence[ClientLoad] = ()
    group_size: Sequence[GroupSize] = ()
    group_failure: Sequence[GroupFailure] = ()
    losses: Sequence[FailureLoss] = ()
    cluster_failure: Sequence[ClusterFailure] = ()
    producer_failure: Sequence[ProducerFailure] = ()
    unrouted_topic: Sequence[UnroutedTopic] = ()
    owned_queue: Sequence[DrawnQueue] = ()
    queue_lag: Sequence[QueueLag] = ()
    group_hour: Sequence[GroupHour] = ()
    group_day: Sequence[GroupDay] = ()
    disk_days: Sequence[DiskDays] = ()
    busy_bound: float | None = None
