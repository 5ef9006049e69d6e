"""Small clusters to try changes on, and the changes as a scenario file would give them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario, apply
from rocketmq_capacity.snapshot.inventory import (
    FORMAT,
    Client,
    Inventory,
    InventoryBroker,
    InventoryConsumeStatus,
    InventoryFailure,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryOwnedQueue,
    InventorySubscription,
    InventoryTopic,
    InventoryTopicOffset,
    Sample,
    TopicQueues,
)

AT = "2026-11-20T02:00:00Z"
SOURCE = "what-if.yaml"


def after(inventory: Inventory, *changes: Mapping[str, Any], policy: Policy | None = None) -> Inventory:
    """The inventory as a scenario of these changes leaves it."""
    scenario = Scenario.model_validate({"name": "what if", "changes": list(changes)})
    return apply(inventory, scenario, policy or Policy(), SOURCE)


def cluster(
    topics: Iterable[InventoryTopic],
    groups: Iterable[InventoryGroup] = (),
    brokers: Iterable[InventoryBroker] | None = None,
    failures: Sequence[InventoryFailure] | None = None,
) -> Inventory:
    """An inventory; without ``brokers``, a master for each broker that a topic names."""
    topics = tuple(topics)
    if brokers is None:
        names = sorted({queues.broker_name for topic in topics for queues in topic.queues or ()})
        brokers = (broker(name) for name in names)
    return Inventory(
        format=FORMAT,
        cluster_name="C1",
        taken_at=AT,
        brokers=tuple(brokers),
        topics=topics,
        consumer_groups=tuple(groups),
        failures=None if failures is None else tuple(failures),
    )


def broker(name: str, broker_id: int = 0, perm: int | None = 6, addr: str | None = None) -> InventoryBroker:
    return InventoryBroker(
        broker_name=name, broker_id=broker_id, broker_addr=addr or f"{name}:{10911 + broker_id}", broker_perm=perm
    )


def queues(name: str, read: int | None = 4, write: int | None = None, perm: int | None = 6) -> TopicQueues:
    """A topic's queues on a broker; ``write`` is as ``read`` where it is left out."""
    return TopicQueues(
        broker_name=name, read_queue_nums=read, write_queue_nums=read if write is None else write, perm=perm
    )


def topic(
    name: str, *layout: TopicQueues, rates: Mapping[tuple[str, int], float | None] | None = None
) -> InventoryTopic:
    """A topic; without ``rates`` each queue that may be written gets 10 messages a second, others none."""
    if rates is None:
        rates = {
            (q.broker_name, i): 10.0 if (q.perm or 0) & 2 and i < (q.write_queue_nums or 0) else 0.0
            for q in layout
            for i in range(max(q.read_queue_nums or 0, q.write_queue_nums or 0))
        }
    offsets = tuple(
        InventoryTopicOffset(broker_name=name, queue_id=i, min_offset=0, max_offset=5000, put_msgs_per_s=rate)
        for (name, i), rate in rates.items()
    )
    return InventoryTopic(topic=name, queues=layout, offsets=offsets)


def client(client_id: str, **facts: Any) -> Client:
    """A consumer with the facts of a usual one, which ``facts`` overrule."""
    usual: dict[str, Any] = {
        "client_addr": "10.0.0.1:40001",
        "language": "JAVA",
        "version": "V5_3_3",
        "seen_on": ("broker-a", "broker-b"),
        "started_at": "2026-11-19T20:00:00Z",
        "allocate_strategy": "AVG",
        "consume_threads": 20,
        "consume_batch_size": 1,
        "pull_threshold_for_queue": 1000,
        "pull_threshold_size_for_queue_mib": 100,
        "subscriptions": (reads("pay"),),
        "owned_queues": (InventoryOwnedQueue(topic="pay", broker_name="broker-a", queue_id=0),),
        "status": (InventoryConsumeStatus(topic="pay", consume_rt_ms=10.0, consume_ok_msgs_per_s=40.0),),
    }
    return Client(client_id=client_id, **usual | facts)


def reads(name: str, expression: str = "*", **more: Any) -> InventorySubscription:
    return InventorySubscription(topic=name, expression_type="TAG", expression=expression, **more)


def group(
    name: str, clients: Iterable[Client] | None = (), topics: Iterable[InventoryTopic] = (), **facts: Any
) -> InventoryGroup:
    """A group that subscribes ``pay`` or the given topics, with lag 10 and a sample on each readable queue."""
    topics = tuple(topics)
    usual: dict[str, Any] = {
        "subscriptions": tuple(reads(t.topic) for t in topics) or (reads("pay"),),
        "offsets": tuple(
            InventoryGroupOffset(
                topic=t.topic,
                broker_name=q.broker_name,
                queue_id=i,
                broker_offset=5000,
                consumer_offset=4990,
                samples=(Sample(at=AT, broker_offset=4900, consumer_offset=4890),),
            )
            for t in topics
            for q in t.queues or ()
            for i in range(q.read_queue_nums or 0)
        ),
    }
    return InventoryGroup(consumer_group=name, clients=None if clients is None else tuple(clients), **usual | facts)


def pay_cluster(clients: int = 3) -> Inventory:
    """Topic ``pay`` on two brokers with four queues each, 80 messages a second in all, read by group ``g_pay``."""
    pay = topic("pay", queues("broker-a"), queues("broker-b"))
    members = (client(f"10.0.0.{i + 1}@1#1", client_addr=f"10.0.0.{i + 1}:40001") for i in range(clients))
    return cluster([pay], [group("g_pay", members, [pay], message_model="CLUSTERING")])


def the_group(inventory: Inventory, name: str = "g_pay") -> InventoryGroup:
    return next(g for g in inventory.consumer_groups if g.consumer_group == name)


def the_topic(inventory: Inventory, name: str = "pay") -> InventoryTopic:
    return next(t for t in inventory.topics if t.topic == name)


def ids_of(inventory: Inventory, name: str = "g_pay") -> list[str]:
    return [c.client_id for c in the_group(inventory, name).clients or ()]


def owned_by(inventory: Inventory, name: str = "g_pay") -> list[Any]:
    return [c.owned_queues for c in the_group(inventory, name).clients or ()]


def rates_of(inventory: Inventory, name: str = "pay") -> dict[tuple[str, int], float | None]:
    """Messages a second by broker and queue id."""
    return {(o.broker_name, o.queue_id): o.put_msgs_per_s for o in the_topic(inventory, name).offsets or ()}


def lags_of(inventory: Inventory) -> dict[tuple[str, int], int]:
    """Lag of g_pay on ``pay`` by broker and queue id; every offset must be known."""
    lags = {}
    for offset in the_group(inventory, "g_pay").offsets or ():
        if offset.topic == "pay":
            assert offset.broker_offset is not None
            assert offset.consumer_offset is not None
            lags[offset.broker_name, offset.queue_id] = offset.broker_offset - offset.consumer_offset
    return lags


def samples_of(inventory: Inventory, of_topic: str = "pay") -> list[Any]:
    return [o.samples for o in the_group(inventory, "g_pay").offsets or () if o.topic == of_topic]
