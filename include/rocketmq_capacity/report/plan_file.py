"""The plan file, ``rocketmq-capacity/plan/1``: the members of plan.json, in its order.

All code that writes or reads a plan uses these types, and the JSON Schema is made from them
(:mod:`rocketmq_capacity.report.schema`). Unknown members are ignored when a plan is read, because a later version may
add some. Unknown values are written as null. Members that may be ``UNSET`` are left out if they do not apply.

Source: include/docs/formats.md, "Plan file".
"""

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from rocketmq_capacity.contracts.config_assignment import ConfigAssignment
from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.contracts.producer_balance import ProducerBalance
from rocketmq_capacity.contracts.producer_timeline import Course
from rocketmq_capacity.contracts.steps import Check, Step
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.vocabulary import Severity

FORMAT: Final = "rocketmq-capacity/plan/1"

JsonObject = dict[str, Any]
"""Figures whose names say what they are; each rule, action and change has its own."""


class Failure(Struct, frozen=True, kw_only=True):
    """A request without an answer; what depends on it is unknown."""

    broker_addr: Annotated[str, Meta(description="host:port that was asked: a broker's, a name server's or a Proxy's")]
    request: Annotated[str | None, Meta(description="RocketMQ's name of the request")]
    error: Annotated[str | None, Meta(description="what happened")]


class Completeness(Struct, frozen=True, kw_only=True):
    """How much of the cluster answered."""

    ratio: Annotated[
        float,
        Meta(description="readable queues of business topics whose broker answered every request / all of them"),
    ]
    failures: Annotated[tuple[Failure, ...], Meta(description="the inventory's")]


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


class Finding(Struct, frozen=True, kw_only=True):
    """What is wrong, and with what."""

    id: Annotated[
        str, Meta(description="of its rule, group, topic, broker and subjects; empty in a plan of an earlier version")
    ] = ""
    rule: Annotated[str, Meta(description="name of the rule")]
    severity: Annotated[Severity, Meta(description="CRITICAL is to be mended now, INFO is for information")]
    consumer_group: Annotated[str | None, Meta(description="the group that it is about")]
    topic: Annotated[str | None, Meta(description="the topic that it is about")]
    broker_name: Annotated[str | None, Meta(description="the broker that it is about")]
    subjects: Annotated[
        tuple[str | Queue, ...],
        Meta(description="what it is about: client ids, brokers or groups as texts, queues as objects"),
    ]
    evidence: Annotated[
        JsonObject,
        Meta(description="the figures that it is based on, their units in their names; a queue is an object"),
    ]
    message: Annotated[str, Meta(description="one sentence for people")]


class Transition(Struct, frozen=True, kw_only=True):
    """What a change means while it spreads over the clients, which do not all notice it at the same moment."""

    moved_queues: Annotated[int, Meta(description="queues that are there before and after, and get another owner")]
    new_queues: Annotated[int, Meta(description="queues that are new and get an owner")]
    ownerless_queues: Annotated[int, Meta(description="queues that had an owner or are new, and get none")]
    unread_longest_expected_s: Annotated[float, Meta(description="of the queues with a new owner, the longest mean")]
    unread_longest_worst_s: Annotated[float, Meta(description="the longest that one of them is unread")]
    twice_longest_worst_s: Annotated[float, Meta(description="the longest that one of them is read twice")]
    lock_wait_worst_s: Annotated[float, Meta(description="the longest wait for a lock of a queue consumed in order")]
    messages_twice_expected: Annotated[
        float | None, Meta(description="messages that are consumed twice, on average; null if a rate is unknown")
    ]
    messages_twice_worst: Annotated[float | None, Meta(description="at worst")]
    messages_skipped_worst: Annotated[
        float | None,
        Meta(
            description="messages that are never read: 0 if clients begin at the first offset; if it is unknown where "
            "they begin, as if at the last offset; null if unknown"
        ),
    ]
    most_unread_at_once: Annotated[int, Meta(description="the most queues that nobody reads at the same time")]
    most_twice_at_once: Annotated[int, Meta(description="the most queues that two read at the same time")]


