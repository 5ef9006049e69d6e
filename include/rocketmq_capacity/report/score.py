"""The score of each group and of the cluster: which goals are kept today, and after all recommendations.

A goal is broken by the open findings of its rules; one that is PENDING breaks none yet. It cannot be judged where the
facts are missing that its rules need.
A finding is mended if its cause has a recommendation that changes something and answers the cause's rule or its own.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.plan_file.finding import Cause, PlanFinding, alarming
from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.plan_file.score import GoalScore, GroupScore, Score
from rocketmq_capacity.report.losses import FailureLoss
from rocketmq_capacity.settings import score as policy
from rocketmq_capacity.vocabulary import (
    BROKER,
    GOALS,
    HARD_GOALS,
    INFO,
    UNDECIDED,
    UNKNOWN,
    UNREAD,
    Goal,
    is_broadcasting,
)

Harm = tuple[float, float]
"""The shares of a goal that are lost today, and after all recommendations; 1 is all of it."""
UNHARMED: Final[Harm] = (0.0, 0.0)
WHOLLY: Final[Harm] = (1.0, 1.0)
"""Today and after all recommendations."""
OF_OWNERS: Final[tuple[Goal, ...]] = ("NO_ORPHAN", "ORDER_KEPT", "EVEN_LOAD", "NO_IDLE", "LITTLE_CHURN")
"""Goals that concern groups whose clients share queues, and need to know who owns what."""


@dataclass(frozen=True, slots=True)
class Harms:
    """The harm that open findings do: by group, by what belongs to no group, and to the cluster as a whole.

    What belongs to no group are topics that no group reads and, for soft goals, brokers.
    """

    groups: dict[str, dict[Goal, Harm]]
    others: dict[str, dict[Goal, Harm]]
    cluster: dict[Goal, Harm]


@dataclass(slots=True)
class _Tally:
    kept: int = 0
    broken: int = 0
    mended: int = 0
    undecided: int = 0
    lost: list[float] = field(default_factory=list)
    lost_after: list[float] = field(default_factory=list)

    def add(self, harm: Harm) -> None:
        lost, lost_after = harm
        self.broken += lost > 0
        self.kept += lost == 0
        self.mended += lost > 0 and lost_after == 0
        if lost:
            self.lost.append(lost)
            self.lost_after.append(lost_after)

    @property
    def judged(self) -> int:
        return self.kept + self.broken


def scored(plan: Plan, losses: Iterable[FailureLoss] | None, settings: policy.ScorePolicy, *, asks_rooms: bool) -> Plan:
    """The plan with its scores, and with the goals of each recommendation.

    Args:
        plan: with its findings, recommendations and causes.
        losses: the effect of each failure; None if it is unknown what a lost broker does.
        settings: the weights.
        asks_rooms: whether it matters to read in the same machine room.
    """
    weights = settings.weights.of_goals()
    harms = harms_of(plan, settings.info_ratio)
    weak, unsure = _without_a_broker(losses)
    asked: set[Goal] = set(weights) if asks_rooms else set(weights) - {"SAME_ROOM"}
    tallies = {goal: _Tally() for goal in weights}
    scores: list[GroupScore] = []
    kept: dict[str, set[Goal]] = {}
    for group in plan.groups:
        name = group.consumer_group
        of_its_group = dict(harms.groups.get(name, {}))
        if name in weak:
            of_its_group["SURVIVES_LOSS"] = (1.0, harms.cluster.get("SURVIVES_LOSS", WHOLLY)[1])
        if group.reading_status == UNREAD and group.connections:
            of_its_group.setdefault("NO_ORPHAN", WHOLLY)
        of_group = _asked(group, asked)
        undecided = _undecided(group, is_unsure=losses is None or name in unsure)
        scores.append(_score_of(of_its_group, of_group, undecided, weights, settings, tallies))
        kept[name] = of_group - {*scores[-1].broken, *scores[-1].undecided}
    for other in harms.others.values():
        for goal in other.keys() & tallies.keys():
            tallies[goal].add(other[goal])
    goals = _goals(tallies, harms.cluster, weights)
    return msgspec.structs.replace(
        plan,
        groups=tuple(msgspec.structs.replace(one, score=own) for one, own in zip(plan.groups, scores, strict=True)),
        recommendations=_with_goals(plan, kept, goals),
        score=_of_cluster(goals, tallies, settings.min_judged_ratio),
    )


def harms_of(plan: Plan, info_ratio: float) -> Harms:
    """The harm that the plan's open findings do. A topic's finding harms each group that reads the topic."""
    readers: dict[str, list[str]] = {}
    for group in plan.groups:
        for topic in group.topics:
            readers.setdefault(topic, []).append(group.consumer_group)
    mended = _mended(plan.findings, plan.causes, plan.recommendations)
    harms = Harms({}, {}, {})
    for finding in alarming(plan.findings):
        goal = rule_of(finding.rule).goal
        lost = 1.0
        if finding.severity == INFO:
            lost = 0.0 if goal in HARD_GOALS else info_ratio
        if goal is None or not lost:
            continue
        harm = (lost, 0.0 if finding.id in mended else lost)
        for place in _places(finding, goal, readers, harms):
            place[goal] = _worse(place.get(goal, UNHARMED), harm)
    return harms


def _places(
    finding: PlanFinding, goal: Goal, readers: Mapping[str, Sequence[str]], harms: Harms
) -> list[dict[Goal, Harm]]:
    """What the finding harms: its group, or the groups of its topic; else what belongs to no group, or the cluster."""
    if finding.consumer_group is not None:
        return [harms.groups.setdefault(finding.consumer_group, {})]
    if finding.topic is not None and finding.topic in readers:
        return [harms.groups.setdefault(name, {}) for name in readers[finding.topic]]
    if finding.topic is None and goal in HARD_GOALS:
        return [harms.cluster]
    return [harms.others.setdefault(finding.topic or finding.broker_name or "", {})]


def _worse(harm: Harm, other: Harm) -> Harm:
    return max(harm[0], other[0]), max(harm[1], other[1])


def _mended(
    findings: Iterable[PlanFinding], causes: Iterable[Cause], recommendations: Iterable[PlanRecommendation]
) -> set[str]:
    """Ids of the findings that are gone after all recommendations."""
    answered = {one.id: set(one.rules) for one in recommendations if action_of(one.action).changes != "nothing"}
    rules = {finding.id: finding.rule for finding in findings}
    mended: set[str] = set()
    for cause in causes:
        answers: set[str] = set().union(*(answered.get(one, ()) for one in cause.recommendations))
        is_whole = cause.rule in answers
        mended.update(one for one in cause.findings if is_whole or rules.get(one) in answers)
    return mended


def _without_a_broker(losses: Iterable[FailureLoss] | None) -> tuple[set[str], set[str]]:
    """The groups that are too small without some broker, and those of which that is unknown."""
    brokers = [loss for loss in losses or () if loss.failure == BROKER]
    return {name for loss in brokers for name in loss.under}, {name for loss in brokers for name in loss.unsure}


def _asked(group: GroupPlan, asked: set[Goal]) -> set[Goal]:
    """The goals that concern the group: without clients there is only what is left unread."""
    if not group.connections:
        return asked & {"NOTHING_UNREAD"}
    return asked - {*OF_OWNERS, "SAME_ROOM"} if is_broadcasting(group.message_model) else asked


def _undecided(group: GroupPlan, *, is_unsure: bool) -> set[Goal]:
    """The goals for which facts are missing."""
    undecided: set[Goal] = {"SURVIVES_LOSS"} if is_unsure else set()
    if group.provision_status == UNDECIDED:
        undecided.add("CAPACITY_AT_PEAK")
    if group.reading_status == UNKNOWN or not group.connections:
        undecided |= {"NOTHING_UNREAD", "SAME_ROOM", *OF_OWNERS}
    return undecided


def _score_of(
    harms: Mapping[Goal, Harm],
    asked: set[Goal],
    undecided: set[Goal],
    weights: Mapping[Goal, float],
    settings: policy.ScorePolicy,
    tallies: Mapping[Goal, _Tally],
) -> GroupScore:
    broken, mended, unknown = [], [], []
    all_asked = judged = before = after = 0.0
    for goal, weight in weights.items():
        harm = harms.get(goal)
        if harm is None and goal not in asked:
            continue
        all_asked += weight
        if harm is None and goal in undecided:
            unknown.append(goal)
            tallies[goal].undecided += 1
            continue
        lost, lost_after = harm or UNHARMED
        tallies[goal].add((lost, lost_after))
        judged += weight
        before += weight * (1 - lost)
        after += weight * (1 - lost_after)
        if lost:
            broken.append(goal)
            mended += [] if lost_after else [goal]
    ratio = judged / all_asked if all_asked else 0.0
    is_known = bool(judged) and ratio >= settings.min_judged_ratio
    return GroupScore(
        before=_down(100 * before / judged) if is_known else None,
        after=_down(100 * after / judged) if is_known else None,
        judged_ratio=round(ratio, 4),
        broken=tuple(broken),
        mended=tuple(mended),
        undecided=tuple(unknown),
    )


def _goals(
    tallies: Mapping[Goal, _Tally], cluster: Mapping[Goal, Harm], weights: Mapping[Goal, float]
) -> tuple[GoalScore, ...]:
    """What each goal gives: the mean over all who can be judged, less what a finding about the cluster takes."""
    shares: dict[Goal, Harm] = {}
    for goal, tally in tallies.items():
        lost, lost_after = cluster.get(goal, UNHARMED)
        if tally.judged:
            shares[goal] = (
                (1 - lost) * (1 - math.fsum(tally.lost) / tally.judged),
                (1 - lost_after) * (1 - math.fsum(tally.lost_after) / tally.judged),
            )
        elif lost:
            shares[goal] = (1 - lost, 1 - lost_after)
    whole = math.fsum(weights[goal] for goal in shares)
    return tuple(
        GoalScore(
            goal=goal,
            hard=goal in HARD_GOALS,
            weight=weight,
            kept=tallies[goal].kept,
            broken=tallies[goal].broken,
            mended=tallies[goal].mended,
            undecided=tallies[goal].undecided,
            cluster_broken=bool(cluster.get(goal, UNHARMED)[0]),
            points=round(100 * weight * shares[goal][0] / whole, 4) if goal in shares else None,
            points_after=round(100 * weight * shares[goal][1] / whole, 4) if goal in shares else None,
            most_points=round(100 * weight / whole, 4) if goal in shares else None,
        )
        for goal, weight in weights.items()
    )


def _of_cluster(goals: Sequence[GoalScore], tallies: Mapping[Goal, _Tally], min_judged_ratio: float) -> Score:
    asked = judged = 0.0
    for goal in goals:
        tally = tallies[goal.goal]
        units = tally.judged + tally.undecided
        asked += goal.weight if units or goal.points is not None else 0.0
        if goal.points is not None:
            judged += goal.weight * (tally.judged / units if units else 1.0)
    ratio = judged / asked if asked else 0.0
    is_known = bool(judged) and ratio >= min_judged_ratio
    return Score(
        before=_down(math.fsum(one.points or 0.0 for one in goals)) if is_known else None,
        after=_down(math.fsum(one.points_after or 0.0 for one in goals)) if is_known else None,
        judged_ratio=round(ratio, 4),
        goals=tuple(goals),
    )


def _with_goals(
    plan: Plan, kept: Mapping[str, set[Goal]], goals: Sequence[GoalScore]
) -> tuple[PlanRecommendation, ...]:
    """Each recommendation with the goals that it serves, and the others that are kept today where it acts."""
    by_all = {goal.goal for goal in goals if goal.kept and not goal.broken and not goal.cluster_broken}
    of_topic: dict[str, set[Goal]] = {}
    for group in plan.groups:
        for topic in group.topics:
            of_topic[topic] = of_topic.get(topic, kept[group.consumer_group]) & kept[group.consumer_group]

    def place_of(recommendation: PlanRecommendation) -> set[Goal]:
        if recommendation.consumer_group is not None:
            return kept.get(recommendation.consumer_group, set())
        return by_all if recommendation.topic is None else of_topic.get(recommendation.topic, set())

    return tuple(_with_goal(one, place_of(one)) for one in plan.recommendations)


def _with_goal(recommendation: PlanRecommendation, kept: set[Goal]) -> PlanRecommendation:
    served = {rule_of(rule).goal for rule in recommendation.rules}
    return msgspec.structs.replace(
        recommendation,
        serves=tuple(goal for goal in GOALS if goal in served),
        keeps=tuple(goal for goal in GOALS if goal in kept and goal not in served),
    )


def _down(score: float) -> float:
    """One decimal, rounded down: only a score without any loss is 100."""
    return math.floor(score * 10 + 1e-6) / 10
