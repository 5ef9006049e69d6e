"""RocketMQ's words and this product's own. Each name is here once; every list of names is derived from here.

Source: classes of rocketmq-all-5.3.3, named at each entry.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

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
CONSUME_ACTIVELY: Final = "CONSUME_ACTIVELY"
"""The type that a lite pull consumer reports (ConsumeType)."""

CLUSTER_MODE: Final = "CLUSTER"
LOCAL_MODE: Final = "LOCAL"
"""A Proxy is a separate process, or part of a broker (ProxyMode)."""
ProxyMode = Literal["CLUSTER", "LOCAL"]
PROXY_MODES: Final[tuple[ProxyMode, ...]] = get_args(ProxyMode)

PROXY_UNNAMED: Final = "PROXY_UNNAMED"
OFFSETS_MOVE: Final = "OFFSETS_MOVE"
PROXIES_SILENT: Final = "PROXIES_SILENT"
UnseenClients = Literal["PROXY_UNNAMED", "OFFSETS_MOVE", "PROXIES_SILENT"]
"""Why a group without known clients may still have some: a Proxy works in the cluster, but none is named; the group's
offsets move, but no Proxy is named; Proxies are named, but none of them answered."""

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


@dataclass(frozen=True, slots=True)
class Wording:
    """A rule or an action: a title for people, and what it means."""

    title: str
    meaning: str


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

HeadroomKind = Literal["GROUP", "TOPIC", "BROKER"]
UTILISATION: Final = "UTILISATION"
PUT_MESSAGES: Final = "PUT_MESSAGES"
PUT_BYTES: Final = "PUT_BYTES"
DISK: Final = "DISK"
Breaks = Literal["UTILISATION", "PUT_MESSAGES", "PUT_BYTES", "DISK"]
"""What breaks first when traffic grows: UTILISATION, if the busiest client of a group goes above its bound;
PUT_MESSAGES and PUT_BYTES, if a broker has to store more than it can; DISK, if it has to delete messages early."""
TOLD: Final = "TOLD"
SEEN: Final = "SEEN"

Rule = Literal[
    "ALLOCATION_SKEW",
    "BAD_VERSION",
    "CLIENT_MEMORY",
    "CLIENT_OUTLIER",
    "BROKER_DISK",
    "BROKER_LOSS",
    "CONSUMER_CAPACITY",
    "CROSS_ROOM",
    "CROSS_TOPIC_SKEW",
    "DUPLICATE_CLIENT_ID",
    "FIFO_BROKEN",
    "HOT_QUEUE",
    "IDLE_CONSUMERS",
    "LAG_SKEW",
    "LAG_STATE",
    "MEMBERSHIP_DISAGREEMENT",
    "MIXED_STRATEGIES",
    "NAMESERVER_DISAGREEMENT",
    "ORPHAN_QUEUE",
    "PERMANENT_DISPLACEMENT",
    "READ_LESS_THAN_WRITE",
    "READ_ONLY_IDLE",
    "RETENTION_RISK",
    "RETRY_PRESSURE",
    "ROOM_STARVATION",
    "SLAVE_DRIFT",
    "SNAPSHOT_INCOMPLETE",
    "STALE_OBJECT",
    "STUCK_QUEUE",
    "SUBSCRIPTION_MISMATCH",
    "SUSPECT_SNAPSHOT",
    "TOPIC_COVERAGE",
    "TOPIC_UNREAD",
    "TRAFFIC_SKEW",
]
RULES: Final[tuple[Rule, ...]] = get_args(Rule)
RULE_WORDS: Final[dict[str, Wording]] = {
    "SUSPECT_SNAPSHOT": Wording(
        "The snapshot itself is doubtful",
        "Many groups are flagged for the first time at once. More likely the snapshot is wrong than the cluster.",
    ),
    "SNAPSHOT_INCOMPLETE": Wording(
        "Some facts could not be read",
        "A broker did not answer every request. What depends on the answers is unknown: it may be fine or not.",
    ),
    "ORPHAN_QUEUE": Wording(
        "Queues that nobody reads",
        "Messages arrive in these queues, but no consumer of the group owns them. They wait until one does.",
    ),
    "DUPLICATE_CLIENT_ID": Wording(
        "Consumers that share one client id",
        "RocketMQ knows consumers by their client id. Consumers with the same id get the same queues. These queues are "
        "read twice, and nobody reads the queues that the other consumers should have.",
    ),
    "SUBSCRIPTION_MISMATCH": Wording(
        "Consumers of one group that subscribe differently",
        "RocketMQ divides every topic among all consumers of a group. If a consumer does not subscribe to a topic, "
        "nobody reads its share. If it filters differently, the group skips messages for good.",
    ),
    "MIXED_STRATEGIES": Wording(
        "Consumers of one group that divide the queues differently",
        "Each consumer computes its share by itself. With different strategies shares overlap or leave gaps.",
    ),
    "FIFO_BROKEN": Wording(
        "Order that is not kept",
        "Messages of one key should be handled one after the other. Consumers that do not consume in order handle them "
        "in parallel. Consumers that do consume in order read nothing from a broker without a master.",
    ),
    "READ_LESS_THAN_WRITE": Wording(
        "Queues that are written but cannot be read",
        "A topic with fewer read queues than write queues takes messages that no consumer ever sees.",
    ),
    "RETENTION_RISK": Wording(
        "Unread messages close to deletion",
        "A broker deletes old files, also if they were not read. A group this far behind is about to lose messages.",
    ),
    "STUCK_QUEUE": Wording(
        "Queues that a consumer holds and does not read",
        "A consumer holds these queues, but does not read on. Meanwhile no other consumer of its group may read them.",
    ),
    "CLIENT_OUTLIER": Wording(
        "A consumer far worse than its peers",
        "It does the same work as the others of its group, but far slower, with far fewer threads, or with far more "
        "failures. Its share of the messages waits for it.",
    ),
    "LAG_STATE": Wording(
        "A backlog that does not shrink",
        "Over the last samples the group did not catch up with what is written.",
    ),
    "CONSUMER_CAPACITY": Wording(
        "Consumers too busy, or more than needed",
        "Response times and threads say how many messages a second a consumer can handle. The busiest one limits its "
        "group.",
    ),
    "BROKER_LOSS": Wording(
        "What the loss of one broker would do",
        "If this broker is lost, the remaining brokers get its share of the messages.",
    ),
    "BROKER_DISK": Wording(
        "Brokers whose disk fills",
        "Above its limits a broker first deletes messages early, then refuses new ones.",
    ),
    "NAMESERVER_DISAGREEMENT": Wording(
        "Name servers that disagree on where topics are",
        "A client uses one name server of its list. Consumers that use different ones divide different queues.",
    ),
    "SLAVE_DRIFT": Wording(
        "Slaves that lack what their masters have",
        "If a slave replaces its master, the broker has only the slave's topics and groups. What it lacks is lost.",
    ),
    "MEMBERSHIP_DISAGREEMENT": Wording(
        "Brokers that disagree on who belongs to a group",
        "A consumer asks one broker, chosen at random, for the group's members. If brokers answer differently, the "
        "shares overlap or leave gaps.",
    ),
    "TOPIC_UNREAD": Wording(
        "Topics that are written and that nobody reads",
        "Producers send messages to which no group subscribes. They fill the disks and are deleted unread.",
    ),
    "TOPIC_COVERAGE": Wording(
        "Brokers without topics, or topics in too few places",
        "A topic on a single broker is lost with that broker. A broker without topics takes no load from the others.",
    ),
    "RETRY_PRESSURE": Wording(
        "Many messages fail and are delivered again",
        "Consumers fail on many messages. These are delivered again, and in the end go to the dead-letter topic.",
    ),
    "HOT_QUEUE": Wording(
        "A queue that gets far more than its share",
        "Producers send most messages to few queues, often because of the key that they choose. Another division of "
        "the queues does not help.",
    ),
    "TRAFFIC_SKEW": Wording(
        "Messages shared out unevenly",
        "One consumer gets far more messages a second than the average, and limits what the group can do.",
    ),
    "LAG_SKEW": Wording(
        "A backlog of few consumers",
        "Most unread messages wait on the queues of few consumers, while others have nothing to do.",
    ),
    "ALLOCATION_SKEW": Wording(
        "Queues shared out unevenly",
        "Some consumers own at least two queues more than others, although a more even division exists.",
    ),
    "CROSS_TOPIC_SKEW": Wording(
        "Uneven once all topics are added up",
        "Every topic is divided as evenly as it can be, but its remainder goes to the same consumers each time.",
    ),
    "ROOM_STARVATION": Wording(
        "A machine room that gets nothing to read",
        "Queues are divided by machine room, and consumers of this room get none, or almost none.",
    ),
    "CROSS_ROOM": Wording(
        "Queues read from another machine room",
        "Their messages cross the link between the rooms, which is slower and may cost money.",
    ),
    "READ_ONLY_IDLE": Wording(
        "Consumers that own only drained, read-only queues",
        "Nothing is written to these queues any more, and everything is read. So these consumers have nothing to do.",
    ),
    "CLIENT_MEMORY": Wording(
        "Consumers that may buffer more than they can hold",
        "A consumer caches messages for each queue that it owns. If all caches are full, they do not fit its memory.",
    ),
    "BAD_VERSION": Wording(
        "Versions with known faults in balancing",
        "A later version of RocketMQ mends how these clients or brokers divide queues or spread messages.",
    ),
    "IDLE_CONSUMERS": Wording(
        "Consumers without a queue",
        "Only one consumer of a group reads a queue at a time. With more consumers than queues, some only wait.",
    ),
    "PERMANENT_DISPLACEMENT": Wording(
        "Producers that may send to a wrong broker for ever",
        "After all brokers of a topic were slow at once, a producer of these versions can give a queue another "
        "broker's name. It keeps that name until the producer restarts.",
    ),
    "STALE_OBJECT": Wording(
        "Topics or groups that nobody uses",
        "Nothing was written and nothing read for a long time.",
    ),
}
"""In the order in which to mend them: orphans, what cannot be read, loss, order, capacity, skew, cost. Names that are
not in `RULES` are reserved: no rule of this version finds them."""
RULE_PRIORITY: Final = {rule: priority for priority, rule in enumerate(RULE_WORDS)}
COUNT_SKEWS: Final[tuple[Rule, ...]] = ("ALLOCATION_SKEW", "CROSS_TOPIC_SKEW")
"""Rules that use numbers of queues."""
CHOICE_RULES: Final[frozenset[Rule]] = frozenset({
    "CONSUMER_CAPACITY",
    "IDLE_CONSUMERS",
    *COUNT_SKEWS,
    "TRAFFIC_SKEW",
    "LAG_SKEW",
})
"""If several actions answer such a finding, they are alternatives: one of them is enough."""

Action = Literal[
    "ADD_BROKER",
    "CHANGE_STRATEGY",
    "CHECK_PRODUCER_KEYS",
    "CREATE_TOPIC_ON_BROKER",
    "EXPAND_QUEUES",
    "FIX_CLIENT_ID",
    "FIX_SUBSCRIPTION",
    "INVESTIGATE",
    "LOWER_PULL_THRESHOLDS",
    "RAISE_CONSUME_THREADS",
    "RAISE_READ_QUEUES",
    "REPLACE_CLIENT",
    "SCALE_CONSUMERS",
    "SHORTEN_CALLS",
    "SHRINK_QUEUES",
    "SWITCH_TO_POP",
]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
ACTION_WORDS: Final[dict[str, Wording]] = {
    "REPLACE_CLIENT": Wording(
        "Replace or restart the slow consumer of {group}", "The others of its group do the same work without trouble."
    ),
    "EXPAND_QUEUES": Wording("Give {topic} more queues", "So that every consumer can own one, evenly."),
    "SHRINK_QUEUES": Wording("Give {topic} fewer queues", "In steps, so that no message is left unread."),
    "SCALE_CONSUMERS": Wording(
        "Change the number of consumers of {group}",
        "As many as the messages need, and not more than can own a queue.",
    ),
    "CHANGE_STRATEGY": Wording(
        "Divide the queues of {group} by another strategy", "A change in the consumers' code, not a command."
    ),
    "SWITCH_TO_POP": Wording(
        "Let {group} read by POP", "The broker then hands out messages one by one; queues are not divided any more."
    ),
    "RAISE_CONSUME_THREADS": Wording(
        "Raise the consume threads of {group}", "A change in the consumers' set-up, not a command."
    ),
    "SHORTEN_CALLS": Wording(
        "Shorten the calls of the listener of {group}", "A change in the consumers' code: what a call waits for."
    ),
    "LOWER_PULL_THRESHOLDS": Wording(
        "Let the consumers of {group} cache fewer messages", "A change in the consumers' set-up, not a command."
    ),
    "FIX_CLIENT_ID": Wording("Give each consumer of {group} its own client id", "A change in the consumers' set-up."),
    "FIX_SUBSCRIPTION": Wording(
        "Let all consumers of {group} read the same messages", "A change in the consumers' code."
    ),
    "RAISE_READ_QUEUES": Wording("Make all written queues of {topic} readable", "As many read queues as write queues."),
    "CREATE_TOPIC_ON_BROKER": Wording(
        "Create {topic} on the brokers that lack it", "RocketMQ does not create it there by itself."
    ),
    "ADD_BROKER": Wording("Add a broker", "The brokers have too little capacity."),
    "CHECK_PRODUCER_KEYS": Wording("Look at the keys that producers of {topic} send by", "They choose the queue."),
    "INVESTIGATE": Wording("Look into {subject}", "The facts show that something is wrong, but not how to mend it."),
}
"""In the order of the page. Names that are not in `ACTIONS` are reserved."""

LOOKING_ACTIONS: Final[frozenset[Action]] = frozenset({"CHECK_PRODUCER_KEYS", "INVESTIGATE"})
"""Actions that change nothing: they find out what to change."""
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


def changes_cluster(command: str) -> bool:
    """Whether a command line, also one in a comment, may change the cluster. An unknown command may."""
    words = command.removeprefix("#").split()
    return len(words) > 1 and words[0] == "mqadmin" and words[1] not in LOOKING


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


def is_readable(perm: int | None, read_queue_nums: int | None) -> bool:
    """Whether consumers see a topic's queues on a broker. RocketMQ does not check that a master is alive.

    Source: MQClientInstance.topicRouteData2TopicSubscribeInfo.
    """
    return bool((perm or 0) & PERM_READ and read_queue_nums)