class GroupTransition(Transition, frozen=True, kw_only=True):
    """The same for one group, with the worst moments and the timers."""

    consumer_group: Annotated[str, Meta(description="its name")]
    unread_switched: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="the clients that know of the change when most queues are unread; null if the number is a bound"
        ),
    ]
    twice_switched: Annotated[tuple[str, ...] | None, Meta(description="the same when most queues are read twice")]
    timers: Annotated[
        JsonObject,
        Meta(
            description="the timers in seconds; `from_snapshot` names those that brokers reported, others are defaults"
        ),
    ]


class Recommendation(Struct, frozen=True, kw_only=True):
    """What to change, how, and what that would do."""

    id: Annotated[str, Meta(description="equal over equal inputs")]
    action: Annotated[str, Meta(description="name of the action")]
    consumer_group: Annotated[str | None, Meta(description="the group to change")]
    topic: Annotated[str | None, Meta(description="the topic to change")]
    manual: Annotated[bool, Meta(description="a person must complete it; no command may be run unchanged")]
    reason: Annotated[str, Meta(description="why, and what it changes")]
    rules: Annotated[tuple[str, ...], Meta(description="rules whose findings it answers")]
    commands: Annotated[tuple[str, ...], Meta(description="shell commands, in the order to run them")]
    before: Annotated[JsonObject, Meta(description="figures of today")]
    after: Annotated[JsonObject, Meta(description="the same figures after the change, as simulated")]
    changes_cluster: Annotated[
        bool, Meta(description="one of its commands changes the cluster; the others only look, or there are none")
    ] = False
    check: Annotated[Check | None, Meta(description="how to see that it worked; null if no command shows it")] = None
    way_back: Annotated[str | None, Meta(description="how it is undone; null if the reason says it")] = None
    transition: Annotated[
        Transition | UnsetType,
        Meta(
            description="what happens meanwhile, over its groups of which that is known; missing if there are "
            "none, or if it changes nobody's queues"
        ),
    ] = UNSET
    transition_undecided: Annotated[
        str | UnsetType,
        Meta(description="UNDECIDED, and of which groups it is not known which queues move; missing if it is of all"),
    ] = UNSET
    steps: Annotated[
        tuple[Step, ...] | UnsetType,
        Meta(description="only of a change that takes several steps: each of them, with the gate before the next one"),
    ] = UNSET
    config_assignment: Annotated[
        ConfigAssignment | UnsetType,
        Meta(description="only where no strategy comes near FLOOR: fixed lists of queues for CONFIG, as another way"),
    ] = UNSET


class Impact(Struct, frozen=True, kw_only=True):
    """What a cause does. A figure is null if it is unknown, or has nothing to do with the cause."""

    messages_at_risk: Annotated[int | None, Meta(description="messages that nobody reads")] = None
    unread_msgs_per_s: Annotated[float | None, Meta(description="messages a second for queues without owner")] = None
    unread_queues: Annotated[int | None, Meta(description="queues that are written to and that nobody reads")] = None
    deleted_messages: Annotated[int | None, Meta(description="messages that were deleted unread")] = None
    idle_clients: Annotated[int | None, Meta(description="clients without work")] = None
    lag: Annotated[int | None, Meta(description="messages by which its groups are behind")] = None
    utilisation_ratio: Annotated[float | None, Meta(description="busy share of the busiest client")] = None


