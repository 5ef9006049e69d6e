"""RocketMQ's words and this product's own: each name once; every list of names is derived from here.

Source: classes of rocketmq-all-5.3.3, named at each entry.
"""

from typing import Final, Literal, get_args

# --------------------------------------------------------------------------------- strategies, as getName() says them

AVG: Final = "AVG"
AVG_BY_CIRCLE: Final = "AVG_BY_CIRCLE"
CONFIG: Final = "CONFIG"
MACHINE_ROOM: Final = "MACHINE_ROOM"
MACHINE_ROOM_NEARBY: Final = "MACHINE_ROOM_NEARBY"
"""What a client reports; the strategy inside a room, which it does not report, follows after a hyphen."""
MACHINE_ROOM_NEARBY_AVG: Final = "MACHINE_ROOM_NEARBY-AVG"
CONSISTENT_HASH: Final = "CONSISTENT_HASH"
POP: Final = "POP"
"""Both a strategy, the broker's own, and a request mode."""

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
"""What clients can be set to run."""
Strategy = Literal[ClientStrategy, "POP"]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)
"""What a policy may name."""

MIXED: Final = "MIXED"
"""Clients of a group report different strategies, or its topics have different request modes."""

# ----------------------------------------------------------------------------------------- groups, topics and brokers

CLUSTERING: Final = "CLUSTERING"
BROADCASTING: Final = "BROADCASTING"
"""A message model, and the strategy under which `allocation` lists the groups that have it."""
LITE_SELECTIVE: Final = "LITE_SELECTIVE"
"""The message model of a group that is bound to a LITE topic (MessageModel, rocketmq-all-5.5.0)."""
MessageModel = Literal["CLUSTERING", "BROADCASTING", "LITE_SELECTIVE"]
MESSAGE_MODELS: Final[tuple[MessageModel, ...]] = get_args(MessageModel)
DEFAULT_MESSAGE_MODEL: Final = CLUSTERING
"""DefaultMQPushConsumer.messageModel."""

REMOTING: Final = "REMOTING"
GRPC: Final = "GRPC"
"""The protocol of a client: RocketMQ's own, or gRPC, which a Proxy alone speaks (ChannelProtocolType)."""
Protocol = Literal["REMOTING", "GRPC"]
PROTOCOLS: Final[tuple[Protocol, ...]] = get_args(Protocol)
DEFAULT_PROTOCOL: Final = REMOTING

CLUSTER_MODE: Final = "CLUSTER"
LOCAL_MODE: Final = "LOCAL"
"""A Proxy is a process of its own, or part of a broker's (ProxyMode)."""
ProxyMode = Literal["CLUSTER", "LOCAL"]
PROXY_MODES: Final[tuple[ProxyMode, ...]] = get_args(ProxyMode)

PROXY_UNNAMED: Final = "PROXY_UNNAMED"
OFFSETS_MOVE: Final = "OFFSETS_MOVE"
PROXIES_SILENT: Final = "PROXIES_SILENT"
UnseenClients = Literal["PROXY_UNNAMED", "OFFSETS_MOVE", "PROXIES_SILENT"]
"""Why a group without known clients may have some: a Proxy works in the cluster and none is named; the group's offsets
move and no Proxy is named; Proxies are named and none of them answered."""

PULL: Final = "PULL"
"""The request mode in which clients divide the queues themselves; the other one is POP (MessageRequestMode)."""
RequestMode = Literal["PULL", "POP"]
REQUEST_MODES: Final[tuple[RequestMode, ...]] = get_args(RequestMode)
DEFAULT_REQUEST_MODE: Final = PULL
"""BrokerConfig.defaultMessageRequestMode."""
DEFAULT_POP_SHARE: Final = -1
"""BrokerConfig.defaultPopShareQueueNum: a client pops every queue."""

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
"""Names of topics of these kinds begin so (MixAll)."""

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
"""A message type (TopicMessageType)."""

LOGICAL_BROKER_PREFIX: Final = "__syslo__"
"""Static topics stand on a logical broker of such a name (MixAll.LOGICAL_QUEUE_MOCK_BROKER_PREFIX)."""

EVERY_QUEUE: Final = -1
"""The queue id that RocketMQ writes where a consumer pops all queues of a broker (QueryAssignmentProcessor)."""

# --------------------------------------------------------------------------------------------- what is said of a plan

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
ProvisionStatus = Literal["UNDER_PROVISIONED", "RIGHT_PROVISIONED", "OVER_PROVISIONED", "UNDECIDED"]
PROVISION_STATUSES: Final[tuple[ProvisionStatus, ...]] = get_args(ProvisionStatus)

Rule = Literal[
    "ALLOCATION_SKEW",
    "CONSUMER_CAPACITY",
    "CROSS_TOPIC_SKEW",
    "DUPLICATE_CLIENT_ID",
    "HOT_QUEUE",
    "IDLE_CONSUMERS",
    "LAG_SKEW",
    "LAG_STATE",
    "MEMBERSHIP_DISAGREEMENT",
    "MIXED_STRATEGIES",
    "ORPHAN_QUEUE",
    "READ_LESS_THAN_WRITE",
    "READ_ONLY_IDLE",
    "RETENTION_RISK",
    "RETRY_PRESSURE",
    "SNAPSHOT_INCOMPLETE",
    "SUBSCRIPTION_MISMATCH",
    "SUSPECT_SNAPSHOT",
    "TOPIC_COVERAGE",
    "TRAFFIC_SKEW",
]
RULES: Final[tuple[Rule, ...]] = get_args(Rule)
COUNT_SKEWS: Final[tuple[Rule, ...]] = ("ALLOCATION_SKEW", "CROSS_TOPIC_SKEW")
"""Those that look at numbers of queues."""

Action = Literal[
    "CHANGE_STRATEGY",
    "CHECK_PRODUCER_KEYS",
    "CREATE_TOPIC_ON_BROKER",
    "EXPAND_QUEUES",
    "FIX_CLIENT_ID",
    "FIX_SUBSCRIPTION",
    "INVESTIGATE",
    "RAISE_CONSUME_THREADS",
    "RAISE_READ_QUEUES",
    "SCALE_CONSUMERS",
    "SWITCH_TO_POP",
]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)


def java_order(text: str) -> bytes:
    """A key that sorts as Java's ``String.compareTo``: by UTF-16 code units, not by code points."""
    return text.encode("utf-16-be", "surrogatepass")


def is_broadcasting(message_model: str | None) -> bool:
    """Whether every consumer of a group reads every queue; None is a model that nobody reported."""
    return (message_model or DEFAULT_MESSAGE_MODEL) == BROADCASTING


def is_clustering(message_model: str | None) -> bool:
    """Whether the consumers of a group share its queues out; None is a model that nobody reported."""
    return (message_model or DEFAULT_MESSAGE_MODEL) == CLUSTERING


def is_readable(perm: int | None, read_queue_nums: int | None) -> bool:
    """Whether consumers see a topic's queues on a broker; nobody checks that a master is alive.

    Source: MQClientInstance.topicRouteData2TopicSubscribeInfo.
    """
    return bool((perm or 0) & PERM_READ and read_queue_nums)
