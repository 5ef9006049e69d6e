"""What a what-if changed: better or worse, for whom, queues that move, and findings that come and go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from rocketmq_capacity.plan_file.broadcasting import BroadcastGroup
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.group import PlanSkew
from rocketmq_capacity.plan_file.numbers import JsonObject
from rocketmq_capacity.plan_file.ordered_topic import OrderedTopic
from rocketmq_capacity.plan_file.scenario import (
    PlanScenarioGroup,
    PlanUndecidedFinding,
    ScenarioResult,
    ScenarioSide,
    UnjudgedTopic,
)
from rocketmq_capacity.plan_file.subscription_change import SubscriptionChange
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.facts import short
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.report.limits import (
    BROADCAST_GROUPS,
    FINDINGS_A_RULE,
    SCENARIO_CHANGES,
    SCENARIO_ROWS,
    TABLE_ROWS,
    UNEVEN_TOPICS,
)
from rocketmq_capacity.report.matters import load_matters, move_matters
from rocketmq_capacity.report.view.client_costs import cost_changes_view
from rocketmq_capacity.report.view.findings import places_of
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.groups import metric
from rocketmq_capacity.report.view.lost_nameservers import LostNameserverView, lost_nameserver_views
from rocketmq_capacity.report.view.producers_meanwhile import ProducersMeanwhile, producers_meanwhile
from rocketmq_capacity.report.view.queue_plans import QueuePlanView, queue_plan_views
from rocketmq_capacity.report.view.rolling_restarts import RollingRestartView, rolling_restart_views
from rocketmq_capacity.report.view.scenario_brokers import BrokerLines, broker_lines
from rocketmq_capacity.report.view.scenario_verdict import VerdictView, verdict_view
from rocketmq_capacity.report.view.transitions import TransitionsView, transitions_of


@dataclass(frozen=True, slots=True)
class ScenarioLine:
    """One group under one strategy."""

    group: str
    strategy: str
    is_current: bool
    moved: str
    moved_ratio: str
    idle: tuple[str, str]
    count_peak: tuple[str, str]
    traffic_peak: tuple[str, str]


ScenarioFindings = First[tuple[str, tuple[str, ...], str, str]]
"""Findings that only one side has: severity, places (group, topic, broker), message, and why it is neither there nor
mended."""


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """The what-if."""

    name: str
    changes: First[str]
    lines: First[ScenarioLine]
    """Those whose change matters."""
    same_lines: int
    """The others."""
    verdict: VerdictView | None
    """None where an earlier version of this program made the plan."""
    added: ScenarioFindings
    cleared: ScenarioFindings
    brokers: tuple[BrokerLines, ...]
    meanwhile: ProducersMeanwhile | None
    transitions: TransitionsView | None
    lost_nameservers: tuple[LostNameserverView, ...]
    rolling_restarts: tuple[RollingRestartView, ...]
    gone: ScenarioFindings
    """With a topic, broker or room that the changes take away."""
    undecided: ScenarioFindings
    unjudged_topics: First[UnjudgedTopic]
    """Of those that producers write to unevenly."""
    subscription_changes: tuple[SubscriptionChange, ...]
    ordered_topics: First[OrderedTopic]
    """Those of which most keys move first."""
    broadcast_groups: First[BroadcastGroup]
    client_costs: First[tuple[str, str]]
    """Brokers of which clients ask something else after the changes, and what that is."""
    queue_plans: First[QueuePlanView]


def scenario_of(scenario: ScenarioResult, current: Mapping[str, str | None]) -> ScenarioView:
    """The plan's scenario; ``current`` names each group's strategy in use: those lines first, most moved on top."""

    def key(group: PlanScenarioGroup) -> tuple[bool, int, str, str]:
        name, strategy = group.consumer_group, group.strategy
        return current.get(name) != strategy, -(group.moved_queues or 0), name, strategy

    ordered = sorted(filter(_matters, scenario.groups), key=key)
    moving = () if scenario.ordered_topics is UNSET else scenario.ordered_topics
    ordered_topics = sorted(moving, key=lambda one: -one.moved_keys_ratio)
    broadcasts = () if scenario.broadcast_groups is UNSET else scenario.broadcast_groups
    unjudged, queue_plans = scenario.producers_undecided, queue_plan_views(scenario)
    return ScenarioView(
        name=scenario.name,
        changes=First(map(_change, scenario.changes[:SCENARIO_CHANGES]), len(scenario.changes)),
        lines=First((_line(group, current) for group in ordered[:SCENARIO_ROWS]), len(ordered)),
        same_lines=len(scenario.groups) - len(ordered),
        verdict=verdict_view(scenario),
        added=_findings(scenario.findings_added),
        cleared=_findings(scenario.findings_cleared),
        gone=_findings([one for one in scenario.findings_undecided if one.gone_with is not None]),
        undecided=_findings([one for one in scenario.findings_undecided if one.gone_with is None]),
        unjudged_topics=First(unjudged[:UNEVEN_TOPICS], len(unjudged)),
        brokers=broker_lines(scenario),
        meanwhile=None if scenario.producers is UNSET else producers_meanwhile(scenario.producers),
        transitions=transitions_of(scenario.transitions),
        lost_nameservers=lost_nameserver_views(scenario),
        rolling_restarts=rolling_restart_views(scenario),
        subscription_changes=() if scenario.subscription_changes is UNSET else scenario.subscription_changes,
        ordered_topics=First(ordered_topics[:TABLE_ROWS], len(ordered_topics)),
        broadcast_groups=First(broadcasts[:BROADCAST_GROUPS], len(broadcasts)),
        client_costs=cost_changes_view(scenario),
        queue_plans=First(queue_plans[:TABLE_ROWS], len(queue_plans)),
    )


def _matters(group: PlanScenarioGroup) -> bool:
    """Whether it is worth a line: queues move, or the load changes, by so much that it matters."""
    return move_matters(group.moved_queues, group.moved_ratio) or load_matters(_load(group.before), _load(group.after))


def _load(side: ScenarioSide) -> dict[str, float | None]:
    return {
        "idle": side.idle,
        "count_peak": side.count.peak if side.count else None,
        "traffic_peak": side.traffic.peak if side.traffic else None,
    }


def _line(group: PlanScenarioGroup, current: Mapping[str, str | None]) -> ScenarioLine:
    before, after = group.before, group.after
    return ScenarioLine(
        group=group.consumer_group,
        strategy=group.strategy,
        is_current=current.get(group.consumer_group) == group.strategy,
        moved=number(group.moved_queues),
        moved_ratio="" if group.moved_ratio is None else per_cent(group.moved_ratio),
        idle=(number(before.idle), number(after.idle)),
        count_peak=(_peak(before.count), _peak(after.count)),
        traffic_peak=(_peak(before.traffic), _peak(after.traffic)),
    )


def _peak(skew: PlanSkew | None) -> str:
    return metric(skew.peak if skew else None)


def _change(change: JsonObject) -> str:
    rest = {name: value for name, value in change.items() if name != "change" and value is not None}
    return f"{str(change.get('change', 'change')).replace('_', ' ')}: {short('', rest)}"


def _doubt(finding: PlanUndecidedFinding) -> str:
    return f"Not judged: {finding.why}." if finding.gone_with is None else f"Gone with {finding.gone_with}."


def _findings(findings: Sequence[PlanFinding]) -> ScenarioFindings:
    ordered = sorted(findings, key=lambda finding: SEVERITY_RANK[finding.severity])
    shown = (
        (
            finding.severity,
            places_of(finding),
            finding.message,
            _doubt(finding) if isinstance(finding, PlanUndecidedFinding) else "",
        )
        for finding in ordered[:FINDINGS_A_RULE]
    )
    return First(shown, len(ordered))
