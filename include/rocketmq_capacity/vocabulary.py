"""RocketMQ's words and this product's own. Each name is here once; every list of names is derived from here.

Source: classes of rocketmq-all-5.3.3, named at each entry.
"""

from collections.abc import Iterable
from typing import Final, Literal, get_args

# ---------------------------------------------------------------------------------------------- languages of the page

ENGLISH: Final = "en"
Language = Literal["en", "zh-CN"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
"""As HTML names them (BCP 47)."""

# ------------------------------------------------------------------------------- strategies, as getName() gives them

AVG: Final = "AVG"
AVG_BY_CIRCLE: Final = "AVG_BY_CIRCLE"
CONFIG: Final = "CONFIG"
MACHINE_ROOM: Final = "MACHINE_ROOM"
MACHINE_ROOM_NEARBY: Final = "MACHINE_ROOM_NEARBY"
"""What a client reports. The inner strategy, which it does not report, follows after a hyphen."""
MACHINE_ROOM_NEARBY_AVG: Final = "MACHINE_ROOM_NEARBY-AVG"
CONSISTENT_HASH: Final = "CONSISTENT_HASH"
POP: Final = "POP"
"""Both a strategy (the broker's own) and a request mode."""

ClientStrategy = Literal[
    "AVG",
    "AVG_BY_CIRCLE",
    "CONFIG",
    "MACHINE_ROOM",
    "MACHINE_ROOM_NEARBY-AVG",
    "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE",
    "CONSISTENT_HASH",
]
CLIENT_STRATEGIES: Final[tuple[ClientStrategy, ...]] = get_args(ClientStrategy)
"""Strategies that clients can run."""
Strategy = Literal[ClientStrategy, "POP"]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)
"""Strategies that a policy may name."""

JAVA: Final = "JAVA"
GO: Final = "GO"
"""Languages of clients (LanguageCode); JAVA is a dialect as well."""
JAVA_4_7_1: Final = "JAVA_4_7_1"
GO_V2: Final = "GO_V2"
Dialect = Literal["JAVA", "JAVA_4_7_1", "GO_V2"]
"""Client libraries that compute the same strategy differently: Java since 4.8.0, Java before, and Go v2."""
DIALECT_WORDS: Final[dict[str, str]] = {
    "GO_V2": "Go v2 clients",
    "JAVA_4_7_1": "Java clients up to 4.7.1",
    "JAVA": "current Java clients",
}

OWN_CHOICE: Final = "OWN_CHOICE"
"""In place of the strategy of a client whose program chooses its queues: no strategy decides."""
MIXED: Final = "MIXED"
"""Clients of a group report different strategies, or its topics have different request modes."""

# ----------------------------------------------------------------------------------------- groups, topics and brokers

TAG: Final = "TAG"
SQL92: Final = "SQL92"
"""Types of filters (ExpressionType)."""
SQL92_ENABLED: Final = "enablePropertyFilter"
"""A broker's setting (BrokerConfig): without it the broker refuses pulls by SQL92; its default is false."""
TIMER_ENABLED: Final = "timerWheelEnable"
"""A broker's setting (MessageStoreConfig): without it the broker refuses pops from 5.1.1 on; its default is true."""
EVERY_MESSAGE: Final = "*"
"""The filter that lets every message through (SubscriptionData.SUB_ALL)."""
ExpressionType = Literal["TAG", "SQL92"]

CLUSTERING: Final = "CLUSTERING"
BROADCASTING: Final = "BROADCASTING"
"""A message model, and the strategy under which `allocation` lists the groups that have it."""
LITE_SELECTIVE: Final = "LITE_SELECTIVE"
"""The message model of a group that is bound to a LITE topic (MessageModel, rocketmq-all-5.5.0)."""
MessageModel = Literal["CLUSTERING", "BROADCASTING", "LITE_SELECTIVE"]
MESSAGE_MODELS: Final[tuple[MessageModel, ...]] = get_args(MessageModel)
DEFAULT_MESSAGE_MODEL: Final = CLUSTERING
"""DefaultMQPushConsumer.messageModel."""

FIRST_OFFSET: Final = "CONSUME_FROM_FIRST_OFFSET"
LAST_OFFSET: Final = "CONSUME_FROM_LAST_OFFSET"
ConsumeFromWhere = Literal[
    "CONSUME_FROM_LAST_OFFSET",
    "CONSUME_FROM_FIRST_OFFSET",
    "CONSUME_FROM_TIMESTAMP",
    "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
    "CONSUME_FROM_MIN_OFFSET",
    "CONSUME_FROM_MAX_OFFSET",
]
"""Where clients begin on a queue without an offset (ConsumeFromWhere); the last three are deprecated.

Clients treat the deprecated ones as CONSUME_FROM_LAST_OFFSET (RebalancePushImpl.computePullFromWhere).
"""
CONSUME_FROM_WHERE: Final[tuple[ConsumeFromWhere, ...]] = get_args(ConsumeFromWhere)

