"""Recommendations as the page shows them: what to do, how, what else would do, and what it would change."""

from collections.abc import Mapping
from dataclasses import dataclass

from rocketmq_capacity.report.limits import ANSWERS, COMMANDS, RECOMMENDATIONS
from rocketmq_capacity.report.plan_file import Recommendation
from rocketmq_capacity.report.view.answers import Answers, Link
from rocketmq_capacity.report.view.comparison import Comparison, compare
from rocketmq_capacity.report.view.findings import rule_anchor
from rocketmq_capacity.report.wording import action_title
from rocketmq_capacity.vocabulary import ACTION_WORDS, RULE_WORDS, Wording


@dataclass(frozen=True, slots=True)
class RecommendationView:
    """One recommendation."""

    anchor: str
    id: str
    action: str
    title: str
    meaning: str
    reason: str
    is_manual: bool
    group: Link | None
    topic: str | None
    rules: tuple[Link, ...]
    choices: tuple[Link, ...]
    """Other recommendations of which one would do instead."""
    more_choices: int
    commands: tuple[str, ...]
    more_commands: int
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class RecommendationList:
    """Those that the page shows, and how many it leaves to recommendations.csv."""

    shown: tuple[RecommendationView, ...]
    total: int
    more: int


def recommendations_of(answers: Answers, group_anchors: Mapping[str, str]) -> RecommendationList:
    """What answers the worst findings first."""
    ordered = answers.recommendations
    shown = tuple(
        _recommendation(recommendation, place, answers, group_anchors)
        for place, recommendation in enumerate(ordered[:RECOMMENDATIONS])
    )
    return RecommendationList(shown, len(ordered), len(ordered) - len(shown))


def _recommendation(
    recommendation: Recommendation, place: int, answers: Answers, group_anchors: Mapping[str, str]
) -> RecommendationView:
    wording = ACTION_WORDS.get(recommendation.action, Wording(recommendation.action, ""))
    group, commands, choices = recommendation.consumer_group, recommendation.commands, answers.choices(place)
    found = {answers.findings[index].rule for index in answers.answered(place)}
    return RecommendationView(
        anchor=f"recommendation-{place + 1}",
        id=recommendation.id,
        action=recommendation.action,
        title=action_title(recommendation),
        meaning=wording.meaning,
        reason=recommendation.reason,
        is_manual=recommendation.manual,
        group=None if group is None else Link(group, group_anchors.get(group)),
        topic=recommendation.topic,
        rules=tuple(
            Link(RULE_WORDS.get(rule, Wording(rule, "")).title, rule_anchor(rule) if rule in found else None)
            for rule in recommendation.rules
        ),
        choices=choices[:ANSWERS],
        more_choices=max(0, len(choices) - ANSWERS),
        commands=commands[:COMMANDS],
        more_commands=max(0, len(commands) - COMMANDS),
        comparison=compare(recommendation.before, recommendation.after),
    )
