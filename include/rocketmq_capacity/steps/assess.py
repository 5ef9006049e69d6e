"""The third step: loads, skew, and what is wrong."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.assess import (
    GroupAssessment,
    assess_cluster,
    assess_groups,
    assess_topic,
)
from rocketmq_capacity.assessment.broker_loads import BrokerLoads, broker_loads, topic_headroom
from rocketmq_capacity.assessment.cluster_failures import cluster_failures
from rocketmq_capacity.assessment.coverage import TopicOrder, topic_coverage
from rocketmq_capacity.assessment.failures import GroupLoss, TopicLoss, broker_loss, masterless_brokers, topic_failures
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.ownership import Drained, read_only_idle
from rocketmq_capacity.assessment.producers import permanent_displacement
from rocketmq_capacity.assessment.together import in_parts
from rocketmq_capacity.assessment.topic import GroupEase, Topic, at_ease
from rocketmq_capacity.assessment.trust import snapshot_incomplete, suspect_snapshot
from rocketmq_capacity.assessment.versions import bad_versions
from rocketmq_capacity.contracts.arrow import table_of, table_of_columns
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.contracts.facts import ClusterFacts, GroupFacts, TopicWithReaders
from rocketmq_capacity.errors import BadInput, ContractBroken, RunBusy, TableDamaged
from rocketmq_capacity.producers import producer_balance, producer_shares
from rocketmq_capacity.recommendation.demands import demands_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.steps.load_columns import capacity_columns, client_load_columns
from rocketmq_capacity.steps.planning import ALLOCATE, ASSESS, SNAPSHOT, Found, FoundPlace, Planning, Rows, lower
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.run_lookup import runs_before
from rocketmq_capacity.vocabulary import BROKER, BUSINESS, SEVERITIES

OF_GROUPS = (
    contracts.GroupStatus,
    contracts.StrategyLoad,
    contracts.ClientLoad,
    contracts.ClientCapacity,
    contracts.GroupSize,
    contracts.VersionFault,
    contracts.GroupFailure,
    contracts.Finding,
    contracts.Demand,
)
IS_OF_A_BROKER: Final = pc.field("failure") == BROKER
IS_BUSY_KNOWN: Final = pc.field("utilisation_upper").is_valid()
IS_DRAINED: Final = pc.list_value_length(pc.field("drained_clients")) > 0
IS_BUSINESS: Final = pc.field("kind") == BUSINESS
OF_BROKERS = (contracts.BrokerLoad, contracts.TopicHeadroom)
OF_THE_RUN_BEFORE = (contracts.FindingSince, contracts.RunBefore, contracts.FindingBefore)
DAMAGED: Final = (BadInput, ContractBroken, TableDamaged, pa.ArrowException, OSError, ValueError)
"""Errors of a run whose files are not those that its steps wrote, or that is deleted meanwhile."""
OF_TOPICS = (contracts.TopicFailure, contracts.ProducerShare, contracts.ProducerBalance, contracts.Finding)
WRITTEN = (*OF_GROUPS, *OF_TOPICS[:-1], contracts.ClusterFailure, *OF_BROKERS, *OF_THE_RUN_BEFORE)


def found_before(lake: Lake, planning: Planning) -> Found | None:
    """What the run before of the same cluster found; None for a first run.

    None also while the run before is assessed again: its findings are not complete then. One whose tables are damaged
    is set aside, with a warning; then it is the run before that one.
    """
    for run in runs_before(lake, planning.run):
        try:
            with run.alone(wait_s=0):
                return replace(planning, run=run).found() if run.is_committed(ASSESS) else None
        except RunBusy:  # it is assessed again
            return None
        except DAMAGED as error:
            logging.getLogger(__name__).warning("%s is set aside: %s", run.folder, error)
    return None


def assess(planning: Planning, before: Found | None = None) -> None:
    """Measure every strategy's loads and find what is wrong; ``before`` is what the run before found."""
    with planning.step(ASSESS, SNAPSHOT, ALLOCATE, writes=WRITTEN) as step:
        cluster, policy = planning.cluster, planning.deciding
        groups = planning.units(contracts.GroupUnit, "facts", "observations", "samples")
        planning.map_units("groups", groups, partial(assessed_groups, cluster, policy), *OF_GROUPS)
        producers = tuple(planning.rows(contracts.Producer))
        ease = at_ease(planning.records(contracts.GroupStatus, GroupEase, IS_BUSY_KNOWN), policy)
        topics = planning.units(contracts.TopicUnit, "facts")
        planning.map_units("topics", topics, partial(assessed_topics, cluster, policy, producers, ease), *OF_TOPICS)
        places = list(planning.records(contracts.TopicFailure, TopicLoss, IS_OF_A_BROKER))
        of_brokers = list(planning.records(contracts.GroupFailure, GroupLoss, IS_OF_A_BROKER))
        loads = BrokerLoads.of(places, cluster, policy)
        orders = planning.records(contracts.Topic, TopicOrder, IS_BUSINESS)
        found = [
            *assess_cluster(cluster, planning.disagreements, policy),
            *snapshot_incomplete(cluster, planning.absent_brokers(), policy),
            *permanent_displacement(producers),
            *bad_versions(planning.rows(contracts.VersionFault)),
            *topic_coverage(places, orders, cluster, policy),
            *read_only_idle(planning.records(contracts.GroupStatus, Drained, IS_DRAINED), cluster),
            *masterless_brokers(of_brokers, places, cluster),
            *broker_loss(of_brokers, places, loads, cluster, policy),
            *suspect_snapshot(
                planning.business_groups(), planning.flagged(), before.flagged if before else None, policy
            ),
        ]
        planning.add(contracts.Finding, found)
        planning.add(contracts.ClusterFailure, cluster_failures(cluster, policy))
        planning.add(contracts.BrokerLoad, broker_loads(loads, policy))
        planning.add(contracts.TopicHeadroom, topic_headroom(places, loads))
        if before is not None:
            planning.add(contracts.FindingSince, since_when(planning.severities(), before, cluster.cluster.taken_at))
            planning.add(contracts.RunBefore, [contracts.RunBefore(taken_at=before.taken_at)])
            planning.add_table(contracts.FindingBefore, before.findings)
        number = planning.values(contracts.Finding, "severity")
        step.tells("findings: " + ", ".join(f"{number[severity]:,} {severity}" for severity in SEVERITIES))