REMOTING: Final = "REMOTING"
GRPC: Final = "GRPC"
"""The protocol of a client: RocketMQ's own, or gRPC, which only a Proxy speaks (ChannelProtocolType)."""
Protocol = Literal["REMOTING", "GRPC"]
PROTOCOLS: Final[tuple[Protocol, ...]] = get_args(Protocol)
DEFAULT_PROTOCOL: Final = REMOTING
CONSUME_PASSIVELY: Final = "CONSUME_PASSIVELY"
CONSUME_ACTIVELY: Final = "CONSUME_ACTIVELY"
"""The types that push consumers and lite pull consumers report (ConsumeType)."""

CLUSTER_MODE: Final = "CLUSTER"
LOCAL_MODE: Final = "LOCAL"
"""A Proxy is a separate process, or part of a broker (ProxyMode)."""
ProxyMode = Literal["CLUSTER", "LOCAL"]
PROXY_MODES: Final[tuple[ProxyMode, ...]] = get_args(ProxyMode)

PROXY_UNNAMED: Final = "PROXY_UNNAMED"
OFFSETS_MOVE: Final = "OFFSETS_MOVE"
PROXIES_SILENT: Final = "PROXIES_SILENT"
NOT_TOLD: Final = "NOT_TOLD"
UnseenClients = Literal["PROXY_UNNAMED", "OFFSETS_MOVE", "PROXIES_SILENT", "NOT_TOLD"]
"""Why a group without known clients may still have some: a Proxy works in the cluster, but none is named; the group's
offsets move, but no Proxy is named; Proxies are named, but none of them answered; brokers did not answer who they are.
"""

PULL: Final = "PULL"
"""The request mode in which clients divide the queues themselves; the other one is POP (MessageRequestMode)."""
RequestMode = Literal["PULL", "POP"]
REQUEST_MODES: Final[tuple[RequestMode, ...]] = get_args(RequestMode)
DEFAULT_REQUEST_MODE: Final = PULL
"""BrokerConfig.defaultMessageRequestMode."""
DEFAULT_POP_SHARE: Final = -1
"""BrokerConfig.defaultPopShareQueueNum: a client pops every queue."""
ASSIGNED_BY_BROKERS: Final = frozenset({AVG, AVG_BY_CIRCLE})
"""The strategies by which brokers assign queues to clients that pop; to a client with another one they assign none
(QueryAssignmentProcessor.doLoadBalance)."""
NOT_ASSIGNED_BY_BROKERS: Final = frozenset({*CLIENT_STRATEGIES, MACHINE_ROOM_NEARBY}) - ASSIGNED_BY_BROKERS
"""The other official ones. What a class of a deployment's own is called there is not known."""

BUSINESS: Final = "BUSINESS"
SYSTEM: Final = "SYSTEM"
EXCLUDED: Final = "EXCLUDED"
RETRY: Final = "RETRY"
DLQ: Final = "DLQ"
LMQ: Final = "LMQ"
"""Kinds of topics; groups are BUSINESS, SYSTEM or EXCLUDED."""
RETRY_PREFIX: Final = "%RETRY%"
DLQ_PREFIX: Final = "%DLQ%"
LMQ_PREFIX: Final = "%LMQ%"
"""Prefixes of the names of topics of these kinds (MixAll)."""

PERM_READ: Final = 4
PERM_WRITE: Final = 2
PERM_INHERIT: Final = 1
READ_WRITE: Final = PERM_READ | PERM_WRITE
PERM_BITS: Final = READ_WRITE | PERM_INHERIT
"""PermName."""

MASTER: Final = "MASTER"
MASTERLESS: Final = "MASTERLESS"
ABSENT: Final = "ABSENT"
"""States of a broker name in a snapshot."""

FIFO: Final = "FIFO"
PRIORITY: Final = "PRIORITY"
LITE: Final = "LITE"
"""Message types (TopicMessageType; PRIORITY from 5.4 on, LITE from 5.5 on)."""

LOGICAL_BROKER_PREFIX: Final = "__syslo__"
"""Static topics are on a logical broker with such a name (MixAll.LOGICAL_QUEUE_MOCK_BROKER_PREFIX)."""

