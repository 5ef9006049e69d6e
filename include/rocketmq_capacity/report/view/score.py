"""The score of the cluster and of a group, and how it came about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.score import GoalScore, GroupScore
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.vocabulary import Goal

GOAL_WORDS: Final[Mapping[Goal, str]] = {
    "NOTHING_UNREAD": "Every message is read",
    "NO_ORPHAN": "Every queue has one owner",
    "ORDER_KEPT": "Ordered messages stay in order",
    "CAPACITY_AT_PEAK": "The clients are enough at the peak",
    "SURVIVES_LOSS": "The loss of any one broker is survived",
    "EVEN_LOAD": "Loads are even",
    "NO_IDLE": "Every client has work",
    "LITTLE_CHURN": "Queues seldom move",
    "SAME_ROOM": "Clients read in their own machine room",
}


@dataclass(frozen=True, slots=True)
class GoalLine:
    """A goal, and what it gives to the score."""

    title: str
    is_hard: bool
    points: str
    """Of the most that it can give; empty if it cannot be judged."""
    points_after: str
    kept: int
    broken: int
    undecided: int
    is_cluster_broken: bool


@dataclass(frozen=True, slots=True)
class ScoreView:
    """The score of the cluster."""

    before: str | None
    """None if too little can be judged."""
    after: str | None
    judged: str
    lines: tuple[GoalLine, ...]


def score_view(plan: Plan) -> ScoreView | None:
    """The plan's score; None if it has none, or no goal concerns anybody."""
    score = plan.score
    if score is None:
        return None
    lines = tuple(map(_line, filter(_concerns, score.goals)))
    if not lines:
        return None
    return ScoreView(
        before=None if score.before is None else number(score.before),
        after=None if score.after is None else number(score.after),
        judged=per_cent(score.judged_ratio),
        lines=lines,
    )


def score_cell(score: GroupScore | None) -> str:
    """A group's score today, and after all recommendations if that differs; a dash if it has none."""
    if score is None or score.before is None:
        return "\u2013"
    before = number(score.before)
    return before if score.after == score.before else f"{before} \u2192 {number(score.after)}"


def score_facts(score: GroupScore | None) -> Iterator[tuple[str, str]]:
    """How a group's score came about."""
    if score is None:
        return
    judged = per_cent(score.judged_ratio)
    if score.before is None:
        yield "Score", f"No score: only {judged} of the goals can be judged."
    else:
        before, after = number(score.before), number(score.after)
        yield (
            "Score",
            f"{before} of 100 today, and {after} after all recommendations. {judged} of the goals can be judged.",
        )
    for title, goals in (("Broken goals", score.broken), ("Undecided goals", score.undecided)):
        if goals:
            yield title, "; ".join(GOAL_WORDS[goal] for goal in goals)


def _concerns(goal: GoalScore) -> bool:
    """Whether the goal concerns anybody."""
    return goal.points is not None or goal.undecided > 0


def _line(goal: GoalScore) -> GoalLine:
    points = points_after = ""
    if goal.points is not None and goal.points_after is not None and goal.most_points is not None:
        points = f"{number(round(goal.points, 1))} / {number(round(goal.most_points, 1))}"
        points_after = number(round(goal.points_after, 1))
    return GoalLine(
        title=GOAL_WORDS[goal.goal],
        is_hard=goal.hard,
        points=points,
        points_after=points_after,
        kept=goal.kept,
        broken=goal.broken,
        undecided=goal.undecided,
        is_cluster_broken=goal.cluster_broken,
    )
