"""Cases of the rules: small groups and topics that know nothing of each other and share one cluster.

A test module collects its cases in a module constant ``PART``; all cases of a test run are assessed together. A case is
a group and a topic of its own, named after it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import ModuleType
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import (
    Client,
    InventoryBroker,
    InventoryConsumeStatus,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryOwnedQueue,
    InventorySubscription,
    InventoryTopic,
    InventoryTopicOffset,
    PastRate,
    Sample,
    TopicQueues,
    parse_utc,
)
from tests.simulation.clusters import AT, broker, queues, reads

READ_WRITE, READ_ONLY, WRITE_ONLY = 6, 4, 2
BROKERS: Final = (
    replace(broker("broker-a"), runtime={"putMessageAverageSize": "102400.0"}),
    broker("broker-b"),
    broker("readonly", perm=READ_ONLY),
    broker("writeonly", perm=WRITE_ONLY),
    broker("masterless", broker_id=1),
)
"""Two brokers as they should be, and three that topics may lie on without being missed there."""
OWN_STRATEGY: Final = "com.acme.OwnStrategy"
"""A class that no plan can compute: who owns what is known as far as its clients report it."""
POLICY: Final = Policy.model_validate({
    "current_strategies": {
        "default": "AVG",
        "policy_says_circle": "AVG_BY_CIRCLE",
        "policy_and_observed": "AVG_BY_CIRCLE",
        "mixed_with_policy": "AVG_BY_CIRCLE",
    },
    "client_heap_mib": {"caches_too_much": 100},
    "exclude": {"topics": ["^bench_"], "consumer_groups": ["^tool_"]},
})
Queue = tuple[str, str, int]
"""Topic, broker name, queue id."""


@dataclass
class Part:
    """The topics and groups of a test module's cases."""

    topics: list[InventoryTopic] = field(default_factory=list)
    groups: list[InventoryGroup] = field(default_factory=list)

    def topic(self, name: str, *layout: TopicQueues, **facts: Any) -> str:
        """Add a topic (see :func:`a_topic`); gives its name."""
        self.topics.append(a_topic(name, *layout, **facts))
        return name

    def group(self, name: str, clients: Iterable[Client] | None, *topics: str, **facts: Any) -> str:
        """Add a group that reads topics of this part (see :func:`a_group`); gives its name."""
        known = {topic.topic: topic for topic in self.topics}
        self.groups.append(a_group(name, clients, [known[topic] for topic in topics], **facts))
        return name

    def case(self, name: str, clients: Iterable[Client] | None, *layout: TopicQueues, **facts: Any) -> str:
        """Add a topic and a group of one name, which reads it; gives the name. ``rates`` is the topic's."""
        about_topic = {key: facts.pop(key) for key in ("rates", "message_type", "order", "stored_days") if key in facts}
        return self.group(name, clients, self.topic(name, *layout, **about_topic), **facts)

    def owning(
        self,
        name: str,
        own: Sequence[int],
        rates: Mapping[int, float] | None = None,
        client: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> str:
        """Add a case whose clients report to own so many queues each; queue i of its one broker has ``rates[i]``.

        ``client`` is what each client reports besides.
        """
        total = sum(own)
        each = rates or dict.fromkeys(range(total), 10.0)
        first = 0
        clients = []
        for client_id, count in zip(ids(len(own)), own, strict=True):
            mine = tuple(
                InventoryOwnedQueue(topic=name, broker_name="broker-a", queue_id=first + i) for i in range(count)
            )
            clients.append(member(client_id, allocate_strategy=OWN_STRATEGY, owned_queues=mine, **client or {}))
            first += count
        by_queue = {("broker-a", i): each.get(i) for i in range(total)}
        return self.case(name, clients, queues("broker-a", total), rates=by_queue, **facts)


def collected(items: Iterable[pytest.Item], constant: str) -> Part:
    """The cases that the collected modules have in a constant, together; no two of them have one name."""
    modules: dict[str, ModuleType] = {item.module.__name__: item.module for item in items if hasattr(item, "module")}
    part = Part()
    for _, module in sorted(modules.items()):
        of_module = getattr(module, constant, None)
        if isinstance(of_module, Part):  # modules of other tests may have another constant of this name
            part.topics += of_module.topics
            part.groups += of_module.groups
    for names in ([topic.topic for topic in part.topics], [group.consumer_group for group in part.groups]):
        repeated = {name for name in names if names.count(name) > 1}
        assert not repeated, f"two cases have one name: {repeated}"
    return part


def a_topic(
    name: str,
    *layout: TopicQueues,
    rates: Mapping[tuple[str, int], float | None] | None = None,
    offsets: Mapping[tuple[str, int], tuple[int | None, int | None]] | None = None,
    message_type: str | None = None,
    order: bool | None = None,
    stored_days: int = 14,
) -> InventoryTopic:
    """A topic, by default with four queues on each broker that can be read and written, 10 messages a second on each.

    ``rates`` by broker and queue id; ``offsets`` likewise, as (min_offset, max_offset), 0 and 5,000 by default. It was
    written at the same rate on each of the ``stored_days`` before.
    """
    layout = layout or (queues("broker-a"), queues("broker-b"))
    every = [(q.broker_name, i) for q in layout for i in range(max(q.read_queue_nums or 0, q.write_queue_nums or 0))]
    if rates is None:
        rates = dict.fromkeys(every, 10.0)
    where = offsets if offsets is not None else dict.fromkeys(rates, (0, 5_000))
    told = tuple(
        InventoryTopicOffset(
            broker_name=name, queue_id=i, min_offset=least, max_offset=most, put_msgs_per_s=rates.get((name, i))
        )
        for (name, i), (least, most) in where.items()
    )
    known = [rate for rate in rates.values() if rate is not None]
    whole = sum(known) if len(known) == len(rates) else None
    past = tuple(PastRate(at=ago(86_400 * day), put_msgs_per_s=whole) for day in range(stored_days, 0, -1))
    return InventoryTopic(topic=name, queues=layout, offsets=told, message_type=message_type, order=order, rates=past)


def a_group(
    name: str,
    clients: Iterable[Client] | None,
    topics: Sequence[InventoryTopic],
    *,
    lag: int | None = 10,
    lags: Mapping[Queue, int | None] | None = None,
    samples: Mapping[Queue, Sequence[tuple[int | None, int | None]]] | None = None,
    **facts: Any,
) -> InventoryGroup:
    """A clustering group on topics with ``lag`` on each readable queue, or as ``lags`` has it for a queue.

    ``samples`` are (broker_offset, consumer_offset) of earlier moments, a minute apart, the last a minute ago.
    """
    readable = [
        (t.topic, q.broker_name, i)
        for t in topics
        for q in t.queues or ()
        for i in range(q.read_queue_nums or 0)
        if (q.perm or 0) & READ_ONLY
    ]
    offsets = tuple(
        _offset(queue, (lags or {}).get(queue, lag), (samples or {}).get(queue, ()))
        for queue in dict.fromkeys([*readable, *(lags or ())])
    )
    usual: dict[str, Any] = {
        "message_model": "CLUSTERING",
        "subscriptions": tuple(reads(t.topic) for t in topics),
        "offsets": offsets,
    }
    return InventoryGroup(consumer_group=name, clients=None if clients is None else tuple(clients), **usual | facts)


def _offset(queue: Queue, lag: int | None, samples: Sequence[tuple[int | None, int | None]]) -> InventoryGroupOffset:
    topic, name, i = queue
    earlier = tuple(
        Sample(at=ago(60 * (len(samples) - n)), broker_offset=most, consumer_offset=place)
        for n, (most, place) in enumerate(samples)
    )
    return InventoryGroupOffset(
        topic=topic,
        broker_name=name,
        queue_id=i,
        broker_offset=100_000,
        consumer_offset=None if lag is None else 100_000 - lag,
        samples=earlier or None,
    )


def member(client_id: str, **facts: Any) -> Client:
    """A consumer that reports nothing but its id, and what ``facts`` say."""
    return Client(client_id=client_id, **facts)


def ids(count: int) -> list[str]:
    """Client ids in Java's order: c01, c02, …"""
    return [f"c{i:02}" for i in range(1, count + 1)]


def members(count: int, **facts: Any) -> list[Client]:
    """Consumers of equal facts."""
    return [member(client_id, **facts) for client_id in ids(count)]


def owned(*of: Queue) -> tuple[InventoryOwnedQueue, ...]:
    """Queues as a client reports them."""
    return tuple(InventoryOwnedQueue(topic=topic, broker_name=name, queue_id=i) for topic, name, i in of)


def takes(topic: str, consume_rt_ms: float | None) -> tuple[InventoryConsumeStatus, ...]:
    """The status of a client that needs so long for a message of the topic."""
    return (InventoryConsumeStatus(topic=topic, consume_rt_ms=consume_rt_ms),)


def ago(seconds: float = 0, *, minutes: float = 0, days: float = 0) -> str:
    """The moment so long before the snapshot."""
    return utc_text(parse_utc(AT) - timedelta(days=days, minutes=minutes, seconds=seconds))


def pops(topic: str, share: int = -1) -> InventorySubscription:
    """A subscription in request mode POP."""
    return reads(topic, message_request_mode="POP", pop_share_queue_num=share)


def brokers_of(*names: str) -> tuple[InventoryBroker, ...]:
    """Masters that can be read and written."""
    return tuple(broker(name) for name in names)
