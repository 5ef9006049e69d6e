"""The ways to mend a cause: each is one recommendation, or several alike that go together."""

from collections.abc import Mapping, Sequence

from rocketmq_capacity.plan_file.recommendation import Recommendation
from rocketmq_capacity.report.approval import Said


def ways_of(recommendations: Sequence[Recommendation], said: Mapping[str, Said]) -> list[list[Recommendation]]:
    """The recommendations of a cause, in its order; those of one action and one reason for several topics together.

    Args:
        recommendations: of one cause.
        said: what a person said to recommendations, by id.
    """
    alike: dict[tuple[str, str | None, str, bool, bool, Said | None], list[Recommendation]] = {}
    for one in recommendations:
        key = one.action, one.consumer_group, one.reason, one.manual, one.changes_cluster, said.get(one.id)
        alike.setdefault(key, []).append(one)
    return list(alike.values())
