"""The score of a group and of the cluster, from 0 to 100, and how it came about."""

from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.vocabulary import Goal

BEFORE = Annotated[
    float | None,
    means(
        "today: 100 * weights of the goals that are kept / weights of those that can be judged, rounded "
        "down to one decimal; null if too few can be judged"
    ),
]
AFTER = Annotated[float | None, means("the same after all recommendations, of alternatives after one of them")]
JUDGED = Annotated[float, means("weights of the goals that can be judged / weights of those that concern it")]


class GroupScore(Struct, frozen=True, kw_only=True):
    """The score of a group. A goal in none of the lists is kept, or does not concern the group."""

    before: BEFORE
    after: AFTER
    judged_ratio: JUDGED
    broken: Annotated[tuple[Goal, ...], means("goals that are not, or not wholly, kept")]
    mended: Annotated[tuple[Goal, ...], means("those of them that recommendations mend wholly")]
    undecided: Annotated[tuple[Goal, ...], means("goals that cannot be judged: facts are missing")]


class GoalScore(Struct, frozen=True, kw_only=True):
    """What a goal adds to the score of the cluster.

    It is counted over groups, topics that nobody reads and, if it is soft, brokers with
    a finding.
    """

    goal: Annotated[Goal, means("its name")]
    hard: Annotated[bool, means("it is kept or broken; others are kept more or less")]
    weight: Annotated[float, means("of the policy")]
    kept: Annotated[int, means("how many keep it")]
    broken: Annotated[int, means("how many do not, or not wholly")]
    mended: Annotated[int, means("of `broken`: those that keep it after all recommendations")]
    undecided: Annotated[int, means("for how many it cannot be judged")]
    cluster_broken: Annotated[bool, means("a finding about a broker or the cluster breaks it for all")]
    points: Annotated[float | None, means("of the 100, what it gives today; null if it cannot be judged")]
    points_after: Annotated[float | None, means("the same after all recommendations")]
    most_points: Annotated[float | None, means("what it gives if everybody keeps it")]


class Score(Struct, frozen=True, kw_only=True):
    """The score of the cluster, and how it came about."""

    before: BEFORE
    after: AFTER
    judged_ratio: JUDGED
    goals: Annotated[tuple[GoalScore, ...], means("the most important first; those that count")]
