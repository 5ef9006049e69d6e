"""Changes of the cluster's brokers: one is added, some are lost, one is read-only, one is slow."""

from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from rocketmq_capacity.assessment.replicas import elects_a_master, has_acting_master
from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.parts import broker_names, topics_read, without_ownership
from rocketmq_capacity.simulation.place import Place
from rocketmq_capacity.simulation.queues import settled
from rocketmq_capacity.simulation.scenario import (
    AddBroker,
    LoseBroker,
    LoseMaster,
    LoseRoom,
    ReadOnlyBroker,
    SlowBroker,
)
from rocketmq_capacity.simulation.traffic import Spread
from rocketmq_capacity.snapshot.inventory import Broker, ConsumerGroup, Inventory, Topic, TopicQueues
from rocketmq_capacity.vocabulary import LMQ_PREFIX, PERM_READ, PERM_WRITE, READ_WRITE


def add_broker(inventory: Inventory, change: AddBroker, place: Place) -> Inventory:
    """The cluster with one more master, which has the topics of another broker with the same numbers of queues.

    If the other broker's own perm takes bits from its queues, the new broker's queues have them. The topic with the
    name of the other broker is RocketMQ's own and is not copied, nor are LMQs. Clients that read a topic of the new
    broker are seen on it too.

    Errors: :class:`BadInput` for a name or an address that is taken, or an unknown broker to be like.
    """
    names = broker_names(inventory)
    if change.broker_name in names:
        raise place.refusal(
            "broker_name", f"is {shown(change.broker_name)}, which is there already; expected a new name"
        )
    place.check_known("topics_like", change.topics_like, names, "broker")
    owner = {broker.broker_addr: broker.broker_name for broker in inventory.brokers if broker.broker_addr is not None}
    if change.broker_addr in owner:
        problem = (
            f"is {shown(change.broker_addr)}, the address of {shown(owner[change.broker_addr])}; expected a new one"
        )
        raise place.refusal("broker_addr", problem)
    new = Broker(broker_name=change.broker_name, broker_addr=change.broker_addr, broker_perm=READ_WRITE)
    withheld = _withheld(inventory, change.topics_like)
    topics = tuple(
        topic if _is_of_one_broker(topic.topic, change.topics_like) else _with_copy(topic, change, withheld)
        for topic in inventory.topics
    )
    grown = {after.topic for before, after in zip(inventory.topics, topics, strict=True) if before != after}
    groups = tuple(
        _seen_on_too(g, change.broker_name) if topics_read(g) & grown else g for g in inventory.consumer_groups
    )
    after = replace(inventory, brokers=(*inventory.brokers, new), topics=topics, consumer_groups=groups)
    return settled(inventory, after, Spread.EVEN)


def lose_broker(inventory: Inventory, change: LoseBroker, place: Place) -> Inventory:
    """The cluster without a broker, after the name server has expired it; clients stay, its traffic goes elsewhere.

    Errors: :class:`BadInput` for an unknown broker.
    """
    place.check_known("broker_name", change.broker_name, broker_names(inventory), "broker")
    return _without_brokers(inventory, {change.broker_name})


def lose_master(inventory: Inventory, change: LoseMaster, place: Place) -> Inventory:
    """The cluster without a broker's master, after the name server has expired it; its slaves stay.

    Consumers still own its queues, and producers avoid them. If a controller elects masters, the first slave becomes
    the master. An acting master makes the route read-only. A broker without slaves is lost as a whole.

    Errors: :class:`BadInput` for an unknown broker, or one that has no master.
    Source: RouteInfoManager.unRegisterBroker, rocketmq-all-5.3.3.
    """
    name = change.broker_name
    place.check_known("broker_name", name, broker_names(inventory), "broker")
    replicas = [broker for broker in inventory.brokers if broker.broker_name == name]
    if not any(broker.broker_id == 0 for broker in replicas):
        raise place.refusal("broker_name", f"is {shown(name)}, which has no master; expected a broker that has one")
    slaves = sorted((broker for broker in replicas if broker.broker_id != 0), key=lambda one: one.broker_id)
    if not slaves:
        return _without_brokers(inventory, {name})
    addresses = {broker.broker_addr for broker in replicas if broker.broker_id == 0}
    staying = [broker for broker in inventory.brokers if broker.broker_name != name or broker.broker_id != 0]
    if elects_a_master(slaves):
        staying = [replace(broker, broker_id=0) if broker == slaves[0] else broker for broker in staying]
    topics = inventory.topics
    if not elects_a_master(slaves) and has_acting_master(slaves):
        topics = tuple(_with_perm(topic, name, READ_WRITE & ~PERM_WRITE) for topic in topics)
    failures = inventory.failures and tuple(f for f in inventory.failures if f.broker_addr not in addresses)
    after = replace(inventory, brokers=tuple(staying), topics=topics, failures=failures)
    return settled(inventory, after, Spread.KEEP)


def slow_broker(inventory: Inventory, change: SlowBroker, place: Place) -> Inventory:
    """The cluster as it is: the owners of queues do not depend on how fast a broker is.

    :func:`rocketmq_capacity.simulation.outlook.outlook` says what the producers do meanwhile.

    Errors: :class:`BadInput` for an unknown broker.
    """
    place.check_known("broker_name", change.broker_name, broker_names(inventory), "broker")
    return inventory


