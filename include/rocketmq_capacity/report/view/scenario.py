"""What a what-if changed: moved queues, before and after, findings that came and went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.report.limits import FINDINGS_A_RULE, SCENARIO_CHANGES, SCENARIO_ROWS
from rocketmq_capacity.report.plan_file import Finding, JsonObject, Scenario, ScenarioGroup, Skew
from rocketmq_capacity.report.view.facts import short
from rocketmq_capacity.report.view.findings import places_of
from rocketmq_capacity.report.view.groups import metric
from rocketmq_capacity.report.view.scenario_brokers import BrokerLines, broker_lines


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


@dataclass(frozen=True, slots=True)
class ScenarioFindings:
    """Findings that only one side has."""

    shown: tuple[tuple[str, tuple[str, ...], str], ...]
    """Severity, places (group, topic, broker) and message."""
    total: int
    more: int


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """The what-if."""

    name: str
    changes: tuple[str, ...]
    more_changes: int
    lines: tuple[ScenarioLine, ...]
    more_lines: int
    added: ScenarioFindings
    cleared: ScenarioFindings
    brokers: tuple[BrokerLines, ...]


def scenario_of(scenario: Scenario, current: Mapping[str, str | None]) -> ScenarioView:
    """The plan's scenario; ``current`` names each group's strategy in use: those lines first, most moved on top."""

    def key(group: ScenarioGroup) -> tuple[bool, int, str, str]:
        name, strategy = group.consumer_group, group.strategy
        return current.get(name) != strategy, -(group.moved_queues or 0), name, strategy

    ordered = sorted(scenario.groups, key=key)
    lines = tuple(_line(group, current) for group in ordered[:SCENARIO_ROWS])
    return ScenarioView(
        name=scenario.name,
        changes=tuple(_change(change) for change in scenario.changes[:SCENARIO_CHANGES]),
        more_changes=max(0, len(scenario.changes) - SCENARIO_CHANGES),
        lines=lines,
        more_lines=len(ordered) - len(lines),
        added=_findings(scenario.findings_added),
        cleared=_findings(scenario.findings_cleared),
        brokers=broker_lines(scenario),
    )


def _line(group: ScenarioGroup, current: Mapping[str, str | None]) -> ScenarioLine:
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


def _peak(skew: Skew | None) -> str:
    return metric(skew.peak if skew else None)


def _change(change: JsonObject) -> str:
    rest = {name: value for name, value in change.items() if name != "change" and value is not None}
    return f"{str(change.get('change', 'change')).replace('_', ' ')}: {short('', rest)}"


def _findings(findings: Sequence[Finding]) -> ScenarioFindings:
    ordered = sorted(findings, key=lambda finding: SEVERITY_RANK[finding.severity])
    shown = tuple((finding.severity, places_of(finding), finding.message) for finding in ordered[:FINDINGS_A_RULE])
    return ScenarioFindings(shown, len(ordered), len(ordered) - len(shown))
