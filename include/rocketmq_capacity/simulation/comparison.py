"""Two plans compared: what a what-if found, in the plan file's types."""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET, structs

from rocketmq_capacity import tables
from rocketmq_capacity.plan_file.before_after import BeforeAfterCount, BeforeAfterMessages, BeforeAfterRatio
from rocketmq_capacity.plan_file.findings import finding_of, in_order
from rocketmq_capacity.plan_file.group import PlanSkew
from rocketmq_capacity.plan_file.numbers import json_object, rounded, steady
from rocketmq_capacity.plan_file.recommendation import PlanTransition
from rocketmq_capacity.plan_file.scenario import (
    AddedFinding,
    AffectedGroup,
    PlanScenarioGroup,
    PlanUndecidedFinding,
    ScenarioResult,
    ScenarioSide,
    ScenarioTotals,
)
from rocketmq_capacity.plan_file.troubled_broker import Producers
from rocketmq_capacity.simulation.broadcasting import broadcast_groups
from rocketmq_capacity.simulation.carried import GroupAtPeak, Routed, carried, lost_topics, verdict_of
from rocketmq_capacity.simulation.client_costs import client_cost_changes
from rocketmq_capacity.simulation.compare_cluster import producers_undecided
from rocketmq_capacity.simulation.consequences import cause_of, lost_brokers
from rocketmq_capacity.simulation.lost_nameservers import lost_nameservers
from rocketmq_capacity.simulation.ordered_topics import ordered_topics
from rocketmq_capacity.simulation.outcome import key_of, sides_of
from rocketmq_capacity.simulation.outlook import outlook_of
from rocketmq_capacity.simulation.queue_plans import changes_queues, queue_plans
from rocketmq_capacity.simulation.rolling_restarts import rolling_restarts
from rocketmq_capacity.simulation.sides import Sides
from rocketmq_capacity.simulation.subscription_changes import subscription_changes
from rocketmq_capacity.vocabulary import BUSINESS

SIDES: Final = frozenset({"utilisation", "peak_utilisation", "clients", "queues", "lag"})
"""The members of an affected group that have two sides."""


def comparison(sides: Sides, producers: Producers | None) -> ScenarioResult:
    """What the changes do. The groups are compared, and the run after has the rows.

    Args:
        sides: the two runs.
        producers: what producers do meanwhile; None if no change makes trouble for them.
    """
    before, after, scenario = sides.before, sides.after, sides.scenario
    is_business = pc.field("kind").cast(pa.string()) == BUSINESS
    outcomes = after.rows(tables.ScenarioGroup)
    in_doubt = after.rows(tables.UndecidedFinding)
    effects = after.rows(tables.ScenarioEffect)
    moves = after.rows(tables.GroupTransition)
    busy = after.records(tables.GroupStatus, GroupAtPeak, pc.field("headroom_factor").is_valid())
    findings = before.rows(tables.Finding)
    lost = lost_topics(*(side.records(tables.TopicQueue, Routed, is_business) for side in (before, after)))
    still, gone, added = sides_of(findings, after.rows(tables.Finding))
    undecided = {key_of(one) for one in in_doubt}
    cleared = [one for one in gone if key_of(one) not in undecided]
    of_group = {one.consumer_group: one for one in outcomes}
    taken = lost_brokers(before.cluster, after.cluster)
    is_suspect = any(one.rule == "SUSPECT_SNAPSHOT" for one in findings)
    return ScenarioResult(
        name=scenario.name,
        changes=tuple(map(steady, scenario.changes_as_written())),
        verdict=verdict_of(outcomes, lost),
        carried=carried(outcomes, busy, lost, sides.policy.thresholds.PROVISION.under_utilisation),
        totals=ScenarioTotals(
            findings_added=len(added),
            findings_cleared=len(gone) - len(in_doubt),
            findings_undecided=len(in_doubt),
            findings_still=len(still),
            moved_queues=sum(one.moved_queues or 0 for one in outcomes),
            utilisation=_highest_utilisation(outcomes),
            lag=_lag(outcomes),
        ),
        affected_groups=tuple(map(_affected, sorted(outcomes, key=lambda one: one.consumer_group))),
        transitions=tuple(map(_transition, sorted(moves, key=lambda one: one.consumer_group))),
        groups=tuple(map(_group, sorted(effects, key=lambda one: (one.consumer_group, one.strategy)))),
        findings_added=in_order(_added(one, cause_of(one, of_group, taken, scenario.changes)) for one in added),
        findings_cleared=in_order(map(finding_of, cleared)),
        findings_undecided=in_order(map(_undecided, in_doubt)),
        producers_undecided=producers_undecided(sides),
        brokers=outlook_of(sides) or UNSET,
        producers=UNSET if producers is None else producers,
        lost_nameservers=lost_nameservers(sides) or UNSET,
        rolling_restarts=rolling_restarts(sides) or UNSET,
        subscription_changes=subscription_changes(sides) or UNSET,
        ordered_topics=ordered_topics(sides) or UNSET,
        broadcast_groups=broadcast_groups(sides, outcomes) or UNSET,
        client_costs=client_cost_changes(sides) or UNSET,
        queue_plans=queue_plans(sides, is_suspect=is_suspect) if changes_queues(scenario) else UNSET,
    )


