"""The facts of a unit, nested: a consumer group, a topic, and what holds for the whole cluster.

The snapshot writes them as JSON into ``group_unit`` and ``topic_unit``, and every later step reads them back into these
types. A part has the members of the dataset that its docstring names. Lists come in any order; what depends on an order
sorts first.
"""

from msgspec import Struct, structs

from rocketmq_capacity.contracts.broker import Broker
from rocketmq_capacity.contracts.cluster import Cluster
from rocketmq_capacity.vocabulary import (
    BUSINESS,
    DEFAULT_PROTOCOL,
    GRPC,
    POP,
    PULL,
    Protocol,
    UnseenClients,
    is_broadcasting,
    is_clustering,
    is_readable,
)


class Facts(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A part of a unit's facts; None is unknown."""


class Place(Facts, frozen=True, kw_only=True):
    """A topic's queues on one broker (``topic_queue``)."""

    broker_name: str
    read_queue_nums: int | None = None
    write_queue_nums: int | None = None
    perm: int | None = None
    room: str | None = None
    broker_state: str
    has_answered: bool

    @property
    def readable(self) -> int:
        """How many queues consumers see."""
        return (self.read_queue_nums or 0) if is_readable(self.perm, self.read_queue_nums) else 0


class Written(Facts, frozen=True, kw_only=True):
    """How far a queue is written, and how fast (``queue_offset``)."""

    broker_name: str
    queue_id: int
    min_offset: int | None = None
    max_offset: int | None = None
    put_msgs_per_s: float | None = None


class TopicFacts(Facts, frozen=True, kw_only=True):
    """A topic and where its queues are (``topic``, ``topic_queue``, ``queue_offset``)."""

    topic: str
    kind: str
    is_declared: bool = True
    message_type: str | None = None
    is_ordered: bool | None = None
    places: tuple[Place, ...] = ()
    written: tuple[Written, ...] = ()


class Reads(Facts, frozen=True, kw_only=True):
    """A topic that a group, or only some of its consumers, read (``subscription``), with the topic's own facts."""

    topic: TopicFacts
    is_declared_by_group: bool
    expression_type: str | None = None
    expression: str | None = None
    pass_ratio: float | None = 1.0
    message_request_mode: str
    pop_share_queue_num: int


class Consumer(Facts, frozen=True, kw_only=True):
    """A running consumer (``consumer``)."""

    consumer_index: int
    client_id: str
    client_addr: str | None = None
    protocol: Protocol = DEFAULT_PROTOCOL
    is_listed: bool = True
    """Whether remoting consumers of the group divide the queues among it as well; a gRPC one that only a Proxy in
    cluster mode knows is not in the lists of the brokers."""
    language: str | None = None
    version: str | None = None
    seen_on: tuple[str, ...] | None = None
    started_at: str | None = None
    allocate_strategy: str | None = None
    consume_threads: int | None = None
    consume_batch_size: int | None = None
    room: str | None = None
    only_topics: tuple[str, ...] | None = None
    has_owned_queues: bool
    has_subscriptions: bool
    up_s: float | None = None

    @property
    def is_grpc(self) -> bool:
        """Whether a Proxy assigns its queues."""
        return self.protocol == GRPC

    def reads(self, topic: str) -> bool:
        """Whether it subscribes a topic of its group."""
        return self.only_topics is None or topic in self.only_topics


class OwnSubscription(Facts, frozen=True, kw_only=True):
    """What a consumer reported to read (``consumer_subscription``)."""

    consumer_index: int
    topic: str
    kind: str
    expression_type: str | None = None
    expression: str | None = None


class Owned(Facts, frozen=True, kw_only=True):
    """A queue of a business topic that a consumer reported to own (``owned_queue``)."""

    client_id: str
    topic: str
    broker_name: str
    queue_id: int


class Consumed(Facts, frozen=True, kw_only=True):
    """How a consumer handles a business topic (``consume_status``).

    ``consume_rt_ms`` is 0 where it handled nothing in the last hour. ``msgs_per_s`` counts failed messages too.
    """

    consumer_index: int
    client_id: str
    topic: str
    consume_rt_ms: float | None = None
    msgs_per_s: float | None = None
    failed_msgs_per_s: float | None = None


class Lag(Facts, frozen=True, kw_only=True):
    """How far the group is behind on a queue (``group_offset``).

    ``behind_s`` is how old the last message is that the group has read.
    """

    topic: str
    broker_name: str
    queue_id: int
    lag: int | None = None
    consumer_offset: int | None = None
    behind_s: float | None = None


def lag_of(broker_offset: int | None, consumer_offset: int | None) -> int | None:
    """Messages not read; None where an offset is unknown, or where the group's lies beyond the broker's.

    A group is beyond the end of a queue where the broker lost messages, or the topic was deleted and made anew: what it
    has not read then is not known.
    """
    if broker_offset is None or consumer_offset is None or consumer_offset > broker_offset:
        return None
    return broker_offset - consumer_offset


class Samples(Facts, frozen=True, kw_only=True):
    """The group's place on a queue over time (``offset_sample``)."""

    topic: str
    broker_name: str
    queue_id: int
    at_s: tuple[float, ...]
    broker_offset: tuple[int | None, ...]
    consumer_offset: tuple[int | None, ...]


class Observations(Facts, frozen=True, kw_only=True):
    """What the consumers of a group report of themselves, and how far the group is."""

    subscriptions: tuple[OwnSubscription, ...] = ()
    owned: tuple[Owned, ...] = ()
    consumed: tuple[Consumed, ...] = ()
    lags: tuple[Lag, ...] = ()
    samples: tuple[Samples, ...] = ()


class GroupFacts(Facts, frozen=True, kw_only=True):
    """A consumer group with everything that the snapshot says of it, or without its observations."""

    consumer_group: str
    kind: str
    message_model: str | None = None
    consume_type: str | None = None
    message_request_mode: str
    is_orderly: bool | None = None
    protocol: str | None = None
    unseen_clients: UnseenClients | None = None
    connections: int
    distinct_client_ids: int
    reads: tuple[Reads, ...] = ()
    consumers: tuple[Consumer, ...] = ()
    subscriptions: tuple[OwnSubscription, ...] = ()
    owned: tuple[Owned, ...] = ()
    consumed: tuple[Consumed, ...] = ()
    lags: tuple[Lag, ...] = ()
    samples: tuple[Samples, ...] = ()

    def observed(self, more: Observations) -> "GroupFacts":
        """The same group with its observations."""
        return structs.replace(
            self,
            subscriptions=more.subscriptions,
            owned=more.owned,
            consumed=more.consumed,
            lags=more.lags,
            samples=more.samples,
        )

    @property
    def is_broadcasting(self) -> bool:
        """Whether every consumer reads every queue."""
        return is_broadcasting(self.message_model)

    @property
    def is_clustering(self) -> bool:
        """Whether its consumers share its queues out."""
        return is_clustering(self.message_model)

    @property
    def has_grpc_clients(self) -> bool:
        """Whether a Proxy assigns the queues of some of its clients."""
        return any(one.is_grpc for one in self.consumers)

    @property
    def business(self) -> list[Reads]:
        """What it reads of the cluster's business: topics of its own kind and of no other, by name."""
        return sorted((one for one in self.reads if one.topic.kind == BUSINESS), key=lambda one: one.topic.topic)

    def pops(self, reads: Reads) -> bool:
        """Whether its clients pop the topic; an orderly remoting consumer divides its queues itself.

        Source: RebalancePushImpl.clientRebalance, rocketmq-all-5.3.3.
        """
        return reads.message_request_mode == POP and not (self.is_orderly and self.protocol != GRPC)

    @property
    def pulls(self) -> bool:
        """Whether its clients divide the queues of all its business topics themselves."""
        return self.message_request_mode == PULL


class Reader(Facts, frozen=True, kw_only=True):
    """A group that subscribes a topic or has offsets on it, in a few words (``consumer_group``)."""

    consumer_group: str
    kind: str
    message_model: str | None = None
    is_orderly: bool | None = None
    protocol: str | None = None
    unseen_clients: UnseenClients | None = None
    connections: int
    distinct_client_ids: int
    is_subscribed: bool


class ClusterFacts(Facts, frozen=True, kw_only=True):
    """What holds for the whole cluster (``cluster``, ``broker``, ``failure``)."""

    cluster: Cluster
    brokers: tuple[Broker, ...] = ()
    failures: int = 0
    silent: tuple[str, ...] = ()
    """Broker names, or addresses where no name is known, that did not answer a request; sorted."""


class Stranded(Facts, frozen=True, kw_only=True):
    """A group's place on a queue that consumers cannot see: its id is not below read_queue_nums (``group_offset``)."""

    consumer_group: str
    broker_name: str
    queue_id: int
    consumer_offset: int | None = None


class TopicWithReaders(Facts, frozen=True, kw_only=True):
    """A topic with those who read it."""

    facts: TopicFacts
    readers: tuple[Reader, ...] = ()
    stranded: tuple[Stranded, ...] = ()
