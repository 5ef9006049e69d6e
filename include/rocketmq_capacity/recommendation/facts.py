"""What the actions look at: a group or a topic with its findings, and what is known of the whole cluster."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.awaited import awaited_brokers, awaited_of, comes_of_fewer_queues
from rocketmq_capacity.assessment.capacity import TooManyEvidence
from rocketmq_capacity.assessment.coverage import EmptyBrokerEvidence
from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.cases import CaseSide, EffectOfCase, QueueChange
from rocketmq_capacity.model.facts import ClusterFacts, GroupFacts, PastClients, Place, Reader, Stranded, TopicFacts
from rocketmq_capacity.recommendation.commands import placeholder
from rocketmq_capacity.recommendation.consequences import SET_UP, set_up_behind
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import GRPC, MACHINE_ROOM_NEARBY, is_open, java_order, own_perm
from rocketmq_capacity.wording import listed, percent

COVERAGE: Final = "TOPIC_COVERAGE"
SUSPECT: Final = "SUSPECT_SNAPSHOT"
DISK: Final = "BROKER_DISK"
Simulate = Callable[[GroupFacts], CaseSide | None]
"""Changed facts of a group -> what it would own while its clients go on running what they run today; None where that
cannot be computed."""


@dataclass(frozen=True)
class AdvisedCluster:
    """What holds for every recommendation.

    Attributes:
        facts: brokers and completeness.
        policy: thresholds, and which strategies are looked at.
        is_suspect: whether the plan found SUSPECT_SNAPSHOT.
        lacking: topics that level brokers without topics -> these brokers, sorted.
        filling: brokers whose disk is too full, or soon is.
    """

    facts: ClusterFacts
    policy: Policy
    is_suspect: bool
    lacking: Mapping[str, Sequence[str]] = field(default_factory=dict)
    filling: frozenset[str | None] = frozenset()

    @classmethod
    def of(cls, facts: ClusterFacts, policy: Policy, findings: Iterable[tables.Finding]) -> "AdvisedCluster":
        """The cluster with its findings, those that name neither a group nor a topic."""
        lacking: dict[str, list[str]] = {}
        ordered = sorted(findings, key=lambda one: (one.rule, one.broker_name or ""))
        for finding in ordered:
            if finding.rule == COVERAGE and finding.broker_name is not None:
                for proposed in EmptyBrokerEvidence.of(finding).proposed:
                    lacking.setdefault(proposed.topic, []).append(finding.broker_name)
        filling = frozenset(one.broker_name for one in ordered if one.rule == DISK)
        return cls(facts, policy, any(one.rule == SUSPECT for one in ordered), lacking, filling)

    @cached_property
    def nameserver(self) -> str:
        """The name servers as mqadmin takes them, or a placeholder."""
        return ";".join(self.facts.cluster.nameservers) or placeholder("name server")

    @cached_property
    def undecided(self) -> str | None:
        """Why nothing may be changed, or None: the snapshot is too incomplete."""
        bound, ratio = self.policy.thresholds.PROVISION.min_completeness, self.facts.cluster.completeness_ratio
        if self.policy.holds_verdicts(ratio):
            return None
        covered, needed = percent(ratio), percent(bound)
        return (
            f"UNDECIDED: the snapshot covers {covered} of the queues, and below {needed} no change is recommended;"
            " mend what failed and take another one first."
        )

    @cached_property
    def awaited(self) -> Sequence[tables.GoneBroker]:
        """The brokers that crashed and that somebody waits for."""
        return awaited_brokers(self.facts, self.policy)

    def waits(self, topics: Collection[str]) -> str | None:
        """Why no change answers what the missing queues of a crashed broker may cause, or None: it had such topics."""
        names = awaited_of(topics, self.awaited)
        if not names:
            return None
        return (
            f"UNDECIDED: queues are missing here with lost brokers ({listed(names)}). Wait until they are back: nothing"
            " else may be wrong."
        )

    def answerable(self, findings: Iterable[tables.Finding], waits: str | None) -> list[tables.Finding]:
        """Those that a change may answer; ``waits`` is what :meth:`waits` says of their topics."""
        if self.undecided:
            return []
        return [one for one in findings if waits is None or not comes_of_fewer_queues(one.rule)]

    @property
    def suspect(self) -> str | None:
        """Why no command may be run, or None."""
        return "the snapshot is suspect (SUSPECT_SNAPSHOT)" if self.is_suspect else None

    @cached_property
    def masters(self) -> Mapping[str, tables.Broker]:
        """The masters by broker name."""
        return {broker.broker_name: broker for broker in self.facts.brokers if broker.broker_id == 0}

    def address(self, broker_name: str) -> str:
        """The address of a broker's master, or a placeholder that names the broker."""
        master = self.masters.get(broker_name)
        return (master and master.broker_addr) or placeholder(f"address of {broker_name}")


