"""The named, versioned tables that the stages exchange: one module a dataset, grain and units in its docstring."""

from typing import Final

from rocketmq_capacity.tables.allocate import Allocation, StrategyStatus
from rocketmq_capacity.tables.assess.brokers import BrokerLoad, ProducerShare, TopicHeadroom
from rocketmq_capacity.tables.assess.brokers import ProducerBalance as ProducerBalance
from rocketmq_capacity.tables.assess.client_costs import BrokerPool, ClientCost
from rocketmq_capacity.tables.assess.clients import ClientCapacity, ClientLoad
from rocketmq_capacity.tables.assess.events import EventNeed
from rocketmq_capacity.tables.assess.failures import (
    ClusterFailure,
    GroupFailure,
    ProducerFailure,
    TopicFailure,
    UnroutedTopic,
)
from rocketmq_capacity.tables.assess.findings import (
    Demand,
    Finding,
    FindingBefore,
    FindingSince,
    LedgerBefore,
    LedgerRate,
    OffsetBefore,
    RunBefore,
)
from rocketmq_capacity.tables.assess.groups import GroupSize, GroupStatus, StrategyLoad, VersionFault
from rocketmq_capacity.tables.compare import (
    ProducerCourse,
    ProducerRoute,
    ProducerTimeline,
    ScenarioEffect,
    ScenarioGroup,
    UndecidedFinding,
)
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.recommend import CaseEffect, Recommendation, TopicAnswer, TriedCase
from rocketmq_capacity.tables.snapshot.clients import Consumer, ConsumerSubscription, ConsumeStatus, OwnedQueue
from rocketmq_capacity.tables.snapshot.cluster import (
    Broker,
    Cluster,
    Failure,
    GoneBroker,
    NameserverDifference,
    SlaveDifference,
)
from rocketmq_capacity.tables.snapshot.groups import (
    ConsumerGroup,
    GroupDay,
    GroupHour,
    GroupOffset,
    GroupSetting,
    OffsetSample,
    Subscription,
)
from rocketmq_capacity.tables.snapshot.topics import Producer, QueueOffset, Topic, TopicQueue
from rocketmq_capacity.tables.snapshot.units import GroupUnit, TopicUnit
from rocketmq_capacity.tables.transition import GroupTransition, RecommendedTransition, Transition

SNAPSHOT: Final[tuple[type[Dataset], ...]] = (
    Cluster,
    Broker,
    GoneBroker,
    NameserverDifference,
    SlaveDifference,
    Topic,
    TopicQueue,
    QueueOffset,
    ConsumerGroup,
    GroupSetting,
    Subscription,
    Consumer,
    ConsumerSubscription,
    OwnedQueue,
    ConsumeStatus,
    GroupOffset,
    OffsetSample,
    GroupHour,
    GroupDay,
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
    EventNeed,
    TopicFailure,
    ClusterFailure,
    ProducerFailure,
    UnroutedTopic,
    BrokerLoad,
    ClientCost,
    BrokerPool,
    TopicHeadroom,
    ProducerShare,
    ProducerBalance,
    Finding,
    FindingSince,
    RunBefore,
    FindingBefore,
    LedgerBefore,
    LedgerRate,
    OffsetBefore,
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
