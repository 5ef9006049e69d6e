"""A consumer group in the plan: what each strategy means for it, and how many clients it needs."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from rocketmq_capacity.contracts.dataset import Queue


class Skew(Struct, frozen=True, kw_only=True):
    """How uneven a load is over a group's clients, rounded to four decimals; null is not defined."""

    peak: Annotated[float | None, Meta(description="the busiest client's load / the mean")]
    floor: Annotated[
        float | None, Meta(description="the lowest PEAK that whole queues allow; null if clients share queues (POP)")
    ]
    excess: Annotated[float | None, Meta(description="PEAK / FLOOR, at least 1; null if FLOOR is")]
    gini: Annotated[float | None, Meta(description="Gini coefficient")]
    cv: Annotated[float | None, Meta(description="coefficient of variation")]


class Churn(Struct, frozen=True, kw_only=True):
    """Queues that get another owner under a strategy; null if their owners are unknown."""

    one_fewer: Annotated[
        int | None, Meta(description="if the last client in Java's order leaves; null for a single client")
    ]
    one_more: Annotated[int | None, Meta(description="if a client comes that sorts last")]
    broker_lost: Annotated[
        int | None, Meta(description="of those that stay, if the broker is lost whose loss moves most")
    ]


class StrategyPlan(Struct, frozen=True, kw_only=True):
    """What a strategy means for a group, over all its business topics and all its distinct client ids.

    Where it throws for a business topic, no client is called idle, the metrics are null, and the other lists are of the
    other topics.
    """

    strategy: Annotated[str, Meta(description="as getName() gives it, or POP")]
    applicable: Annotated[bool, Meta(description="RocketMQ would allocate at least some topics by it")]
    reason: Annotated[str | None, Meta(description="why not, or for which topics it throws; null if it allocates all")]
    idle_clients: Annotated[tuple[str, ...], Meta(description="client ids that own nothing")]
    orphan_queues: Annotated[tuple[Queue, ...], Meta(description="readable queues that nobody owns")]
    doubly_owned_queues: Annotated[tuple[Queue, ...], Meta(description="queues that several consumers read")]
    count: Annotated[Skew | None, Meta(description="by number of queues")]
    traffic: Annotated[Skew | None, Meta(description="by messages a second")]
    lag: Annotated[Skew | None, Meta(description="by messages of lag")]
    dialects: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(
            description="libraries by whose code its clients compute it: GO_V2, JAVA_4_7_1 (Java up to it), JAVA (all "
            "others); missing where all compute as the official classes do"
        ),
    ] = UNSET
    churn: Annotated[Churn | UnsetType, Meta(description="what moves; only where some of it is known")] = UNSET
    pareto_best: Annotated[
        bool | UnsetType,
        Meta(
            description="no other strategy is at least as good in queues with no reader or two readers, EXCESS by "
            "queues and moved queues, and better in one of them; only where these are known"
        ),
    ] = UNSET

    @property
    def is_partial(self) -> bool:
        """Whether it throws for some topics; figures beside its reason are of the others."""
        return self.applicable and self.reason is not None

    @property
    def is_known(self) -> bool:
        """Whether it is known who owns what: it may still throw for a retry topic, which no figure counts."""
        return self.applicable and (self.reason is None or self.count is not None)


class Utilisation(Struct, frozen=True, kw_only=True):
    """The busy share of a group's busiest client, 1 is always busy; an interval if response times are unknown."""

    lower: Annotated[float, Meta(description="with the shortest known response times instead of unknown ones")]
    estimate: Annotated[float, Meta(description="with the mean of the known ones")]
    upper: Annotated[float, Meta(description="with the longest known ones")]


class NeededClients(Struct, frozen=True, kw_only=True):
    """The smallest numbers of clients that keep the busiest one within `under_utilisation`, as simulated.

    Null where no number of clients is enough: more queues, more threads or shorter calls are needed.
    """

    lower: Annotated[int | None, Meta(description="with the shortest known response times")]
    target: Annotated[int | None, Meta(description="most likely")]
    upper: Annotated[int | None, Meta(description="with the longest known response times")]


class GroupPlan(Struct, frozen=True, kw_only=True):
    """A consumer group."""

    consumer_group: Annotated[str, Meta(description="its name")]
    message_model: Annotated[str | None, Meta(description="CLUSTERING, BROADCASTING or LITE_SELECTIVE")]
    message_request_mode: Annotated[str, Meta(description="PULL, POP, or MIXED if its topics differ")]
    connections: Annotated[int, Meta(description="running consumers")]
    distinct_client_ids: Annotated[int, Meta(description="different client ids of them")]
    topics: Annotated[tuple[str, ...], Meta(description="its business topics")]
    max_useful_clients: Annotated[
        int | None,
        Meta(description="more clients than this own nothing; null for POP, for gRPC clients, and if not clustering"),
    ]
    provision_status: Annotated[
        str, Meta(description="UNDER_PROVISIONED, RIGHT_PROVISIONED, OVER_PROVISIONED or UNDECIDED")
    ]
    provision_reason: Annotated[str | None, Meta(description="why, in words")] = None
    utilisation: Annotated[
        Utilisation | None, Meta(description="busy share of its busiest client; null if unknown")
    ] = None
    busiest_client: Annotated[str | None, Meta(description="id of that client")] = None
    peak_factor: Annotated[
        float | None,
        Meta(
            description="messages at the busiest of the samples / the usual rate; the status holds there; null as above"
        ),
    ] = None
    needed_clients: Annotated[NeededClients | None, Meta(description="how many clients it needs; null if unknown")] = (
        None
    )
    min_safe_clients: Annotated[
        int | None,
        Meta(
            description="clients that it needs if ones like the median one shared the work evenly, but not fewer than "
            "today while it falls behind; null if unknown"
        ),
    ] = None
    current_strategy: Annotated[
        str | None, Meta(description="strategy in use, MIXED if clients report different ones; null if there is none")
    ]
    current_strategy_source: Annotated[
        str | None, Meta(description="how that is known: reported, observed, policy or default")
    ]
    strategies: Annotated[tuple[StrategyPlan, ...], Meta(description="by name; none for broadcasting groups")]
    protocol: Annotated[
        str | UnsetType,
        Meta(description="only of a group with gRPC clients: GRPC, or MIXED if it has remoting clients as well"),
    ] = UNSET
