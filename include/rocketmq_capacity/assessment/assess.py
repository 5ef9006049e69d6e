"""The stage: loads under every strategy, the current state of a group, and findings about groups and topics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rocketmq_capacity.assessment.capacity import clients_to_spare
from rocketmq_capacity.assessment.capacity_rows import CapacityRows, capacity_rows
from rocketmq_capacity.assessment.churn import UNKNOWN
from rocketmq_capacity.assessment.client_bounds import client_bounds
from rocketmq_capacity.assessment.coming_events import event_needs
from rocketmq_capacity.assessment.failures import group_failures
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.headroom import group_headroom
from rocketmq_capacity.assessment.loads import GroupLoad
from rocketmq_capacity.assessment.ownership import drained
from rocketmq_capacity.assessment.peak import utc_of
from rocketmq_capacity.assessment.provision import NOT_KNOWN
from rocketmq_capacity.assessment.rules import cluster_rules, group_rules, topic_rules
from rocketmq_capacity.assessment.scale_down import ScaleDown, scale_down, settled
from rocketmq_capacity.assessment.size_table import group_sizes
from rocketmq_capacity.assessment.staff import max_useful_clients
from rocketmq_capacity.assessment.together import divide_together, size_together
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.assessment.traffic_forecast import full_of_queues
from rocketmq_capacity.assessment.traffic_trend import TrafficTrend
from rocketmq_capacity.assessment.versions import version_faults
from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.facts import ClusterFacts, Disagreements
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding, GroupFailure, GroupSize, GroupStatus, StrategyLoad, VersionFault
from rocketmq_capacity.tables.assess.events import EventNeed
from rocketmq_capacity.vocabulary import java_order


@dataclass(frozen=True, slots=True)
class ClientLoads:
    """The load of each client id of a group under a strategy; arrays in the order of ``GroupAssessment.client_ids``.

    Attributes:
        strategy: a strategy that applies to all business topics.
        queues: queues that the client owns.
        msgs_per_s: messages a second written to them; NaN if unknown.
        lag: messages not read on them; see ``has_lag``.
        has_lag: whether the lag is known.
    """

    strategy: str
    queues: Integers
    msgs_per_s: Numbers
    lag: Integers
    has_lag: Flags


@dataclass(frozen=True, slots=True)
class GroupAssessment:
    """All results about a group.

    Attributes:
        status: the group at a glance.
        loads: the load under each strategy of the policy; none for a broadcasting group.
        client_ids: its different client ids, in Java's order.
        client_loads: the load of each client under each strategy that applies to all business topics.
        sizes: how busy the clients would be with other numbers of them.
        capacity: the work of each client; None if the owners are unknown.
        failures: the state after each failure.
        version_faults: clients whose version has a known fault.
        findings: what is wrong.
    """

    status: GroupStatus
    loads: list[StrategyLoad]
    client_ids: list[str]
    client_loads: list[ClientLoads]
    capacity: CapacityRows | None
    sizes: list[GroupSize]
    failures: list[GroupFailure]
    events: list[EventNeed]
    version_faults: list[VersionFault]
    findings: list[Finding]


def assess_groups(groups: Sequence[AssessedGroup]) -> list[GroupAssessment]:
    """Judge business groups; what numpy computes is computed for all of them at once."""
    divide_together(groups)
    judged = [group.apart for group in groups]
    divide_together([group for group in judged if group.replaced])
    size_together(judged)
    return list(map(_assessed, groups, group_failures(judged)))


def _assessed(group: AssessedGroup, failures: list[GroupFailure]) -> GroupAssessment:
    findings = list(_findings(group))
    spare = scale_down(group, findings)
    if spare.kept is not None:
        findings += clients_to_spare(group, spare.kept)
    return GroupAssessment(
        status=_status(group, spare),
        loads=[_strategy_load(group, name, group.loads.get(name)) for name in group.policy.strategies_of(group.name)]
        if not group.facts.is_broadcasting
        else [],
        client_ids=group.client_ids,
        client_loads=[
            ClientLoads(name, load.queues, load.msgs_per_s, load.lag, load.has_lag)
            for name, load in group.loads.items()
            if load.is_whole
        ],
        capacity=capacity_rows(group),
        sizes=group_sizes(group.apart),
        failures=failures,
        events=list(event_needs(group.apart)),
        version_faults=version_faults(group),
        findings=findings,
    )


def _findings(group: AssessedGroup) -> Iterator[Finding]:
    """What is wrong with a group; while its schedule has it off, only what is lost for good."""
    for finding in chain.from_iterable(rule(group) for rule in group_rules().values()):
        if not group.is_off or rule_of(finding.rule).is_for_good:
            yield finding


def assess_topic(topic: AssessedTopic) -> list[Finding]:
    """Judge a topic; only business topics have findings."""
    if not topic.is_business:
        return []
    return list(chain.from_iterable(rule(topic) for rule in topic_rules().values()))


def assess_cluster(cluster: ClusterFacts, disagreements: Disagreements, policy: Policy) -> list[Finding]:
    """Judge name servers and brokers."""
    return list(chain.from_iterable(rule(cluster, disagreements, policy) for rule in cluster_rules().values()))


def _status(group: AssessedGroup, spare: ScaleDown) -> GroupStatus:
    verdict, facts, current = settled(group.provision, spare), group.facts, group.current
    bounds = client_bounds(group, verdict, spare)
    use, judged, needed = verdict.utilisation, verdict.judged_utilisation, verdict.needed or NOT_KNOWN
    headroom, (drained_clients, drained_places) = group_headroom(group), drained(group)
    return GroupStatus(
        consumer_group=facts.consumer_group,
        message_model=facts.message_model,
        consume_type=facts.consume_type,
        message_request_mode=facts.message_request_mode,
        protocol=facts.protocol,
        connections=facts.connections,
        distinct_client_ids=facts.distinct_client_ids,
        topics=tuple(sorted((reads.topic.topic for reads in group.business), key=java_order)),
        max_useful_clients=max_useful_clients(facts),
        provision_status=verdict.status,
        provision_doubt=verdict.doubt,
        pass_ratios={
            reads.topic.topic: reads.pass_ratio for reads in group.business if reads.pass_ratio not in (None, 1.0)
        }
        or None,
        unknown_filters=tuple(reads.topic.topic for reads in group.business if reads.pass_ratio is None),
        provision_reason=verdict.reason,
        reading_status=group.reading_status,
        current_strategy=None if current is None else current.strategy,
        current_strategy_source=None if current is None else current.source,
        utilisation=use and use.estimate,
        utilisation_lower=use and use.lower,
        utilisation_upper=use and use.upper,
        busiest_client=verdict.busiest_client,
        drained_clients=tuple(drained_clients),
        drained_brokers=tuple(broker_name for broker_name, _ in drained_places),
        drained_topics=tuple(topic for _, topic in drained_places),
        outlier_clients=tuple(group.client_ids[one.client] for one in group.outliers),
        judged_utilisation=judged and judged.estimate,
        judged_utilisation_lower=judged and judged.lower,
        judged_utilisation_upper=judged and judged.upper,
        peak_factor=None if use is None else group.peak.factor,
        peak_msgs_per_s=group.peak.msgs_per_s,
        peak_at=group.peak.at,
        peak_days=group.peak.days,
        peak_rates=group.peak.rates,
        most_msgs_per_s=None if facts.past is None else facts.past.most_msgs_per_s,
        most_at=None if facts.past is None else utc_of(facts.past.most_s),
        is_size_known=verdict.needed is not None,
        needed_clients_lower=needed.lower,
        needed_clients_target=needed.target,
        needed_clients_upper=needed.upper,
        min_safe_clients=verdict.min_safe_clients,
        min_replicas=bounds.least,
        max_replicas=bounds.most,
        target_replicas=bounds.target,
        max_useful_replicas=bounds.useful,
        scale_down_allowed=bounds.may_go,
        scale_down_blocked_by=() if bounds.may_go else spare.blocked_by,
        bounds_confidence=bounds.confidence,
        provision_code=bounds.reason_code,
        headroom_factor=None if headroom is None else headroom.factor,
        headroom_measured_factor=None if headroom is None else headroom.measured_factor,
        headroom_breaks=None if headroom is None else headroom.breaks,
        **_growth(group, group.traffic_trend),
    )


def _growth(group: AssessedGroup, growth: TrafficTrend | None) -> dict[str, Any]:
    """The columns about the trend of a group's traffic; none without a trend."""
    if growth is None:
        return {}
    return {
        "traffic_known_days": growth.trend.points,
        "traffic_msgs_per_s": growth.trend.now,
        "traffic_per_day_msgs_per_s": growth.trend.per_day,
        "traffic_least_per_day_msgs_per_s": growth.trend.lower,
        "traffic_most_per_day_msgs_per_s": growth.trend.upper,
        "full_msgs_per_s": growth.full_msgs_per_s,
        "queues_full_msgs_per_s": full_of_queues(group),
    }


