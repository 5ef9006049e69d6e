"""The change `set_strategy`."""

from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import Field

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import Group, ScenarioChange
from rocketmq_capacity.simulation.parts import dividing_group, with_group, without_ownership
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.vocabulary import ClientStrategy


class SetStrategy(ScenarioChange):
    """Another allocation strategy in every client of a group. POP is none: it is a request mode of the broker."""

    EXAMPLE = "consumer_group: {group}, strategy: AVG_BY_CIRCLE"
    ALTERS = "owners"

    change: Literal["set_strategy"]
    consumer_group: Group
    strategy: Annotated[ClientStrategy, Field(title="Strategy")]

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The group with clients that all report this strategy.

        Errors: :class:`BadInput` for an unknown group, or one whose clients are all gRPC ones.
        """
        group = dividing_group(inventory, self.consumer_group, place)
        clients = group.clients or ()
        if all(client.allocate_strategy == self.strategy for client in clients):
            return inventory
        changed = tuple(replace(client, allocate_strategy=self.strategy) for client in clients)
        return with_group(inventory, without_ownership(replace(group, clients=changed)))
