"""A consumer group as its rules read it: its facts, and figures that are computed when they are first asked for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rocketmq_capacity.assessment.awaited import awaited_brokers, awaited_of
from rocketmq_capacity.assessment.broker_losses import BrokerLosses, Lost, losses_of
from rocketmq_capacity.assessment.churn import Churn
from rocketmq_capacity.assessment.consumption import consumed_msgs_per_s, doubt
from rocketmq_capacity.assessment.current import (
    Current,
    OwnersToday,
    client_runs,
    current_strategy,
    owned_today,
    reported_owners,
)
from rocketmq_capacity.assessment.lag import HOUR_S, STANDING, Growth, lag_growth, lag_troubles
from rocketmq_capacity.assessment.loads import GroupLoad, QueueWeights, loads_of
from rocketmq_capacity.assessment.not_taken import not_taken
from rocketmq_capacity.assessment.outlier import Outlier, facts_apart, is_settled, outliers_of, queues_alone
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy
from rocketmq_capacity.assessment.peak import Peak, peak_of
from rocketmq_capacity.assessment.provision import Provision, no_verdict, provision, with_outliers
from rocketmq_capacity.assessment.reading import reading_status
from rocketmq_capacity.assessment.response_times import ResponseTimes
from rocketmq_capacity.assessment.sampled import Sampled
from rocketmq_capacity.assessment.sizes import Sizes
from rocketmq_capacity.assessment.slow_pulls import SlowPulls, slow_pulls
from rocketmq_capacity.assessment.spare import forbids
from rocketmq_capacity.assessment.staff import Staff, pulled_sizes, useful_clients
from rocketmq_capacity.assessment.stuck_queues import Stuck, stuck_queues
from rocketmq_capacity.assessment.suspended import Shares, Suspended, suspended_clients
from rocketmq_capacity.assessment.traffic_trend import TrafficTrend, traffic_trend
from rocketmq_capacity.assessment.two_sides import is_divided_twice
from rocketmq_capacity.assessment.utilisation import Work, every_client_owns_all
from rocketmq_capacity.model.arrays import Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import ClusterFacts, Consumer, GroupFacts, LastClients, Reads
from rocketmq_capacity.model.owners import Allocator, Owners, Verdict
from rocketmq_capacity.model.together import Together
from rocketmq_capacity.settings.groups import GroupEntry
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import ReadingStatus, ScaleDownCode


def _weights(groups: "Sequence[AssessedGroup]") -> list[QueueWeights]:
    """The weights of a group's queues."""
    return QueueWeights.of_each([group.division for group in groups])


def _sampled(groups: "Sequence[AssessedGroup]") -> list[Sampled]:
    """The offsets of a group's queues over time."""
    return Sampled.of_each([group.division for group in groups])


def _losses(groups: "Sequence[AssessedGroup]") -> list[BrokerLosses]:
    """A group without each of its brokers."""
    return losses_of([Lost.each_broker(group.division, group.weights) for group in groups])


