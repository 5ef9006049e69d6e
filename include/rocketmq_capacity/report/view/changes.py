"""What is new, worse and gone since the plan before: one line a finding, many that are alike in one line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.plan_file.changes import ChangesSincePlan, Gone, Worse, WorsenedFigure
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.report.figures import number, per_cent, when
from rocketmq_capacity.report.limits import CHANGES, FOLDED, FOLDED_PLACES
from rocketmq_capacity.report.view.answers import Answers
from rocketmq_capacity.report.view.findings import places_of
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.wording import SEVERITY_WORDS
from rocketmq_capacity.vocabulary import Severity

FIGURE_WORDS: Final[Mapping[str, str]] = {
    "messages_at_risk": "messages unread",
    "unread_msgs_per_s": "messages/s unread",
    "unread_queues": "queues without reader",
    "deleted_messages": "messages deleted unread",
    "idle_clients": "clients without work",
    "lag": "messages behind",
    "utilisation_ratio": "time that the busiest client is busy",
}
"""The figures of an impact."""


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A line: one finding, or several of one rule and severity."""

    severity: str
    title: str
    """What the rule finds."""
    count: int
    anchor: str | None
    """Of the cause of the first of them; None if it is gone, or if the page leaves its cause out."""
    places: First[str]
    message: str
    """What the finding says; empty for several."""
    note: str
    """What is worse; empty if nothing is."""


@dataclass(frozen=True, slots=True)
class ChangeList:
    """The lines of one kind of change."""

    title: str
    total: int
    lines: tuple[ChangeLine, ...]
    more: int
    """Findings in lines that the page leaves to plan.json."""


@dataclass(frozen=True, slots=True)
class ChangesView:
    """What changed since the plan before."""

    since: str
    since_iso: str
    lists: tuple[ChangeList, ...]
    """New, worse, gone, pending and closing; without those that are empty."""


@dataclass(frozen=True, slots=True)
class _Change:
    about: PlanFinding | Gone
    anchor: str | None
    note: str = ""


def changes_of(changes: ChangesSincePlan, answers: Answers) -> ChangesView:
    """The plan's ``changes``."""
    new = [_Change(answers.findings[one], answers.anchor_of_finding(one)) for one in changes.new]
    worse = [
        _Change(answers.findings[one.finding], answers.anchor_of_finding(one.finding), _note(one, answers))
        for one in changes.worse
    ]
    gone = [_Change(one, None) for one in changes.gone]
    pending = [_Change(answers.findings[one], answers.anchor_of_finding(one)) for one in changes.pending]
    closing = [_Change(one, None) for one in changes.closing]
    lists = (
        _list("New", new),
        _list("Worse", worse),
        _list("Gone", gone),
        _list("Pending, until a second plan finds it", pending),
        _list("Closing, until a second plan does not find it", closing),
    )
    return ChangesView(
        since=when(changes.since), since_iso=changes.since, lists=tuple(one for one in lists if one.total)
    )


def _list(title: str, changes: Sequence[_Change]) -> ChangeList:
    alike: dict[tuple[str, str], list[_Change]] = {}
    for change in changes:
        alike.setdefault((change.about.severity, change.about.rule), []).append(change)
    parts = [part for some in alike.values() for part in ([some] if len(some) >= FOLDED else [[one] for one in some])]
    return ChangeList(
        title=title,
        total=len(changes),
        lines=tuple(map(_line, parts[:CHANGES])),
        more=sum(map(len, parts[CHANGES:])),
    )


def _line(changes: Sequence[_Change]) -> ChangeLine:
    first = changes[0]
    is_one = len(changes) == 1
    places = places_of(first.about) if is_one else _names(change.about for change in changes)
    return ChangeLine(
        severity=first.about.severity,
        title=rule_of(first.about.rule).title,
        count=len(changes),
        anchor=first.anchor,
        places=First(places[:FOLDED_PLACES], len(places)),
        message=first.about.message if is_one else "",
        note=first.note if is_one else "",
    )


def _names(findings: Iterable[PlanFinding | Gone]) -> tuple[str, ...]:
    """The groups, topics or brokers that several findings are about."""
    return tuple(dict.fromkeys(places[0] for one in findings if (places := places_of(one))))


def _note(worse: Worse, answers: Answers) -> str:
    """What is worse: ``was Warning; 714 messages behind, now 1,516``."""
    return worse_words(answers.findings[worse.finding].severity, worse.severity_before, worse.figures)


def worse_words(severity: Severity, severity_before: Severity, figures: Iterable[WorsenedFigure]) -> str:
    """What is worse of something that has this severity now."""
    before = [] if severity == severity_before else [f"was {SEVERITY_WORDS[severity_before]}"]
    return "; ".join([*before, *map(_figure, figures)])


def _figure(figure: WorsenedFigure) -> str:
    text = per_cent if figure.name.endswith("_ratio") else number
    words = FIGURE_WORDS.get(figure.name, figure.name)
    return f"{words}: {text(figure.before)} before, {text(figure.now)} now"
