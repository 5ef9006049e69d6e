"""What a what-if changes of what clients cost brokers."""

from collections.abc import Iterator

from rocketmq_capacity import tables
from rocketmq_capacity.plan_file.client_cost import ClientCostChange, ClientRequests
from rocketmq_capacity.plan_file.client_requests import client_requests
from rocketmq_capacity.simulation.sides import RunSide, Sides


def client_cost_changes(sides: Sides) -> tuple[ClientCostChange, ...]:
    """An entry for each master of which clients ask something else, by name.

    None where an earlier version of this program planned the cluster as it is, without what clients cost.
    """
    before, after = _requests(sides.before), _requests(sides.after)
    return tuple(_changes(before, after)) if before else ()


def _changes(before: dict[str, ClientRequests], after: dict[str, ClientRequests]) -> Iterator[ClientCostChange]:
    for broker_name in sorted(before.keys() | after.keys()):
        requests_before, requests_after = before.get(broker_name), after.get(broker_name)
        if requests_before != requests_after:
            yield ClientCostChange(broker_name=broker_name, before=requests_before, after=requests_after)


def _requests(side: RunSide) -> dict[str, ClientRequests]:
    return {row.broker_name: client_requests(row) for row in side.rows(tables.ClientCost)}
