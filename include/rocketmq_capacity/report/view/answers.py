"""Which recommendations answer which findings, and where on the page each of them stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.limits import FINDINGS_A_RULE, RECOMMENDATIONS
from rocketmq_capacity.report.order import subjects_key
from rocketmq_capacity.report.plan_file import Finding, Plan, Recommendation
from rocketmq_capacity.vocabulary import ACTION_WORDS, CHOICE_RULES, RULE_PRIORITY, Wording

ACTION_ORDER: Final = {action: place for place, action in enumerate(ACTION_WORDS)}
PLACEHOLDER: Final = re.compile(r"\{(group|topic|subject)\}")
"""One pass over our own title: a name that holds a placeholder is a name."""


@dataclass(frozen=True, slots=True)
class Link:
    """A word to click: ``anchor`` is an id on this page, or None where its target is left out."""

    text: str
    anchor: str | None


class Answers:
    """The plan's findings and recommendations, tied together and ordered by what to mend first.

    A recommendation answers a finding when it names the finding's rule and no name of the two contradicts: the same
    group, the same topic, or a topic that the finding's group reads.
    """

    def __init__(self, plan: Plan) -> None:
        self.topics = {group.consumer_group: group.topics for group in plan.groups}
        self.findings = sorted(plan.findings, key=_urgency)
        self._by_subject: dict[tuple[str, str | None, str | None], list[int]] = {}
        self.recommended = plan.recommendations
        """In the plan's order, by which a recommendation's place counts."""
        for place, recommendation in enumerate(self.recommended):
            for rule in recommendation.rules:
                for subject in _subjects(recommendation.consumer_group, recommendation.topic):
                    self._by_subject.setdefault((rule, *subject), []).append(place)
        self.places = [self._answering(finding) for finding in self.findings]
        """For each finding the places of its recommendations in the plan."""
        self._answered_by: dict[int, list[int]] = {}
        for index, places in enumerate(self.places):
            for place in places:
                self._answered_by.setdefault(place, []).append(index)
        self._of_group: dict[str | None, list[int]] = {}
        for index, finding in enumerate(self.findings):
            self._of_group.setdefault(finding.consumer_group, []).append(index)
        self.order = sorted(range(len(self.recommended)), key=self._recommendation_key)
        self._anchors = {
            place: f"recommendation-{shown + 1}" for shown, place in enumerate(self.order[:RECOMMENDATIONS])
        }
        self._finding_anchors = self._anchors_of_findings()

    @property
    def recommendations(self) -> list[Recommendation]:
        """All of them, what answers the worst findings first."""
        return [self.recommended[place] for place in self.order]

    def link(self, place: int) -> Link:
        """To a recommendation, by its place in the plan."""
        return Link(action_title(self.recommended[place]), self._anchors.get(place))

    def finding_anchor(self, index: int) -> str | None:
        """Where the finding of this index stands; None where the page leaves it out."""
        return self._finding_anchors.get(index)

    def choices(self, shown: int) -> tuple[Link, ...]:
        """Other actions that would do instead of the recommendation that is shown at this place."""
        here = self.order[shown]
        found: dict[int, None] = {}
        for index in self._answered_by.get(here, ()):
            if self.is_choice(index):
                found |= dict.fromkeys(
                    place
                    for place in self.places[index]
                    if self.recommended[place].action != self.recommended[here].action
                )
        return tuple(self.link(place) for place in found)

    def of_group(self, consumer_group: str) -> tuple[int, ...]:
        """Indices of the group's findings, worst first."""
        return tuple(self._of_group.get(consumer_group, ()))

    def is_choice(self, index: int) -> bool:
        """Whether one of the finding's recommendations is enough, and there are several kinds."""
        actions = {self.recommended[place].action for place in self.places[index]}
        return self.findings[index].rule in CHOICE_RULES and len(actions) > 1

    def answered(self, shown: int) -> tuple[int, ...]:
        """Indices of the findings that the recommendation shown at this place answers."""
        return tuple(self._answered_by.get(self.order[shown], ()))

    def _answering(self, finding: Finding) -> list[int]:
        rule, group, topic = finding.rule, finding.consumer_group, finding.topic
        found: dict[int, None] = {}
        for subject in self._asked(group, topic):
            found |= dict.fromkeys(self._by_subject.get((rule, *subject), ()))
        fitting = [place for place in found if _fits(self.recommended[place], group, topic)]
        return sorted(fitting, key=lambda place: (ACTION_ORDER.get(self.recommended[place].action, 0), place))

    def _asked(self, group: str | None, topic: str | None) -> Iterator[tuple[str | None, str | None]]:
        yield None, None
        if group is not None:
            yield group, None
        for name in self.topics.get(group or "", ()) if topic is None else (topic,):
            yield None, name

    def _recommendation_key(self, place: int) -> tuple[Any, ...]:
        recommendation = self.recommended[place]
        answered = self._answered_by.get(place)
        return (
            answered[0] if answered else len(self.findings),  # findings stand worst first
            recommendation.consumer_group or "",
            recommendation.topic or "",
            ACTION_ORDER.get(recommendation.action, len(ACTION_ORDER)),
            recommendation.id,
        )

    def _anchors_of_findings(self) -> dict[int, str]:
        shown: dict[str, int] = {}
        anchors: dict[int, str] = {}
        for index, finding in enumerate(self.findings):
            shown[finding.rule] = shown.get(finding.rule, 0) + 1
            if shown[finding.rule] <= FINDINGS_A_RULE:
                anchors[index] = f"finding-{index + 1}"
        return anchors


def action_title(recommendation: Recommendation) -> str:
    """What to do, to what: ``Give pay more queues``."""
    wording = ACTION_WORDS.get(recommendation.action, Wording(recommendation.action + " {subject}", ""))
    group, topic = recommendation.consumer_group, recommendation.topic
    names = {
        "group": group or topic or "the group",
        "topic": topic or group or "the topic",
        "subject": " on ".join(name for name in (group, topic) if name) or "the cluster",
    }
    return PLACEHOLDER.sub(lambda found: names[found[1]], wording.title)


def _subjects(group: str | None, topic: str | None) -> list[tuple[str | None, str | None]]:
    if group is None and topic is None:
        return [(None, None)]
    return [(g, t) for g, t in ((group, None), (None, topic)) if (g, t) != (None, None)]


def _fits(recommendation: Recommendation, group: str | None, topic: str | None) -> bool:
    """Whether no name of the two contradicts; None names all."""
    other_group, other_topic = recommendation.consumer_group, recommendation.topic
    if None not in {group, other_group} and group != other_group:
        return False
    return None in {topic, other_topic} or topic == other_topic


def _urgency(finding: Finding) -> tuple[Any, ...]:
    return (
        SEVERITY_RANK[finding.severity],
        RULE_PRIORITY.get(finding.rule, len(RULE_PRIORITY)),
        finding.rule,
        finding.consumer_group or "",
        finding.topic or "",
        finding.broker_name or "",
        subjects_key(finding.subjects),
    )
