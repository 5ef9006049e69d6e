"""The score of a group and of the cluster, from 0 to 100, and how it came about."""

from typing import Annotated

from msgspec import Meta, Struct

from rocketmq_capacity.vocabulary import Goal

BEFORE = Annotated[
    float | None,
    Meta(
        description="today: 100 * weights of the goals that are kept / weights of those that can be judged, rounded "
        "down to one decimal; null if too few can be judged",
    ),
]
AFTER = Annotated[
    float | None,
    Meta(description="the same after all recommendations, of alternatives after one of them"),
]
JUDGED = Annotated[
    float,
    Meta(description="weights of the goals that can be judged / weights of those that concern it"),
]


class GroupScore(Struct, frozen=True, kw_only=True):
    """The score of a group. A goal in none of the lists is kept, or does not concern the group."""

    before: BEFORE
    after: AFTER
    judged_ratio: JUDGED
    broken: Annotated[tuple[Goal, ...], Meta(description="goals that are not, or not wholly, kept")]
    mended: Annotated[tuple[Goal, ...], Meta(description="those of them that recommendations mend wholly")]
    undecided: Annotated[tuple[Goal, ...], Meta(description="goals that cannot be judged: facts are missing")]


class GoalScore(Struct, frozen=True, kw_only=True):
    """What a goal adds to the score of the cluster.

    It is counted over groups, topics that nobody reads and, if it is soft, brokers with
    a finding.
    """

    goal: Annotated[Goal, Meta(description="its name")]
    hard: Annotated[bool, Meta(description="it is kept or broken; others are kept more or less")]
    weight: Annotated[float, Meta(description="of the policy")]
    kept: Annotated[int, Meta(description="how many keep it")]
    broken: Annotated[int, Meta(description="how many do not, or not wholly")]
    mended: Annotated[int, Meta(description="of `broken`: those that keep it after all recommendations")]
    undecided: Annotated[int, Meta(description="for how many it cannot be judged")]
    cluster_broken: Annotated[bool, Meta(description="a finding about a broker or the cluster breaks it for all")]
    points: Annotated[float | None, Meta(description="of the 100, what it gives today; null if it cannot be judged")]
    points_after: Annotated[float | None, Meta(description="the same after all recommendations")]
    most_points: Annotated[float | None, Meta(description="what it gives if everybody keeps it")]


class Score(Struct, frozen=True, kw_only=True):
    """The score of the cluster, and how it came about."""

    before: BEFORE
    after: AFTER
    judged_ratio: JUDGED
    goals: Annotated[tuple[GoalScore, ...], Meta(description="the most important first; those that count")]
