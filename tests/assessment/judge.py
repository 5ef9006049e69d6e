"""A cluster assessed in plain Python, and its findings as a test asks for them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec

from rocketmq_capacity import tables
from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.allocation.columns import allocation_columns
from rocketmq_capacity.assessment.assess import assess_cluster, assess_groups, assess_topic
from rocketmq_capacity.assessment.divided_lists import ReadersOfTopics
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.ownership import read_only_idle
from rocketmq_capacity.assessment.producers import permanent_displacement
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.assessment.topology import nameserver_disagreement
from rocketmq_capacity.assessment.trust import snapshot_incomplete, suspect_snapshot
from rocketmq_capacity.assessment.versions import bad_versions
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import TopicWithReaders
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.steps.load_columns import client_load_columns
from rocketmq_capacity.tables.arrow import table_of_columns
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.vocabulary import ABSENT, BUSINESS, INFO
from tests.fixtures.losses import broker_losses, coverage, disks_that_fill, drained_of, ease_of
from tests.fixtures.units import units_of

Row = dict[str, Any]


@dataclass(frozen=True)
class Judgement:
    """What the assessment says, as rows."""

    findings: list[Row]
    groups: list[Row]
    strategy_loads: list[Row]
    client_loads: list[Row]
    allocation: list[Row]

    def found(self, rule: str, consumer_group: str | None = None, topic: str | None = None) -> Row | None:
        """The rule's finding about the group, or about the topic, or None; a second one is an error."""
        about = [
            row
            for row in self.findings
            if row["rule"] == rule
            and (consumer_group is None or row["consumer_group"] == consumer_group)
            and (topic is None or row["topic"] == topic)
        ]
        assert len(about) <= 1, about
        return about[0] if about else None

    def finding(self, rule: str, consumer_group: str | None = None, topic: str | None = None) -> Row:
        """The rule's one finding about the group or topic."""
        found = self.found(rule, consumer_group, topic)
        assert found is not None, f"no {rule}; found are {self.rules(consumer_group, topic)}"
        return found

    def rules(self, consumer_group: str | None = None, topic: str | None = None) -> set[str]:
        """The rules that found something about the group or the topic."""
        return {
            row["rule"]
            for row in self.findings
            if (consumer_group is not None and row["consumer_group"] == consumer_group)
            or (topic is not None and row["topic"] == topic)
        }

    def group(self, consumer_group: str) -> Row:
        """The group's status."""
        (row,) = (row for row in self.groups if row["consumer_group"] == consumer_group)
        return row

    def load(self, consumer_group: str, strategy: str) -> Row:
        """What the strategy means for the group."""
        (row,) = (
            row for row in self.strategy_loads if (row["consumer_group"], row["strategy"]) == (consumer_group, strategy)
        )
        return row


def named(topic: str, broker_name: str, *queue_ids: int) -> list[Row]:
    """Queues of a topic on a broker, as findings and plans name them."""
    return [{"topic": topic, "broker_name": broker_name, "queue_id": queue_id} for queue_id in queue_ids]


def judge(
    inventory: Inventory,
    policy: Policy | None = None,
    history: Sequence[Inventory] = (),
    earlier: Iterable[Row] | None = None,
) -> Judgement:
    """Assess every unit; ``earlier`` is what the run before found, as rows with a rule and a consumer group."""
    policy = policy or Policy()
    units, strategies = units_of(inventory, policy, history), Strategies(policy)
    facts = units.business_groups
    whole = [AssessedGroup(one, units.cluster, policy, strategies) for one in facts]
    groups = assess_groups(whole)
    findings = [
        *chain.from_iterable(group.findings for group in groups),
        *chain.from_iterable(
            assess_topic(AssessedTopic(unit, units.cluster, policy, tuple(units.producers), ease_of(groups, policy)))
            for unit in units.topics
        ),
        *assess_cluster(units.cluster, units.disagreements, policy),
        *nameserver_disagreement(units.cluster, units.disagreements.nameservers, ReadersOfTopics(whole)),
        *snapshot_incomplete(units.cluster, _absent_brokers(units.topics), policy),
        *permanent_displacement(units.producers),
        *read_only_idle(drained_of(groups), units.cluster),
        *bad_versions(row for group in groups for row in group.version_faults),
        *broker_losses(groups, units, policy),
        *coverage(units, policy),
        *disks_that_fill(units, policy),
    ]
    before = None if earlier is None else {(row["consumer_group"], row["rule"]) for row in earlier}
    found = {
        (one.consumer_group, one.rule) for one in findings if one.consumer_group is not None and one.severity != INFO
    }
    findings += suspect_snapshot(len(groups), found, before, policy)
    client_loads = table_of_columns(tables.ClientLoad, client_load_columns(groups))
    rows = {one.consumer_group: list(rows_of(Division.of(one), strategies)) for one in facts}
    return Judgement(
        findings=[row | {"evidence": json.loads(row["evidence"])} for row in _rows(findings)],
        groups=_rows(group.status for group in groups),
        strategy_loads=_rows(load for group in groups for load in group.loads),
        client_loads=client_loads.to_pylist(),
        allocation=table_of_columns(tables.Allocation, allocation_columns(rows)).to_pylist(),
    )


def _rows(of: Iterable[Dataset]) -> list[Row]:
    rows: list[Row] = msgspec.json.decode(msgspec.json.encode(list(of)))
    return rows


def _absent_brokers(topics: Iterable[TopicWithReaders]) -> list[str]:
    """The brokers that business topics name and the snapshot lacks."""
    places = chain.from_iterable(unit.facts.places for unit in topics if unit.facts.kind == BUSINESS)
    return sorted({place.broker_name for place in places if place.broker_state == ABSENT})
