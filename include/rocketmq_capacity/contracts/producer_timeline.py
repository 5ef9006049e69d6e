"""Datasets ``producer_route``, ``producer_course`` and ``producer_timeline``."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from rocketmq_capacity.contracts.dataset import Amount, Count, Dataset, Ratio, one_of


class ProducerRoute(Dataset, frozen=True, kw_only=True):
    """The business topics that have queues on a broker which a scenario makes slow, read-only or lost.

    Topics with the same writable queues on the same brokers share one route. Their producers do the same. Only a
    what-if has this dataset.

    Grain: one row a topic.
    Units: messages a second.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, Meta(description="name of the topic")]
    route: Annotated[
        Count | None, Meta(description="number of its route; null if its queues are unknown, or the route is left out")
    ] = None
    put_msgs_per_s: Annotated[Amount | None, Meta(description="messages a second written to it; null if unknown")] = (
        None
    )


class ProducersOf(Struct, frozen=True, kw_only=True):
    """A kind of producers."""

    client: Annotated[
        str, one_of("JAVA", "PROXY"), Meta(description="JAVA (the Java client) or PROXY (the Proxy, for gRPC clients)")
    ]
    versions: Annotated[str, Meta(description="which versions send alike")]
    has_fault_tolerance: Annotated[
        bool, Meta(description="latency fault tolerance is on (sendLatencyFaultEnable; of a Proxy sendLatencyEnable)")
    ]
    has_detector: Annotated[bool, Meta(description="the detector of reachability is on (startDetectorEnable)")]
    ending: Annotated[
        str | None,
        one_of("KILL", "SILENT"),
        Meta(
            description="how a lost broker ends: KILL (its process; connections are refused) or SILENT (its machine; "
            "nothing answers); null if none is lost"
        ),
    ] = None


class Course(ProducersOf, frozen=True, kw_only=True):
    """What a kind of producers does while brokers are in trouble, on average over its sending threads."""

    trouble_s: Annotated[
        Amount,
        Meta(description="how long the trouble lasts: until brokers are fast, or all producers know the new route"),
    ]
    troubled_ratio: Annotated[
        Ratio | None,
        Meta(description="share of the messages in this time that end at a broker in trouble; null without messages"),
    ] = None
    failed_ratio: Annotated[Ratio | None, Meta(description="share of them that fail for good")] = None
    failed_messages: Annotated[
        Amount | None,
        Meta(
            description="messages of all topics of the route that fail, at the rates of the snapshot; null if one is unknown"
        ),
    ] = None
    last_failed_s: Annotated[
        Amount | None, Meta(description="when the last message that fails begins; null if none fails")
    ] = None
    tries_per_message: Annotated[Amount | None, Meta(description="tries of a message in this time")] = None
    mean_latency_ms: Annotated[Amount | None, Meta(description="how long a message takes in this time, all tries")] = (
        None
    )
    usual_latency_ms: Annotated[Amount, Meta(description="how long a message takes without trouble")]
    returns_mean_s: Annotated[
        Amount | None,
        Meta(description="from the end of the slow time until a thread tries the broker again; null if none is slow"),
    ] = None
    returns_worst_s: Annotated[Amount | None, Meta(description="of the last thread that comes back")] = None
    stays_away_ratio: Annotated[
        Ratio | None,
        Meta(description="share of the threads that do not come back in the simulation; null if no broker is slow"),
    ] = None
    left_worst_s: Annotated[
        Amount | None,
        Meta(description="when the last try at a lost or read-only broker begins; null if there is no such broker"),
    ] = None
    displaced_queues: Annotated[
        Amount, Meta(description="queues of a thread's list that are displaced until the route changes (#7779)")
    ]
    afterwards_ratios: Annotated[
        dict[str, float],
        Meta(description="for each broker, its share when all is well again; none if nothing is writable"),
    ]


class ProducerCourse(Course, Dataset, frozen=True, kw_only=True):
    """What each kind of producers does while a scenario's brokers are slow, read-only or lost. Only a what-if has it.

    Grain: one row a route and kind of producers.
    Units: seconds since the change, milliseconds, shares of the messages.
    """

    KEY: ClassVar[tuple[str, ...]] = ("route", "client", "versions", "has_fault_tolerance", "has_detector", "ending")

    route: Annotated[Count, Meta(description="number of the route, as in `producer_route`")]


class ProducerTimeline(ProducersOf, Dataset, frozen=True, kw_only=True):
    """The share of each broker second by second while a scenario's brokers are slow, read-only or lost.

    A message counts where its last try was, in the second in which it begins. If no broker can be written to, messages
    fail without a try, and the shares of the brokers are 0. Only a what-if has it.

    Grain: one row a route, kind of producers, slice of time and broker.
    Units: seconds since the change, milliseconds, shares of the messages that begin in the slice.
    """

    KEY: ClassVar[tuple[str, ...]] = (
        "route",
        "client",
        "versions",
        "has_fault_tolerance",
        "has_detector",
        "ending",
        "begin_s",
        "broker_name",
    )

    route: Annotated[Count, Meta(description="number of the route, as in `producer_route`")]
    begin_s: Annotated[Count, Meta(description="when the slice begins")]
    length_s: Annotated[Count, Meta(description="how long it is: 1, or more where the table would be too large")]
    broker_name: Annotated[str, Meta(description="name of the broker")]
    share_ratio: Annotated[
        Ratio | None, Meta(description="messages that end at the broker; null if no message begins in the slice")
    ] = None
    failed_ratio: Annotated[Ratio | None, Meta(description="messages that end there and fail for good")] = None
    tries_per_message: Annotated[Amount | None, Meta(description="tries at the broker / messages")] = None
    mean_latency_ms: Annotated[
        Amount | None, Meta(description="how long the messages take that end there, all tries; null without any")
    ] = None
    thread_msgs_per_s: Annotated[Amount, Meta(description="messages that a thread begins, at all brokers together")]
