"""How many clients a group needs and can give back: one figure for the table, the savings and the group's section."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation

SCALE: Final = "SCALE_CONSUMERS"


class ClientsOfGroup(NamedTuple):
    """The clients of a group.

    Attributes:
        clients: how many it runs; client ids if a recommendation says how many it needs.
        needed: as many as a recommendation to run fewer says, else as the plan's bounds say; None if unknown.
        recommendation: the one that says so.
    """

    clients: int
    needed: int | None
    recommendation: PlanRecommendation | None = None

    @property
    def spare(self) -> int | None:
        """How many clients it can give back; None if unknown."""
        return None if self.needed is None else max(0, self.clients - self.needed)


def needed_by_group(plan: Plan) -> Mapping[str, ClientsOfGroup]:
    """Of each group."""
    fewest: dict[str, PlanRecommendation] = {}
    for recommendation in plan.recommendations:
        if recommendation.consumer_group is not None and scales_down(recommendation):
            known = fewest.get(recommendation.consumer_group)
            if known is None or recommendation.after["clients"] < known.after["clients"]:
                fewest[recommendation.consumer_group] = recommendation
    needed = {one.consumer_group: ClientsOfGroup(one.connections, one.client_bounds.target) for one in plan.groups}
    return needed | {
        name: ClientsOfGroup(one.before["clients"], one.after["clients"], one) for name, one in fewest.items()
    }


def scales_down(recommendation: PlanRecommendation) -> bool:
    """Whether a recommendation is to run fewer clients."""
    before, after = recommendation.before.get("clients"), recommendation.after.get("clients")
    return recommendation.action == SCALE and isinstance(before, int) and isinstance(after, int) and after < before