BROKER: Final = "BROKER"
ROOM: Final = "ROOM"
BUSIEST_CLIENT: Final = "BUSIEST_CLIENT"
ONE_FEWER: Final = "ONE_FEWER"
ONE_MORE: Final = "ONE_MORE"
"""Failures that are always computed: a broker, a machine room, a group's busiest client, its last one; and one more."""
MASTER_LOST: Final = "MASTER"
RESTART: Final = "RESTART"
NAME_SERVER_LOST: Final = "NAME_SERVER"
"""Failures of the cluster: a master whose slaves stay, a broker that starts again, a name server."""

EVERY_QUEUE: Final = -1
"""The queue id that RocketMQ writes if a consumer pops all queues of a broker (QueryAssignmentProcessor)."""

# ----------------------------------------------------------------------------------------------- words about a plan

INFO: Final = "INFO"
WARNING: Final = "WARNING"
CRITICAL: Final = "CRITICAL"
Severity = Literal["CRITICAL", "WARNING", "INFO"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
"""Worst first."""

UNDER: Final = "UNDER_PROVISIONED"
RIGHT: Final = "RIGHT_PROVISIONED"
OVER: Final = "OVER_PROVISIONED"
UNDECIDED: Final = "UNDECIDED"
ENOUGH: Final = "ENOUGH"
TOO_FEW: Final = "TOO_FEW"
ProvisionStatus = Literal["UNDER_PROVISIONED", "RIGHT_PROVISIONED", "OVER_PROVISIONED", "UNDECIDED"]
PROVISION_STATUSES: Final[tuple[ProvisionStatus, ...]] = get_args(ProvisionStatus)

READ: Final = "READ"
UNREAD: Final = "UNREAD"
TWICE: Final = "TWICE"
UNKNOWN: Final = "UNKNOWN"
ReadingStatus = Literal["READ", "UNREAD", "TWICE", "UNKNOWN"]
"""Whether every readable queue of a group has a reader, and how many."""

ScaleDownCode = Literal[
    "NOTHING_TO_DIVIDE",
    "TOO_FEW_STORED_DAYS",
    "TOO_FEW_CLIENTS",
    "NOT_ALL_READ_ONCE",
    "TOO_BUSY_WITHOUT_SOME",
    "LOSS_NOT_SURVIVED",
    "RATES_DISAGREE",
    "UNDECIDED",
]
"""What forbids that a group runs fewer clients, beside the findings of rules."""
BoundsConfidence = Literal["HIGH", "MEDIUM", "LOW"]
ReasonCode = Literal[
    "BUSIEST_TOO_BUSY",
    "LAG_GROWS",
    "FITS",
    "FEWER_ARE_ENOUGH",
    "NO_CLIENTS",
    "CLIENTS_UNKNOWN",
    "SNAPSHOT_INCOMPLETE",
    "FACTS_MISSING",
]
"""Why a group has its provision status."""

Goal = Literal[
    "NOTHING_UNREAD",
    "NO_ORPHAN",
    "ORDER_KEPT",
    "CAPACITY_AT_PEAK",
    "SURVIVES_LOSS",
    "EVEN_LOAD",
    "NO_IDLE",
    "LITTLE_CHURN",
    "SAME_ROOM",
]
GOALS: Final[tuple[Goal, ...]] = get_args(Goal)
"""What the score asks of a group and of the cluster, the most important first."""
HARD_GOALS: Final = frozenset(GOALS[:5])
"""Goals that are kept or broken. The others are kept more or less."""

HeadroomKind = Literal["GROUP", "TOPIC", "BROKER"]
UTILISATION: Final = "UTILISATION"
PUT_MESSAGES: Final = "PUT_MESSAGES"
PUT_BYTES: Final = "PUT_BYTES"
DISK: Final = "DISK"
MAX_LAG: Final = "MAX_LAG"
Breaks = Literal["UTILISATION", "MAX_LAG", "PUT_MESSAGES", "PUT_BYTES", "DISK"]
"""What breaks first when traffic grows: UTILISATION, if the busiest client of a group goes above its bound; MAX_LAG, if
messages of a group wait longer than its `max_lag_s`; PUT_MESSAGES and PUT_BYTES, if a broker has to store more than it
can; DISK, if it has to delete messages early."""
TOLD: Final = "TOLD"
SEEN: Final = "SEEN"

LOOKING: Final = frozenset({
    "brokerConsumeStats",
    "brokerStatus",
    "clusterList",
    "consumerConnection",
    "consumerProgress",
    "consumerStatus",
    "getBrokerConfig",
    "getConsumerConfig",
    "producer",
    "producerConnection",
    "statsAll",
    "topicClusterList",
    "topicList",
    "topicRoute",
    "topicStatus",
})
"""Commands of mqadmin that change nothing (org.apache.rocketmq.tools.command)."""


def filter_text(expression_type: str | None, expression: str | None) -> str:
    """A filter as a text to compare, with RocketMQ's defaults for unknown parts; tags in any order are the same.

    Source: FilterAPI.buildSubscriptionData, rocketmq-all-5.3.3.
    """
    kind, passes = expression_type or TAG, expression or EVERY_MESSAGE
    if kind == TAG and passes != EVERY_MESSAGE:
        passes = " || ".join(sorted({tag.strip() for tag in passes.split("||")} - {""})) or EVERY_MESSAGE
    return f"{kind} {passes}"


def changes_cluster(command: str) -> bool:
    """Whether a command line, also one in a comment, may change the cluster. An unknown command may."""
    words = command.removeprefix("#").split()
    return len(words) > 1 and words[0] == "mqadmin" and words[1] not in LOOKING


INNER_PRODUCER: Final = "CLIENT_INNER_PRODUCER"
"""MixAll.CLIENT_INNER_PRODUCER_GROUP: every Java client has this producer of its own, and sends no business with it."""


def java_order(text: str) -> bytes:
    """A key that sorts like Java's ``String.compareTo``: by UTF-16 code units, not by code points."""
    return text.encode("utf-16-be", "surrogatepass")


def distinct(names: Iterable[str]) -> list[str]:
    """The different names, in Java's order."""
    return sorted(set(names), key=java_order)


def is_broadcasting(message_model: str | None) -> bool:
    """Whether every consumer of a group reads every queue; None is a model that no client reported."""
    return (message_model or DEFAULT_MESSAGE_MODEL) == BROADCASTING


def is_clustering(message_model: str | None) -> bool:
    """Whether the consumers of a group divide its queues; None is a model that no client reported."""
    return (message_model or DEFAULT_MESSAGE_MODEL) == CLUSTERING


def knows_rooms(strategy: str) -> bool:
    """Whether a strategy looks at the machine rooms of brokers or clients. All others divide queues without them."""
    return strategy.startswith(MACHINE_ROOM)


def own_perm(route_perm: int | None, broker_perm: int | None) -> int | None:
    """A topic's own perm on a broker; None where it is unknown.

    The route's perm is the topic's and the broker's together: where a bit is missing, the broker may be what lacks it.
    """
    is_own = READ_WRITE in ((route_perm or 0) & READ_WRITE, (broker_perm or 0) & READ_WRITE)
    return route_perm if is_own else None


def is_readable(perm: int | None, read_queue_nums: int | None) -> bool:
    """Whether consumers see a topic's queues on a broker. RocketMQ does not check that a master is alive.

    Source: MQClientInstance.topicRouteData2TopicSubscribeInfo.
    """
    return bool((perm or 0) & PERM_READ and read_queue_nums)


def is_open(perm: int | None) -> bool:
    """Whether consumers read and producers write, as far as it is known."""
    return perm is None or perm & READ_WRITE == READ_WRITE


def is_write_only(perm: int | None) -> bool:
    """Whether producers see a topic's queues on a broker, and consumers none."""
    return perm is not None and perm & READ_WRITE == PERM_WRITE


# Timers of RocketMQ 5.3.3 that no setting of a cluster tells, in seconds.

CLIENT_FORGOTTEN_S: Final = 120.0 + 10.0
"""When a broker has forgotten a silent client, at worst: BrokerConfig.channelExpiredTimeout after the last heartbeat,
and one scan (ClientHousekeepingService)."""
BROKER_EXPIRED_S: Final = 120.0
"""RouteInfoManager.DEFAULT_BROKER_CHANNEL_EXPIRED_TIME: a name server expires a broker this long after it last
registered."""
NAMESERVER_SCAN_S: Final = 5.0
"""NamesrvConfig.scanNotActiveBrokerInterval: how often it looks; 10 s before 5.0."""
BROKER_FORGOTTEN_S: Final = BROKER_EXPIRED_S + NAMESERVER_SCAN_S
"""When a name server has forgotten a silent broker, at worst. It forgets a killed broker at once
(BrokerHousekeepingService.onChannelClose), and a broker that becomes read-only registers at once
(AdminBrokerProcessor.updateBrokerConfig)."""
REQUEST_S: Final = 3.0
"""ClientConfig.mqClientApiTimeout: the most that a request of a client takes."""
FIRST_PULL_S: Final = 0.5
"""RebalanceImpl.updateProcessQueueTableInRebalance: a new reader first pulls this long after its rebalance."""
LOCK_RENEWAL_S: Final = 20.0
"""ProcessQueue.REBALANCE_LOCK_INTERVAL: how often a client that consumes in order locks its queues anew."""
