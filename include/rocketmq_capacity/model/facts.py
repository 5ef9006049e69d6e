"""The facts of a unit, nested: a consumer group, a topic, and the whole cluster.

The snapshot writes them as JSON into ``group_unit`` and ``topic_unit``, and every later step reads them back into these
types. The types of observed parts are defined in the modules of their datasets, and nested here. Lists come in any
order; code that needs an order sorts first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from msgspec import structs
from msgspec.json import Decoder

from rocketmq_capacity.tables.dataset import Facts
from rocketmq_capacity.tables.snapshot.clients import ConsumedFacts, Owned, OwnSubscription
from rocketmq_capacity.tables.snapshot.clients import ConsumerFacts as Consumer
from rocketmq_capacity.tables.snapshot.cluster import Broker, Cluster, GoneBroker, NameserverDifference, SlaveDifference
from rocketmq_capacity.tables.snapshot.groups import GroupPart, LagFacts, ReadsPart
from rocketmq_capacity.tables.snapshot.topics import Place, TopicPart, Written
from rocketmq_capacity.vocabulary import (
    BUSINESS,
    GRPC,
    LITE,
    LITE_SELECTIVE,
    LOGICAL_BROKER_PREFIX,
    POP,
    PULL,
    UnseenClients,
    is_broadcasting,
    is_clustering,
)

__all__ = [
    "MOST_LAG",
    "UNKNOWN",
    "ClusterFacts",
    "Consumed",
    "Consumer",
    "Consumption",
    "Disagreements",
    "Facts",
    "GroupFacts",
    "Lag",
    "LastClients",
    "Observations",
    "OwnSubscription",
    "Owned",
    "PastClients",
    "PastTraffic",
    "Place",
    "Reader",
    "Reads",
    "Refusal",
    "RetryQueueNums",
    "SampledOffsets",
    "Stranded",
    "TopicFacts",
    "TopicWithReaders",
    "Written",
    "lag_of",
]

MOST_LAG: Final = 2**47
"""Messages: no queue has more unread, so an offset is wrong. The lags of any number of queues add up to an int64."""


class TopicFacts(TopicPart, frozen=True, kw_only=True):
    """A topic and where its queues are (``topic``, ``topic_queue``, ``queue_offset``)."""

    places: tuple[Place, ...] = ()
    written: tuple[Written, ...] = ()

    @property
    def is_static(self) -> bool:
        """Whether its queues are logical: they belong to no single broker."""
        return any(place.broker_name.startswith(LOGICAL_BROKER_PREFIX) for place in self.places)


class Reads(ReadsPart, frozen=True, kw_only=True):
    """A topic that a group, or only some of its consumers, read (``subscription``), with the topic's own facts."""

    topic: TopicFacts


class Consumed(ConsumedFacts, frozen=True, kw_only=True):
    """How a consumer handles a business topic (``consume_status``).

    ``consume_rt_ms`` is 0 if it handled nothing in the last hour. ``msgs_per_s`` counts failed messages too.
    """

    msgs_per_s: float | None = None
    failed_msgs_per_s: float | None = None


class Lag(LagFacts, frozen=True, kw_only=True):
    """A group's offset and lag on a queue (``group_offset``); ``min_offset`` is that of the queue's oldest message."""

    min_offset: int | None = None


def lag_of(broker_offset: int | None, consumer_offset: int | None) -> int | None:
    """Messages not read; None if an offset is unknown, if the group's is beyond the broker's, or above MOST_LAG.

    A group is beyond the end of a queue if the broker lost messages, or if the topic was deleted and created again.
    What it has not read is then unknown.
    """
    if broker_offset is None or consumer_offset is None or consumer_offset > broker_offset:
        return None
    lag = broker_offset - consumer_offset
    return lag if lag <= MOST_LAG else None


class Observations(Facts, frozen=True, kw_only=True):
    """What the consumers of a group report about themselves, and the group's last offsets."""

    subscriptions: tuple[OwnSubscription, ...] = ()
    owned: tuple[Owned, ...] = ()
    consumed: tuple[Consumed, ...] = ()
    lags: tuple[Lag, ...] = ()


UNKNOWN: Final = -1
"""In place of an offset or a lag in an array."""


class SampledOffsets(Facts, frozen=True, kw_only=True):
    """A group's offsets on its queues over time (``offset_sample``): those of each queue one after the other.

    ``counts`` is how many samples each queue has, oldest first. The last three are arrays of 64 bits a sample, little
    end first: seconds since 1970 as floating-point numbers, and offsets as integers, :data:`UNKNOWN` included.
    """

    topics: tuple[str, ...] = ()
    brokers: tuple[str, ...] = ()
    queue_ids: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    at_s: bytes = b""
    broker_offset: bytes = b""
    consumer_offset: bytes = b""


