"""How much each goal counts for the score, and when there is a score."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from rocketmq_capacity.settings.section import NonNegative, Ratio, Section
from rocketmq_capacity.vocabulary import GOALS, Goal

Weight = Annotated[NonNegative, Field(le=1_000_000)]


class ScoreWeights(Section):
    """The weight of each goal; 0 leaves a goal out."""

    NOTHING_UNREAD: Weight = 20.0
    NO_ORPHAN: Weight = 20.0
    ORDER_KEPT: Weight = 15.0
    CAPACITY_AT_PEAK: Weight = 15.0
    SURVIVES_LOSS: Weight = 10.0
    EVEN_LOAD: Weight = 8.0
    NO_IDLE: Weight = 5.0
    LITTLE_CHURN: Weight = 4.0
    SAME_ROOM: Weight = 3.0

    @model_validator(mode="after")
    def _some_goal_counts(self) -> Self:
        if not any(self.model_dump().values()):
            raise ValueError("are all 0; expected at least one goal with a weight above 0")
        return self

    def of_goals(self) -> dict[Goal, float]:
        """The goals that count, the most important first, with their weights."""
        weights = self.model_dump()
        return {goal: weights[goal] for goal in GOALS if weights[goal]}


class ScorePolicy(Section):
    """The score of groups and of the cluster."""

    weights: ScoreWeights = ScoreWeights()
    info_ratio: Ratio = 0.5
    min_judged_ratio: Ratio = 0.5
