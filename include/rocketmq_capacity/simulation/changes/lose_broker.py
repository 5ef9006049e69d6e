"""The change `lose_broker`."""

from typing import Literal

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.brokers import without_brokers
from rocketmq_capacity.simulation.change import BrokerName, BrokerTrouble, ScenarioChange
from rocketmq_capacity.simulation.parts import broker_names
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Inventory


class LoseBroker(ScenarioChange):
    """A broker, with its slaves, that the name server has removed: its queues have left the route."""

    EXAMPLE = "broker_name: {broker}"

    change: Literal["lose_broker"]
    broker_name: BrokerName

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The cluster without a broker, after the name server has expired it; clients stay, its traffic goes elsewhere.

        Errors: :class:`BadInput` for an unknown broker.
        """
        place.check_known("broker_name", self.broker_name, broker_names(inventory), "broker")
        return without_brokers(inventory, {self.broker_name})

    @property
    def trouble(self) -> BrokerTrouble:
        """The broker is gone."""
        return BrokerTrouble(lost=frozenset({self.broker_name}))
