"""Causes as the page shows them: the worst first, similar ones folded into one line."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.catalogue.rule import Rule, rule_of, rules
from rocketmq_capacity.plan_file.finding import Cause, Impact
from rocketmq_capacity.plan_file.numbers import steady
from rocketmq_capacity.report.causes import different_titles
from rocketmq_capacity.report.figures import when
from rocketmq_capacity.report.impact_words import impact_words
from rocketmq_capacity.report.limits import CAUSES, FINDINGS, FOLDED_PLACES, ITEMS, OPTIONS
from rocketmq_capacity.report.view.answers import Answers, Fold, Link
from rocketmq_capacity.report.view.findings import FindingView, finding_of
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.options import OptionView, options_of
from rocketmq_capacity.report.wording import kind_of, lower_first
from rocketmq_capacity.tables.assess.findings import PENDING
from rocketmq_capacity.vocabulary import INFO, SEVERITIES

OwnerNumbers = Mapping[str | None, int]
"""The numbers that owners have on the page; anybody else has 0."""


@dataclass(frozen=True, slots=True)
class PageIds:
    """Ids on the page, by name."""

    groups: Mapping[str, str]
    cards: Mapping[str, str]
    """Of the losses of brokers."""


@dataclass(frozen=True, slots=True)
class CauseView:
    """One cause."""

    anchor: str
    id: str
    severity: str
    title: str
    message: str
    groups: First[Link]
    losses: tuple[Link, ...]
    """The cards of the brokers whose loss it is."""
    topic: str | None
    broker: str | None
    """The broker that the message is about, where there are several and the title names them all."""
    owner: str | None
    owner_number: int
    tier: int | None
    kind: str
    """``cluster``, ``clients``, ``look`` or empty: what its first recommendation touches."""
    impact: tuple[str, ...]
    since: str
    """Empty where it is not known."""
    is_new: bool
    is_pending: bool
    """All of its findings wait for a second plan that finds them."""
    meanings: tuple[Rule, ...]
    """The rules of its findings."""
    options: First[OptionView]
    is_choice: bool
    """At most one of the options is carried out."""
    findings: First[FindingView]


@dataclass(frozen=True, slots=True)
class FoldView:
    """A line of the list: a cause, or several of one rule that one action mends."""

    severity: str
    title: str
    """Empty for one cause, which has its own."""
    kind: str
    impact: tuple[str, ...]
    places: First[str]
    """Groups or topics."""
    owner_numbers: tuple[int, ...]
    new: int
    """Causes that the plan before did not have."""
    causes: tuple[CauseView, ...]
    total: int
    more: int
    """Causes that the page leaves to the CSV files."""


@dataclass(frozen=True, slots=True)
class CausesOfSeverity:
    """The lines of one severity."""

    severity: str
    folds: tuple[FoldView, ...]
    total: int
    """Causes of this severity, those that the page leaves out included."""


@dataclass(frozen=True, slots=True)
class CauseList:
    """The lines of causes, in one list."""

    by_severity: tuple[CausesOfSeverity, ...]
    """The worst first, without severities of which there is no cause."""
    total: int
    is_calm: bool
    """Whether nothing has to be changed: all causes are for information."""
    savings: int
    """Causes that the table of possible savings has instead of a line."""
    more: int
    """Causes in lines that the page leaves to the CSV files."""


def causes_of(
    causes: Iterable[Cause],
    answers: Answers,
    group_anchors: Mapping[str, str],
    numbers: OwnerNumbers,
    card_anchors: Mapping[str, str],
) -> CauseList:
    """The plan's causes in the order of the answers; ``card_anchors`` has the cards of losses, by the broker."""
    number = Counter(cause.severity for cause in causes)
    anchors = PageIds(group_anchors, card_anchors)
    shown = _with_own_titles([_fold(fold, answers, anchors, numbers) for fold in answers.folds[:CAUSES]])
    return CauseList(
        by_severity=tuple(
            CausesOfSeverity(name, tuple(fold for fold in shown if fold.severity == name), number[name])
            for name in SEVERITIES
            if number[name]
        ),
        total=number.total(),
        is_calm=number.total() == number[INFO],
        savings=number.total() - sum(len(fold.causes) for fold in answers.folds),
        more=sum(len(fold.causes) for fold in answers.folds[CAUSES:]),
    )


