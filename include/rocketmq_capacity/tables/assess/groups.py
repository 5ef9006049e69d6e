"""What is computed of each group: its status, its load under each strategy, its possible sizes."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset, Metrics, Queue, one_of
from rocketmq_capacity.vocabulary import UNKNOWN, BoundsConfidence, Breaks, ProvisionStatus, ReadingStatus, ReasonCode


class GroupStatus(Dataset, frozen=True, kw_only=True):
    """A business group at a glance.

    Grain: one row a group.
    Units: consumers and client ids, counted; ``utilisation`` is a ratio, 1 is always busy.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group",)

    consumer_group: Annotated[str, means("name of the consumer group")]
    message_model: Annotated[
        str | None,
        means(
            "CLUSTERING, BROADCASTING or LITE_SELECTIVE; null is judged as CLUSTERING, and at a LITE topic as LITE_SELECTIVE"
        ),
    ] = None
    consume_type: Annotated[
        str | None, means("CONSUME_PASSIVELY (push) or CONSUME_ACTIVELY (pull); null if unknown")
    ] = None
    message_request_mode: Annotated[
        str, one_of("PULL", "POP", "MIXED"), means("PULL, POP, or MIXED if its topics differ")
    ]
    protocol: Annotated[
        str | None,
        one_of("REMOTING", "GRPC", "MIXED"),
        means("of its clients: REMOTING, GRPC, or MIXED if they differ; null without clients"),
    ] = None
    connections: Annotated[Count, means("running consumers; equal client ids count separately")]
    distinct_client_ids: Annotated[Count, means("different client ids")]
    topics: Annotated[tuple[str, ...], means("its business topics")]
    max_useful_clients: Annotated[
        Count | None,
        means(
            "readable queues of its largest pulled topic; more clients than this are idle under AVG and AVG_BY_CIRCLE; null for POP, for gRPC clients, and for groups that are not clustering"
        ),
    ] = None
    provision_status: Annotated[
        ProvisionStatus, means("UNDER_PROVISIONED, RIGHT_PROVISIONED, OVER_PROVISIONED or UNDECIDED")
    ]
    provision_reason: Annotated[str | None, means("why, in words")] = None
    reading_status: Annotated[
        ReadingStatus,
        means(
            "READ, UNREAD (some readable business queue has no reader), TWICE (none is unread, some are read twice) or UNKNOWN"
        ),
    ] = UNKNOWN
    current_strategy: Annotated[
        str | None,
        means("strategy in use, MIXED if clients report different ones; null for groups that are not clustering"),
    ] = None
    current_strategy_source: Annotated[
        str | None,
        one_of("reported", "observed", "policy", "default"),
        means("how that is known: reported, observed, policy or default"),
    ] = None
    utilisation: Annotated[
        Amount | None, means("busy share of its busiest client (incoming / capacity); null if unknown")
    ] = None
    utilisation_lower: Annotated[
        Amount | None, means("the same, if every unknown response time were the shortest known of its topic")
    ] = None
    utilisation_upper: Annotated[
        Amount | None, means("the same, if every unknown response time were the longest known of its topic")
    ] = None
    busiest_client: Annotated[str | None, means("id of its busiest client")] = None
    outlier_clients: Annotated[
        tuple[str, ...], means("ids of clients that do their work far worse than their peers (CLIENT_OUTLIER)")
    ] = ()
    drained_clients: Annotated[
        tuple[str, ...],
        means("ids of clients that own queues only on brokers that take no messages, read to their end"),
    ] = ()
    drained_brokers: Annotated[
        tuple[str, ...], means("these brokers, one entry for each topic there (READ_ONLY_IDLE)")
    ] = ()
    drained_topics: Annotated[tuple[str, ...], means("the topic of each entry")] = ()
    judged_utilisation: Annotated[
        Amount | None,
        means(
            "utilisation with the outliers apart, each taking what the median of its peers takes: provision_status and all sizes judge by it"
        ),
    ] = None
    judged_utilisation_lower: Annotated[Amount | None, means("its lower bound")] = None
    judged_utilisation_upper: Annotated[Amount | None, means("its upper bound")] = None
    peak_factor: Annotated[
        Amount | None,
        means(
            "messages at the peak / the measured rate, at least 1; the verdict is for the peak; null if none were measured"
        ),
    ] = None
    peak_msgs_per_s: Annotated[
        Amount | None,
        means(
            "messages a second at the peak: the highest of the measured rate, the busiest step between samples, and the busy hour (p95) of the stored days; null if unknown"
        ),
    ] = None
    peak_at: Annotated[str | None, means("when the peak was, UTC ISO-8601; null for the moment of the snapshot")] = None
    peak_days: Annotated[Count, means("different days with stored rates of all its topics")] = 0
    peak_rates: Annotated[
        Count, means("rates that were compared: hours of the stored days, and steps between samples")
    ] = 0
    most_msgs_per_s: Annotated[
        Amount | None,
        means(
            "the most messages a second between two samples of the last days; of several topics each one's most in the same hour; null without samples"
        ),
    ] = None
    most_at: Annotated[str | None, means("the begin of that hour, UTC ISO-8601; null without samples")] = None
    is_size_known: Annotated[bool, means("how busy its clients would be can be computed for other numbers of them")] = (
        False
    )
    needed_clients_lower: Annotated[
        Count | None, means("needed_clients_target, if unknown response times were the shortest known")
    ] = None
    needed_clients_target: Annotated[
        Count | None,
        means(
            "smallest number of clients that keeps the busiest one within under_utilisation, as simulated; null if no number is enough, or if unknown"
        ),
    ] = None
    needed_clients_upper: Annotated[
        Count | None, means("needed_clients_target, if unknown response times were the longest known")
    ] = None
    min_safe_clients: Annotated[
        Count | None,
        means(
            "clients that are needed if clients like the median one shared the work evenly, but not fewer "
            "than today while the group falls behind"
        ),
    ] = None
    min_replicas: Annotated[
        Count | None,
        means(
            "the fewest clients that may run: today's, unless scale_down_allowed, and not below the policy's; null without clients"
        ),
    ] = None
    max_replicas: Annotated[
        Count | None,
        means(
            "the most clients that are of use, the policy's standbys included, not below min_replicas; null without such a number"
        ),
    ] = None
    target_replicas: Annotated[
        Count | None, means("clients that keep the busiest within the bound, soon too; null if none do, or if unknown")
    ] = None
    max_useful_replicas: Annotated[
        Count | None,
        means("clients beyond this many own nothing under the strategy in use; null without such a number"),
    ] = None
    scale_down_allowed: Annotated[bool, means("fewer clients may run: the group is OVER_PROVISIONED")] = False
    scale_down_blocked_by: Annotated[
        tuple[str, ...],
        means(
            "what forbids fewer clients: names of rules, then NOTHING_TO_DIVIDE, TOO_FEW_STORED_DAYS, TOO_FEW_CLIENTS, NOT_ALL_READ_ONCE, TOO_BUSY_WITHOUT_SOME, LOSS_NOT_SURVIVED, RATES_DISAGREE or UNDECIDED"
        ),
    ] = ()
    bounds_confidence: Annotated[
        BoundsConfidence, means("HIGH with enough stored days and nothing unknown, MEDIUM without them, else LOW")
    ] = "LOW"
    provision_code: Annotated[ReasonCode, means("provision_reason as a code")] = "FACTS_MISSING"
    headroom_factor: Annotated[
        Amount | None, means("so many times the traffic at the peak until something breaks; null without traffic")
    ] = None
    headroom_measured_factor: Annotated[
        Amount | None, means("so many times the measured traffic until something breaks")
    ] = None
    headroom_breaks: Annotated[
        Breaks | None,
        means(
            "what breaks first: UTILISATION: the busiest client is above under_utilisation; MAX_LAG: messages"
            " wait longer than the group's max_lag_s"
        ),
    ] = None
    traffic_known_days: Annotated[
        Count | None, means("days of which its traffic is known; null if it does not grow for certain")
    ] = None
    traffic_msgs_per_s: Annotated[
        Amount | None, means("messages a second in the busy hours of a week's busiest day, by the trend of these days")
    ] = None
    traffic_per_day_msgs_per_s: Annotated[Amount | None, means("messages a second that come more each day")] = None
    traffic_least_per_day_msgs_per_s: Annotated[Amount | None, means("the same at least, with 95 % confidence")] = None
    traffic_most_per_day_msgs_per_s: Annotated[Amount | None, means("the same at most")] = None
    full_msgs_per_s: Annotated[
        Amount | None, means("messages a second from which on its busiest client is above under_utilisation")
    ] = None
    queues_full_msgs_per_s: Annotated[
        Amount | None,
        means(
            "messages a second from which on as many clients as can own a queue are too few; null if the traffic does not grow for certain, clients can always be added, or that is unknown"
        ),
    ] = None
    provision_doubt: Annotated[
        str | None, means("which fact must be wrong, if clients consume at another rate than messages come")
    ] = None
    pass_ratios: Annotated[
        dict[str, float] | None,
        means("for each topic with a filter, the share of messages that it lets through; null without a filter"),
    ] = None
    unknown_filters: Annotated[tuple[str, ...], means("topics with a filter whose share is unknown")] = ()


