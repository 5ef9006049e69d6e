"""What a what-if changed, and the results for the groups and the findings."""

from typing import Annotated, Literal

from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.before_after import BeforeAfterCount, BeforeAfterMessages, BeforeAfterRatio
from rocketmq_capacity.plan_file.broadcasting import BroadcastGroup
from rocketmq_capacity.plan_file.client_cost import ClientCostChange
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.group import PlanSkew
from rocketmq_capacity.plan_file.lost_nameserver import LostNameserver
from rocketmq_capacity.plan_file.numbers import JsonObject
from rocketmq_capacity.plan_file.ordered_topic import OrderedTopic
from rocketmq_capacity.plan_file.queue_plan import QueuePlan
from rocketmq_capacity.plan_file.recommendation import PlanTransition
from rocketmq_capacity.plan_file.rolling_restart import RollingRestartResult
from rocketmq_capacity.plan_file.subscription_change import SubscriptionChange
from rocketmq_capacity.plan_file.troubled_broker import LostMasterOutlook, Producers, SlowBrokerOutlook


class ScenarioSide(Struct, frozen=True, kw_only=True):
    """A group under a strategy, before or after the changes; null is unknown or not defined."""

    idle: Annotated[int | None, means("client ids that own nothing")]
    count: Annotated[PlanSkew | None, means("by number of queues")]
    traffic: Annotated[PlanSkew | None, means("by messages a second")]


class PlanScenarioGroup(Struct, frozen=True, kw_only=True):
    """What the changes mean for a group under a strategy."""

    consumer_group: Annotated[str, means("name of the group")]
    strategy: Annotated[str, means("name of the strategy")]
    moved_queues: Annotated[int | None, means("queues there before and after whose owner differs; null if not defined")]
    moved_ratio: Annotated[float | None, means("moved queues / all queues there before and after")]
    before: Annotated[ScenarioSide, means("the cluster as it is")]
    after: Annotated[ScenarioSide, means("the cluster after the changes")]


class PlanUndecidedFinding(PlanFinding, frozen=True, kw_only=True):
    """A finding of the cluster as it is that can no longer be judged after the changes."""

    why: Annotated[str, means("what is unknown after the changes")]
    gone_with: Annotated[
        str | None,
        means("topic, broker, room, subscription or client that it is about and that the changes take away; else null"),
    ] = None


class AddedFinding(PlanFinding, frozen=True, kw_only=True):
    """A finding that only the changed cluster has."""

    cause: Annotated[
        str | None, means("what the changes take away so that it follows, also at the end of `message`; else null")
    ] = None


Verdict = Literal["BETTER", "WORSE", "MIXED", "UNCHANGED", "UNDECIDED"]
"""MIXED is of a whole cluster only: some of its groups are better off, and some worse."""
Reason = Literal["CAPACITY", "REACHABILITY", "LOSS"]


class AffectedGroup(Struct, frozen=True, kw_only=True):
    """What the changes do to a group as it runs today."""

    consumer_group: Annotated[str, means("name of the group")]
    verdict: Annotated[
        Verdict,
        means(
            "by capacity, reachability and loss: WORSE if one of them crosses a bound, BETTER if one comes "
            "back and nothing is taken away for it, UNDECIDED if one can no longer be told, else UNCHANGED"
        ),
    ]
    reasons: Annotated[tuple[Reason, ...], means("which of the three the verdict is based on")] = ()
    why: Annotated[str, means("the verdict in words; empty if nothing that matters changes")] = ""
    utilisation: Annotated[BeforeAfterRatio, means("busy share of its busiest client")]
    peak_utilisation: Annotated[BeforeAfterRatio | None, means("the same at the peak of the cluster as it is")] = None
    is_over_bound: Annotated[
        bool | None, means("its busiest client exceeds the policy's bound afterwards; null if unknown")
    ] = None
    clients: Annotated[BeforeAfterCount | None, means("its consumers")] = None
    queues: Annotated[BeforeAfterCount | None, means("readable queues of its business topics")] = None
    unread_queues: Annotated[
        int | None,
        means("queues that nobody reads only after the changes, if clients are left; null if owners are unknown"),
    ] = None
    waiting_messages: Annotated[
        int | None, means("messages not read on queues that are gone, or that nobody reads any more; null if unknown")
    ] = None
    unreadable_topics: Annotated[tuple[str, ...], means("topics of which consumers see no queue any more")] = ()
    unwritable_topics: Annotated[tuple[str, ...], means("topics of which producers see no queue any more")] = ()
    lag: Annotated[BeforeAfterMessages, means("messages not read")]
    moved_queues: Annotated[
        int | None, means("queues there before and after whose owner differs; null if one is unknown")
    ]
    findings_added: Annotated[int, means("how many of `findings_added` are about it")]
    findings_cleared: Annotated[int, means("how many of `findings_cleared` are about it")]
    findings_undecided: Annotated[int, means("how many of `findings_undecided` are about it")]


