"""A group on which changes are tried: who would own which queue if the clients keep what they run today."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from msgspec import structs

from rocketmq_capacity import tables
from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.current import OldQueues, client_runs, owned_today
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.loads import GroupLoad, QueueWeights
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy
from rocketmq_capacity.assessment.skew import floor_of_equal, metrics
from rocketmq_capacity.model.arrays import Numbers
from rocketmq_capacity.model.cases import CaseSide, QueueChange
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts, Reads
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.model.owners import NOBODY, Owners
from rocketmq_capacity.model.queues import Queues
from rocketmq_capacity.recommendation.cases import changed_facts
from rocketmq_capacity.recommendation.facts import AdvisedCluster, AdvisedGroup, JudgedGroup, Sharing, TopicRefusals
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CONFIG, PERM_WRITE


def group_on_trial(
    cluster: AdvisedCluster,
    assessed: AssessedGroup,
    judged: JudgedGroup,
    findings: tuple[tables.Finding, ...] = (),
    topics: Mapping[str, TopicRefusals] | None = None,
) -> AdvisedGroup:
    """A group as the actions look at it.

    Args:
        cluster: what holds for every recommendation.
        assessed: the group; its observations are not used.
        judged: what was judged of it.
        findings: what is wrong with it.
        topics: by topic, what the recommendations for it mean for the group.
    """
    current = judged.current_strategy
    runs = _runs(assessed, current, assessed.division)
    now = _owned(assessed, runs, assessed.division, _nothing_known)
    return AdvisedGroup(
        assessed.facts,
        cluster,
        findings,
        judged,
        before=None if now is None else now.side,
        strategies=_Sides(assessed),
        simulate=partial(_simulated, assessed, current, _nothing_known if now is None else now.queues_of),
        with_queues=_OneTopic(cluster, assessed, runs, now).side,
        sharing=partial(_sharing, assessed, now),
        under_lists=partial(_under_lists, assessed, now),
        topics=topics or {},
    )


def owned_on_trial(group: AssessedGroup, runs: list[str], division: Division) -> Owners | None:
    """Who would own which of these queues if each client id runs this strategy; None if that cannot be computed."""
    owned = _owned(group, runs, division, _nothing_known)
    return None if owned is None else owned.owners


def owners_under_lists(group: AssessedGroup, division: Division, lists: Mapping[str, Sequence[Queue]]) -> Owners:
    """Who would own which queue under CONFIG with these lists by client id."""
    return Strategies(group.policy.with_config_assignment(group.name, lists)).owners(CONFIG, division)


@dataclass(frozen=True)
class _Owned:
    """What the clients of a group own, computed from the strategies that they run."""

    group: AssessedGroup
    division: Division
    owners: Owners

    @property
    def side(self) -> CaseSide:
        return _side(self.load)

    @cached_property
    def load(self) -> GroupLoad:
        return GroupLoad.of(self.division, self.weights, self.owners)

    @cached_property
    def weights(self) -> QueueWeights:
        is_same = self.division.queues is self.group.division.queues
        return self.group.weights if is_same else QueueWeights.of(self.division)

    @cached_property
    def _queues(self) -> dict[str, list[Queue]]:
        """By client id, the queues that exist and that it owns."""
        ids, names = self.division.members.client_ids, self.division.queues.names
        owned: dict[str, list[Queue]] = {}
        for queue, client in zip(self.owners.queue.tolist(), self.owners.client.tolist(), strict=True):
            owned.setdefault(ids[client], []).append(names[queue])
        return owned

    def queues_of(self, client_id: str) -> Collection[Queue]:
        """What a client id owns; a new one owns nothing."""
        return self._queues.get(client_id, ())


@dataclass(frozen=True)
class _OneTopic:
    """A group in cases that change the queues of one of its topics.

    Strategies divide each topic by itself. So only the topic is divided again, and its new part replaces the old one in
    the group's sums. Otherwise a group of thousands of topics would be computed whole for every case of each of them.
    """

    cluster: AdvisedCluster
    group: AssessedGroup
    runs: list[str] | None
    now: _Owned | None

    def side(self, case: QueueChange) -> CaseSide | None:
        """How the group would fare, without the METRICS of its traffic; None if that cannot be computed."""
        if self.now is None:
            return None
        facts = structs.replace(self.group.facts, reads=(self._reads[case.topic],), lags=())
        if case.topic not in self._old:
            self._old[case.topic] = self._owned(self.now, facts, _nothing_known)
        old = self._old[case.topic]
        new = self._owned(self.now, changed_facts(facts, case, self.cluster), self.now.queues_of)
        if old is None or new is None:
            return None
        return _exchanged(self.now.load, old.load, new.load, old.weights.total_msgs_per_s)

    def _owned(self, now: _Owned, facts: GroupFacts, old: OldQueues) -> _Owned | None:
        division = Division(facts, Queues.of(facts), now.division.members)
        return _owned(self.group, self.runs, division, old)

    @cached_property
    def _reads(self) -> dict[str, Reads]:
        return {reads.topic.topic: reads for reads in self.group.facts.business}

    @cached_property
    def _old(self) -> dict[str, _Owned | None]:
        """By topic, who owns its queues now."""
        return {}


def _exchanged(whole: GroupLoad, old: GroupLoad, new: GroupLoad, msgs_per_s: float | None) -> CaseSide:
    """The figures of a whole group, of which one topic has a new load for the old one.

    Args:
        whole: the load of the group now.
        old: that of the topic now.
        new: that of the topic with other queues.
        msgs_per_s: messages a second that the group gets of the topic; None if unknown.
    """
    queues = whole.queues - old.queues + new.queues
    number = whole.all_queues - old.all_queues + new.all_queues
    is_shared = whole.popped - old.popped + new.popped > 0
    floor = floor_of_equal(number, len(queues))
    pulled = whole.pulled - old.pulled + new.pulled if whole.division.is_mixed else queues
    (count,) = metrics(queues[None, :].astype(np.float64), np.array([floor]), np.array([is_shared]))
    return CaseSide(
        idle=int(np.count_nonzero(queues == 0)),
        pulls_none=int(np.count_nonzero(pulled == 0)),
        orphan_queues=len(whole.orphans) - len(old.orphans) + len(new.orphans),
        doubly_owned_queues=len(whole.doubly_owned) - len(old.doubly_owned) + len(new.doubly_owned),
        count=count,
        most_msgs_per_s=_most(
            whole.msgs_per_s - old.msgs_per_s + _written_evenly(new, msgs_per_s), is_shared=is_shared
        ),
    )


def _written_evenly(new: GroupLoad, msgs_per_s: float | None) -> Numbers:
    """Messages a second of each client of one topic with other queues, if producers use all that are written alike."""
    queues = new.division.queues
    is_written = np.array([bool((place.perm or 0) & PERM_WRITE) for place in queues.places], bool)[queues.place]
    of_each = np.nan if msgs_per_s is None or not is_written.any() else msgs_per_s / np.count_nonzero(is_written)
    weights = np.where(is_written, of_each, 0.0)[new.owners.queue]
    return np.asarray(np.bincount(new.owners.client, weights, len(new.queues)), np.float64)


def _most(msgs_per_s: Numbers, *, is_shared: bool) -> float | None:
    """The most messages a second of a client; None if one's are unknown, or if clients share queues."""
    most = float(msgs_per_s.max(initial=0.0))
    return None if is_shared or np.isnan(most) else most


