"""Groups as the page shows them: one line each, and a section for those that :func:`detailed_groups` names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity.report.figures import counted, number, per_cent
from rocketmq_capacity.report.limits import CHANGES, ITEMS
from rocketmq_capacity.report.rows import Row
from rocketmq_capacity.report.view.answers import Answers, Link
from rocketmq_capacity.report.view.comparison import Comparison, compare
from rocketmq_capacity.report.view.facts import queue_name
from rocketmq_capacity.report.view.loads import MEASURES, Measure
from rocketmq_capacity.report.wording import SEVERITIES, SOURCE_WORDS, STATUS_WORDS, Wording

METRICS: Final = ("peak", "floor", "excess", "gini", "cv")


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group in the table of all groups."""

    anchor: str
    section: str | None
    """Id of its section, where it has one."""
    name: str
    status: str
    status_words: str
    clients: str
    useful: str
    reads: str
    strategy: str
    peak: str
    floor: str
    severities: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class StrategyLine:
    """A strategy in a group's matrix."""

    strategy: str
    is_current: bool
    is_alternative: bool
    is_applicable: bool
    reason: str
    idle: int
    orphans: int
    doubly_owned: int
    metrics: tuple[tuple[str, ...], ...]
    """For each of the section's measures: PEAK, FLOOR, EXCESS, GINI, CV; empty where the load is not known."""


@dataclass(frozen=True, slots=True)
class GroupFinding:
    """A finding in a group's section."""

    severity: str
    places: tuple[str, ...]
    """Topic and broker that it names."""
    message: str
    anchor: str | None


@dataclass(frozen=True, slots=True)
class GroupChange:
    """What a recommendation would do to the group."""

    link: Link
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class NamedList:
    """What stands wrong under the strategy in use: idle clients, orphan queues, doubly owned queues."""

    title: str
    items: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class GroupSection:
    """A group in detail; its chart is drawn elsewhere."""

    line: GroupLine
    status: str
    status_meaning: str
    status_reason: str
    facts: tuple[tuple[str, str], ...]
    findings: tuple[GroupFinding, ...]
    changes: tuple[GroupChange, ...]
    more_changes: int
    strategies: tuple[StrategyLine, ...]
    measures: tuple[str, ...]
    """Loads that are known under any strategy: what the matrix has columns for."""
    unknown: str
    """The others."""
    lists: tuple[NamedList, ...]
    no_strategies: str
    """Why there is no matrix; empty where there is one."""


def anchors_of(groups: Sequence[Mapping[str, Any]], detailed: Sequence[str]) -> dict[str, str]:
    """Where a link to a group leads: to its section, or to its line in the table."""
    sections = set(detailed)
    return {
        group["consumer_group"]: f"group-{place + 1}" if group["consumer_group"] in sections else f"line-{place + 1}"
        for place, group in enumerate(groups)
    }


def line_of(group: Mapping[str, Any], place: int, section: str | None, found: Mapping[str, int]) -> GroupLine:
    """The group's line; ``found`` counts its findings by severity."""
    current = current_strategy(group)
    count = (current or {}).get("count") or {}
    return GroupLine(
        anchor=f"line-{place + 1}",
        section=section,
        name=group["consumer_group"],
        status=group["provision_status"],
        status_words=STATUS_WORDS.get(group["provision_status"], Wording(group["provision_status"], "")).title,
        clients=_clients(group),
        useful=_useful(group),
        reads=_reads(group),
        strategy=group["current_strategy"] or "\u2013",
        peak=_metric(count.get("peak")),
        floor=_metric(count.get("floor")),
        severities=tuple((severity, found[severity]) for severity in SEVERITIES if found.get(severity)),
    )


def section_of(
    group: Mapping[str, Any], line: GroupLine, status: Row, answers: Answers, alternative: str | None
) -> GroupSection:
    """The group's section; ``status`` is its row of group_status, which knows reasons that the plan does not hold."""
    name = group["consumer_group"]
    indices = answers.of_group(name)
    wording = STATUS_WORDS.get(group["provision_status"], Wording(group["provision_status"], ""))
    changes, more_changes = _changes(answers, indices)
    known = [m for m in MEASURES if any(strategy[m.metric] is not None for strategy in group["strategies"])]
    return GroupSection(
        line=line,
        status=wording.title,
        status_meaning=wording.meaning,
        status_reason=status.get("provision_reason") or "",
        facts=_facts(group, status),
        findings=tuple(_finding(answers, index) for index in indices),
        changes=changes,
        more_changes=more_changes,
        strategies=tuple(_strategy_line(s, group["current_strategy"], alternative, known) for s in group["strategies"]),
        measures=tuple(measure.title for measure in known),
        unknown=" and ".join(measure.title.lower() for measure in MEASURES if measure not in known),
        lists=_lists(current_strategy(group)),
        no_strategies=_no_strategies(group),
    )