class Consumption(Facts, frozen=True, kw_only=True):
    """The observations that a change of owners is judged by. The others are left out when they are read."""

    consumed: tuple[Consumed, ...] = ()
    lags: tuple[Lag, ...] = ()


_OBSERVATIONS: Final = Decoder(Observations)
_SAMPLED: Final = Decoder(SampledOffsets)


class PastTraffic(Facts, frozen=True, kw_only=True):
    """The traffic of the topics of a group in the busy hour of the stored days: p95, the nearest higher hour.

    ``days`` are those of which the rates of all its topics are known; ``hours`` are all that were compared; ``hour_s``
    is that hour's begin, in seconds since 1970. ``msgs_per_s`` is what was written to each topic in this hour, without
    those that are unknown. ``daily_msgs_per_s`` is what came to the group in the busy hours of each of the days
    ``days_ago``, oldest first: p95 of each topic's hours, through the group's filters. ``most_msgs_per_s`` is the most
    that came to the group between two samples, in the hour that begins at ``most_s``; of several topics it is the sum
    of each one's most in that hour. Both are None without samples.
    """

    days: int
    hours: int
    hour_s: float
    msgs_per_s: dict[str, float]
    days_ago: tuple[int, ...] = ()
    daily_msgs_per_s: tuple[float, ...] = ()
    most_msgs_per_s: float | None = None
    most_s: float | None = None


class Returned(Facts, frozen=True, kw_only=True):
    """A host on which more clients came than run there at the same time.

    ``came`` are clients that started there, or came back; ``clients`` are the most that ran there at the same time.
    """

    host: str
    came: int
    clients: int


class PastMembers(Facts, frozen=True, kw_only=True):
    """How the members of a group changed in the last hours, from snapshot to snapshot.

    ``changed`` of the steps between ``snapshots`` changed them; ``hours`` is the time of all steps. ``came`` and
    ``left`` are the least: what came and left within a step is not seen.
    """

    snapshots: int
    hours: float
    changed: int
    came: int
    left: int
    most_clients: int
    returned: tuple[Returned, ...] = ()


class LastClients(Facts, frozen=True, kw_only=True):
    """How many clients a group last had that usually had some and has none now, and how many seconds ago."""

    clients: int
    ago_s: float


WhyRefused = Literal["NOT_CREATED", "CONSUME_DISABLED", "BROADCAST_DISABLED", "SQL92_DISABLED", "POP_DISABLED"]
"""The group is not created there, and the broker creates none by itself; or it may not consume there, or not broadcast,
or not filter by SQL92, or not pop. A client that filters by SQL92 asks one broker alone, when it starts, if it may.

Source: PullMessageProcessor, PopMessageProcessor, SubscriptionGroupManager.findSubscriptionGroupConfig and
MQClientInstance.checkClientInBroker, rocketmq-all-5.3.3.
"""


class Refusal(Facts, frozen=True, kw_only=True):
    """A broker that gives a group no messages."""

    broker_name: str
    why: WhyRefused


class RetryQueueNums(Facts, frozen=True, kw_only=True):
    """How many queues a broker spreads a group's failed messages over."""

    broker_name: str
    retry_queue_nums: int


class DeadLetters(Facts, frozen=True, kw_only=True):
    """Messages of a group that went to its dead-letter topic.

    ``letters`` were counted between two snapshots that lie ``elapsed_s`` apart. Both are None where only this
    snapshot's rates tell; ``msgs_per_h`` goes by what is known, and is above 0.
    """

    letters: int | None
    elapsed_s: float | None
    msgs_per_h: float