class Carried(Struct, frozen=True, kw_only=True):
    """Whether the changed cluster still carries everything that the cluster as it is carries."""

    is_carried: Annotated[
        bool | None, means("no topic, queue or group is cut off, and no group falls behind; null if unknown")
    ]
    bound: Annotated[float, means("busy share of a busiest client above which it is too busy")]
    over_bound: Annotated[tuple[str, ...], means("groups above it after the changes, also if they were")]
    newly_over_bound: Annotated[tuple[str, ...], means("groups above it only after the changes")]
    falling_behind: Annotated[
        tuple[str, ...], means("groups whose busiest client is busy all of its time only after the changes")
    ]
    without_clients: Annotated[tuple[str, ...], means("groups whose clients are all gone")]
    unreadable_topics: Annotated[tuple[str, ...], means("topics of which consumers see no queue any more")]
    unwritable_topics: Annotated[tuple[str, ...], means("topics of which producers see no queue any more")]
    unread_queues: Annotated[
        int, means("queues that nobody reads only after the changes, over all groups with clients left")
    ]
    waiting_messages: Annotated[int, means("messages that wait by the changes, as far as that is known")]
    undecided: Annotated[tuple[str, ...], means("groups with the verdict UNDECIDED")]


class ScenarioTotals(Struct, frozen=True, kw_only=True):
    """The what-if in numbers; the page and the comparison of the two plans show the same."""

    findings_added: Annotated[int, means("entries of `findings_added`")]
    findings_cleared: Annotated[int, means("entries of `findings_cleared`")]
    findings_undecided: Annotated[int, means("entries of `findings_undecided`")]
    findings_still: Annotated[int, means("findings of both clusters, whatever their figures")]
    moved_queues: Annotated[int, means("sum over `affected_groups`, of groups whose owners are known")]
    utilisation: Annotated[BeforeAfterRatio, means("the highest of `affected_groups` on each side")]
    lag: Annotated[BeforeAfterMessages, means("sum over `affected_groups`, of groups with both sides known")]


class UnjudgedTopic(Struct, frozen=True, kw_only=True):
    """A topic that producers write to unevenly, of which the changed cluster tells nothing any more."""

    topic: Annotated[str, means("its name")]
    why: Annotated[str, means("what is unknown after the changes, in words")]


class ScenarioResult(Struct, frozen=True, kw_only=True):
    """What a what-if changed, and the results; the rest of the plan is of the changed cluster.

    A finding is the same before and after where its rule, group, topic and broker are, whatever its figures.
    """

    name: Annotated[str, means("the scenario file's")]
    changes: Annotated[tuple[JsonObject, ...], means("its changes, in its order")]
    verdict: Annotated[Verdict | None, means("on the whole cluster; MIXED if some of it is better and some worse")] = (
        None
    )
    carried: Annotated[Carried | None, means("what is no longer carried, who is too busy, and what waits")] = None
    totals: Annotated[ScenarioTotals | None, means("the what-if in numbers")] = None
    affected_groups: Annotated[tuple[AffectedGroup, ...], means("groups that the changes touch")] = ()
    transitions: Annotated[
        tuple[PlanTransition, ...], means("groups whose queues get other owners; the table `transition` has each queue")
    ] = ()
    groups: Annotated[tuple[PlanScenarioGroup, ...], means("each group under each applicable strategy")]
    findings_added: Annotated[tuple[AddedFinding, ...], means("that only the changed cluster has")]
    findings_cleared: Annotated[
        tuple[PlanFinding, ...],
        means("of the cluster as it is; the changed cluster was judged again on the same facts, and is well"),
    ]
    findings_undecided: Annotated[
        tuple[PlanUndecidedFinding, ...],
        means("of the cluster as it is, which can no longer be judged in the changed cluster"),
    ] = ()
    producers_undecided: Annotated[
        tuple[UnjudgedTopic, ...],
        means("topics of `producer_balance` of the cluster as it is that can no longer be judged"),
    ] = ()
    brokers: Annotated[
        tuple[LostMasterOutlook | SlowBrokerOutlook, ...] | UnsetType,
        means("only with lose_master or slow_broker: each of these brokers, in the order of the changes"),
    ] = UNSET
    producers: Annotated[
        Producers | UnsetType,
        means("only if a change makes brokers slow, read-only or lost: what producers do meanwhile"),
    ] = UNSET
    lost_nameservers: Annotated[
        tuple[LostNameserver, ...] | UnsetType,
        means("only with lose_nameserver: what each of them means, in the order of the changes"),
    ] = UNSET
    rolling_restarts: Annotated[
        tuple[RollingRestartResult, ...] | UnsetType,
        means("only with rolling_restart: what each of them means, in the order of the changes"),
    ] = UNSET
    subscription_changes: Annotated[
        tuple[SubscriptionChange, ...] | UnsetType,
        means("only with subscribe or unsubscribe: what each of them means, in the order of the changes"),
    ] = UNSET
    ordered_topics: Annotated[
        tuple[OrderedTopic, ...] | UnsetType,
        means("only if writable queues of topics that are consumed in order change: each of them, by name"),
    ] = UNSET
    broadcast_groups: Annotated[
        tuple[BroadcastGroup, ...] | UnsetType,
        means("only if clients, queues or messages of broadcasting groups change: each of them, by name"),
    ] = UNSET
    client_costs: Annotated[
        tuple[ClientCostChange, ...] | UnsetType,
        means("only if clients ask something else of brokers: each of these brokers, by name"),
    ] = UNSET
    queue_plans: Annotated[
        tuple[QueuePlan, ...] | UnsetType,
        means("only with set_queues, add_broker or read_only_broker: the steps that bring it about"),
    ] = UNSET
