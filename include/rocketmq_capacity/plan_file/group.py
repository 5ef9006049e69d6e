"""A consumer group in the plan: what each strategy means for it, and how many clients it needs."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.headroom import PlanHeadroom
from rocketmq_capacity.plan_file.numbers import rounded
from rocketmq_capacity.plan_file.score import GroupScore
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import UNKNOWN, BoundsConfidence, ReasonCode


class PlanSkew(Struct, frozen=True, kw_only=True):
    """How uneven a load is over a group's clients, rounded to four decimals; null is not defined."""

    peak: Annotated[float | None, means("the busiest client's load / the mean")]
    floor: Annotated[float | None, means("the lowest PEAK that whole queues allow; null if clients share queues (POP)")]
    excess: Annotated[float | None, means("PEAK / FLOOR, at least 1; null if FLOOR is")]
    gini: Annotated[float | None, means("Gini coefficient")]
    cv: Annotated[float | None, means("coefficient of variation")]

    @classmethod
    def of(cls, metrics: Mapping[str, float | None] | None) -> Self | None:
        """A load's metrics, rounded; None if none of them is defined."""
        if metrics is None:
            return None
        known = {name: rounded(metrics.get(name)) for name in cls.__struct_fields__}
        return cls(**known) if any(number is not None for number in known.values()) else None


class PlanChurn(Struct, frozen=True, kw_only=True):
    """Queues that get another owner under a strategy; null if their owners are unknown."""

    one_fewer: Annotated[int | None, means("if the last client in Java's order leaves; null for a single client")]
    one_more: Annotated[int | None, means("if a client comes that sorts last")]
    broker_lost: Annotated[int | None, means("of those that stay, if the broker is lost whose loss moves most")]


