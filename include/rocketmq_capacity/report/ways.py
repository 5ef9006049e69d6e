"""The ways to mend a cause: each is one recommendation, or several alike that go together."""

from collections.abc import Mapping, Sequence

from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.approval import Said


def ways_of(recommendations: Sequence[PlanRecommendation], said: Mapping[str, Said]) -> list[list[PlanRecommendation]]:
    """The recommendations of a cause, in its order; those of one action and one reason for several topics together.

    Args:
        recommendations: of one cause.
        said: what a person said to recommendations, by id.
    """
    alike: dict[tuple[str, str | None, str, bool, bool, Said | None], list[PlanRecommendation]] = {}
    for recommendation in recommendations:
        key = (
            recommendation.action,
            recommendation.consumer_group,
            recommendation.reason,
            recommendation.manual,
            recommendation.changes_cluster,
            said.get(recommendation.id),
        )
        alike.setdefault(key, []).append(recommendation)
    return list(alike.values())
