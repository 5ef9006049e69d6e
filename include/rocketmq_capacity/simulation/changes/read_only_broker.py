"""The change `read_only_broker`."""

from typing import Literal

from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.brokers import with_perm
from rocketmq_capacity.simulation.change import BrokerName, BrokerTrouble, ScenarioChange
from rocketmq_capacity.simulation.parts import broker_names
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.simulation.queues import settled
from rocketmq_capacity.simulation.traffic import ProducerSpread
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.vocabulary import PERM_READ, READ_WRITE


class ReadOnlyBroker(ScenarioChange):
    """A broker whose ``brokerPermission`` is 4: consumers still read it, producers avoid it."""

    EXAMPLE = "broker_name: {broker}"
    CHANGES_QUEUES = True

    change: Literal["read_only_broker"]
    broker_name: BrokerName

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The cluster with a broker that producers avoid; consumers still own its queues.

        Errors: :class:`BadInput` for an unknown broker.
        """
        name = self.broker_name
        place.check_known("broker_name", name, broker_names(inventory), "broker")

        brokers = tuple(
            replace(b, broker_perm=PERM_READ & (READ_WRITE if b.broker_perm is None else b.broker_perm))
            if b.broker_name == name
            else b
            for b in inventory.brokers
        )
        topics = tuple(with_perm(topic, name, PERM_READ) for topic in inventory.topics)
        return settled(inventory, replace(inventory, brokers=brokers, topics=topics), ProducerSpread.KEEP)

    @property
    def trouble(self) -> BrokerTrouble:
        """The broker takes no messages of topics with the order flag."""
        return BrokerTrouble(read_only=frozenset({self.broker_name}))
