"""What answers a cause, as the page shows it: what to do, how, how to see that it worked, and the way back."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.plan_file.recommendation import PlanConfigAssignment, PlanRecommendation
from rocketmq_capacity.plan_file.steps import RecommendationStep
from rocketmq_capacity.report.approval import Said
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.report.limits import COMMANDS, LINKS, TABLE_ROWS
from rocketmq_capacity.report.view.answers import Answers
from rocketmq_capacity.report.view.comparison import ComparisonView, compare
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.ledger import standing_in_words
from rocketmq_capacity.report.ways import ways_of
from rocketmq_capacity.report.wording import action_title, kind_of
from rocketmq_capacity.tables.transition import TransitionTotals
from rocketmq_capacity.wording import counted


@dataclass(frozen=True, slots=True)
class CheckView:
    """Commands that only look, and what they show where the change has worked."""

    commands: tuple[str, ...]
    shows: str


@dataclass(frozen=True, slots=True)
class RecommendedChange:
    """What one recommendation would change."""

    title: str
    comparison: ComparisonView


@dataclass(frozen=True, slots=True)
class OptionView:
    """One recommendation, or several alike that go together: one action with one reason for several topics."""

    ids: tuple[str, ...]
    action: str
    title: str
    meaning: str
    reason: str
    is_manual: bool
    kind: str
    """``cluster``, ``clients`` or ``look``: what carrying it out touches."""
    instead_of: tuple[str, ...]
    """Titles of the recommendations of which none is carried out if this is."""
    more_instead: int
    commands: First[str]
    checks: tuple[CheckView, ...]
    ways_back: tuple[str, ...]
    changes: tuple[RecommendedChange, ...]
    spreads: str
    """What happens until every client has noticed; empty where no queue changes hands, or it is not known."""
    steps: tuple[RecommendationStep, ...]
    """Of a change that takes several; shown instead of the commands."""
    lists: "FixedLists | None"
    """Another way: a fixed list of queues for each client."""
    script: str | None
    """The path of its script, beside the page; None if it has none."""
    said: Said | None
    """What a person answered; None where nobody was asked, or has answered."""
    standing: str
    """Since when it is recommended, and what became of it so far; empty without a plan before."""


@dataclass(frozen=True, slots=True)
class FixedLists:
    """What each client of a group would be given under CONFIG.

    Attributes:
        moved_queues: in words.
        note: what they do, and when they must be made anew.
        spreads: what happens until every client runs its list; empty where that is not known.
    """

    moved_queues: str
    note: str
    spreads: str


def options_of(recommendations: Sequence[PlanRecommendation], answers: Answers) -> list[OptionView]:
    """The recommendations of a cause, in its order; those that are alike as one."""
    return [_option(way, answers) for way in ways_of(recommendations, answers.said)]


def _option(together: Sequence[PlanRecommendation], answers: Answers) -> OptionView:
    first = together[0]
    commands = [command for one in together for command in one.commands]
    checks: dict[str, dict[str, None]] = {}
    for recommendation in together:
        if recommendation.check is not None:
            checks.setdefault(recommendation.check.shows, {})[recommendation.check.command] = None
    instead = list(dict.fromkeys(other for one in together for other in answers.alternatives.get(one.id, ())))
    compared = ((action_title(one), compare(one.before, one.after)) for one in together)
    return OptionView(
        ids=tuple(one.id for one in together),
        action=first.action,
        title=_title(together),
        meaning=action_of(first.action).meaning,
        reason=first.reason,
        is_manual=first.manual,
        kind=kind_of(first.action, changes_cluster=first.changes_cluster),
        instead_of=tuple(dict.fromkeys(action_title(answers.recommendations[one]) for one in instead[:LINKS])),
        more_instead=max(0, len(instead) - LINKS),
        commands=First(commands[:COMMANDS], len(commands)),
        checks=tuple(CheckView(tuple(named)[:COMMANDS], shows) for shows, named in list(checks.items())[:TABLE_ROWS]),
        ways_back=tuple(dict.fromkeys(one.way_back for one in together if one.way_back is not None))[:TABLE_ROWS],
        changes=tuple(RecommendedChange(title, one) for title, one in compared if one.changes)[:TABLE_ROWS],
        spreads=_spreads(together),
        steps=tuple(step for one in together if one.steps is not UNSET for step in one.steps)[:TABLE_ROWS],
        lists=None if first.config_assignment is UNSET else _fixed_lists(first.config_assignment),
        script=answers.scripts.get(first.id),
        said=answers.said.get(first.id),
        standing="" if first.standing is UNSET else standing_in_words(first.standing),
    )


def _fixed_lists(assignment: PlanConfigAssignment) -> FixedLists:
    return FixedLists(
        moved_queues=counted(assignment.moved_queues, "queue"),
        note=assignment.note,
        spreads="" if assignment.transition is UNSET else _all_restart(assignment.transition),
    )


def _spreads(together: Sequence[PlanRecommendation]) -> str:
    """What happens meanwhile, and what is not known of it."""
    known = _moves([one.transition for one in together if one.transition is not UNSET])
    undecided = dict.fromkeys(one.transition_undecided for one in together if one.transition_undecided is not UNSET)
    return " ".join(filter(None, (known, *list(undecided)[:TABLE_ROWS])))


def _moves(transitions: Sequence[TransitionTotals]) -> str:
    """One sentence about recommendations that are alike: queues and messages together, the longest times."""
    moved = sum(one.moved_queues for one in transitions)
    new = sum(one.new_queues for one in transitions)
    if not moved + new:
        return ""
    owners = (
        f"{counted(moved, 'queue gets', 'queues get')} another owner" if moved else "",
        f"{counted(new, 'new queue gets its', 'new queues get their')} first owner" if new else "",
    )
    expected = max(one.unread_longest_expected_s for one in transitions)
    worst = max(one.unread_longest_worst_s for one in transitions)
    twice = [one.messages_twice_worst for one in transitions]
    known = [one for one in twice if one is not None]
    messages = f"at most {number(sum(known))} messages are" if any(known) else "no message is"
    if len(known) < len(twice):
        messages = "an unknown number is"
    return (
        f"{' and '.join(filter(None, owners))}. A queue is unread for {number(expected)} s on "
        f"average, at most {number(worst)} s, and {messages} consumed twice."
    )


def _all_restart(change: TransitionTotals) -> str:
    """What happens while all clients of a group restart with other code."""
    return (
        f"{_moves([change])} At the same time, at most {counted(change.most_unread_at_once, 'queue is', 'queues are')}"
        f" unread and {number(change.most_twice_at_once)} read twice."
    )


def _title(together: Sequence[PlanRecommendation]) -> str:
    """``Give a, b and c more queues``."""
    topics = [one.topic for one in together if one.topic is not None]
    if len(topics) < 2:
        return action_title(together[0])
    return action_title(replace(together[0], topic=f"{', '.join(topics[:-1])} and {topics[-1]}"))
