"""Which recommendations answer which findings, and where on the page each of them stands."""

from dataclasses import dataclass
from typing import Any

from rocketmq_capacity.report.answering import ACTION_ORDER, answering, urgency
from rocketmq_capacity.report.limits import FINDINGS_A_RULE, RECOMMENDATIONS
from rocketmq_capacity.report.plan_file import Plan, Recommendation
from rocketmq_capacity.report.wording import action_title
from rocketmq_capacity.vocabulary import CHOICE_RULES


@dataclass(frozen=True, slots=True)
class Link:
    """A word to click: ``anchor`` is an id on this page, or None where its target is left out."""

    text: str
    anchor: str | None


class Answers:
    """The plan's findings and recommendations, tied together and ordered by what to mend first."""

    def __init__(self, plan: Plan) -> None:
        self.topics = {group.consumer_group: group.topics for group in plan.groups}
        self.findings = sorted(plan.findings, key=urgency)
        self.recommended = plan.recommendations
        """In the plan's order, by which a recommendation's place counts."""
        self.places = answering(self.findings, self.recommended, self.topics)
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