class StrategyLoad(Dataset, frozen=True, kw_only=True):
    """The result of a strategy for a group, over its business topics.

    If it throws for a business topic, the owners of that topic are unknown. Then no client is called idle, all metrics
    are null, and the other lists are of the other topics.

    Grain: one row a clustering group and strategy.
    Units: those of METRICS.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "strategy")

    consumer_group: Annotated[str, means("name of the consumer group")]
    strategy: Annotated[str, means("name of the strategy, as getName() gives it, or POP")]
    is_applicable: Annotated[bool, means("RocketMQ would allocate at least some topics by it")]
    reason: Annotated[
        str | None,
        means("why not, or for which topics it throws, in RocketMQ's words if it has some; null if it allocates all"),
    ] = None
    dialects: Annotated[
        tuple[str, ...],
        means(
            "libraries by whose code its clients compute it (GO_V2, JAVA_4_7_1, JAVA for all others); empty "
            "if all compute as the official classes do"
        ),
    ] = ()
    idle_clients: Annotated[tuple[str, ...], means("client ids that own nothing over all business topics")]
    orphan_queues: Annotated[tuple[Queue, ...], means("readable business queues that nobody owns")]
    doubly_owned_queues: Annotated[
        tuple[Queue, ...], means("queues read by more than one consumer (POP does this on purpose, so none is listed)")
    ]
    count: Annotated[Metrics | None, means("METRICS by number of queues")] = None
    traffic: Annotated[Metrics | None, means("METRICS by messages a second")] = None
    lag: Annotated[Metrics | None, means("METRICS by messages of lag")] = None
    moved_one_fewer: Annotated[
        BigCount | None,
        means(
            "queues that get another owner if the last client in Java's order leaves; null if unknown, or for a "
            "single client"
        ),
    ] = None
    moved_one_more: Annotated[BigCount | None, means("the same if a client comes that sorts last")] = None
    moved_broker_lost: Annotated[
        BigCount | None, means("of the queues that stay, the same if the broker is lost whose loss moves most")
    ] = None
    is_pareto_best: Annotated[
        bool | None,
        means(
            "no other strategy is at least as good in queues with no reader or two readers, EXCESS by queues and "
            "moved queues, and better in one of them; null if one of these is unknown"
        ),
    ] = None


class GroupSize(Dataset, frozen=True, kw_only=True):
    """How busy the clients of a group would be with other numbers of them.

    With fewer than today, those leave that handle most messages at once, then the last in Java's order. Additional ones
    are like those that are there. Under MACHINE_ROOM_NEARBY as many stay in each room, and additional ones come where
    most is to do. If a group can use more than a few clients, not every number has a row: today's,
    ``needed_clients_target`` and the most that can own a queue under the strategy in use have one. Groups for which
    other numbers cannot be computed have none.

    Grain: one row a group and number of clients.
    Units: clients, queues; busy shares are ratios at the peak; 1 is always busy.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "clients")

    consumer_group: Annotated[str, means("name of the consumer group")]
    clients: Annotated[Count, means("running consumers")]
    is_today: Annotated[bool, means("the group has this many today")]
    busy_lower: Annotated[Amount | None, means("busy_ratio with the shortest known response times")] = None
    busy_ratio: Annotated[
        Amount | None, means("busy share of the busiest client; null if unknown, or if nobody would own some queues")
    ] = None
    busy_upper: Annotated[Amount | None, means("busy_ratio with the longest known response times")] = None
    idle_clients: Annotated[Count, means("client ids that would own no queue")]
    most_queues: Annotated[Count, means("the most queues that a client would own")]
    peak: Annotated[
        Amount | None, means("most_queues / the mean; null if clients share queues, or there are no queues")
    ] = None


class VersionFault(Dataset, frozen=True, kw_only=True):
    """Java clients whose version has a known fault that can affect their group.

    Grain: one row a group, version and fault.
    Units: clients.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "version", "issue")

    consumer_group: Annotated[str, means("name of the consumer group")]
    version: Annotated[str, means("version of the client library, such as V4_8_0")]
    issue: Annotated[Count, means("number of the fault's issue of apache/rocketmq")]
    clients: Annotated[Count, means("client ids of this version that the fault can affect")]
    client_ids: Annotated[tuple[str, ...], means("the first of them in Java's order, at most 50")]