class Cause(Struct, frozen=True, kw_only=True):
    """What one action mends: findings that belong together, and what answers them.

    Every finding and every recommendation belongs to exactly one cause.
    """

    id: Annotated[str, Meta(description="of its rule, group and topic: the same from day to day")]
    rule: Annotated[
        str, Meta(description="rule of the finding that caused the others; empty if its action answers no finding")
    ]
    severity: Annotated[Severity, Meta(description="of its worst finding; INFO if it has none")]
    action: Annotated[str | None, Meta(description="of its first recommendation; null if nothing is recommended")]
    consumer_group: Annotated[str | None, Meta(description="the one group that it is about; null if several")]
    topic: Annotated[str | None, Meta(description="the one topic that it is about; null if none or several")]
    title: Annotated[str, Meta(description="what to do, in a few words; what is wrong if nothing is recommended")]
    message: Annotated[str, Meta(description="one sentence about what is wrong")]
    findings: Annotated[tuple[str, ...], Meta(description="ids of its findings, the most urgent first")]
    recommendations: Annotated[
        tuple[str, ...],
        Meta(description="ids of what answers it: its action first, then what goes with it or may replace it"),
    ]
    impact: Impact
    since: Annotated[
        str | None,
        Meta(description="moment of the first of the unbroken row of snapshots that have it; null without history"),
    ] = None
    is_new: Annotated[bool | None, Meta(description="the plan before did not have it; null if there is none")] = None
    changes_cluster: Annotated[bool, Meta(description="a command of its first recommendation changes the cluster")]
    check: Annotated[Check | None, Meta(description="of its first recommendation")]
    way_back: Annotated[str | None, Meta(description="of its first recommendation")]


class Approval(Struct, frozen=True, kw_only=True):
    """A person's answer to the recommendations."""

    status: Annotated[Literal["APPROVED", "REJECTED"], Meta(description="the answer")]
    by: Annotated[str | None, Meta(description="who answered; null if nobody did in time")]
    at: Annotated[str, Meta(description="when, UTC ISO-8601")]
    why: Annotated[str | None, Meta(description="the reason for all that have none in `reasons`, if one was given")]
    recommendations: Annotated[tuple[str, ...], Meta(description="ids of those in the question")]
    approved: Annotated[tuple[str, ...], Meta(description="ids of those to carry out")] = ()
    rejected: Annotated[
        tuple[str, ...],
        Meta(description="ids of those not to carry out; of alternatives these are all but one"),
    ] = ()
    reasons: Annotated[dict[str, str], Meta(description="the reason of each that has one of its own, by id")] = {}


class ScenarioSide(Struct, frozen=True, kw_only=True):
    """A group under a strategy, before or after the changes; null is unknown or not defined."""

    idle: Annotated[int | None, Meta(description="client ids that own nothing")]
    count: Annotated[Skew | None, Meta(description="by number of queues")]
    traffic: Annotated[Skew | None, Meta(description="by messages a second")]


class ScenarioGroup(Struct, frozen=True, kw_only=True):
    """What the changes mean for a group under a strategy."""

    consumer_group: Annotated[str, Meta(description="name of the group")]
    strategy: Annotated[str, Meta(description="name of the strategy")]
    moved_queues: Annotated[
        int | None, Meta(description="queues there before and after whose owner differs; null if not defined")
    ]
    moved_ratio: Annotated[float | None, Meta(description="moved queues / all queues there before and after")]
    before: Annotated[ScenarioSide, Meta(description="the cluster as it is")]
    after: Annotated[ScenarioSide, Meta(description="the cluster after the changes")]


class CanRead(Struct, frozen=True, kw_only=True):
    """Who can read the queues of a broker that lost its master; null if the slaves do not report it."""

    pull: Annotated[bool | None, Meta(description="clients that pull and consume in any order")]
    pull_in_order: Annotated[bool | None, Meta(description="clients that consume in order, and lock each queue")]
    pop: Annotated[bool | None, Meta(description="clients that pop")]


class LostMaster(Struct, frozen=True, kw_only=True, tag_field="change", tag="lose_master"):
    """A broker that lost its master."""

    broker_name: Annotated[str, Meta(description="name of the broker")]
    replicas: Annotated[int, Meta(description="slaves that stay")]
    has_new_master: Annotated[bool, Meta(description="a controller elects one of them")]
    readable_queues: Annotated[int, Meta(description="queues of business topics there that consumers saw before")]
    writable_queues: Annotated[int | None, Meta(description="the same for producers; null if unknown")]
    is_writable: Annotated[bool, Meta(description="producers can write there afterwards")]
    can_read: Annotated[CanRead, Meta(description="who can read there afterwards")]


