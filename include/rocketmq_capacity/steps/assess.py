"""The third step: loads, skew, and what is wrong."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import asdict

from rocketmq_capacity import tables
from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.assess import (
    GroupAssessment,
    assess_cluster,
    assess_groups,
    assess_topic,
)
from rocketmq_capacity.assessment.awaited import awaited_brokers, comes_of_fewer_queues
from rocketmq_capacity.assessment.broker_loads import BrokerLoads, broker_loads, topic_headroom
from rocketmq_capacity.assessment.broker_loss import GroupLoss, broker_loss, masterless_brokers
from rocketmq_capacity.assessment.broker_pools import broker_pools
from rocketmq_capacity.assessment.client_costs import client_costs
from rocketmq_capacity.assessment.cluster_failures import cluster_failures
from rocketmq_capacity.assessment.coverage import TopicOrder, topic_coverage
from rocketmq_capacity.assessment.disk_forecast import disk_fills, disk_forecasts, with_forecasts
from rocketmq_capacity.assessment.divided_lists import ReadersOfTopics, differing_topics
from rocketmq_capacity.assessment.finding_states import seen_of, states_of
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.ownership import Drained, read_only_idle
from rocketmq_capacity.assessment.producer_failures import producer_failures
from rocketmq_capacity.assessment.producers import permanent_displacement
from rocketmq_capacity.assessment.together import in_parts
from rocketmq_capacity.assessment.topic import AssessedTopic, GroupEase, at_ease
from rocketmq_capacity.assessment.topic_failures import TopicLoss, topic_failures
from rocketmq_capacity.assessment.topology import nameserver_disagreement
from rocketmq_capacity.assessment.trust import Flagged, snapshot_incomplete, suspect_snapshot
from rocketmq_capacity.assessment.unrouted import TEMPLATE, KnownTopic, unrouted_topics, without_queues
from rocketmq_capacity.assessment.versions import bad_versions
from rocketmq_capacity.errors import BadInput, ContractBroken, RunBusy, TableDamaged
from rocketmq_capacity.model.facts import ClusterFacts, GroupFacts, TopicWithReaders
from rocketmq_capacity.plan_file.ledger import LedgerEntry
from rocketmq_capacity.producers import producer_balance, producer_shares
from rocketmq_capacity.recommendation.demands import demands_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.steps.fleet import fleet_of
from rocketmq_capacity.steps.load_columns import capacity_columns, client_load_columns
from rocketmq_capacity.steps.planning import ALLOCATE, ASSESS, SNAPSHOT, Planning, Rows, RunFindings
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.run_lookup import runs_before
from rocketmq_capacity.tables.arrow import table_of, table_of_columns
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.rows import is_one_of, rows_by, rows_where
from rocketmq_capacity.vocabulary import BROKER, BUSINESS, SEVERITIES, java_order

OF_GROUPS = (
    tables.GroupStatus,
    tables.StrategyLoad,
    tables.ClientLoad,
    tables.ClientCapacity,
    tables.GroupSize,
    tables.VersionFault,
    tables.GroupFailure,
    tables.EventNeed,
    tables.Finding,
    tables.Demand,
)
IS_OF_A_BROKER: Final = pc.field("failure") == BROKER
IS_BUSY_KNOWN: Final = pc.field("utilisation_upper").is_valid()
IS_DRAINED: Final = pc.list_value_length(pc.field("drained_clients")) > 0
IS_BUSINESS: Final = pc.field("kind") == BUSINESS
OF_BROKERS = (tables.BrokerLoad, tables.ClientCost, tables.BrokerPool, tables.TopicHeadroom)
OF_THE_RUN_BEFORE = (
    tables.FindingSince,
    tables.RunBefore,
    tables.FindingBefore,
    tables.LedgerBefore,
    tables.LedgerRate,
    tables.OffsetBefore,
)
MOST_READERS: Final = 50
"""The most groups for which different lists of name servers are computed, on the driver."""
DAMAGED: Final = (BadInput, ContractBroken, TableDamaged, pa.ArrowException, OSError, ValueError)
"""Errors of a run whose files are not those that its steps wrote, or that is deleted meanwhile."""
OF_TOPICS = (tables.TopicFailure, tables.ProducerShare, tables.ProducerBalance, tables.Finding)
OF_PRODUCERS = (tables.ProducerFailure, tables.UnroutedTopic)
WRITTEN = (*OF_GROUPS, *OF_TOPICS[:-1], tables.ClusterFailure, *OF_PRODUCERS, *OF_BROKERS, *OF_THE_RUN_BEFORE)


def found_before(lake: Lake, planning: Planning) -> RunFindings | None:
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


def assess(planning: Planning, before: RunFindings | None = None) -> None:
    """Measure every strategy's loads and find what is wrong; ``before`` is what the run before found."""
    with planning.step(ASSESS, SNAPSHOT, ALLOCATE, writes=WRITTEN) as step:
        cluster, policy = planning.cluster, planning.judging
        disagreements = planning.disagreements
        groups = planning.units(tables.GroupUnit, "facts", "observations", "sampled")
        planning.map_units("groups", groups, partial(assessed_groups, cluster, policy), *OF_GROUPS)
        producers = tuple(planning.rows(tables.Producer))
        ease = at_ease(planning.records(tables.GroupStatus, GroupEase, IS_BUSY_KNOWN), policy)
        topics = planning.units(tables.TopicUnit, "facts")
        planning.map_units("topics", topics, partial(assessed_topics, cluster, policy, producers, ease), *OF_TOPICS)
        places = list(planning.records(tables.TopicFailure, TopicLoss, IS_OF_A_BROKER))
        of_brokers = list(planning.records(tables.GroupFailure, GroupLoss, IS_OF_A_BROKER))
        loads = BrokerLoads.of(places, cluster, policy)
        orders = planning.records(tables.Topic, TopicOrder, IS_BUSINESS)
        findings = [
            *assess_cluster(cluster, disagreements, policy),
            *nameserver_disagreement(
                cluster, disagreements.nameservers, readers(planning, disagreements.nameservers, policy)
            ),
            *snapshot_incomplete(cluster, planning.absent_brokers(), policy),
            *permanent_displacement(producers),
            *bad_versions(planning.rows(tables.VersionFault)),
            *topic_coverage(places, orders, cluster, policy),
            *read_only_idle(planning.records(tables.GroupStatus, Drained, IS_DRAINED), cluster),
            *masterless_brokers(of_brokers, places, planning.groups_that_pop(), cluster),
            *broker_loss(of_brokers, places, loads, cluster, policy),
            *suspect_snapshot(
                planning.business_groups(),
                unexplained(planning, awaited_brokers(cluster, policy)),
                before.flagged if before else None,
                policy,
            ),
        ]
        stored = list(broker_loads(loads, policy))
        forecasts = disk_forecasts(loads.brokers, stored)
        planning.add(tables.Finding, [*findings, *disk_fills(forecasts, cluster, policy)])
        planning.add(tables.ClusterFailure, cluster_failures(cluster, policy))
        planning.add(tables.UnroutedTopic, unrouted(planning, places, cluster))
        planning.add(tables.ProducerFailure, producer_failures(places, producers, policy))
        planning.add(tables.BrokerLoad, with_forecasts(stored, forecasts))
        costs = list(
            client_costs(fleet_of(planning.table), loads.brokers, cluster.silent, policy.thresholds.TRANSITION)
        )
        puts = {one.broker_name: put for one, put in zip(loads.brokers, loads.puts, strict=True)}
        planning.add(tables.ClientCost, costs)
        planning.add(tables.BrokerPool, broker_pools(costs, loads.brokers, puts))
        planning.add(tables.TopicHeadroom, topic_headroom(places, loads))
        if before is not None:
            seen = seen_of(cluster.cluster.completeness_ratio, policy)
            states = states_of(planning.severities(), before.states, cluster.cluster.taken_at, seen)
            planning.add(tables.FindingSince, states)
            planning.add(tables.RunBefore, [tables.RunBefore(taken_at=before.taken_at)])
            planning.add_table(tables.FindingBefore, before.findings)
            planning.add(tables.LedgerBefore, map(ledger_row, before.advised.entries))
            if before.offsets is not None:
                planning.add_table(tables.OffsetBefore, before.offsets)
            planning.add(tables.LedgerRate, [tables.LedgerRate(**asdict(one)) for one in before.advised.rates])
        number = planning.values(tables.Finding, "severity")
        step.tells("findings: " + ", ".join(f"{number[severity]:,} {severity}" for severity in SEVERITIES))