def _strategy_load(group: AssessedGroup, strategy: str, load: GroupLoad | None) -> StrategyLoad:
    """The row of a strategy; the load is None if the strategy does not apply."""
    verdict = group.verdicts[strategy]
    reason, dialects = verdict.reason, verdict.dialects
    if load is None:
        return StrategyLoad(
            consumer_group=group.name,
            strategy=strategy,
            is_applicable=False,
            reason=reason,
            dialects=dialects,
            idle_clients=(),
            orphan_queues=(),
            doubly_owned_queues=(),
        )
    names, moves = group.division.queues.names, group.churn.moves.get(strategy, UNKNOWN)
    return StrategyLoad(
        consumer_group=group.name,
        strategy=strategy,
        is_applicable=True,
        reason=reason,
        dialects=dialects,
        idle_clients=tuple(group.client_ids[client] for client in load.idle.tolist()),
        orphan_queues=tuple(sorted(names[queue] for queue in load.orphans.tolist())),
        doubly_owned_queues=tuple(sorted(load.doubly_owned)),
        count=load.count,
        traffic=load.traffic,
        lag=load.lag_metrics,
        moved_one_fewer=moves.fewer,
        moved_one_more=moves.more,
        moved_broker_lost=moves.worst_broker,
        is_pareto_best=group.pareto_best.get(strategy),
    )
