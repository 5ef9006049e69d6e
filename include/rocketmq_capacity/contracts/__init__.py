"""The named, versioned tables that the stages exchange: one module a dataset, grain and units in its docstring."""

from typing import Final

from rocketmq_capacity.contracts.allocation import Allocation
from rocketmq_capacity.contracts.broker import Broker
from rocketmq_capacity.contracts.broker_load import BrokerLoad
from rocketmq_capacity.contracts.case_effect import CaseEffect
from rocketmq_capacity.contracts.client_capacity import ClientCapacity
from rocketmq_capacity.contracts.client_load import ClientLoad
from rocketmq_capacity.contracts.cluster import Cluster
from rocketmq_capacity.contracts.cluster_failure import ClusterFailure
from rocketmq_capacity.contracts.consume_status import ConsumeStatus
from rocketmq_capacity.contracts.consumer import Consumer
from rocketmq_capacity.contracts.consumer_group import ConsumerGroup
from rocketmq_capacity.contracts.consumer_subscription import ConsumerSubscription
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.contracts.demand import Demand
from rocketmq_capacity.contracts.failure import Failure
from rocketmq_capacity.contracts.finding import Finding
from rocketmq_capacity.contracts.finding_before import FindingBefore
from rocketmq_capacity.contracts.finding_since import FindingSince
from rocketmq_capacity.contracts.group_failure import GroupFailure
from rocketmq_capacity.contracts.group_offset import GroupOffset
from rocketmq_capacity.contracts.group_size import GroupSize
from rocketmq_capacity.contracts.group_status import GroupStatus
from rocketmq_capacity.contracts.group_unit import GroupUnit
from rocketmq_capacity.contracts.nameserver_difference import NameserverDifference
from rocketmq_capacity.contracts.offset_sample import OffsetSample
from rocketmq_capacity.contracts.owned_queue import OwnedQueue
from rocketmq_capacity.contracts.producer import Producer
from rocketmq_capacity.contracts.producer_balance import ProducerBalance as ProducerBalance
from rocketmq_capacity.contracts.producer_share import ProducerShare
from rocketmq_capacity.contracts.producer_timeline import ProducerCourse, ProducerRoute, ProducerTimeline
from rocketmq_capacity.contracts.queue_offset import QueueOffset
from rocketmq_capacity.contracts.recommendation import Recommendation
from rocketmq_capacity.contracts.run_before import RunBefore
from rocketmq_capacity.contracts.scenario_effect import ScenarioEffect
from rocketmq_capacity.contracts.scenario_group import ScenarioGroup
from rocketmq_capacity.contracts.slave_difference import SlaveDifference
from rocketmq_capacity.contracts.strategy_load import StrategyLoad
from rocketmq_capacity.contracts.strategy_status import StrategyStatus
from rocketmq_capacity.contracts.subscription import Subscription
from rocketmq_capacity.contracts.topic import Topic
from rocketmq_capacity.contracts.topic_answer import TopicAnswer
from rocketmq_capacity.contracts.topic_failure import TopicFailure
from rocketmq_capacity.contracts.topic_headroom import TopicHeadroom
from rocketmq_capacity.contracts.topic_queue import TopicQueue
from rocketmq_capacity.contracts.topic_unit import TopicUnit
from rocketmq_capacity.contracts.transition import GroupTransition, RecommendedTransition, Transition
from rocketmq_capacity.contracts.tried_case import TriedCase
from rocketmq_capacity.contracts.undecided_finding import UndecidedFinding
from rocketmq_capacity.contracts.version_fault import VersionFault

SNAPSHOT: Final[tuple[type[Dataset], ...]] = (
    Cluster,
    Broker,
    NameserverDifference,
    SlaveDifference,
    Topic,
    TopicQueue,
    QueueOffset,
    ConsumerGroup,
    Subscription,
    Consumer,
    ConsumerSubscription,
    OwnedQueue,
    ConsumeStatus,
    GroupOffset,
    OffsetSample,
    Producer,
    Failure,
    GroupUnit,
    TopicUnit,
)
"""What the snapshot step writes."""

DATASETS: Final[tuple[type[Dataset], ...]] = (
    *SNAPSHOT,
    Allocation,
    StrategyStatus,
    ClientLoad,
    ClientCapacity,
    GroupSize,
    VersionFault,
    StrategyLoad,
    GroupStatus,
    GroupFailure,
    TopicFailure,
    ClusterFailure,
    BrokerLoad,
    TopicHeadroom,
    ProducerShare,
    ProducerBalance,
    Finding,
    FindingSince,
    RunBefore,
    FindingBefore,
    Demand,
    TriedCase,
    CaseEffect,
    TopicAnswer,
    Recommendation,
    RecommendedTransition,
    ScenarioEffect,
    ScenarioGroup,
    UndecidedFinding,
    Transition,
    GroupTransition,
    ProducerRoute,
    ProducerCourse,
    ProducerTimeline,
)
"""Every dataset, in the order in which the data flows."""