class SlowProducers(Struct, frozen=True, kw_only=True):
    """Producers of some versions whose latency fault tolerance is on; it is off unless a client turns it on."""

    versions: Annotated[str, Meta(description="of the Java client")]
    back_off_ms: Annotated[int, Meta(description="how long they avoid the broker after each slow message")]
    most_sends_per_thread: Annotated[
        int | None, Meta(description="the most messages that a synchronous thread sends there; null without a back-off")
    ]
    avoided_for_s_afterwards: Annotated[
        float, Meta(description="the most seconds until they send there again, after the broker is fast again")
    ]


class SlowBroker(Struct, frozen=True, kw_only=True, tag_field="change", tag="slow_broker"):
    """A broker that is slow for some time."""

    broker_name: Annotated[str, Meta(description="name of the broker")]
    latency_ms: Annotated[float, Meta(description="milliseconds that it takes for a message")]
    for_s: Annotated[float, Meta(description="seconds until it is fast again")]
    readable_queues: Annotated[int, Meta(description="queues of business topics there that consumers see")]
    writable_queues: Annotated[int | None, Meta(description="the same for producers; null if unknown")]
    fails: Annotated[bool, Meta(description="messages there take longer than sendMsgTimeout (3,000 ms), and fail")]
    producers: Annotated[tuple[SlowProducers, ...], Meta(description="by generation of the client")]


class ProducerRoute(Struct, frozen=True, kw_only=True):
    """Topics with the same layout of writable queues, and what each kind of producers does there."""

    route: Annotated[int, Meta(description="its number, as in the tables")]
    write_queue_nums: Annotated[dict[str, int], Meta(description="by broker its writable queues before the changes")]
    topics: Annotated[int, Meta(description="how many topics have it")]
    topic_names: Annotated[tuple[str, ...], Meta(description="the first of them, by name")]
    put_msgs_per_s: Annotated[float | None, Meta(description="messages a second of all of them; null if unknown")]
    courses: Annotated[tuple[Course, ...], Meta(description="one entry for each kind of producers")]


class Producers(Struct, frozen=True, kw_only=True):
    """What producers do while brokers are slow, read-only or lost; the table `producer_timeline` has each second."""

    troubled_brokers: Annotated[tuple[str, ...], Meta(description="the brokers that are slow, read-only or lost")]
    send_interval_ms: Annotated[int, Meta(description="how often each thread sends, by the policy")]
    usual_latency_ms: Annotated[int, Meta(description="how long a message takes at a healthy broker")]
    poll_nameserver_s: Annotated[float, Meta(description="how often a Java client asks for routes")]
    producers: Annotated[
        dict[str, int], Meta(description="producers in the snapshot, by generation of the Java client")
    ]
    routes: Annotated[tuple[ProducerRoute, ...], Meta(description="those with most topics first")]
    routes_left_out: Annotated[int, Meta(description="further routes, which are not computed")]
    topics_left_out: Annotated[int, Meta(description="topics of these routes, and topics whose queues are unknown")]


class UndecidedFinding(Finding, frozen=True, kw_only=True):
    """A finding of the cluster as it is that can no longer be judged after the changes."""

    why: Annotated[str, Meta(description="what is unknown after the changes")]


class BeforeAfterRatio(Struct, frozen=True, kw_only=True):
    """A share of the time before and after the changes; null is unknown."""

    before: Annotated[float | None, Meta(description="of the cluster as it is")]
    after: Annotated[float | None, Meta(description="of the changed cluster")]


class BeforeAfterMessages(Struct, frozen=True, kw_only=True):
    """Messages before and after the changes; null is unknown."""

    before: Annotated[int | None, Meta(description="of the cluster as it is")]
    after: Annotated[int | None, Meta(description="of the changed cluster, on the queues that are left")]


Verdict = Literal["BETTER", "WORSE", "MIXED", "UNCHANGED", "UNDECIDED"]


