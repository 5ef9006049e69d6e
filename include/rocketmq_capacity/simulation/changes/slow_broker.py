"""The change `slow_broker`."""

from typing import Annotated, Literal

from pydantic import Field

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import BrokerName, BrokerTrouble, ScenarioChange
from rocketmq_capacity.simulation.parts import broker_names
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Inventory


class SlowBroker(ScenarioChange):
    """A broker that for some time takes this long for every message that is sent to it."""

    EXAMPLE = "broker_name: {broker}, latency_ms: 800, for_s: 60"

    change: Literal["slow_broker"]
    broker_name: BrokerName
    latency_ms: Annotated[float, Field(ge=0, le=600_000, allow_inf_nan=False, title="Milliseconds for each message")]
    for_s: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False, title="Seconds that it lasts")]

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The cluster as it is: the owners of queues do not depend on how fast a broker is.

        :func:`rocketmq_capacity.simulation.outlook.outlook` says what the producers do meanwhile.

        Errors: :class:`BadInput` for an unknown broker.
        """
        place.check_known("broker_name", self.broker_name, broker_names(inventory), "broker")
        return inventory

    @property
    def trouble(self) -> BrokerTrouble:
        """The broker is slow for some time."""
        return BrokerTrouble(slow={self.broker_name: (round(self.latency_ms), self.for_s)})
