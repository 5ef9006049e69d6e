"""Applies the changes of a scenario to an inventory."""

from typing import assert_never

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.brokers import (
    add_broker,
    lose_broker,
    lose_master,
    lose_room,
    read_only_broker,
    slow_broker,
)
from rocketmq_capacity.simulation.consumption import set_request_mode, set_strategy
from rocketmq_capacity.simulation.members import add_clients, remove_clients
from rocketmq_capacity.simulation.place import Place
from rocketmq_capacity.simulation.queues import set_queues
from rocketmq_capacity.simulation.scenario import (
    AddBroker,
    AddClients,
    Change,
    LoseBroker,
    LoseMaster,
    LoseRoom,
    ReadOnlyBroker,
    RemoveClients,
    ScaleTraffic,
    Scenario,
    SetQueues,
    SetRequestMode,
    SetStrategy,
    SlowBroker,
)
from rocketmq_capacity.simulation.traffic import scale_traffic
from rocketmq_capacity.snapshot.filters import with_pass_ratios
from rocketmq_capacity.snapshot.inventory import Inventory


def apply(inventory: Inventory, scenario: Scenario, policy: Policy, source: str) -> Inventory:
    """The inventory with all changes, made in their order; the given one stays as it is.

    Args:
        inventory: the snapshot.
        scenario: the changes.
        policy: its ``rooms`` decide what ``lose_room`` removes.
        source: the name of the scenario in errors: the file as the user named it.

    Errors: :class:`BadInput` naming the change that does not fit the cluster, and the nearest existing name.
    """
    # Filters' ratios are measured on the clients as they are. They must stay when the clients change.
    inventory = with_pass_ratios(inventory)
    for index, change in enumerate(scenario.changes):
        inventory = _apply_one(inventory, change, policy, Place(source, index))
    return inventory


def _apply_one(inventory: Inventory, change: Change, policy: Policy, place: Place) -> Inventory:
    match change:
        case AddClients():
            return add_clients(inventory, change, place)
        case RemoveClients():
            return remove_clients(inventory, change, place)
        case SetQueues():
            return set_queues(inventory, change, place)
        case AddBroker():
            return add_broker(inventory, change, place)
        case LoseBroker():
            return lose_broker(inventory, change, place)
        case LoseMaster():
            return lose_master(inventory, change, place)
        case SlowBroker():
            return slow_broker(inventory, change, place)
        case ReadOnlyBroker():
            return read_only_broker(inventory, change, place)
        case LoseRoom():
            return lose_room(inventory, change, place, policy)
        case ScaleTraffic():
            return scale_traffic(inventory, change, place)
        case SetStrategy():
            return set_strategy(inventory, change, place)
        case SetRequestMode():
            return set_request_mode(inventory, change, place)
        case _:
            assert_never(change)