def _fold(fold: Fold, answers: Answers, anchors: PageIds, numbers: OwnerNumbers) -> FoldView:
    worst = fold.causes[0]
    shown = tuple(_cause(cause, answers, anchors, numbers) for cause in answers.shown_of(fold))
    places = list(dict.fromkeys(name for one in fold.causes if (name := one.consumer_group or one.topic) is not None))
    return FoldView(
        severity=worst.severity,
        title="" if fold.is_one else _title(worst),
        kind=shown[0].kind,
        impact=impact_words(_sum(cause.impact for cause in fold.causes)),
        places=First(places[:FOLDED_PLACES], len(places)),
        owner_numbers=tuple(sorted({numbers.get(cause.owner, 0) for cause in fold.causes})),
        new=sum(cause.is_new is True for cause in fold.causes),
        causes=shown,
        total=len(fold.causes),
        more=len(fold.causes) - len(shown),
    )


def _with_own_titles(folds: Sequence[FoldView]) -> list[FoldView]:
    """The same causes; no two have one title.

    Lines of several causes that have one title have different severities, which are added.
    """
    every = [cause for fold in folds for cause in fold.causes]
    left = iter(different_titles([cause.title for cause in every], every, _wrong, _place))
    times = Counter(fold.title for fold in folds if fold.title)
    return [
        replace(
            fold,
            title=f"{fold.title} ({fold.severity.lower()})" if times[fold.title] > 1 else fold.title,
            causes=tuple(replace(one, title=next(left)) for one in fold.causes),
        )
        for fold in folds
    ]


def _wrong(cause: CauseView) -> str:
    return lower_first(cause.meanings[0].title) if cause.meanings else cause.id


def _place(cause: CauseView) -> str:
    return next((finding.places[-1] for finding in cause.findings if finding.places), cause.id)


def _title(cause: Cause) -> str:
    """What is wrong with all of several causes, and what to do about each."""
    wrong = rule_of(cause.rule).title
    if cause.action is None:
        return wrong
    title = action_of(cause.action).title.format(
        group="each group",
        topic="each topic",
        strategy="another strategy",
        clients="another number of",
        subject="each of them",
    )
    return f"{wrong}: {title[:1].lower()}{title[1:]}"


def _cause(cause: Cause, answers: Answers, anchors: PageIds, numbers: OwnerNumbers) -> CauseView:
    recommendations = [answers.recommendations[one] for one in cause.recommendations]
    options = options_of(recommendations, answers)
    groups = answers.groups_of(cause)
    findings = [answers.findings[one] for one in cause.findings]
    lost = [one.broker_name or "" for one in findings]
    brokers = {one.broker_name for one in findings}
    about = next((one.broker_name for one in findings if one.message == cause.message), None)
    names = dict.fromkeys([cause.rule, *(one.rule for one in findings)])
    return CauseView(
        anchor=answers.anchor(cause) or "",
        id=cause.id,
        severity=cause.severity,
        title=options[0].title if options and len(options[0].ids) > 1 else cause.title,
        message=cause.message,
        groups=First((Link(group, anchors.groups.get(group)) for group in groups[:ITEMS]), len(groups)),
        losses=tuple(Link(name, anchors.cards[name]) for name in lost[:ITEMS] if name in anchors.cards),
        topic=cause.topic,
        broker=about if len(brokers) > 1 and not groups and cause.topic is None else None,
        owner=cause.owner,
        owner_number=numbers.get(cause.owner, 0),
        tier=cause.tier,
        kind="" if cause.action is None else kind_of(cause.action, changes_cluster=cause.changes_cluster),
        impact=impact_words(cause.impact),
        since="" if cause.since is None else when(cause.since),
        is_new=cause.is_new is True,
        is_pending=bool(findings) and all(one.state == PENDING for one in findings),
        meanings=tuple(rule_of(name) for name in names if name in rules()),
        options=First(options[:OPTIONS], len(options)),
        is_choice=any(one.instead_of for one in options),
        findings=First(map(finding_of, findings[:FINDINGS]), len(findings)),
    )


def _sum(impacts: Iterable[Impact]) -> Impact:
    """The figures of several causes together; busy shares do not add up."""
    known = list(impacts)

    def figures(name: str) -> list[Any]:
        return [figure for impact in known if (figure := getattr(impact, name)) is not None]

    names = [name for name in Impact.__struct_fields__ if name != "utilisation_ratio"]
    totals: dict[str, Any] = {name: steady(sum(present)) for name in names if (present := figures(name))}
    return Impact(**totals)
