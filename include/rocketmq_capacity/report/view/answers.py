"""The place on the page of each cause, and of each of its recommendations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from rocketmq_capacity.assessment.broker_loss import BROKER_LOSS
from rocketmq_capacity.plan_file.finding import Cause, PlanFinding
from rocketmq_capacity.plan_file.order import beside
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.approval import Said, answer_of_each
from rocketmq_capacity.report.limits import ALL_FOLDED_CAUSES, CAUSES, FOLDED, FOLDED_CAUSES
from rocketmq_capacity.report.needed import scales_down
from rocketmq_capacity.report.scripts import script_names
from rocketmq_capacity.report.wording import action_title
from rocketmq_capacity.vocabulary import INFO


@dataclass(frozen=True, slots=True)
class Link:
    """A word to click: ``anchor`` is an id on this page, or None where its target is left out."""

    text: str
    anchor: str | None


@dataclass(frozen=True, slots=True)
class Fold:
    """Causes in one line of the page: a single one, or several of one rule that one action mends."""

    causes: tuple[Cause, ...]

    @property
    def is_one(self) -> bool:
        """Whether there is nothing to fold."""
        return len(self.causes) == 1


class Answers:
    """The plan's causes with what belongs to them, and their places on the page."""

    def __init__(self, plan: Plan) -> None:
        self.findings: Mapping[str, PlanFinding] = {finding.id: finding for finding in plan.findings}
        self.recommendations: Mapping[str, PlanRecommendation] = {one.id: one for one in plan.recommendations}
        self.said: Mapping[str, Said] = {} if plan.approval is UNSET else answer_of_each(plan.approval)
        """What a person said to recommendations, by id."""
        self.scripts: Mapping[str, str] = script_names(plan)
        """By the first recommendation of a way (id), the path of its script."""
        self.alternatives = beside(plan.alternatives)
        """For each recommendation those of which none is carried out if it is."""
        self.in_order = tuple(one for cause in plan.causes for one in cause.recommendations)
        """Ids of the recommendations, those of the worst causes first."""
        self.folds = tuple(_folds([cause for cause in plan.causes if not self._is_saving(cause)]))
        """The worst first; those only for information come last, and those that are only a saving are missing."""
        folded = sum(not fold.is_one for fold in self.folds[:CAUSES])
        self._in_a_fold = max(FOLDED, min(FOLDED_CAUSES, ALL_FOLDED_CAUSES // max(folded, 1)))
        self._anchors = {cause.id: cause.anchor for cause in self._shown()}
        savings = (cause for cause in plan.causes if self._is_saving(cause))
        self._savings = {cause.id: f"saving-{place + 1}" for place, cause in enumerate(savings)}
        self._cause_of = {one: cause for cause in plan.causes for one in (*cause.findings, *cause.recommendations)}
        self._of_group: dict[str | None, dict[str, Cause]] = {}
        for cause in plan.causes:
            for group in self.groups_of(cause):
                self._of_group.setdefault(group, {})[cause.id] = cause

    def anchor(self, cause: Cause) -> str | None:
        """The id of the cause on the page; None if the page leaves it out, or if it is only a saving."""
        return self._anchors.get(cause.id)

    def saving_of(self, recommendation: str) -> str | None:
        """The id of the line in the table of savings, by its recommendation's id; None if it has a cause to itself."""
        cause = self._cause_of.get(recommendation)
        return None if cause is None else self._savings.get(cause.id)

    def _is_saving(self, cause: Cause) -> bool:
        """Whether a cause is no more than a group that can have fewer clients."""
        answers = [self.recommendations[one] for one in cause.recommendations]
        return cause.severity == INFO and len(answers) > 0 and all(map(scales_down, answers))

    def anchor_of_finding(self, finding: str) -> str | None:
        """The id on the page of the cause that a finding belongs to; None if the page leaves it out."""
        cause = self._cause_of.get(finding)
        return None if cause is None else self.anchor(cause)

    def losses(self) -> dict[str, str]:
        """The ids on the page of the causes that are the loss of a broker, by the broker."""
        lost = {one.broker_name: one.id for one in self.findings.values() if one.rule == BROKER_LOSS.name}
        anchors = {broker: self.anchor_of_finding(finding) for broker, finding in lost.items()}
        return {broker: anchor for broker, anchor in anchors.items() if broker is not None and anchor is not None}

    def link(self, recommendation: str) -> Link:
        """To the cause of a recommendation, by the recommendation's id."""
        cause = self._cause_of.get(recommendation)
        return Link(action_title(self.recommendations[recommendation]), None if cause is None else self.anchor(cause))

    def of_group(self, consumer_group: str) -> tuple[Cause, ...]:
        """The causes that have findings of the group, worst first."""
        return tuple(self._of_group.get(consumer_group, {}).values())

    def groups_of(self, cause: Cause) -> tuple[str, ...]:
        """The groups that the findings of a cause name, or its action does."""
        named = dict.fromkeys(self.findings[one].consumer_group for one in cause.findings)
        return tuple(name for name in named or {cause.consumer_group: None} if name is not None)

    def shown_of(self, fold: Fold) -> tuple[Cause, ...]:
        """The causes of a line that the page shows."""
        return fold.causes[: self._in_a_fold]

    def _shown(self) -> Iterator[Cause]:
        for fold in self.folds[:CAUSES]:
            yield from self.shown_of(fold)


def _folds(causes: Sequence[Cause]) -> Iterator[Fold]:
    alike: dict[tuple[str, str, str | None], list[Cause]] = {}
    for cause in causes:
        alike.setdefault((cause.severity, cause.rule, cause.action), []).append(cause)
    folded: set[tuple[str, str, str | None]] = set()
    for cause in sorted(causes, key=lambda cause: cause.severity == INFO):
        key = cause.severity, cause.rule, cause.action
        if len(alike[key]) < FOLDED:
            yield Fold((cause,))
        elif key not in folded:
            folded.add(key)
            yield Fold(tuple(alike[key]))