def _highest_utilisation(rows: Sequence[tables.ScenarioGroup]) -> BeforeAfterRatio:
    before = [row.before_utilisation for row in rows if row.before_utilisation is not None]
    after = [row.after_utilisation for row in rows if row.after_utilisation is not None]
    return BeforeAfterRatio(before=rounded(max(before, default=None)), after=rounded(max(after, default=None)))


def _lag(rows: Sequence[tables.ScenarioGroup]) -> BeforeAfterMessages:
    """The messages that the groups with both sides known have not read."""
    lags = [(row.before_lag, row.after_lag) for row in rows if row.before_lag is not None and row.after_lag is not None]
    return BeforeAfterMessages(
        before=sum(before for before, _ in lags) if lags else None,
        after=sum(after for _, after in lags) if lags else None,
    )


def _affected(row: tables.ScenarioGroup) -> AffectedGroup:
    """A row of ``scenario_group``."""
    return AffectedGroup(
        **{name: getattr(row, name) for name in AffectedGroup.__struct_fields__ if name not in SIDES},
        utilisation=BeforeAfterRatio(before=rounded(row.before_utilisation), after=rounded(row.after_utilisation)),
        peak_utilisation=BeforeAfterRatio(
            before=rounded(row.before_peak_utilisation), after=rounded(row.after_peak_utilisation)
        ),
        clients=BeforeAfterCount(before=row.before_clients, after=row.after_clients),
        queues=BeforeAfterCount(before=row.before_queues, after=row.after_queues),
        lag=BeforeAfterMessages(before=row.before_lag, after=row.after_lag),
    )


def _transition(row: tables.GroupTransition) -> PlanTransition:
    """A row of ``group_transition``."""
    timers = json_object("group_transition.timers", row.timers)
    transition: PlanTransition = steady(PlanTransition(**structs.asdict(row) | {"timers": timers}))
    return transition


def _group(row: tables.ScenarioEffect) -> PlanScenarioGroup:
    """A row of ``scenario_effect``."""
    return PlanScenarioGroup(
        consumer_group=row.consumer_group,
        strategy=row.strategy,
        moved_queues=row.moved_queues,
        moved_ratio=rounded(row.moved_ratio),
        before=ScenarioSide(
            idle=row.before_idle, count=PlanSkew.of(row.before_count), traffic=PlanSkew.of(row.before_traffic)
        ),
        after=ScenarioSide(
            idle=row.after_idle, count=PlanSkew.of(row.after_count), traffic=PlanSkew.of(row.after_traffic)
        ),
    )


def _added(row: tables.Finding, cause: str | None) -> AddedFinding:
    """A new finding; its message names its cause, if there is one."""
    message = row.message if cause is None else f"{row.message} The reason: {cause}."
    return AddedFinding(**structs.asdict(finding_of(row)) | {"message": message, "cause": cause})


def _undecided(row: tables.UndecidedFinding) -> PlanUndecidedFinding:
    """A finding that can no longer be judged."""
    return PlanUndecidedFinding(**structs.asdict(finding_of(row)), why=row.why, gone_with=row.gone_with)