class AffectedGroup(Struct, frozen=True, kw_only=True):
    """What the changes do to a group as it runs today."""

    consumer_group: Annotated[str, Meta(description="name of the group")]
    verdict: Annotated[Verdict, Meta(description="UNDECIDED if something that was wrong can no longer be judged")]
    utilisation: Annotated[BeforeAfterRatio, Meta(description="busy share of its busiest client")]
    lag: Annotated[BeforeAfterMessages, Meta(description="messages not read")]
    moved_queues: Annotated[
        int | None, Meta(description="queues there before and after whose owner differs; null if one is unknown")
    ]
    findings_added: Annotated[int, Meta(description="how many of `findings_added` are about it")]
    findings_cleared: Annotated[int, Meta(description="how many of `findings_cleared` are about it")]
    findings_undecided: Annotated[int, Meta(description="how many of `findings_undecided` are about it")]


class ScenarioTotals(Struct, frozen=True, kw_only=True):
    """The what-if in numbers; the page and the comparison of the two plans show the same."""

    findings_added: Annotated[int, Meta(description="entries of `findings_added`")]
    findings_cleared: Annotated[int, Meta(description="entries of `findings_cleared`")]
    findings_undecided: Annotated[int, Meta(description="entries of `findings_undecided`")]
    findings_still: Annotated[int, Meta(description="findings of both clusters, whatever their figures")]
    moved_queues: Annotated[int, Meta(description="sum over `affected_groups`, of groups whose owners are known")]
    utilisation: Annotated[BeforeAfterRatio, Meta(description="the highest of `affected_groups` on each side")]
    lag: Annotated[BeforeAfterMessages, Meta(description="sum over `affected_groups`, of groups with both sides known")]


class QueueCost(Struct, frozen=True, kw_only=True):
    """The least that the readable queues of a topic cost on a broker, whatever is written to them."""

    broker_name: Annotated[str, Meta(description="name of the broker")]
    replicas: Annotated[int, Meta(description="its master and slaves; each keeps the files")]
    files: Annotated[int, Meta(description="consume-queue files on each of them, at least")]
    files_bytes: Annotated[int, Meta(description="size of these files")]
    pulls_per_s: Annotated[
        float | None, Meta(description="pulls of all groups that divide the queues, at least; null if unknown")
    ]


class QueuePlan(Struct, frozen=True, kw_only=True):
    """How to bring about what a what-if changed of a topic's queues or of a broker, from the cluster as it is."""

    action: Annotated[str, Meta(description="SHRINK_QUEUES, EXPAND_QUEUES, ADD_BROKER or REMOVE_BROKER")]
    topic: Annotated[str | None, Meta(description="the topic; null if it is about a broker")]
    broker_name: Annotated[str | None, Meta(description="the broker; null if it is about a topic")]
    manual: Annotated[bool, Meta(description="something forbids the change as it is, so its commands are comments")]
    reason: Annotated[str, Meta(description="what it does, and what forbids it")]
    smallest: Annotated[
        int | None,
        Meta(description="the fewest queues on each writable broker that serve every group; null if unknown"),
    ] = None
    cost_before: Annotated[tuple[QueueCost, ...], Meta(description="by broker")] = ()
    cost_after: Annotated[tuple[QueueCost, ...], Meta(description="the same after the last step")] = ()
    steps: Annotated[tuple[Step, ...], Meta(description="in order; none if it must not be done")] = ()


class UnjudgedTopic(Struct, frozen=True, kw_only=True):
    """A topic that producers write to unevenly, of which the changed cluster tells nothing any more."""

    topic: Annotated[str, Meta(description="its name")]
    why: Annotated[str, Meta(description="what is unknown after the changes, in words")]


