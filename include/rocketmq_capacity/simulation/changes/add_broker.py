"""The change `add_broker`."""

from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import Field

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import BrokerName, Name, ScenarioChange
from rocketmq_capacity.simulation.parts import broker_names, topics_read
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.simulation.queues import settled
from rocketmq_capacity.simulation.traffic import ProducerSpread
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker, InventoryGroup, InventoryTopic
from rocketmq_capacity.vocabulary import LMQ_PREFIX, READ_WRITE


class AddBroker(ScenarioChange):
    """A new master with the topics of another broker, each with as many queues as there."""

    EXAMPLE = "broker_name: broker-new, topics_like: {broker}"
    CHANGES_QUEUES = True
    ALTERS = "queues"

    change: Literal["add_broker"]
    broker_name: Annotated[Name, Field(title="Broker", description="the name of the new one")]
    broker_addr: (
        Annotated[Name, Field(title="Broker address", description="HOST:PORT for the commands, if it is known")] | None
    ) = None
    topics_like: Annotated[
        BrokerName, Field(title="Topics like broker", description="the new one has the topics of this one")
    ]

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The cluster with one more master, which has the topics of another broker with the same numbers of queues.

        If the other broker's own perm takes bits from its queues, the new broker's queues have them. The topic with the
        name of the other broker is RocketMQ's own and is not copied, nor are LMQs. Clients that read a topic of the new
        broker are seen on it too.

        Errors: :class:`BadInput` for a name or an address that is taken, or an unknown broker to be like.
        """
        names = broker_names(inventory)
        if self.broker_name in names:
            raise place.refusal(
                "broker_name", f"is {shown(self.broker_name)}, which is there already; expected a new name"
            )
        place.check_known("topics_like", self.topics_like, names, "broker")
        owner = {
            broker.broker_addr: broker.broker_name for broker in inventory.brokers if broker.broker_addr is not None
        }
        if self.broker_addr in owner:
            problem = (
                f"is {shown(self.broker_addr)}, the address of {shown(owner[self.broker_addr])}; expected a new one"
            )
            raise place.refusal("broker_addr", problem)
        new = InventoryBroker(broker_name=self.broker_name, broker_addr=self.broker_addr, broker_perm=READ_WRITE)
        withheld = _withheld(inventory, self.topics_like)
        topics = tuple(
            topic if _is_of_one_broker(topic.topic, self.topics_like) else _with_copy(topic, self, withheld)
            for topic in inventory.topics
        )
        grown = {after.topic for before, after in zip(inventory.topics, topics, strict=True) if before != after}
        known = frozenset(broker.broker_name for broker in inventory.brokers)
        groups = tuple(
            _seen_on_too(g, self.broker_name, known) if topics_read(g) & grown else g for g in inventory.consumer_groups
        )
        after = replace(inventory, brokers=(*inventory.brokers, new), topics=topics, consumer_groups=groups)
        return settled(inventory, after, ProducerSpread.EVEN)


def _withheld(inventory: Inventory, broker_name: str) -> int:
    """The bits of perm that a broker's own brokerPermission takes from all of its queues."""
    perm = next((b.broker_perm for b in inventory.brokers if b.broker_name == broker_name), None)
    return 0 if perm is None else READ_WRITE & ~perm


def _is_of_one_broker(topic: str, broker_name: str) -> bool:
    """Whether a topic belongs to one broker and is not copied to others: the topic with its name, and every LMQ."""
    return topic == broker_name or topic.startswith(LMQ_PREFIX)


def _with_copy(topic: InventoryTopic, change: AddBroker, withheld: int) -> InventoryTopic:
    """The topic with as many queues on the new broker as on the one it is like."""
    copies = (
        replace(queues, broker_name=change.broker_name, perm=None if queues.perm is None else queues.perm | withheld)
        for queues in topic.queues or ()
        if queues.broker_name == change.topics_like
    )
    return replace(topic, queues=(*topic.queues, *copies)) if topic.queues else topic


def _seen_on_too(group: InventoryGroup, broker_name: str, known: frozenset[str]) -> InventoryGroup:
    """The group with clients that send their heartbeats to one more broker; unknown stays unknown.

    Those of a client that only Proxies name go to a Proxy. ``known`` are the names of the brokers.
    """
    clients = (
        replace(c, seen_on=(*c.seen_on, broker_name))
        if c.seen_on is not None and (not c.seen_on or not known.isdisjoint(c.seen_on))
        else c
        for c in group.clients or ()
    )
    return replace(group, clients=tuple(clients)) if group.clients else group