def _sharing(group: AssessedGroup, now: _Owned | None) -> Sharing | None:
    """The queues that the group divides, with its retry topic, and who owns them now."""
    if now is None:
        return None
    queues = group.division.queues
    owner = np.full(len(queues), NOBODY)
    owner[now.owners.queue] = now.owners.client
    return Sharing(queues.names, group.client_ids, queues.is_business, owner, group.weights.msgs_per_s)


def _under_lists(group: AssessedGroup, now: _Owned | None, lists: Mapping[str, Sequence[Queue]]) -> CaseSide | None:
    """How the group would fare under CONFIG with these lists."""
    return None if now is None else _Owned(group, now.division, owners_under_lists(group, now.division, lists)).side


def _nothing_known(_: str) -> None:
    """What a client id owned before: unknown, because the cluster has not changed."""


def _simulated(group: AssessedGroup, current: str | None, old: OldQueues, changed: GroupFacts) -> CaseSide | None:
    """How the group would fare with changed facts; ``old`` is what its clients own now."""
    division = changed_division(group, changed)
    owned = _owned(group, _runs(group, current, division), division, old)
    return None if owned is None else owned.side


def changed_division(group: AssessedGroup, changed: GroupFacts) -> Division:
    """The queues and consumers of a group with changed facts; other consumers divide the same queues."""
    is_same = changed.reads is group.facts.reads
    return Division(changed, group.division.queues if is_same else Queues.of(changed), Members.of(changed))


def _runs(group: AssessedGroup, current: str | None, division: Division) -> list[str] | None:
    """The strategy of each client id; None for a group that is not clustering."""
    return None if current is None else client_runs(division, current, group.policy)


def _owned(group: AssessedGroup, runs: list[str] | None, division: Division, old: OldQueues) -> _Owned | None:
    """Who owns which of these queues; which strategies apply is looked up in the cluster as it is.

    Args:
        group: the group.
        runs: the strategy of each client id; None for a group that is not clustering.
        division: the queues, and among whom they are divided.
        old: what each client id owns before.
    """
    if runs is None:
        return None
    own_strategy = group.policy.current_strategies.own_of_group(group.name)
    if (
        own_strategy
        and own_strategy.class_name in runs
        and not group.allocator.verdict(own_strategy.class_name, division).is_applicable
    ):
        return None  # nobody asked the class about these clients and queues
    owned = group.owned if division is group.division else OwnersByStrategy(group.allocator, division)
    today = owned_today(owned, runs, group.applies, group.policy, old)
    if today is None or not today.is_predicted or today.owners.unknown:
        return None
    return _Owned(group, division, today.owners)


@dataclass(frozen=True)
class _Sides(Mapping[str, CaseSide]):
    """The outcome of each strategy that throws for no topic; each one is computed when it is first looked up."""

    group: AssessedGroup
    known: dict[str, CaseSide] = field(default_factory=dict)

    def __getitem__(self, strategy: str) -> CaseSide:
        if strategy not in self:
            raise KeyError(strategy)
        if strategy not in self.known:
            group = self.group
            self.known[strategy] = _side(GroupLoad.of(group.division, group.weights, group.owned[strategy]))
        return self.known[strategy]

    def __contains__(self, strategy: object) -> bool:
        group = self.group
        return (
            isinstance(strategy, str)
            and group.is_clustering
            and group.applies(strategy)
            and not group.verdict(strategy).throws_for
        )

    def __iter__(self) -> Iterator[str]:
        return filter(self.__contains__, self.group.policy.strategies_of(self.group.name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _side(load: GroupLoad) -> CaseSide:
    return CaseSide(
        idle=len(load.idle),
        pulls_none=load.pulls_none,
        orphan_queues=len(load.orphans),
        doubly_owned_queues=len(load.doubly_owned),
        count=load.count,
        traffic=load.traffic,
        most_msgs_per_s=_most(load.msgs_per_s, is_shared=load.popped > 0),
    )
