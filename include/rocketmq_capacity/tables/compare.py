"""What a what-if changes: groups, findings, and how it goes on for producers."""

from typing import Annotated, ClassVar

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.assess.findings import Finding
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset, Metrics, Ratio, one_of


class ScenarioEffect(Dataset, frozen=True, kw_only=True):
    """What a scenario does to a group under a strategy; only a what-if has it.

    There is a row for each strategy that can run after the changes. If it could not run before, moved_* and before_* are
    null. If it throws for a business topic, the figures of that side are null; moved_* are null if the owners that the
    topic keeps are unknown.

    Grain: one row a group and strategy.
    Units: queues and client ids, counted; ``moved_ratio`` from 0 to 1.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "strategy")

    consumer_group: Annotated[str, means("name of the consumer group")]
    strategy: Annotated[str, means("name of the strategy, as getName() gives it, or POP")]
    moved_queues: Annotated[
        Count | None, means("business queues that are there before and after, and whose owner differs")
    ] = None
    moved_ratio: Annotated[
        Ratio | None, means("moved_queues / business queues present before and after; null if there are none")
    ] = None
    before_idle: Annotated[Count | None, means("client ids that owned nothing before")] = None
    before_count: Annotated[Metrics | None, means("METRICS by queues before")] = None
    before_traffic: Annotated[Metrics | None, means("METRICS by messages a second before")] = None
    after_idle: Annotated[Count | None, means("client ids that own nothing after")] = None
    after_count: Annotated[Metrics | None, means("METRICS by queues after")] = None
    after_traffic: Annotated[Metrics | None, means("METRICS by messages a second after")] = None


class ScenarioGroup(Dataset, frozen=True, kw_only=True):
    """What a scenario does to a group as it runs today; only a what-if has it, and only for groups that it changes.

    Grain: one row a group.
    Units: queues, findings and messages, counted; utilisation is a ratio, 1 is always busy.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group",)

    consumer_group: Annotated[str, means("name of the consumer group")]
    verdict: Annotated[
        str,
        one_of("BETTER", "WORSE", "UNCHANGED", "UNDECIDED"),
        means("BETTER, WORSE, UNCHANGED or UNDECIDED, by capacity, reachability and loss"),
    ]
    reasons: Annotated[
        tuple[str, ...],
        means("what the verdict is based on: CAPACITY (busiest client at the peak), REACHABILITY, LOSS"),
    ]
    why: Annotated[str, means("the same in words; empty if nothing that matters changes")]
    before_utilisation: Annotated[Amount | None, means("busy share of its busiest client before")] = None
    after_utilisation: Annotated[Amount | None, means("busy share of its busiest client after")] = None
    before_peak_utilisation: Annotated[Amount | None, means("the same at the peak, before")] = None
    after_peak_utilisation: Annotated[Amount | None, means("the same at that peak, after")] = None
    is_over_bound: Annotated[
        bool | None, means("the busiest client exceeds the policy's bound after; null if unknown")
    ] = None
    before_clients: Annotated[Count, means("consumers before")]
    after_clients: Annotated[Count, means("consumers after")]
    before_queues: Annotated[Count, means("readable queues of its business topics before")]
    after_queues: Annotated[Count, means("readable queues of its business topics after")]
    unread_queues: Annotated[
        Count | None,
        means("queues that nobody reads only after the changes, if clients are left; null if owners are unknown"),
    ] = None
    waiting_messages: Annotated[
        BigCount | None,
        means("messages not read on queues that are gone, or that nobody reads any more; null if unknown"),
    ] = None
    unreadable_topics: Annotated[tuple[str, ...], means("topics of which consumers see no queue any more, sorted")] = ()
    unwritable_topics: Annotated[tuple[str, ...], means("topics of which producers see no queue any more, sorted")] = ()
    before_lag: Annotated[BigCount | None, means("messages not read before; null if unknown")] = None
    after_lag: Annotated[
        BigCount | None, means("messages not read after, on the queues that are left; null if unknown")
    ] = None
    moved_queues: Annotated[
        Count | None,
        means("queues that are there before and after, and whose owner differs; null if an owner is unknown"),
    ] = None
    findings_added: Annotated[Count, means("findings that only the changed cluster has")]
    findings_cleared: Annotated[Count, means("findings that were judged again on the same facts, and are gone")]
    findings_undecided: Annotated[Count, means("findings that can no longer be judged")]


class UndecidedFinding(Finding, frozen=True, kw_only=True):
    """Findings of the cluster as it is that can no longer be judged after the changes, or are gone with what they are about; only a what-if has it.

    Grain: one row a finding.
    Units: those of the figures in ``evidence`` are in their names.
    """

    KEY: ClassVar[tuple[str, ...]] = ("rule", "consumer_group", "topic", "broker_name")

    why: Annotated[str, means("what is unknown after the changes, in words")]
    gone_with: Annotated[
        str | None,
        means("topic, broker, room, subscription or client that it is about and that the changes take away; else null"),
    ] = None