def unexplained(planning: Planning, awaited: Sequence[tables.GoneBroker]) -> set[Flagged]:
    """What was found about groups, without what the brokers explain that crashed."""
    flagged = planning.flagged()
    if not awaited:
        return flagged
    waiting = planning.groups_that_read({topic for broker in awaited for topic in broker.topics})
    return {(group, rule) for group, rule in flagged if group not in waiting or not comes_of_fewer_queues(rule)}


def readers(planning: Planning, differences: Iterable[tables.NameserverDifference], policy: Policy) -> ReadersOfTopics:
    """The business groups that read topics on which name servers differ, the first :data:`MOST_READERS` of them."""
    topics = differing_topics(differences)
    if not topics:
        return ReadersOfTopics()
    names = sorted(planning.groups_that_read(topics), key=java_order)
    units = rows_by(planning.files(tables.GroupUnit), tables.GroupUnit, "consumer_group", names[:MOST_READERS])
    strategies, decoder = Strategies(policy), msgspec.json.Decoder(GroupFacts)
    groups = [
        AssessedGroup(
            decoder.decode(unit.facts).observed(unit.observations, unit.sampled), planning.cluster, policy, strategies
        )
        for name in names[:MOST_READERS]
        for unit in units.get(name, ())
    ]
    return ReadersOfTopics(groups, len(names) - len(names[:MOST_READERS]))