@dataclass(frozen=True)
class TopicRefusals:
    """What the recommendations for a topic mean for the recommendations for its groups.

    Attributes:
        topic: the topic.
        is_ordered: it is ordered, FIFO, or read in order by some group.
        forbids: why its commands may not be run, in words.
        refusals: by rule (IDLE_CONSUMERS, TOPIC_COVERAGE), why no change of the topic answers it (a sentence).
        answered: rules that the topic's own recommendations name; a finding of a group that names the topic is answered
            by them as well.
        helped: (rule, consumer_group) of findings that a recommended change of the topic answers.
    """

    topic: str
    is_ordered: bool
    forbids: tuple[str, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)
    answered: tuple[str, ...] = ()
    helped: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Sharing:
    """The queues that a group divides, and who owns them today; one entry for each readable queue, in Java's order.

    Attributes:
        queues: their names.
        client_ids: the different client ids, in Java's order.
        is_business: whether the queue belongs to a business topic; the others belong to the group's retry topic.
        owner: the index of a client id that owns it, or NOBODY; always NOBODY for queues of the retry topic.
        msgs_per_s: messages a second that the group gets from it.
    """

    queues: Sequence[Queue]
    client_ids: Sequence[str]
    is_business: Flags
    owner: Integers
    msgs_per_s: Numbers


class JudgedGroup(NamedTuple):
    """What was judged of a group; the columns of ``group_status`` that advice needs."""

    current_strategy: str | None
    min_replicas: int | None
    target_replicas: int | None
    judged_utilisation_upper: float | None
    peak_factor: float | None
    queues_full_msgs_per_s: float | None

    @property
    def needed_clients(self) -> int | None:
        """How many clients it needs now or soon; None if unknown."""
        return max((one for one in (self.min_replicas, self.target_replicas) if one is not None), default=None)

    @property
    def peak_utilisation(self) -> float | None:
        """Largest busy share that its busiest client may have at the peak; None if unknown."""
        if self.judged_utilisation_upper is None or self.peak_factor is None:
            return None
        return self.judged_utilisation_upper * self.peak_factor

    @property
    def outgrows_queues(self) -> bool:
        """Whether its traffic grows, so that it may need more queues together with more clients."""
        return self.queues_full_msgs_per_s is not None


@dataclass(frozen=True)
class AdvisedGroup:
    """A business group with its findings.

    Attributes:
        facts: what the snapshot says of it.
        cluster: what holds for every recommendation.
        findings: every finding that names the group.
        judged: what was judged of it.
        before: how it fares today, computed from what its clients run; None if that cannot be computed.
        strategies: how it would fare under each strategy that can run, in the policy's order; computed on demand.
        simulate: how it would fare with changed facts.
        with_queues: how it would fare in a case of one of its topics, without its traffic.
        sharing: the queues that it divides, and who owns them today; None if that is not computed.
        under_lists: how it would fare with fixed lists of queues by client id (CONFIG); None if before is None.
        topics: by name, what the recommendations for its business topics mean for it.
    """

    facts: GroupFacts
    cluster: AdvisedCluster
    findings: tuple[tables.Finding, ...]
    judged: JudgedGroup
    before: CaseSide | None
    strategies: Mapping[str, CaseSide]
    simulate: Simulate
    with_queues: Callable[[QueueChange], CaseSide | None]
    sharing: Callable[[], Sharing | None]
    under_lists: Callable[[Mapping[str, Sequence[Queue]]], CaseSide | None]
    topics: Mapping[str, TopicRefusals] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return self.facts.consumer_group

    @property
    def current_strategy(self) -> str | None:
        """The strategy that it runs; MIXED if clients differ; None for a group that is not clustering."""
        return self.judged.current_strategy

    @property
    def policy(self) -> Policy:
        """Thresholds, and which strategies are looked at."""
        return self.cluster.policy

    @property
    def is_clustering(self) -> bool:
        """Whether its clients divide the queues among themselves."""
        return self.facts.is_clustering

    @property
    def keeps_rooms(self) -> bool:
        """Whether its clients read in their own room, where the policy asks for what crosses rooms."""
        return self.policy.asks_rooms and (self.current_strategy or "").startswith(MACHINE_ROOM_NEARBY)

    @cached_property
    def client_ids(self) -> list[str]:
        """Its different client ids, in Java's order."""
        return sorted({one.client_id for one in self.facts.consumers}, key=java_order)

    @cached_property
    def askable(self) -> list[str]:
        """The ids of its clients that can be asked about themselves (307), in Java's order: a gRPC client cannot."""
        return sorted({one.client_id for one in self.facts.consumers if not one.is_grpc}, key=java_order)

    @cached_property
    def addresses(self) -> list[str]:
        """The addresses of the servers that know its clients.

        These are the masters that serve its business topics, by broker name, and the Proxies that name its gRPC
        clients. If no broker names one of them, brokers know none: these clients are connected to Proxies alone.
        """
        names = {place.broker_name for reads in self.facts.business for place in reads.topic.places}
        masters = [self.cluster.address(name) for name in sorted(names)]
        brokers = {one.broker_name for one in self.cluster.facts.brokers}
        seen_on = {name for one in self.facts.consumers for name in one.seen_on or () if one.is_grpc}
        proxies = sorted(seen_on - brokers)
        is_behind = bool(proxies) and self.facts.protocol == GRPC and not seen_on & brokers
        return proxies if is_behind else [*masters, *proxies]

    def named(self, *rules: str) -> list[tables.Finding]:
        """Its findings of these rules."""
        return [one for one in self.findings if one.rule in rules]

    @cached_property
    def waits(self) -> str | None:
        """Why no change answers what fewer queues explain, or None: a broker that had queues of its topics crashed."""
        return self.cluster.waits([reads.topic.topic for reads in self.facts.business])

    def answerable(self, *rules: str) -> list[tables.Finding]:
        """Its findings of these rules that a change may answer.

        None where the snapshot is too incomplete, and none that fewer queues explain while a broker is missing.
        """
        return self.cluster.answerable(self.named(*rules), self.waits)

    def answerable_without_set_up(self, *rules: str) -> list[tables.Finding]:
        """The same without findings that come of how its clients are set up: to mend that is the answer."""
        return [one for one in self.answerable(*rules) if set_up_behind(one.rule, one.subjects, self.set_up) is None]

    @cached_property
    def set_up(self) -> dict[str, tuple[str, ...]]:
        """By rule on how its clients are set up, those that differ; only of its findings."""
        return {rule: one.subjects for rule in SET_UP for one in self.named(rule)}

    def after(self, changed: GroupFacts) -> CaseSide | None:
        """What it would own with changed facts; None where what it owns today cannot be computed either."""
        return None if self.before is None else self.simulate(changed)

    def refusal(self, finding: tables.Finding) -> str | None:
        """Why no change of the topic that a finding names answers it, as a sentence, or None."""
        topic = None if finding.topic is None else self.topics.get(finding.topic)
        return None if topic is None else topic.refusals.get(finding.rule)


