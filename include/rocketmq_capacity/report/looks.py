"""What a recommendation that only looks is about."""

from collections.abc import Sequence

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation


def looked_into(recommendation: PlanRecommendation) -> Sequence[str]:
    """The brokers that a recommendation for the cluster looks into; none if it is about something else."""
    broker_names: Sequence[str] = recommendation.before.get("broker_names", ())
    return broker_names if only_looks(recommendation) else ()


def only_looks(recommendation: PlanRecommendation) -> bool:
    """Whether nothing changes if it is carried out."""
    return action_of(recommendation.action).changes == "nothing"
