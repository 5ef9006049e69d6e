"""The effect of a change on a group: before and after, and whether the group would be worse off."""

from typing import Any, Final

from rocketmq_capacity.model.cases import CaseSide
from rocketmq_capacity.recommendation.answer import figures
from rocketmq_capacity.tables.dataset import Metrics

TOLERANCE: Final = 1e-9
"""The allowed difference of ratios that were added up in another order."""


def is_worse(before: CaseSide | None, after: CaseSide | None, target_excess: float) -> bool:
    """Whether ``after`` has more orphans, double readers or idle clients, or more EXCESS than before and than allowed.

    False if a side is unknown.
    """
    if before is None or after is None:
        return False
    return (
        after.orphan_queues > before.orphan_queues
        or after.doubly_owned_queues > before.doubly_owned_queues
        or after.idle > before.idle
        or is_more_skewed(before.count, after.count, target_excess)
    )


def gives_work(before: CaseSide | None, after: CaseSide | None, target_excess: float) -> bool:
    """Whether ``after`` has fewer idle clients than before and is not worse; False if a side is unknown."""
    if before is None or after is None:
        return False
    return after.idle < before.idle and not is_worse(before, after, target_excess)


def side_shown(side: CaseSide | None) -> dict[str, Any]:
    """The figures of one side as the plan shows them; all are None if the side is unknown."""
    if side is None:
        return dict.fromkeys(("idle", "orphan_queues", "doubly_owned_queues", "count"))
    return {
        "idle": side.idle,
        "orphan_queues": side.orphan_queues,
        "doubly_owned_queues": side.doubly_owned_queues,
        "count": figures(side.count),
    }


def loaded_side_shown(side: CaseSide) -> dict[str, Any]:
    """The same with the traffic of its clients."""
    return {**side_shown(side), "traffic": figures(side.traffic)}


def excess(load: Metrics | None) -> float | None:
    """EXCESS of a load; None if it is not defined, as for popped queues."""
    return None if load is None else load.get("excess")


def is_more_skewed(before: Metrics | None, after: Metrics | None, target_excess: float) -> bool:
    """Whether a load has more EXCESS than before and than allowed; False if it is not defined afterwards."""
    excess_before, excess_after = excess(before), excess(after)
    return excess_after is not None and excess_after > max(excess_before or 1.0, target_excess) + TOLERANCE