class StrategyPlan(Struct, frozen=True, kw_only=True):
    """What a strategy means for a group, over all its business topics and all its distinct client ids.

    Where it throws for a business topic, no client is called idle, the metrics are null, and the other lists are of the
    other topics.
    """

    strategy: Annotated[str, means("as getName() gives it, or POP")]
    applicable: Annotated[bool, means("RocketMQ would allocate at least some topics by it")]
    reason: Annotated[str | None, means("why not, or for which topics it throws; null if it allocates all")]
    idle_clients: Annotated[tuple[str, ...], means("client ids that own nothing")]
    orphan_queues: Annotated[tuple[Queue, ...], means("readable queues that nobody owns")]
    doubly_owned_queues: Annotated[tuple[Queue, ...], means("queues that several consumers read")]
    count: Annotated[PlanSkew | None, means("by number of queues")]
    traffic: Annotated[PlanSkew | None, means("by messages a second")]
    lag: Annotated[PlanSkew | None, means("by messages of lag")]
    dialects: Annotated[
        tuple[str, ...] | UnsetType,
        means(
            "libraries by whose code its clients compute it: GO_V2, JAVA_4_7_1 (Java up to it), JAVA (all "
            "others); missing where all compute as the official classes do"
        ),
    ] = UNSET
    churn: Annotated[PlanChurn | UnsetType, means("what moves; only where some of it is known")] = UNSET
    pareto_best: Annotated[
        bool | UnsetType,
        means(
            "no other strategy is at least as good in queues with no reader or two readers, EXCESS by "
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

    lower: Annotated[float, means("with the shortest known response times instead of unknown ones")]
    estimate: Annotated[float, means("with the mean of the known ones")]
    upper: Annotated[float, means("with the longest known ones")]

    @classmethod
    def of(cls, *bounds: float | None) -> Self | None:
        """The rounded bounds: lower, estimate, upper; None if one is unknown."""
        lower, estimate, upper = (rounded(bound) for bound in bounds)
        if lower is None or estimate is None or upper is None:
            return None
        return cls(lower=lower, estimate=estimate, upper=upper)


class NeededClients(Struct, frozen=True, kw_only=True):
    """The smallest numbers of clients that keep the busiest one within `under_utilisation`, as simulated.

    Null where more clients alone are not enough: more queues, more threads or shorter calls are needed.
    """

    lower: Annotated[int | None, means("with the shortest known response times")]
    target: Annotated[int | None, means("most likely")]
    upper: Annotated[int | None, means("with the longest known response times")]


class PlanPeak(Struct, frozen=True, kw_only=True):
    """The highest traffic of a group that was seen, and where it was looked for."""

    msgs_per_s: Annotated[
        float | None,
        means(
            "messages a second that come to it: the highest of the measured rate, the busiest step between "
            "samples, and the busy hour (p95) of the stored days; null if unknown"
        ),
    ]
    at: Annotated[str | None, means("when, UTC ISO-8601; null for the moment of the snapshot")]
    days: Annotated[int, means("different days with stored rates of all its topics")]
    rates: Annotated[int, means("rates that were compared: hours of the stored days, and steps between samples")]
    most_msgs_per_s: Annotated[
        float | UnsetType,
        means(
            "the most messages a second between two samples of the last days; of several topics each one's "
            "most in the same hour, so at most; only with samples"
        ),
    ] = UNSET
    most_at: Annotated[str | UnsetType, means("the begin of that hour, UTC ISO-8601; only with samples")] = UNSET


class PlanClientBounds(Struct, frozen=True, kw_only=True):
    """Bounds of a group's number of clients, by the strategy in use and the policy; capacity.json has the same."""

    min_replicas: Annotated[
        int | None,
        means(
            "the fewest that may run: not fewer than today unless scale_down_allowed, and never fewer than "
            "the policy keeps; null without clients"
        ),
    ] = None
    target: Annotated[
        int | None,
        means(
            "clients that keep the busiest one within the bound, also for the traffic to come if it grows;"
            " null if none do, or unknown"
        ),
    ] = None
    max_replicas: Annotated[
        int | None, means("max_useful and the policy's standbys, not below min_replicas; null without such a number")
    ] = None
    max_useful: Annotated[
        int | None, means("clients beyond this many own nothing under the strategy in use; null without such a number")
    ] = None
    scale_down_allowed: Annotated[bool, means("fewer clients than today may run")] = False
    blocked_by: Annotated[tuple[str, ...], means("what forbids fewer clients: names of rules, then codes")] = ()
    confidence: Annotated[
        BoundsConfidence, means("HIGH with enough stored days and nothing unknown, MEDIUM without them, else LOW")
    ] = "LOW"
    reason_code: Annotated[ReasonCode, means("provision_reason as a code")] = "FACTS_MISSING"


NoQueues = Literal["NO_LIMIT", "UNKNOWN"]


class QueuesForecast(Struct, frozen=True, kw_only=True):
    """When growing traffic is too much for as many clients as can own a queue: more of them need more queues."""

    full_msgs_per_s: Annotated[float, means("messages a second from which on it is")]
    earliest_days: Annotated[float, means("days until then, at the earliest; 0 if it is reached")]
    likely_days: Annotated[float, means("the same, most likely")]
    latest_days: Annotated[float | None, means("the same, at the latest; null if perhaps never")] = None


class TrafficForecast(Struct, frozen=True, kw_only=True):
    """How the traffic of a group grows by the trend of its stored days, and when its clients are too busy."""

    known_days: Annotated[int, means("days of which its traffic is known")]
    msgs_per_s: Annotated[
        float, means("messages a second in the busy hours of a week's busiest day, today by the trend")
    ]
    per_day_msgs_per_s: Annotated[float, means("messages a second that come more each day")]
    least_per_day_msgs_per_s: Annotated[float, means("the same at least, with 95 % confidence")]
    most_per_day_msgs_per_s: Annotated[float, means("the same at most")]
    full_msgs_per_s: Annotated[
        float, means("messages a second from which on its busiest client is above `under_utilisation`")
    ]
    earliest_days: Annotated[float, means("days until then, at the earliest; 0 if it is reached")]
    likely_days: Annotated[float, means("the same, most likely")]
    latest_days: Annotated[float | None, means("the same, at the latest; null if perhaps never")] = None
    queues: Annotated[
        QueuesForecast | None, means("when its queues are too few; null for the reason in `no_queues`")
    ] = None
    no_queues: Annotated[
        NoQueues | None,
        means(
            "NO_LIMIT: clients can always be added; UNKNOWN: it is unknown how busy more of them would be; "
            "null with `queues`, and in earlier versions"
        ),
    ] = None


class GroupPlan(Struct, frozen=True, kw_only=True):
    """A consumer group."""

    consumer_group: Annotated[str, means("its name")]
    owner: Annotated[str | None, means("whose it is by the policy's groups; null if not told")] = None
    tier: Annotated[int | None, means("how important it is, 1 is most; null if not told")] = None
    message_model: Annotated[str | None, means("CLUSTERING, BROADCASTING or LITE_SELECTIVE")]
    consume_type: Annotated[
        str | None, means("CONSUME_PASSIVELY (push) or CONSUME_ACTIVELY (pull); null if unknown")
    ] = None
    message_request_mode: Annotated[str, means("PULL, POP, or MIXED if its topics differ")]
    connections: Annotated[int, means("running consumers")]
    distinct_client_ids: Annotated[int, means("different client ids of them")]
    topics: Annotated[tuple[str, ...], means("its business topics")]
    max_useful_clients: Annotated[
        int | None,
        means(
            "more clients than this own nothing under AVG and AVG_BY_CIRCLE; null for POP, for gRPC clients, and if not"
            " clustering"
        ),
    ]
    provision_status: Annotated[str, means("UNDER_PROVISIONED, RIGHT_PROVISIONED, OVER_PROVISIONED or UNDECIDED")]
    provision_reason: Annotated[str | None, means("why, in words")] = None
    reading_status: Annotated[
        str,
        means(
            "READ, UNREAD (some readable queue of a business topic has no reader), TWICE (none is unread, "
            "some are read twice) or UNKNOWN"
        ),
    ] = UNKNOWN
    utilisation: Annotated[Utilisation | None, means("busy share of its busiest client; null if unknown")] = None
    busiest_client: Annotated[str | None, means("id of that client")] = None
    peak_factor: Annotated[
        float | None,
        means(
            "messages at the peak / the measured rate, at least 1; the status holds at the peak; null as "
            "above, or if no message was measured"
        ),
    ] = None
    peak: Annotated[PlanPeak | None, means("the highest traffic that was seen")] = None
    needed_clients: Annotated[NeededClients | None, means("how many clients it needs; null if unknown")] = None
    min_safe_clients: Annotated[
        int | None,
        means(
            "clients that it needs if ones like the median one shared the work evenly, but not fewer than "
            "today while it falls behind; null if unknown"
        ),
    ] = None
    client_bounds: PlanClientBounds = PlanClientBounds()
    headroom: Annotated[
        PlanHeadroom | None, means("how much more traffic it bears; null if unknown, or without traffic")
    ] = None
    traffic_forecast: Annotated[
        TrafficForecast | UnsetType,
        means("how its traffic grows by the trend of at least three weeks; only if it grows for certain"),
    ] = UNSET
    score: Annotated[GroupScore | None, means("from 0 to 100; null in earlier versions")] = None
    current_strategy: Annotated[
        str | None, means("strategy in use, MIXED if clients report different ones; null if there is none")
    ]
    current_strategy_source: Annotated[str | None, means("how that is known: reported, observed, policy or default")]
    strategies: Annotated[tuple[StrategyPlan, ...], means("by name; none for broadcasting groups")]
    outlier_clients: Annotated[
        tuple[str, ...] | UnsetType,
        means("only of a group with such clients: those that do their work far worse than their peers"),
    ] = UNSET
    judged_utilisation: Annotated[
        Utilisation | UnsetType,
        means(
            "only of a group with outliers: utilisation if each of them took what the median of its peers "
            "takes; provision_status and all sizes judge by it"
        ),
    ] = UNSET
    protocol: Annotated[
        str | UnsetType, means("only of a group with gRPC clients: GRPC, or MIXED if it has remoting clients as well")
    ] = UNSET