@dataclass(frozen=True)
class AssessedGroup:
    """A business group of a snapshot under a policy.

    Attributes:
        facts: the snapshot's facts about the group.
        cluster: facts about the whole cluster.
        policy: thresholds, and the strategies that groups are configured to run.
        allocator: computes the strategies.
        replaced: of a group with its outliers apart (see ``apart``), their client ids.
    """

    facts: GroupFacts
    cluster: ClusterFacts
    policy: Policy
    allocator: Allocator
    replaced: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Its name."""
        return self.facts.consumer_group

    @cached_property
    def is_clustering(self) -> bool:
        """Whether its clients divide the queues."""
        return self.facts.is_clustering

    @cached_property
    def business(self) -> list[Reads]:
        """The business topics that it reads, by name."""
        return self.facts.business

    @cached_property
    def division(self) -> Division:
        """Its queues and consumers."""
        return Division.of(self.facts)

    @cached_property
    def client_ids(self) -> list[str]:
        """Its different client ids, in Java's order."""
        return self.division.members.client_ids

    weights = Together(_weights)
    sampled = Together(_sampled)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """For each strategy of the policy whether it can run."""
        return {name: self.verdict(name) for name in self.policy.strategies_of(self.name)}

    def verdict(self, strategy: str) -> Verdict:
        """Whether a strategy can run."""
        if strategy not in self._verdicts:
            self._verdicts[strategy] = self.allocator.verdict(strategy, self.division)
        return self._verdicts[strategy]

    @cached_property
    def _verdicts(self) -> dict[str, Verdict]:
        return {}

    def applies(self, strategy: str) -> bool:
        """Whether a strategy is one of the policy's and can run, at least for some topics."""
        return strategy in self.policy.strategies_of(self.name) and self.verdict(strategy).is_applicable

    @cached_property
    def loads(self) -> dict[str, GroupLoad]:
        """The load under each strategy of the policy that can run; empty for a group that is not clustering."""
        names = [name for name in self.policy.strategies_of(self.name) if self.is_clustering and self.applies(name)]
        owners = [self.owned[name] for name in names]
        return dict(zip(names, loads_of(self.division, self.weights, owners), strict=True))

    @cached_property
    def owned(self) -> OwnersByStrategy:
        """The owners under each strategy of the policy; unknown for topics that it does not allocate."""
        return OwnersByStrategy(self.allocator, self.division)

    @cached_property
    def current(self) -> Current | None:
        """The strategy in use; None for a group that is not clustering."""
        return current_strategy(self.division, self.allocator, self.policy) if self.is_clustering else None

    @cached_property
    def computed_strategy(self) -> str | None:
        """The strategy in use, by the name under which it is computed; None for a group that is not clustering."""
        return None if self.current is None else self.policy.computed(self.current.strategy)

    @property
    def has_mixed_dialects(self) -> bool:
        """Whether its clients run one strategy that their libraries compute differently."""
        verdict = self.verdicts.get(self.computed_strategy or "")
        return verdict is not None and len(verdict.dialects) > 1

    @cached_property
    def today(self) -> OwnersToday | None:
        """The owners of today; None if unknown, and for a group that is not clustering.

        They are as clients report them where these leave queues that they should have by their strategy. They are
        unknown if clients divide the queues on two sides.
        """
        return reported_owners(self.division) if self.not_taken else self._by_strategy

    @cached_property
    def is_divided_twice(self) -> bool:
        """Whether clients behind a Proxy and clients at the brokers divide all queues, each side for itself."""
        return is_divided_twice(self.facts, self.cluster.broker_names)

    @cached_property
    def not_taken(self) -> dict[Queue, str]:
        """The queues that clients should have and have not taken, each with its client id, sorted.

        Empty if a client looks suspended: that one is named with those that it has not taken.
        """
        bound_s = self.policy.thresholds.STUCK_QUEUE.no_progress_s
        untaken = not_taken(self.sampled, bound_s, self.is_settled, self._shares)
        return {} if untaken and self.suspended else untaken

    @cached_property
    def _by_strategy(self) -> OwnersToday | None:
        """The owners of today, as far as possible by the strategies in use."""
        if self.current is None or self.is_divided_twice:
            return None
        return owned_today(self.owned, self.runs, self.applies, self.policy)

    @cached_property
    def runs(self) -> list[str]:
        """The strategy of each client id, as the policy computes it; empty if the group is not clustering."""
        return [] if self.current is None else client_runs(self.division, self.current.strategy, self.policy)

    @cached_property
    def one_strategy(self) -> str | None:
        """The one strategy that all its clients run; None if they run several, pop some topic, or are unknown."""
        strategy = self.computed_strategy
        if strategy is None or self.work is None or self.pops or self.division.members.has_grpc:
            return None
        is_predicted = self.today is not None and self.today.is_predicted and not self.today.owners.unknown
        return strategy if is_predicted and strategy in self.loads else None

    @cached_property
    def response_times(self) -> ResponseTimes:
        """How long its clients take for a call of their listener."""
        return ResponseTimes.of(self.division)

    @cached_property
    def consumed_msgs_per_s(self) -> Numbers:
        """Messages a second of each topic that each of its clients handles, as it reports them."""
        return consumed_msgs_per_s(self.division)

    @cached_property
    def owners_today(self) -> Owners | None:
        """The owners of today's queues; None if one is unknown."""
        if self.facts.is_broadcasting:
            return every_client_owns_all(self.division)
        return None if self.whole_load is None else self.whole_load.owners

    @cached_property
    def work(self) -> Work | None:
        """The work of its clients today; None if an owner is unknown, or if an owned queue does not exist.

        Broadcasting clients keep their own offsets. So what comes to them is what they report to handle.
        """
        if self.owners_today is None:
            return None
        work = Work.of(self.division, self.weights.msgs_per_s, self.owners_today, self.response_times)
        if work is None or not self.facts.is_broadcasting:
            return work
        return replace(work, incoming_msgs_per_s=np.where(work.queues > 0, self.consumed_msgs_per_s, 0.0))

    @cached_property
    def staff(self) -> Staff:
        """Its clients, who owns what today, and what is planned for them."""
        return Staff(
            self.division,
            self.policy,
            self.allocator,
            self.current,
            self.computed_strategy,
            self.runs,
            self.today,
            self.orphans_today,
            self.response_times,
            self.peak,
            self.planned_msgs_per_s,
            self.work,
            self.planned_work,
            self.pops,
            self.useful_clients,
            self.is_divided_twice,
        )

    @cached_property
    def sizes(self) -> Sizes:
        """What other numbers of its clients would bear."""
        return Sizes(self.staff)

    @cached_property
    def peak(self) -> Peak:
        """The highest traffic that was seen."""
        taken_at = self.cluster.cluster.taken_at
        return peak_of(self.division, self.weights, self.sampled, self.policy.events, taken_at)

    @cached_property
    def traffic_trend(self) -> TrafficTrend | None:
        """How its traffic grows until its clients are too busy; None if it does not for certain."""
        bound = self.policy.thresholds.PROVISION.under_utilisation
        return traffic_trend(self.facts.past, self.provision, self.peak, bound)

    @property
    def planned_msgs_per_s(self) -> Numbers:
        """Messages a second of each queue that sizes are computed with; times ``peak.scale`` they are the peak's."""
        return self.weights.msgs_per_s if self.peak.of_queues is None else self.peak.of_queues

    @cached_property
    def planned_work(self) -> Work | None:
        """The work of its clients with ``planned_msgs_per_s``; None if an owner is unknown."""
        if self.peak.of_queues is None or self.owners_today is None or self.facts.is_broadcasting:
            return self.work
        return Work.of(self.division, self.peak.of_queues, self.owners_today, self.response_times)

    @cached_property
    def outliers(self) -> tuple[Outlier, ...]:
        """Clients that do their work far worse than their peers; none of a group with its outliers apart."""
        if self.replaced:
            return ()
        bounds = self.policy.thresholds
        return outliers_of(self.division, self.response_times, self.work, self.consumed_msgs_per_s, bounds)

    @property
    def apart(self) -> "AssessedGroup":
        """The same group with its outliers apart: each takes what the median of its peers takes.

        Sizes, failures and the verdict on the number of clients are those of this group. It is the group itself without
        outliers.
        """
        return self if self._apart is None else self._apart

    @cached_property
    def _apart(self) -> "AssessedGroup | None":
        if not self.outliers:
            return None
        facts = facts_apart(self.division, self.response_times, self.outliers)
        return AssessedGroup(facts, self.cluster, self.policy, self.allocator, frozenset(self.outlier_ids))

    @property
    def outlier_ids(self) -> list[str]:
        """The client ids of the outliers."""
        return [self.client_ids[one.client] for one in self.outliers]

    @cached_property
    def provision(self) -> Provision:
        """Whether it has the clients that it needs, with its outliers apart."""
        if self._apart is not None:
            return with_outliers(self._apart.provision, self.staff, self.outlier_ids, self._doubt)
        completeness = self.cluster.cluster.completeness_ratio
        least = self.policy.thresholds.PROVISION.min_completeness
        unknown = no_verdict(self.facts, completeness, least, is_off=self.is_off)
        return provision(self.sizes, self.growth, unknown, self._doubt, may_go=not self.forbids)

    @cached_property
    def _doubt(self) -> str | None:
        """Which fact about rates must be wrong; None if they agree, or are unknown."""
        if self.work is None:
            return None
        return doubt(self.division, self.consumed_msgs_per_s, self.work, self.policy.thresholds)

    @cached_property
    def forbids(self) -> tuple[ScaleDownCode, ...]:
        """What forbids that clients go, as far as its facts tell it without any simulation."""
        return tuple(forbids(self.staff, self.reading_status))

    @cached_property
    def entry(self) -> GroupEntry:
        """What the policy says of it."""
        return self.policy.group_entry(self.name)

    @property
    def is_off(self) -> bool:
        """Whether it has no clients, and its schedule in the policy does not expect any."""
        return not self.facts.connections and self.entry.is_off(self.cluster.cluster.taken_at)

    @property
    def gone(self) -> LastClients | None:
        """The clients that it had before all of them went; None if nobody waits for them any more.

        That is so after the days of STALE_OBJECT. A Proxy may know clients that the snapshot lacks.
        """
        last, days = self.facts.last_clients, self.policy.thresholds.STALE_OBJECT.days
        is_known = not self.facts.connections and self.facts.unseen_clients is None
        return last if is_known and last is not None and last.ago_s < days * 24 * HOUR_S else None

    @cached_property
    def awaited(self) -> list[str]:
        """The brokers that crashed and had queues of its business topics."""
        topics = [reads.topic.topic for reads in self.business]
        return awaited_of(topics, awaited_brokers(self.cluster, self.policy))

    @cached_property
    def min_clients(self) -> int:
        """The number of client ids that it keeps in any case."""
        return self.policy.min_clients(self.name)

    @cached_property
    def churn(self) -> Churn:
        """The queues that move if one client or one broker comes or goes."""
        return Churn(self.owned, self.verdicts, self.losses)

    losses = Together(_losses)

    @cached_property
    def pareto_best(self) -> dict[str, bool]:
        """Of each strategy whether it is Pareto-best; see ``Churn.pareto_best``."""
        return self.churn.pareto_best(self.loads)

    @cached_property
    def today_load(self) -> GroupLoad | None:
        """Today's load, of the topics whose owners are known; None if none are known."""
        if self.today is None:
            return None
        owners = self.today.owners
        computed = next((load for load in self.loads.values() if load.owners is owners), None)
        return computed or GroupLoad.of(self.division, self.weights, owners)

    @cached_property
    def whole_load(self) -> GroupLoad | None:
        """Today's load; None if the owners of a topic are unknown."""
        return self.today_load if self.today_load is not None and self.today_load.is_whole else None

    @property
    def orphans_today(self) -> int | None:
        """How many readable queues have no owner today; None if unknown."""
        return None if self.whole_load is None else len(self.whole_load.orphans)

    @property
    def twice_today(self) -> int | None:
        """How many queues are read by more than one consumer today; None if unknown."""
        return None if self.whole_load is None else len(self.whole_load.doubly_owned)

    @cached_property
    def reading_status(self) -> ReadingStatus:
        """Whether every readable queue of its business topics has a reader."""
        load, owners = self.today_load, self.owners_today
        return reading_status(self.division, self.cluster, load, owners, is_settling=self.is_settling)

    @cached_property
    def stuck(self) -> list[Stuck]:
        """Its stuck queues, sorted by queue and client."""
        return stuck_queues(self.sampled, self.policy.thresholds.STUCK_QUEUE, self.suspended)

    @cached_property
    def suspended(self) -> tuple[Suspended, ...]:
        """Its clients that look suspended, by client id."""
        return suspended_clients(self.sampled, self.policy.thresholds.STUCK_QUEUE, self._shares)

    def _shares(self) -> Shares | None:
        """What each client should hold that reports its strategy and has not just started; None if unknown."""
        today = self._by_strategy
        if today is None or not today.is_predicted or today.owners.unknown:
            return None
        owners, names = today.owners, self.division.queues.names
        business = {reads.topic.topic for reads in self.business if not self.facts.pops(reads)}
        shares: dict[str, set[Queue]] = {
            one.client_id: set()
            for one in self.facts.consumers
            if one.allocate_strategy is not None and self.is_settled(one)
        }
        for queue, client in zip(owners.queue.tolist(), owners.client.tolist(), strict=True):
            if names[queue].topic in business and self.client_ids[client] in shares:
                shares[self.client_ids[client]].add(names[queue])
        return shares

    @cached_property
    def growth(self) -> Growth:
        """How its lag grew for want of capacity: on queues whose reader is healthy, may pull all, and moves the offset.

        Unknown if it broadcasts: its offsets on the brokers mean nothing.
        """
        if self.facts.is_broadcasting:
            return Growth(None, None)
        names, load = self.division.queues.names, self.today_load
        unread = () if load is None else load.orphans.tolist()
        standing = (one.queue for one in lag_troubles(self.sampled) if one.state in STANDING)
        slow = () if self.slow_pulls is None else self.slow_pulls.queues
        without = {*(names[queue] for queue in unread), *(one.queue for one in self.stuck), *standing, *slow}
        usual = (self.weights.total_msgs_per_s or 0.0) * self.policy.thresholds.LOW_UTILISATION.min_growth_s
        alone = queues_alone(self.division, self.owners_today, self.replaced)
        return replace(lag_growth(self.sampled, without | alone), usual=usual)

    @cached_property
    def slow_pulls(self) -> SlowPulls | None:
        """The queues that get more than the settings of their readers let them pull; None if there are none."""
        owners = None if self.today_load is None else self.today_load.owners
        return None if owners is None else slow_pulls(self.division, owners, self.weights.msgs_per_s)

    @property
    def is_harmed(self) -> bool:
        """Whether some queue is known to have no reader or two readers today."""
        return self.today_load is not None and (len(self.today_load.orphans) > 0 or bool(self.today_load.doubly_owned))

    @property
    def mends_first(self) -> str | None:
        """The rule that is answered before it is known how many clients are needed; see ``Staff.mends_first``."""
        return self.staff.mends_first

    @property
    def settled_s(self) -> float:
        """How many seconds a client must have been up before it is compared with others."""
        return self.policy.thresholds.SUBSCRIPTION_MISMATCH.settled_s

    def is_settled(self, consumer: Consumer) -> bool:
        """Whether a consumer has been up long enough to be compared; true if its start is unknown."""
        return is_settled(consumer, self.policy.thresholds)

    @cached_property
    def pops(self) -> bool:
        """Whether it pops some queue."""
        return bool(self.division.is_popped.any())

    @cached_property
    def is_settling(self) -> bool:
        """Whether a client has just started, so that it owns nothing yet, and owners are only observed.

        If the owners are computed, every client already has its share, which may be nothing.
        """
        young = any(one.up_s is not None and one.up_s <= self.settled_s for one in self.facts.consumers)
        return young and not (self.today is not None and self.today.is_predicted)

    @cached_property
    def pulled_sizes(self) -> dict[str, int]:
        """How many readable queues each pulled business topic has; see :func:`pulled_sizes`."""
        return pulled_sizes(self.facts)

    @cached_property
    def useful_clients(self) -> int | None:
        """How many clients can own a queue; see :func:`useful_clients`."""
        return useful_clients(self.facts, self.computed_strategy)


GroupRule = Callable[[AssessedGroup], Iterator[Finding]]
"""A rule of groups: it yields its findings about one group."""