@dataclass(frozen=True)
class AdvisedTopicPlace:
    """A topic on one of its brokers.

    Attributes:
        place: its queues there.
        address: the master's, or a placeholder.
        own_perm: the topic's own perm; None where unknown.
        is_changeable: queues may be added there.
    """

    place: Place
    address: str
    own_perm: int | None
    is_changeable: bool


@dataclass(frozen=True)
class AdvisedTopic:
    """A topic with its findings, and with the groups that ask for more of its queues.

    Attributes:
        facts: the topic and where its queues are.
        cluster: what holds for every recommendation.
        findings: every finding that names the topic and no group.
        readers: groups that subscribe it or have offsets on it.
        demands: groups that more queues might help.
        effects: what its cases do to each group with clients; empty until they are tried.
        stranded: places of groups on queues that they cannot see.
        past: how many clients its groups had; None without a history.
    """

    facts: TopicFacts
    cluster: AdvisedCluster
    findings: tuple[tables.Finding, ...] = ()
    readers: tuple[Reader, ...] = ()
    demands: tuple[tables.Demand, ...] = ()
    effects: tuple[EffectOfCase, ...] = ()
    stranded: tuple[Stranded, ...] = ()
    past: PastClients | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.facts.topic

    @property
    def policy(self) -> Policy:
        """Thresholds, and which strategies are looked at."""
        return self.cluster.policy

    @cached_property
    def waits(self) -> str | None:
        """Why no change answers what fewer queues explain, or None: a broker that had its queues crashed."""
        return self.cluster.waits([self.name])

    def answerable(self, *rules: str) -> list[tables.Finding]:
        """Its findings of these rules that a change may answer.

        None where the snapshot is too incomplete, and none that fewer queues explain while a broker is missing.
        """
        return self.cluster.answerable([one for one in self.findings if one.rule in rules], self.waits)

    @cached_property
    def places(self) -> Sequence[AdvisedTopicPlace]:
        """Where it is, by broker name."""
        return [self._place(place) for place in sorted(self.facts.places, key=lambda place: place.broker_name)]

    def _place(self, place: Place) -> AdvisedTopicPlace:
        master = self.cluster.masters.get(place.broker_name)
        return AdvisedTopicPlace(
            place,
            self.cluster.address(place.broker_name),
            own_perm(place.perm, master.broker_perm if master else None),
            is_open(place.perm),
        )


def needs_fewer(findings: Iterable[tables.Finding]) -> bool:
    """Whether the stored peaks show that a group needs fewer clients than it has, for all of its work."""
    evidence = map(evidence_of, findings)
    return any(isinstance(one, TooManyEvidence) and one.needed_clients < one.clients for one in evidence)


GroupAction = Callable[[AdvisedGroup], Iterable[tables.Recommendation]]
"""The type of an action on a group."""
