"""The owners of a group's queues under each strategy, for many groups in one go."""

from collections.abc import Iterable

from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Allocator, Owners


class OwnersByStrategy(dict[str, Owners]):
    """Who owns the queues of a division under each strategy; what is not in it is computed when it is asked for.

    Args:
        allocator: computes the strategies.
        division: the queues and the clients.
    """

    def __init__(self, allocator: Allocator, division: Division) -> None:
        super().__init__()
        self.allocator, self.division = allocator, division

    def __missing__(self, strategy: str) -> Owners:
        self[strategy] = self.allocator.owners(strategy, self.division)
        return self[strategy]


def divide(wanted: Iterable[tuple[OwnersByStrategy, str]]) -> None:
    """Compute the owners of many divisions, each under a strategy, in one go: each call of numpy costs time."""
    asked = [(owners, strategy) for owners, strategy in wanted if strategy not in owners]
    if not asked:
        return
    computed = asked[0][0].allocator.owners_of_each([(strategy, owners.division) for owners, strategy in asked])
    for (owners, strategy), of_strategy in zip(asked, computed, strict=True):
        owners[strategy] = of_strategy