class Scenario(Struct, frozen=True, kw_only=True):
    """What a what-if changed, and the results; the rest of the plan is of the changed cluster.

    A finding is the same before and after where its rule, group, topic and broker are, whatever its figures.
    """

    name: Annotated[str, Meta(description="the scenario file's")]
    changes: Annotated[tuple[JsonObject, ...], Meta(description="its changes, in its order")]
    verdict: Annotated[
        Verdict | None, Meta(description="on the whole cluster; MIXED if some of it is better and some worse")
    ] = None
    totals: Annotated[ScenarioTotals | None, Meta(description="the what-if in numbers")] = None
    affected_groups: Annotated[tuple[AffectedGroup, ...], Meta(description="groups that the changes touch")] = ()
    transitions: Annotated[
        tuple[GroupTransition, ...],
        Meta(description="groups whose queues get other owners; the table `transition` has each queue"),
    ] = ()
    groups: Annotated[tuple[ScenarioGroup, ...], Meta(description="each group under each applicable strategy")]
    findings_added: Annotated[tuple[Finding, ...], Meta(description="that only the changed cluster has")]
    findings_cleared: Annotated[
        tuple[Finding, ...],
        Meta(
            description="of the cluster as it is; the changed cluster was judged again on the same facts, and is well"
        ),
    ]
    findings_undecided: Annotated[
        tuple[UndecidedFinding, ...],
        Meta(description="of the cluster as it is, which can no longer be judged in the changed cluster"),
    ] = ()
    producers_undecided: Annotated[
        tuple[UnjudgedTopic, ...],
        Meta(description="topics of `producer_balance` of the cluster as it is that can no longer be judged"),
    ] = ()
    brokers: Annotated[
        tuple[LostMaster | SlowBroker, ...] | UnsetType,
        Meta(description="only with lose_master or slow_broker: each of these brokers, in the order of the changes"),
    ] = UNSET
    producers: Annotated[
        Producers | UnsetType,
        Meta(description="only if a change makes brokers slow, read-only or lost: what producers do meanwhile"),
    ] = UNSET
    queue_plans: Annotated[
        tuple[QueuePlan, ...] | UnsetType,
        Meta(description="only with set_queues, add_broker or read_only_broker: the steps that bring it about"),
    ] = UNSET


class Plan(Struct, frozen=True, kw_only=True):
    """The capacity plan of one RocketMQ cluster, made from one snapshot; every list is sorted."""

    format: Annotated[Literal["rocketmq-capacity/plan/1"], Meta(description="of this file")]
    cluster_name: Annotated[str, Meta(description="name of the cluster")]
    taken_at: Annotated[str, Meta(description="when the snapshot was taken, UTC ISO-8601")]
    recorded_at: Annotated[
        str | UnsetType, Meta(description="when it was really taken, if a recorded snapshot was given another date")
    ] = UNSET
    fingerprint: Annotated[str, Meta(description="SHA-256 of the canonical, sorted inventory")]
    completeness: Completeness
    groups: Annotated[tuple[GroupPlan, ...], Meta(description="the consumer groups, by name")]
    findings: Annotated[tuple[Finding, ...], Meta(description="what is wrong")]
    recommendations: Annotated[tuple[Recommendation, ...], Meta(description="what to change")]
    causes: Annotated[
        tuple[Cause, ...],
        Meta(description="one entry for each thing that one action mends, the worst first; none in earlier versions"),
    ] = ()
    alternatives: Annotated[
        tuple[tuple[str, ...], ...],
        Meta(description="ids of recommendations of which at most one is carried out, in the order of recommendations"),
    ] = ()
    producer_balance: Annotated[
        tuple[ProducerBalance, ...],
        Meta(description="business topics whose queues or brokers get another share than producers without keys give"),
    ] = ()
    approval: Annotated[Approval | UnsetType, Meta(description="only if a person was asked")] = UNSET
    scenario: Annotated[Scenario | UnsetType, Meta(description="only of a what-if")] = UNSET


def read_plan(path: Path) -> Plan:
    """The plan in the file. Errors: :class:`BadInput` if it is missing, not JSON or not of this format."""
    try:
        return decoded_plan(path.read_bytes())
    except OSError as error:
        raise BadInput(str(path), "", f"cannot be read: {error.strerror}") from None
    except msgspec.ValidationError as error:
        raise BadInput(str(path), "", f"is not of the format {FORMAT}: {error}") from None
    except msgspec.DecodeError as error:
        raise BadInput(str(path), "", f"is not JSON: {error}") from None


def decoded_plan(content: bytes) -> Plan:
    """The plan of these bytes. Errors: msgspec.DecodeError; RecursionError if they are nested too deeply."""
    return msgspec.json.decode(content, type=Plan)