def current_strategy(group: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The strategy in use, where the plan has it."""
    return next((s for s in group["strategies"] if s["strategy"] == group["current_strategy"]), None)


def _clients(group: Mapping[str, Any]) -> str:
    running, distinct = group["connections"], group["distinct_client_ids"]
    return number(running) if running == distinct else f"{number(running)} ({number(distinct)} ids)"


def _useful(group: Mapping[str, Any]) -> str:
    if group["max_useful_clients"] is not None:
        return number(group["max_useful_clients"])
    is_boundless = group["message_model"] == "BROADCASTING" or group["message_request_mode"] == "POP"
    return "no limit" if is_boundless else "unknown"


def _reads(group: Mapping[str, Any]) -> str:
    if group["message_model"] == "BROADCASTING":
        return "broadcasting"
    return str(group["message_request_mode"])


def _facts(group: Mapping[str, Any], status: Row) -> tuple[tuple[str, str], ...]:
    topics = group["topics"]
    source = SOURCE_WORDS.get(group["current_strategy_source"] or "", "")
    listed = ", ".join(topics[:ITEMS]) + (f" and {len(topics) - ITEMS:,} more" if len(topics) > ITEMS else "")
    facts = [
        ("Running consumers", _clients(group)),
        ("Useful at most", _useful(group) + (" clients" if group["max_useful_clients"] is not None else "")),
        (f"Reads {counted(len(topics), 'topic')}", listed or "no business topic"),
        ("Message model", (group["message_model"] or "unknown").capitalize()),
        ("Reads by", str(group["message_request_mode"])),
        ("Strategy in use", f"{group['current_strategy'] or 'none'}{f' ({source})' if source else ''}"),
        ("Utilisation of the busiest client", per_cent(status.get("utilisation"))),
    ]
    return tuple(facts)


def _finding(answers: Answers, index: int) -> GroupFinding:
    finding = answers.findings[index]
    places = tuple(name for name in (finding["topic"], finding["broker_name"]) if name is not None)
    return GroupFinding(finding["severity"], places, finding["message"], answers.finding_anchor(index))


def _changes(answers: Answers, indices: Sequence[int]) -> tuple[tuple[GroupChange, ...], int]:
    places = dict.fromkeys(place for index in indices for place in answers.places[index])
    changes = []
    for place in list(places)[:CHANGES]:
        recommendation = answers.plan[place]
        changes.append(GroupChange(answers.link(place), compare(recommendation["before"], recommendation["after"])))
    return tuple(changes), max(0, len(places) - CHANGES)


def _strategy_line(
    strategy: Mapping[str, Any], current: str | None, alternative: str | None, measures: Sequence[Measure]
) -> StrategyLine:
    metrics = tuple(
        tuple(_metric((strategy[measure.metric] or {}).get(name)) for name in METRICS)
        if strategy[measure.metric] is not None
        else ()
        for measure in measures
    )
    return StrategyLine(
        strategy=strategy["strategy"],
        is_current=strategy["strategy"] == current,
        is_alternative=strategy["strategy"] == alternative,
        is_applicable=strategy["applicable"],
        reason=strategy["reason"] or "no reason given",
        idle=len(strategy["idle_clients"]),
        orphans=len(strategy["orphan_queues"]),
        doubly_owned=len(strategy["doubly_owned_queues"]),
        metrics=metrics,
    )


def _lists(current: Mapping[str, Any] | None) -> tuple[NamedList, ...]:
    if current is None:
        return ()
    named = (
        ("Idle clients", list(current["idle_clients"])),
        ("Orphan queues", [queue_name(queue) for queue in current["orphan_queues"]]),
        ("Doubly owned queues", [queue_name(queue) for queue in current["doubly_owned_queues"]]),
    )
    return tuple(
        NamedList(f"{title} ({len(items):,})", tuple(items[:ITEMS]), max(0, len(items) - ITEMS))
        for title, items in named
        if items
    )


def _no_strategies(group: Mapping[str, Any]) -> str:
    if group["strategies"]:
        return ""
    if group["message_model"] == "BROADCASTING":
        return "Every client of a broadcasting group reads every queue: there is nothing to divide."
    return "No strategy was computed: the group has no clients or no readable queues."


def _metric(value: float | None) -> str:
    return "\u2013" if value is None else f"{value:.2f}"