def ledger_row(entry: LedgerEntry) -> tables.LedgerBefore:
    """A recommendation of the plan before, as the table has it."""
    return tables.LedgerBefore(id=entry.id, entry=msgspec.json.encode(entry).decode())


class _Subscribes(NamedTuple):
    topic: str
    consumer_group: str


def unrouted(planning: Planning, places: Sequence[TopicLoss], cluster: ClusterFacts) -> list[tables.UnroutedTopic]:
    """The topics without a queue that producers see."""
    topics = without_queues(planning.records(tables.Topic, KnownTopic, IS_BUSINESS), places)
    is_named = is_one_of("topic", [one.topic for one in topics])
    readers: dict[str, list[str]] = {}
    for name, group in planning.records(tables.Subscription, _Subscribes, is_named):
        readers.setdefault(name, []).append(group)
    template = rows_where(planning.files(tables.TopicQueue), tables.TopicQueue, is_one_of("topic", [TEMPLATE]))
    return list(unrouted_topics(topics, template, readers, cluster))


def assessed_groups(cluster: ClusterFacts, policy: Policy, units: Rows) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """The rows of some groups."""
    decoder = msgspec.json.Decoder(GroupFacts)
    strategies = Strategies(policy)
    done: list[GroupAssessment] = []
    observed = (decoder.decode(unit["facts"]).observed(unit["observations"], unit["sampled"]) for unit in units)
    for part in in_parts(AssessedGroup(whole, cluster, policy, strategies) for whole in observed):
        done += assess_groups(part)
    yield tables.GroupStatus, table_of(tables.GroupStatus, [group.status for group in done])
    yield tables.StrategyLoad, table_of(tables.StrategyLoad, [load for group in done for load in group.loads])
    yield tables.ClientLoad, table_of_columns(tables.ClientLoad, client_load_columns(done))
    capacities = [group.capacity for group in done if group.capacity is not None]
    yield tables.ClientCapacity, table_of_columns(tables.ClientCapacity, capacity_columns(capacities))
    yield tables.GroupSize, table_of(tables.GroupSize, [size for group in done for size in group.sizes])
    faults = [fault for group in done for fault in group.version_faults]
    yield tables.VersionFault, table_of(tables.VersionFault, faults)
    failures = [failure for group in done for failure in group.failures]
    yield tables.GroupFailure, table_of(tables.GroupFailure, failures)
    events = [event for group in done for event in group.events]
    yield tables.EventNeed, table_of(tables.EventNeed, events)
    yield tables.Finding, table_of(tables.Finding, [found for group in done for found in group.findings])
    demands = [demand for group in done for demand in demands_of(group.status, group.findings)]
    yield tables.Demand, table_of(tables.Demand, demands)


def assessed_topics(
    cluster: ClusterFacts, policy: Policy, producers: tuple[tables.Producer, ...], ease: frozenset[str], units: Rows
) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """The failures, producers' shares and findings of some topics."""
    decoder = msgspec.json.Decoder(TopicWithReaders)
    topics = [AssessedTopic(decoder.decode(unit["facts"]), cluster, policy, producers, ease) for unit in units]
    failures = [failure for topic in topics for failure in topic_failures(topic)]
    yield tables.TopicFailure, table_of(tables.TopicFailure, failures)
    shares = [share for topic in topics for share in producer_shares(topic.unit.facts)]
    yield tables.ProducerShare, table_of(tables.ProducerShare, shares)
    balances = [
        balance for topic in topics if (balance := producer_balance(topic.unit.facts, producers, policy)) is not None
    ]
    yield tables.ProducerBalance, table_of(tables.ProducerBalance, balances)
    yield tables.Finding, table_of(tables.Finding, [found for topic in topics for found in assess_topic(topic)])