class GroupFacts(GroupPart, frozen=True, kw_only=True):
    """A consumer group with everything that the snapshot knows of it, or without its observations."""

    reads: tuple[Reads, ...] = ()
    consumers: tuple[Consumer, ...] = ()
    subscriptions: tuple[OwnSubscription, ...] = ()
    owned: tuple[Owned, ...] = ()
    consumed: tuple[Consumed, ...] = ()
    lags: tuple[Lag, ...] = ()
    sampled: SampledOffsets = SampledOffsets()
    unused_days: float | None = None
    """For how long it had no clients and committed nothing, if the history proves it."""
    last_clients: LastClients | None = None
    """None if it has clients, is not known to have had some, or often is without."""
    past: PastTraffic | None = None
    """None without stored rates."""
    past_members: PastMembers | None = None
    """None without snapshots of the last hours."""
    refusals: tuple[Refusal, ...] = ()
    """Brokers that give it no messages, sorted by name."""
    retry_queues: tuple[RetryQueueNums, ...] = ()
    """Those of brokers that do not use one, sorted by name."""
    dead_letters: DeadLetters | None = None
    """None if there are none, as far as it is known."""

    def observed(self, observations: str, sampled: str) -> "GroupFacts":
        """The same group with its observations and its offsets over time, which are given as JSON."""
        more = _OBSERVATIONS.decode(observations)
        return structs.replace(
            self,
            subscriptions=more.subscriptions,
            owned=more.owned,
            consumed=more.consumed,
            lags=more.lags,
            sampled=_SAMPLED.decode(sampled),
        )

    @property
    def is_broadcasting(self) -> bool:
        """Whether every consumer reads every queue."""
        return is_broadcasting(self.message_model)

    @property
    def is_clustering(self) -> bool:
        """Whether its consumers divide its queues."""
        return is_clustering(self.message_model) and not self.is_lite

    @property
    def is_lite(self) -> bool:
        """Whether it is bound to a LITE topic: its consumers read lite topics, and no queues.

        A group that reads a LITE topic and has no known message model counts as one.
        """
        reads_lite = self.message_model is None and any(one.topic.message_type == LITE for one in self.reads)
        return self.message_model == LITE_SELECTIVE or reads_lite

    @property
    def known_connections(self) -> int | None:
        """How many consumers run; None if it may have some that nobody knows."""
        return None if self.unseen_clients is not None else self.connections

    @property
    def refusing(self) -> dict[str, WhyRefused]:
        """The brokers that give its clients no messages, and why; none without clients, or if it reads no queues."""
        if not self.refusals or not self.connections or self.is_lite:
            return {}
        return {one.broker_name: one.why for one in self.refusals}

    @property
    def has_grpc_clients(self) -> bool:
        """Whether a Proxy assigns the queues of some of its clients."""
        return any(one.is_grpc for one in self.consumers)

    @property
    def business(self) -> list[Reads]:
        """The business topics that it reads: topics of its own kind only, by name."""
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
    """A group that subscribes to a topic or has offsets on it, in a few facts (``consumer_group``)."""

    consumer_group: str
    kind: str
    message_model: str | None = None
    consume_from_where: str | None = None
    is_orderly: bool | None = None
    """Whether it consumes in order, or a broker has it set so."""
    protocol: str | None = None
    unseen_clients: UnseenClients | None = None
    connections: int
    distinct_client_ids: int
    is_subscribed: bool
    has_offsets: bool
    """Whether any of its offsets is known. Then a queue without an offset is one that it never read."""
    refused_by: tuple[str, ...] = ()
    """Brokers that give it no messages: it is not created there, and they create no groups by themselves; sorted."""


class ClusterFacts(Facts, frozen=True, kw_only=True):
    """The facts of the whole cluster (``cluster``, ``broker``, ``gone_broker``, ``failure``)."""

    cluster: Cluster
    brokers: tuple[Broker, ...] = ()
    gone: tuple[GoneBroker, ...] = ()
    """Brokers that crashed and left every route; by name."""
    failures: int = 0
    silent: tuple[str, ...] = ()
    """Broker names (or addresses, if the name is unknown) that did not answer a request; sorted."""

    @property
    def broker_names(self) -> frozenset[str]:
        """The names of its brokers."""
        return frozenset(broker.broker_name for broker in self.brokers)

    def perm_of(self, broker_name: str) -> int | None:
        """What a broker's master allows all topics; None if that is unknown, or without a master."""
        masters = (one for one in self.brokers if one.broker_name == broker_name and one.broker_id == 0)
        return next((master.broker_perm for master in masters), None)


@dataclass(frozen=True, slots=True)
class Disagreements:
    """Differences between servers that should be equal (``nameserver_difference``, ``slave_difference``).

    There may be many, and only rules about the cluster use them.
    """

    nameservers: Sequence[NameserverDifference] = ()
    slaves: Sequence[SlaveDifference] = ()


class Stranded(Facts, frozen=True, kw_only=True):
    """A group's offset on a queue that consumers cannot see: its id is not below read_queue_nums (``group_offset``)."""

    consumer_group: str
    broker_name: str
    queue_id: int
    consumer_offset: int | None = None


class PastClients(Facts, frozen=True, kw_only=True):
    """How many clients the groups of a topic had in those inventories of the history that have no failures.

    ``most_clients`` is the highest number of different client ids of a group that subscribed to the topic or had
    offsets on it; ``days`` is the age of the oldest of these inventories; ``different_days`` is on how many days (UTC)
    one was taken.
    """

    days: float
    different_days: int
    most_clients: int


class TopicWithReaders(Facts, frozen=True, kw_only=True):
    """A topic with its readers; ``past`` is None without a history.

    ``are_readers_known`` is false if some group may read any topic; ``unused_days`` is how long nothing was written to
    it and nothing in it is unread, if that is proven.
    """

    facts: TopicFacts
    readers: tuple[Reader, ...] = ()
    stranded: tuple[Stranded, ...] = ()
    past: PastClients | None = None
    are_readers_known: bool = True
    unused_days: float | None = None
