"""The change `lose_master`."""

from typing import Literal

from msgspec.structs import replace

from rocketmq_capacity.assessment.replicas import elects_a_master, has_acting_master
from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.brokers import with_perm, without_brokers
from rocketmq_capacity.simulation.change import BrokerName, BrokerTrouble, ScenarioChange
from rocketmq_capacity.simulation.parts import broker_names
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.simulation.queues import settled
from rocketmq_capacity.simulation.traffic import ProducerSpread
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.vocabulary import PERM_WRITE, READ_WRITE


class LoseMaster(ScenarioChange):
    """A master that the name server has removed; the slaves of its broker stay. Without slaves the broker is lost."""

    EXAMPLE = "broker_name: {broker}"

    change: Literal["lose_master"]
    broker_name: BrokerName

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The cluster without a broker's master, after the name server has expired it; its slaves stay.

        Consumers still own its queues, and producers avoid them. If a controller elects masters, the first slave
        becomes the master. An acting master makes the route read-only. A broker without slaves is lost as a whole.

        Errors: :class:`BadInput` for an unknown broker, or one that has no master.
        Source: RouteInfoManager.unRegisterBroker, rocketmq-all-5.3.3.
        """
        name = self.broker_name
        place.check_known("broker_name", name, broker_names(inventory), "broker")
        replicas = [broker for broker in inventory.brokers if broker.broker_name == name]
        if not any(broker.broker_id == 0 for broker in replicas):
            raise place.refusal("broker_name", f"is {shown(name)}, which has no master; expected a broker that has one")
        slaves = sorted((broker for broker in replicas if broker.broker_id != 0), key=lambda one: one.broker_id)
        if not slaves:
            return without_brokers(inventory, {name})
        addresses = {broker.broker_addr for broker in replicas if broker.broker_id == 0}
        staying = [broker for broker in inventory.brokers if broker.broker_name != name or broker.broker_id != 0]
        if elects_a_master(slaves):
            staying = [replace(broker, broker_id=0) if broker == slaves[0] else broker for broker in staying]
        topics = inventory.topics
        if not elects_a_master(slaves) and has_acting_master(slaves):
            topics = tuple(with_perm(topic, name, READ_WRITE & ~PERM_WRITE) for topic in topics)
        failures = inventory.failures and tuple(f for f in inventory.failures if f.broker_addr not in addresses)
        after = replace(inventory, brokers=tuple(staying), topics=topics, failures=failures)
        return settled(inventory, after, ProducerSpread.KEEP)

    @property
    def trouble(self) -> BrokerTrouble:
        """The broker takes no messages, unless a controller elects a master: nobody knows how long that takes."""
        return BrokerTrouble(lost_if_masterless=frozenset({self.broker_name}))