def since_when(severities: Mapping[FoundPlace, str], before: Found, taken_at: str) -> list[contracts.FindingSince]:
    """Since when each finding of this run exists: the time that the run before has for it, or this run's.

    ``severities`` are those of this run.
    """
    return [
        contracts.FindingSince(
            rule=rule,
            consumer_group=group,
            topic=topic,
            broker_name=broker,
            since=before.since.get((rule, group, topic, broker), taken_at),
            least_severity=lower(severity, before.least.get((rule, group, topic, broker))),
        )
        for (rule, group, topic, broker), severity in sorted(
            severities.items(), key=lambda found: [name or "" for name in found[0]]
        )
    ]


def assessed_groups(cluster: ClusterFacts, policy: Policy, units: Rows) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """The rows of some groups."""
    decoder = msgspec.json.Decoder(GroupFacts)
    strategies = Strategies(policy)
    done: list[GroupAssessment] = []
    each = (decoder.decode(unit["facts"]).observed(unit["observations"], unit["samples"]) for unit in units)
    for some in in_parts(Group(whole, cluster, policy, strategies) for whole in each):
        done += assess_groups(some)
    yield contracts.GroupStatus, table_of(contracts.GroupStatus, [group.status for group in done])
    yield contracts.StrategyLoad, table_of(contracts.StrategyLoad, [load for group in done for load in group.loads])
    yield contracts.ClientLoad, table_of_columns(contracts.ClientLoad, client_load_columns(done))
    capacities = [group.capacity for group in done if group.capacity is not None]
    yield contracts.ClientCapacity, table_of_columns(contracts.ClientCapacity, capacity_columns(capacities))
    yield contracts.GroupSize, table_of(contracts.GroupSize, [size for group in done for size in group.sizes])
    faults = [fault for group in done for fault in group.version_faults]
    yield contracts.VersionFault, table_of(contracts.VersionFault, faults)
    failures = [failure for group in done for failure in group.failures]
    yield contracts.GroupFailure, table_of(contracts.GroupFailure, failures)
    yield contracts.Finding, table_of(contracts.Finding, [found for group in done for found in group.findings])
    demands = [demand for group in done for demand in demands_of(group.status, group.findings)]
    yield contracts.Demand, table_of(contracts.Demand, demands)


def assessed_topics(
    cluster: ClusterFacts, policy: Policy, producers: tuple[contracts.Producer, ...], ease: frozenset[str], units: Rows
) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """The failures, producers' shares and findings of some topics."""
    decoder = msgspec.json.Decoder(TopicWithReaders)
    topics = [Topic(decoder.decode(unit["facts"]), cluster, policy, producers, ease) for unit in units]
    failures = [failure for topic in topics for failure in topic_failures(topic)]
    yield contracts.TopicFailure, table_of(contracts.TopicFailure, failures)
    shares = [share for topic in topics for share in producer_shares(topic.unit.facts)]
    yield contracts.ProducerShare, table_of(contracts.ProducerShare, shares)
    balances = [
        balance for topic in topics if (balance := producer_balance(topic.unit.facts, producers, policy)) is not None
    ]
    yield contracts.ProducerBalance, table_of(contracts.ProducerBalance, balances)
    yield contracts.Finding, table_of(contracts.Finding, [found for topic in topics for found in assess_topic(topic)])