def lose_room(inventory: Inventory, change: LoseRoom, place: Place, policy: Policy) -> Inventory:
    """The cluster without the brokers and the clients of a machine room; those without a room stay.

    Errors: :class:`BadInput` for a policy without ``rooms``, or a room that neither a broker nor a client is in.
    """
    if policy.rooms is None:
        raise place.refusal(
            "room", f"is {shown(change.room)}, but the policy has no rooms; expected rooms in the policy"
        )
    rooms = policy.rooms
    brokers = {name: rooms.of_broker(name) for name in sorted(broker_names(inventory))}
    staying = []
    known = {room for room in brokers.values() if room}
    for group in inventory.consumer_groups:
        clients = group.clients or ()
        room_of = [rooms.of_client(client.client_id, client.client_addr) for client in clients]
        known |= {room for room in room_of if room}
        left = tuple(client for client, room in zip(clients, room_of, strict=True) if room != change.room)
        staying.append(group if len(left) == len(clients) else without_ownership(replace(group, clients=left)))
    place.check_known("room", change.room, known, "room")
    without_clients = replace(inventory, consumer_groups=tuple(staying))
    return _without_brokers(without_clients, {name for name, room in brokers.items() if room == change.room})


def read_only_broker(inventory: Inventory, change: ReadOnlyBroker, place: Place) -> Inventory:
    """The cluster with a broker that producers avoid; consumers still own its queues.

    Errors: :class:`BadInput` for an unknown broker.
    """
    name = change.broker_name
    place.check_known("broker_name", name, broker_names(inventory), "broker")

    brokers = tuple(
        replace(b, broker_perm=PERM_READ & (READ_WRITE if b.broker_perm is None else b.broker_perm))
        if b.broker_name == name
        else b
        for b in inventory.brokers
    )
    topics = tuple(_with_perm(topic, name, PERM_READ) for topic in inventory.topics)
    return settled(inventory, replace(inventory, brokers=brokers, topics=topics), Spread.KEEP)


def _withheld(inventory: Inventory, broker_name: str) -> int:
    """The bits of perm that a broker's own brokerPermission takes from all of its queues."""
    perm = next((b.broker_perm for b in inventory.brokers if b.broker_name == broker_name), None)
    return 0 if perm is None else READ_WRITE & ~perm


def _is_of_one_broker(topic: str, broker_name: str) -> bool:
    """Whether a topic belongs to one broker and is not copied to others: the topic with its name, and every LMQ."""
    return topic == broker_name or topic.startswith(LMQ_PREFIX)


def _with_copy(topic: Topic, change: AddBroker, withheld: int) -> Topic:
    """The topic with as many queues on the new broker as on the one it is like."""
    copies = (
        replace(queues, broker_name=change.broker_name, perm=None if queues.perm is None else queues.perm | withheld)
        for queues in topic.queues or ()
        if queues.broker_name == change.topics_like
    )
    return replace(topic, queues=(*topic.queues, *copies)) if topic.queues else topic


def _seen_on_too(group: ConsumerGroup, broker_name: str) -> ConsumerGroup:
    """The group with clients that send their heartbeats to one more broker; unknown stays unknown."""
    clients = (c if c.seen_on is None else replace(c, seen_on=(*c.seen_on, broker_name)) for c in group.clients or ())
    return replace(group, clients=tuple(clients)) if group.clients else group


def _with_perm(topic: Topic, broker_name: str, bits: int) -> Topic:
    """The topic with no more than these bits of its perm on a broker; an unknown perm stays unknown."""

    def limited(queues: TopicQueues) -> TopicQueues:
        if queues.broker_name != broker_name or queues.perm is None:
            return queues
        return replace(queues, perm=queues.perm & bits)

    return replace(topic, queues=tuple(map(limited, topic.queues))) if topic.queues else topic


def _without_brokers(inventory: Inventory, names: AbstractSet[str]) -> Inventory:
    """The inventory without everything on these brokers, and without their failures to answer.

    The topic that RocketMQ names after a broker is removed too: without the broker it would look like a business topic.
    """
    addresses = {broker.broker_addr for broker in inventory.brokers if broker.broker_name in names}
    failures = inventory.failures and tuple(f for f in inventory.failures if f.broker_addr not in addresses)
    after = replace(
        inventory,
        brokers=tuple(broker for broker in inventory.brokers if broker.broker_name not in names),
        topics=tuple(_topic_without(topic, names) for topic in inventory.topics if topic.topic not in names),
        consumer_groups=tuple(_group_without(group, names) for group in inventory.consumer_groups),
        failures=failures,
    )
    return settled(inventory, after, Spread.KEEP)


def _topic_without(topic: Topic, names: AbstractSet[str]) -> Topic:
    queues = topic.queues and tuple(q for q in topic.queues if q.broker_name not in names)
    offsets = topic.offsets and tuple(o for o in topic.offsets if o.broker_name not in names)
    return replace(topic, queues=queues, offsets=offsets)


def _group_without(group: ConsumerGroup, names: AbstractSet[str]) -> ConsumerGroup:
    """The group without its offsets on these brokers; for a client that only they named it is unknown who sees it."""
    clients = group.clients and tuple(
        replace(c, seen_on=tuple(name for name in c.seen_on if name not in names) or None) if c.seen_on else c
        for c in group.clients
    )
    offsets = group.offsets and tuple(o for o in group.offsets if o.broker_name not in names)
    return replace(group, clients=clients, offsets=offsets)