class ProducerRoute(Dataset, frozen=True, kw_only=True):
    """The business topics that have queues on a broker which a scenario makes slow, read-only or lost.

    Topics with the same writable queues on the same brokers share one route. Their producers do the same. Only a
    what-if has this dataset.

    Grain: one row a topic.
    Units: messages a second.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, means("name of the topic")]
    route: Annotated[
        Count | None, means("number of its route; null if its queues are unknown, or the route is left out")
    ] = None
    put_msgs_per_s: Annotated[Amount | None, means("messages a second written to it; null if unknown")] = None


class ProducersOf(Struct, frozen=True, kw_only=True):
    """A kind of producers."""

    client: Annotated[
        str, one_of("JAVA", "PROXY"), means("JAVA (the Java client) or PROXY (the Proxy, for gRPC clients)")
    ]
    versions: Annotated[str, means("which versions send alike")]
    has_fault_tolerance: Annotated[
        bool, means("latency fault tolerance is on (sendLatencyFaultEnable; of a Proxy sendLatencyEnable)")
    ]
    has_detector: Annotated[bool, means("the detector of reachability is on (startDetectorEnable)")]
    ending: Annotated[
        str | None,
        one_of("KILL", "SILENT"),
        means(
            "how a lost broker ends: KILL (its process; connections are refused) or SILENT (its machine; "
            "nothing answers); null if none is lost"
        ),
    ] = None
    sending: Annotated[
        str | None,
        one_of("SYNC", "ASYNC", "ONEWAY"),
        means("how a Java client sends, by the policy: SYNC, ASYNC or ONEWAY; null for a Proxy"),
    ] = None
    retries: Annotated[Count | None, means("how often it tries a message again, by the policy; null for a Proxy")] = (
        None
    )
    timeout_ms: Annotated[
        Count | None, means("how long all tries may take together, by the policy; null for ONEWAY and for a Proxy")
    ] = None


class Course(ProducersOf, frozen=True, kw_only=True):
    """What a kind of producers does while brokers are in trouble, on average over its sending threads."""

    trouble_s: Annotated[
        Amount, means("how long the trouble lasts: until brokers are fast, or all producers know the new route")
    ]
    troubled_ratio: Annotated[
        Ratio | None, means("share of the messages in this time that end at a broker in trouble; null without messages")
    ] = None
    failed_ratio: Annotated[Ratio | None, means("share of them that fail for good")] = None
    failed_messages: Annotated[
        Amount | None,
        means("messages of all topics of the route that fail, at the rates of the snapshot; null if one is unknown"),
    ] = None
    last_failed_s: Annotated[Amount | None, means("when the last message that fails begins; null if none fails")] = None
    tries_per_message: Annotated[Amount | None, means("tries of a message in this time")] = None
    mean_latency_ms: Annotated[Amount | None, means("how long a message takes in this time, all tries")] = None
    usual_latency_ms: Annotated[Amount, means("how long a message takes without trouble")]
    returns_mean_s: Annotated[
        Amount | None,
        means("from the end of the slow time until a thread tries the broker again; null if none is slow"),
    ] = None
    returns_worst_s: Annotated[Amount | None, means("of the last thread that comes back")] = None
    stays_away_ratio: Annotated[
        Ratio | None, means("share of the threads that do not come back in the simulation; null if no broker is slow")
    ] = None
    left_worst_s: Annotated[
        Amount | None, means("when the last try at a lost or read-only broker begins; null if there is no such broker")
    ] = None
    displaced_queues: Annotated[
        Amount, means("queues of a thread's list that are displaced until the route changes (#7779)")
    ]
    afterwards_ratios: Annotated[
        dict[str, float], means("for each broker, its share when all is well again; none if nothing is writable")
    ]


class ProducerCourse(Course, Dataset, frozen=True, kw_only=True):
    """What each kind of producers does while a scenario's brokers are slow, read-only or lost. Only a what-if has it.

    Grain: one row a route and kind of producers.
    Units: seconds since the change, milliseconds, shares of the messages.
    """

    KEY: ClassVar[tuple[str, ...]] = ("route", *ProducersOf.__struct_fields__)

    route: Annotated[Count, means("number of the route, as in `producer_route`")]


class ProducerTimeline(ProducersOf, Dataset, frozen=True, kw_only=True):
    """The share of each broker second by second while a scenario's brokers are slow, read-only or lost.

    A message counts where its last try was, in the second in which it begins. If no broker can be written to, messages
    fail without a try, and the shares of the brokers are 0. Only a what-if has it.

    Grain: one row a route, kind of producers, slice of time and broker.
    Units: seconds since the change, milliseconds, shares of the messages that begin in the slice.
    """

    KEY: ClassVar[tuple[str, ...]] = (
        "route",
        *ProducersOf.__struct_fields__,
        "begin_s",
        "broker_name",
    )

    route: Annotated[Count, means("number of the route, as in `producer_route`")]
    begin_s: Annotated[Count, means("when the slice begins")]
    length_s: Annotated[Count, means("how long it is: 1, or more where the table would be too large")]
    broker_name: Annotated[str, means("name of the broker")]
    share_ratio: Annotated[
        Ratio | None, means("messages that end at the broker; null if no message begins in the slice")
    ] = None
    failed_ratio: Annotated[Ratio | None, means("messages that end there and fail for good")] = None
    tries_per_message: Annotated[Amount | None, means("tries at the broker / messages")] = None
    mean_latency_ms: Annotated[
        Amount | None, means("how long the messages take that end there, all tries; null without any")
    ] = None
    thread_msgs_per_s: Annotated[Amount, means("messages that a thread begins, at all brokers together")]
