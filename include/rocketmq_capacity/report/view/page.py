"""The whole page as one value."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from msgspec import UNSET

from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.plan_file.in_use import in_use
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.detail import detailed_groups, flagged_groups, worst_groups
from rocketmq_capacity.report.glossary import GLOSSARY, Term
from rocketmq_capacity.report.limits import CHARTS, GROUPS
from rocketmq_capacity.report.loads import COUNT, best_alternative, is_less_even, measure_of
from rocketmq_capacity.report.needed import ClientsOfGroup, needed_by_group
from rocketmq_capacity.report.rows import DrawnQueue, PageRows, QueueLag
from rocketmq_capacity.report.view.answers import Answers
from rocketmq_capacity.report.view.approval import ApprovalView, OtherAnswers, approval_of, others_of
from rocketmq_capacity.report.view.brokers import BrokersView, brokers_view
from rocketmq_capacity.report.view.causes import CauseList, OwnerNumbers, causes_of
from rocketmq_capacity.report.view.changes import ChangesView, changes_of
from rocketmq_capacity.report.view.courses import GroupCourse, course_of
from rocketmq_capacity.report.view.events import EventView, event_views
from rocketmq_capacity.report.view.failures import Failures, OwnFailure, failures_of, own_failures
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.groups import (
    GroupLine,
    GroupSection,
    NotApplicable,
    anchors_of,
    line_of,
    not_applicable,
    section_of,
)
from rocketmq_capacity.report.view.headroom import HeadroomLine, headroom_lines
from rocketmq_capacity.report.view.heat_map import HeatMap, heat_map
from rocketmq_capacity.report.view.ledger import LedgerView, ledger_of
from rocketmq_capacity.report.view.owners import AcceptedList, OwnerList, accepted_of, owners_of
from rocketmq_capacity.report.view.pictures import Chart, load_picture, notable_loads, overview_picture
from rocketmq_capacity.report.view.producers import UnevenTopic, producers_of
from rocketmq_capacity.report.view.savings import Savings, savings_of
from rocketmq_capacity.report.view.scenario import ScenarioView, scenario_of
from rocketmq_capacity.report.view.score import ScoreView, score_view
from rocketmq_capacity.report.view.sizes import SizesView, sizes_of
from rocketmq_capacity.report.view.summary import Summary, summary_of
from rocketmq_capacity.tables.assess.clients import ClientLoad
from rocketmq_capacity.tables.assess.failures import GroupFailure
from rocketmq_capacity.tables.assess.groups import GroupSize
from rocketmq_capacity.tables.snapshot.groups import GroupDay, GroupHour

OfGroup = TypeVar("OfGroup", ClientLoad, GroupDay, GroupFailure, GroupHour, GroupSize, DrawnQueue, QueueLag)


@dataclass(frozen=True, slots=True)
class DetailedGroup:
    """A group's section, with its chart and its tables where it has them."""

    section: GroupSection
    course: GroupCourse | None
    chart: Chart | None
    heat: HeatMap | None
    sizes: SizesView | None
    failures: tuple[OwnFailure, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """What the template writes."""

    summary: Summary
    approval: ApprovalView | None
    other_answers: OtherAnswers | None
    scenario: ScenarioView | None
    changes: ChangesView | None
    """None if there is no plan before."""
    ledger: LedgerView | None
    """None if there is no plan before, or nothing became of it."""
    overview: Chart | None
    causes: CauseList
    notes: tuple[str, ...]
    accepted: AcceptedList | None
    owners: OwnerList | None
    score: ScoreView | None
    headroom: tuple[HeadroomLine, ...]
    events: tuple[EventView, ...]
    savings: Savings | None
    failures: Failures | None
    brokers: BrokersView | None
    producers: First[UnevenTopic] | None
    lines: First[GroupLine]
    groups: tuple[DetailedGroup, ...]
    flagged: int
    """Groups of which something should be changed; ``groups`` are the worst of them."""
    charts_left_out: int
    not_applicable: tuple[NotApplicable, ...]
    glossary: tuple[Term, ...]


def page_of(plan: Plan, beside: PageRows) -> Page:
    """The plan and what it does not hold -> the page."""
    worst = worst_groups(plan)
    listed, detailed = set(worst[:GROUPS]), detailed_groups(plan)
    answers = Answers(plan)
    # A group keeps its number wherever it is named, also where other groups have no line.
    numbered = anchors_of(plan.groups, set(detailed))
    anchors = {name: anchor for name, anchor in numbered.items() if name in listed}
    owners = owners_of(plan, answers)
    numbers: OwnerNumbers = {} if owners is None else {one.name: one.number for one in owners.owners}
    staff = needed_by_group(plan)
    lines = _lines(plan.groups, worst[:GROUPS], anchors, set(detailed), answers, numbers, staff, beside.busy_bound)
    sections, left_out = _sections(plan, detailed, lines, answers, beside, staff)
    current = {group.consumer_group: now.strategy for group in plan.groups if (now := in_use(group)) is not None}
    failures = failures_of(beside, anchors, answers.losses())
    return Page(
        summary=summary_of(plan, beside.group_status),
        approval=None if plan.approval is UNSET else approval_of(plan.approval, answers),
        other_answers=others_of(plan),
        scenario=None if plan.scenario is UNSET else scenario_of(plan.scenario, current),
        changes=None if plan.changes is None else changes_of(plan.changes, answers),
        ledger=None if plan.ledger is UNSET else ledger_of(plan.ledger),
        overview=overview_picture(plan.groups),
        causes=causes_of(plan.causes, answers, anchors, numbers, {} if failures is None else failures.anchors),
        notes=plan.notes,
        accepted=accepted_of(plan),
        owners=owners,
        score=score_view(plan),
        headroom=headroom_lines(plan, anchors),
        events=event_views(plan.events or (), anchors),
        savings=savings_of(plan, staff, answers, anchors),
        failures=failures,
        brokers=brokers_view(plan.brokers, beside.disk_days, plan.taken_at),
        producers=producers_of(plan.producer_balance),
        lines=First(lines.values(), len(plan.groups)),
        groups=sections,
        flagged=len(flagged_groups(plan)),
        charts_left_out=left_out,
        not_applicable=not_applicable(plan.groups),
        glossary=GLOSSARY,
    )


def _lines(
    groups: Sequence[GroupPlan],
    names: Sequence[str],
    anchors: Mapping[str, str],
    detailed: set[str],
    answers: Answers,
    numbers: OwnerNumbers,
    staff: Mapping[str, ClientsOfGroup],
    bound: float | None,
) -> dict[str, GroupLine]:
    """The lines of these groups, worst first."""
    placed = {group.consumer_group: (place, group) for place, group in enumerate(groups)}
    lines = {}
    for name in names:
        place, group = placed[name]
        severities = [cause.severity for cause in answers.of_group(name)]
        section, owner = anchors[name] if name in detailed else None, numbers.get(group.owner, 0)
        lines[name] = line_of(group, staff[name], place, section, severities, owner, bound)
    return lines


def _sections(
    plan: Plan,
    detailed: Sequence[str],
    lines: Mapping[str, GroupLine],
    answers: Answers,
    beside: PageRows,
    staff: Mapping[str, ClientsOfGroup],
) -> tuple[tuple[DetailedGroup, ...], int]:
    by_name = {group.consumer_group: group for group in plan.groups}
    status = {row.consumer_group: row for row in beside.group_status}
    clients, of_size = _by_group(beside.client_load, detailed), _by_group(beside.group_size, detailed)
    of_failure = _by_group(beside.group_failure, detailed)
    hours, days = _by_group(beside.group_hour, detailed), _by_group(beside.group_day, detailed)
    done = [] if plan.ledger is UNSET else [one for one in plan.ledger.entries if one.consumer_group in by_name]
    owned, lags = _by_group(beside.owned_queue, detailed), _by_group(beside.queue_lag, detailed)
    sections: list[DetailedGroup] = []
    drawn, left_out = 0, 0
    for name in detailed:
        group, now = by_name[name], in_use(by_name[name])
        rules = {answers.findings[one].rule for cause in answers.of_group(name) for one in cause.findings}
        measure = COUNT if now is None else measure_of(rules, now)
        best = best_alternative(group.strategies, now, measure)
        alternative = None if best is None else best.strategy
        section = section_of(group, lines[name], staff[name], status[name], answers, alternative)
        telling = notable_loads(now, clients[name], measure, alternative)
        chart = None
        if telling is not None and drawn < CHARTS:
            drawn += 1
            is_only_safer = best is not None and is_less_even(best, now, measure)
            chart = load_picture(telling, name, f"chart-{drawn}", is_only_safer=is_only_safer)
        elif telling is not None:
            left_out += 1
        size_id = f"sizes-{len(sections) + 1}" if len(sections) < CHARTS else None
        ids = [row.client_id for row in clients[name] if now is not None and row.strategy == now.strategy]
        heat = heat_map(group, ids, owned[name], lags[name], f"heat-{len(sections) + 1}")
        sizes = sizes_of(group, staff[name], of_size[name], beside.busy_bound, size_id)
        course_id, own_done = str(len(sections) + 1), [one for one in done if one.consumer_group == name]
        course = course_of(status[name], hours[name], days[name], own_done, course_id)
        sections.append(DetailedGroup(section, course, chart, heat, sizes, own_failures(of_failure[name])))
    return tuple(sections), left_out


def _by_group(rows: Iterable[OfGroup], names: Iterable[str]) -> dict[str, list[OfGroup]]:
    """The rows of each of these groups."""
    by_group: dict[str, list[OfGroup]] = {name: [] for name in names}
    for row in rows:
        if row.consumer_group in by_group:
            by_group[row.consumer_group].append(row)
    return by_group
