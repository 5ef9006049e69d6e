"""The inventory file, ``rocketmq-capacity/inventory/1``: one cluster at one moment.

Every structure mirrors the public contract; ``None`` is "unknown", never zero.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import msgspec

from rocketmq_capacity.vocabulary import (
    EVERY_QUEUE,
    PERM_BITS,
    ConsumeFromWhere,
    MessageModel,
    Protocol,
    ProxyMode,
    RequestMode,
)

FORMAT: Final = "rocketmq-capacity/inventory/1"
CLUSTER_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,255}")

Name = Annotated[str, msgspec.Meta(min_length=1)]
MOST_RATE: Final = 2.0**63
Count = Annotated[int, msgspec.Meta(ge=0, le=65_536)]
Perm = Annotated[int, msgspec.Meta(ge=0, le=PERM_BITS)]
Offset = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Rate = Annotated[float, msgspec.Meta(ge=0.0, le=MOST_RATE)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
PassShare = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
PopShare = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
OwnedQueueId = Annotated[int, msgspec.Meta(ge=EVERY_QUEUE, le=65_536)]

HELD_TIMES: Final = ("last_locked_at", "last_pulled_at", "last_consumed_at")
"""Times that a client gives for each queue that it holds."""


class InventoryPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A part of the inventory; unknown members are ignored, so that a later version can add some.

    Members that are None are not written. Parts have no cycles, so that the garbage collector can skip them: a large
    cluster has millions.
    """

    def known(self, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Those of its members that are not None, with their values."""
        return ((name, value) for name in names if (value := getattr(self, name)) is not None)


class DriftedTopic(InventoryPart, frozen=True, kw_only=True):
    """A topic that differs between a slave and its master; the slave's counts are None if it lacks the topic."""

    topic: Name
    read_queue_nums: Count | None = None
    write_queue_nums: Count | None = None
    master_read_queue_nums: Count | None = None
    master_write_queue_nums: Count | None = None


class PastDisk(InventoryPart, frozen=True, kw_only=True):
    """The used share of a master's fuller disk at an earlier moment."""

    at: str
    used_ratio: Share


class InventoryBroker(InventoryPart, frozen=True, kw_only=True):
    """One broker process: a master (``broker_id`` 0) or a slave (above 0).

    Only a slave has ``drifted_topics`` and ``missing_groups``: how it differs from its master. The master's tables were
    last changed at ``master_changed_at``. ``is_copying`` is true if the slave changed its own tables as long as it was
    watched. ``disks`` are those of earlier days.
    """

    broker_name: Name
    broker_id: Offset = msgspec.field(default_factory=int)  # 0; with a plain default, 0 would not be written
    broker_addr: str | None = None
    broker_perm: Perm | None = None
    version: str | None = None
    config: dict[str, str] | None = None
    runtime: dict[str, str] | None = None
    drifted_topics: tuple[DriftedTopic, ...] | None = None
    missing_groups: tuple[str, ...] | None = None
    is_copying: bool | None = None
    master_changed_at: str | None = None
    disks: tuple[PastDisk, ...] | None = None


class ListedBroker(InventoryPart, frozen=True, kw_only=True):
    """A broker process as a name server lists it."""

    broker_name: Name
    broker_id: Offset
    broker_addr: str | None = None


class InventoryProxy(InventoryPart, frozen=True, kw_only=True):
    """One Proxy: a process of its own (CLUSTER) or part of a broker's (LOCAL)."""

    proxy_addr: Name
    mode: ProxyMode | None = None
    version: str | None = None


class TopicQueues(InventoryPart, frozen=True, kw_only=True):
    """A topic's queues on one broker, as the route gives them (``perm`` combined with the broker's own)."""

    broker_name: Name
    read_queue_nums: Count | None = None
    write_queue_nums: Count | None = None
    perm: Perm | None = None


class InventoryTopicOffset(InventoryPart, frozen=True, kw_only=True):
    """How far one queue is written."""

    broker_name: Name
    queue_id: Count
    min_offset: Offset | None = None
    max_offset: Offset | None = None
    put_msgs_per_s: Rate | None = None


class PastRate(InventoryPart, frozen=True, kw_only=True):
    """How fast a topic was written at an earlier moment: as measured then, and in the mean until the snapshot after."""

    at: str
    put_msgs_per_s: Rate | None = None
    mean_msgs_per_s: Rate | None = None


class HourlyRates(InventoryPart, frozen=True, kw_only=True):
    """How fast a topic was written in each hour from the first one on, by samples; None is unknown.

    ``mean`` is over the hour, ``most`` the highest between two samples.
    """

    first_at: str
    mean_msgs_per_s: tuple[Rate | None, ...]
    most_msgs_per_s: tuple[Rate | None, ...]


class HourlyGroup(InventoryPart, frozen=True, kw_only=True):
    """The most that a group had not read in each hour from the first one on, and the most clients; None is unknown.

    By samples: those in which the lag was unknown do not count; the clients are those that one broker knows.
    """

    first_at: str
    most_lag: tuple[Offset | None, ...]
    clients: tuple[Count | None, ...]


class InventoryTopic(InventoryPart, frozen=True, kw_only=True):
    """A topic, its queues and how far they are written; ``rates`` and ``hourly`` are those of earlier moments."""

    topic: Name
    message_type: str | None = None
    order: bool | None = None
    queues: tuple[TopicQueues, ...] | None = None
    offsets: tuple[InventoryTopicOffset, ...] | None = None
    rates: tuple[PastRate, ...] | None = None
    hourly: HourlyRates | None = None


class InventoryRoute(InventoryPart, frozen=True, kw_only=True):
    """A topic's queues as one name server gives them; empty if it has no route."""

    topic: Name
    queues: tuple[TopicQueues, ...]


class InventoryNameserver(InventoryPart, frozen=True, kw_only=True):
    """How one name server differs from the rest of the inventory.

    ``brokers`` are all that it lists, None if they do not differ; ``routes`` are only those that differ.
    """

    nameserver_addr: Name
    brokers: tuple[ListedBroker, ...] | None = None
    routes: tuple[InventoryRoute, ...] | None = None


class InventorySubscription(InventoryPart, frozen=True, kw_only=True):
    """A topic that a client or a group reads, and how."""

    topic: Name
    expression_type: str | None = None
    expression: str | None = None
    message_request_mode: RequestMode | None = None
    pop_share_queue_num: PopShare | None = None


class InventoryOwnedQueue(InventoryPart, frozen=True, kw_only=True):
    """A queue that a client says it holds, and its state; times are by the client's clock."""

    topic: Name
    broker_name: Name
    queue_id: OwnedQueueId
    dropped: bool | None = None
    locked: bool | None = None
    cached_msgs: Offset | None = None
    last_locked_at: str | None = None
    last_pulled_at: str | None = None
    last_consumed_at: str | None = None

    def times(self) -> tuple[str | None, ...]:
        """When the client locked, pulled and consumed it last, in the order of `HELD_TIMES`."""
        return (self.last_locked_at, self.last_pulled_at, self.last_consumed_at)


class InventoryConsumeStatus(InventoryPart, frozen=True, kw_only=True):
    """How a client consumes one topic: milliseconds a listener call, messages a second."""

    topic: Name
    consume_rt_ms: Rate | None = None
    consume_ok_msgs_per_s: Rate | None = None
    consume_failed_msgs_per_s: Rate | None = None


class Client(InventoryPart, frozen=True, kw_only=True):
    """One running consumer; the same ``client_id`` twice means two consumers."""

    client_id: Name
    client_addr: str | None = None
    protocol: Protocol | None = None
    language: str | None = None
    version: str | None = None
    seen_on: tuple[str, ...] | None = None
    answered_at: str | None = None
    started_at: str | None = None
    allocate_strategy: str | None = None
    consume_threads: Count | None = None
    consume_batch_size: Count | None = None
    pull_batch_size: Count | None = None
    pull_interval_ms: Count | None = None
    pull_threshold_for_queue: Count | None = None
    pull_threshold_size_for_queue_mib: Count | None = None
    pull_threshold_for_topic: Offset | None = None
    pull_threshold_size_for_topic_mib: Offset | None = None
    subscriptions: tuple[InventorySubscription, ...] | None = None
    owned_queues: tuple[InventoryOwnedQueue, ...] | None = None
    status: tuple[InventoryConsumeStatus, ...] | None = None


class Sample(InventoryPart, frozen=True, kw_only=True):
    """A group's offset on a queue at one moment."""

    at: str
    broker_offset: Offset | None = None
    consumer_offset: Offset | None = None


class InventoryGroupOffset(InventoryPart, frozen=True, kw_only=True):
    """A group's offset on a queue; lag = broker_offset - consumer_offset."""

    topic: Name
    broker_name: Name
    queue_id: Count
    broker_offset: Offset | None = None
    consumer_offset: Offset | None = None
    last_timestamp: str | None = None
    samples: tuple[Sample, ...] | None = None


class PassRatio(InventoryPart, frozen=True, kw_only=True):
    """The share of a topic's messages that match a group's filter."""

    topic: Name
    pass_ratio: PassShare | None = None


class GroupSettings(InventoryPart, frozen=True, kw_only=True):
    """What some brokers have set for a group, all of them the same."""

    broker_names: tuple[str, ...]
    consume_enable: bool | None = None
    consume_broadcast_enable: bool | None = None
    consume_message_orderly: bool | None = None
    retry_queue_nums: Count | None = None
    retry_max_times: Offset | None = None


class SampledMembers(InventoryPart, frozen=True, kw_only=True):
    """Who the members of a group were, from one sample to another, as one broker told it."""

    first_at: str
    last_at: str
    client_ids: tuple[str, ...]


class InventoryGroup(InventoryPart, frozen=True, kw_only=True):
    """A consumer group, its running consumers and offsets; ``past_members`` and ``hourly`` are of earlier samples.

    ``pass_ratios``, where given, are used instead of ratios computed from what the clients consume.
    """

    consumer_group: Name
    message_model: MessageModel | None = None
    consume_type: str | None = None
    consume_from_where: ConsumeFromWhere | None = None
    message_request_mode: RequestMode | None = None
    pop_share_queue_num: PopShare | None = None
    orderly: bool | None = None
    settings: tuple[GroupSettings, ...] | None = None
    subscriptions: tuple[InventorySubscription, ...] | None = None
    pass_ratios: tuple[PassRatio, ...] | None = None
    clients: tuple[Client, ...] | None = None
    past_members: tuple[SampledMembers, ...] | None = None
    hourly: HourlyGroup | None = None
    offsets: tuple[InventoryGroupOffset, ...] | None = None


class InventoryProducer(InventoryPart, frozen=True, kw_only=True):
    """One running producer; the same ``client_id`` twice in a group means two producers."""

    producer_group: Name
    client_id: Name
    client_addr: str | None = None
    language: str | None = None
    version: str | None = None
    seen_on: tuple[str, ...] | None = None


class InventoryFailure(InventoryPart, frozen=True, kw_only=True):
    """A request that a broker, a name server or a Proxy did not answer.

    ``of_clients``: clients did not answer, and their broker did.
    """

    broker_addr: str
    request: str | None = None
    error: str | None = None
    of_clients: bool | None = None


class MissingTopic(InventoryPart, frozen=True, kw_only=True):
    """A topic whose queues on a missing broker could be written and read, and what was written to them."""

    topic: Name
    put_msgs_per_s: Rate | None = None


class MissingReader(InventoryPart, frozen=True, kw_only=True):
    """A group with offsets on such a topic there, and the messages that it had not read."""

    consumer_group: Name
    topic: Name
    unread_msgs: Offset | None = None


class MissingBroker(InventoryPart, frozen=True, kw_only=True):
    """A broker with traffic whose master is not there any more, or does not answer, as it was when it last did."""

    broker_name: Name
    broker_addr: str | None = None
    seen_at: str
    topics: tuple[MissingTopic, ...]
    readers: tuple[MissingReader, ...] = ()


class Inventory(InventoryPart, frozen=True, kw_only=True):
    """One cluster at one moment.

    ``recorded_at`` is when the snapshot was really taken, if it was given another ``taken_at`` later (see dated.py).
    ``missing_brokers`` are known from earlier inventories.
    """

    format: str
    cluster_name: str
    taken_at: str
    recorded_at: str | None = None
    nameservers: tuple[str, ...] | None = None
    nameserver_views: tuple[InventoryNameserver, ...] | None = None
    brokers: tuple[InventoryBroker, ...]
    missing_brokers: tuple[MissingBroker, ...] | None = None
    proxies: tuple[InventoryProxy, ...] | None = None
    topics: tuple[InventoryTopic, ...]
    consumer_groups: tuple[InventoryGroup, ...]
    producers: tuple[InventoryProducer, ...] | None = None
    failures: tuple[InventoryFailure, ...] | None = None

    @property
    def taken_at_utc(self) -> datetime:
        """The moment of the snapshot."""
        return parse_utc(self.taken_at)

    @property
    def unanswered(self) -> tuple[InventoryFailure, ...]:
        """The failures of servers. What clients did not answer leaves only unknown what they alone know."""
        return tuple(one for one in self.failures or () if not one.of_clients)


_1970: Final = datetime(1970, 1, 1, tzinfo=UTC)


def parse_utc(text: str) -> datetime:
    """Parse an ISO-8601 time in UTC, from 1970 on.

    Errors: ValueError for anything else, also for a time in another zone.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not UTC:
        if moment.utcoffset() != timedelta(0):
            raise ValueError("not in UTC")
        moment = moment.astimezone(UTC)
    if moment < _1970:
        raise ValueError("before 1970")
    return moment
