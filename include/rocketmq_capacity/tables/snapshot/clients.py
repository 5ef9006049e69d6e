"""What the snapshot stores of consumers: what they subscribe to, own and handle."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset, Facts, Queue, QueueId
from rocketmq_capacity.vocabulary import DEFAULT_PROTOCOL, GRPC, Protocol


class ConsumerFacts(Facts, frozen=True, kw_only=True):
    """What rules use of a running consumer."""

    consumer_index: Annotated[Count, means("position of the consumer in its group in the inventory, from 0")]
    client_id: Annotated[str, means("id by which RocketMQ sorts and hashes it")]
    client_addr: Annotated[str | None, means("host:port, as the first broker of seen_on sees it")] = None
    protocol: Annotated[Protocol, means("REMOTING, or GRPC behind a Proxy")] = DEFAULT_PROTOCOL
    is_listed: Annotated[
        bool, means("it is in the list of members among which remoting consumers of the group divide the queues")
    ] = True
    language: Annotated[str | None, means("client library, such as JAVA")] = None
    version: Annotated[str | None, means("version of the client library, such as V5_3_3")] = None
    seen_on: Annotated[
        tuple[str, ...] | None, means("names of the brokers, and addresses of the Proxies, that named it as a member")
    ] = None
    started_at: Annotated[str | None, means("start of the consumer, UTC ISO-8601")] = None
    allocate_strategy: Annotated[
        str | None,
        means(
            "strategy that it reports: its getName(), MACHINE_ROOM_NEARBY without the inner strategy, or another class's full name; OWN_CHOICE where its program chooses the queues"
        ),
    ] = None
    consume_threads: Annotated[Count | None, means("listener threads")] = None
    consume_batch_size: Annotated[Count | None, means("maximum of messages in one listener call")] = None
    pull_batch_size: Annotated[Count | None, means("maximum of messages in the answer to one pull")] = None
    pull_interval_ms: Annotated[
        Count | None, means("pause before the next pull of a queue, after an answer with messages")
    ] = None
    pull_threshold_for_queue: Annotated[Count | None, means("maximum of messages cached for one queue")] = None
    pull_threshold_size_for_queue_mib: Annotated[Count | None, means("maximum of MiB cached for one queue")] = None
    pull_threshold_for_topic: Annotated[
        BigCount | None, means("maximum of messages cached for one topic; it divides this by its queues")
    ] = None
    pull_threshold_size_for_topic_mib: Annotated[
        BigCount | None, means("maximum of MiB cached for one topic; it divides this by its queues")
    ] = None
    room: Annotated[
        str | None, means("machine room by the policy, the same for equal ids; null if no rule matches")
    ] = None
    only_topics: Annotated[
        tuple[str, ...] | None,
        means("the topics that it subscribes to, if these are not all of its group's; else null"),
    ] = None
    has_owned_queues: Annotated[bool, means("it reported what it owns")]
    has_subscriptions: Annotated[bool, means("it reported its own subscriptions")]
    up_s: Annotated[float | None, means("seconds from its start to the snapshot")] = None

    @property
    def is_grpc(self) -> bool:
        """Whether a Proxy assigns its queues."""
        return self.protocol == GRPC

    def reads(self, topic: str) -> bool:
        """Whether it subscribes to this topic of its group."""
        return self.only_topics is None or topic in self.only_topics


class Consumer(ConsumerFacts, Dataset, frozen=True, kw_only=True):
    """Running consumers; equal client ids have separate rows.

    Grain: one row a consumer.
    Units: seconds, threads, messages and MiB, as each column says.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "consumer_index")

    consumer_group: Annotated[str, means("name of the consumer group")]


class OwnSubscription(Facts, frozen=True, kw_only=True):
    """What rules use of the subscriptions that a consumer reported."""

    consumer_index: Annotated[Count, means("which consumer of the group, as in `consumer`")]
    topic: Annotated[str, means("name of the topic")]
    kind: Annotated[str, means("the topic's kind, as in `topic`")]
    expression_type: Annotated[str | None, means("TAG or SQL92")] = None
    expression: Annotated[str | None, means("filter, such as * or TagA || TagB")] = None


class ConsumerSubscription(OwnSubscription, Dataset, frozen=True, kw_only=True):
    """What each consumer that reported its subscriptions reads.

    Grain: one row a consumer and topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "consumer_index", "topic")

    consumer_group: Annotated[str, means("name of the consumer group")]
    client_id: Annotated[str, means("client id of the consumer")]


class Owned(Facts, frozen=True, kw_only=True):
    """What rules use of a queue that a consumer reported to own; only of business topics."""

    client_id: Annotated[str, means("client id of the consumer")]
    topic: Annotated[str, means("name of the topic")]
    broker_name: Annotated[str, means("name of the broker")]
    queue_id: Annotated[QueueId, means("id of the queue on that broker; -1 is all of the broker's, under POP")]
    dropped: Annotated[bool | None, means("the client has to release it, and still has it")] = None
    locked: Annotated[bool | None, means("the client reports that it has locked it")] = None
    cached_msgs: Annotated[BigCount | None, means("messages pulled and not yet completely handled")] = None
    locked_ago_s: Annotated[float | None, means("seconds since its last lock")] = None
    pulled_ago_s: Annotated[float | None, means("seconds since the last request for messages")] = None
    consumed_ago_s: Annotated[float | None, means("seconds since the last message was handled")] = None
    silent_s: Annotated[
        float | None, means("seconds from the client's last sign of life, by its own clock, to its answer")
    ] = None

    @property
    def queue(self) -> Queue:
        """The name of the queue."""
        return Queue(self.topic, self.broker_name, self.queue_id)


class OwnedQueue(Owned, Dataset, frozen=True, kw_only=True):
    """Queues that consumers report to own.

    Grain: one row a consumer and queue that it reported; a hand-written file may repeat a queue.
    Key: none.
    Units: seconds and messages, as each column says; ``queue_id`` counts from 0.

    A client's last sign of life is the newest time that it reports for any queue, by its own clock. The other columns
    count to the client's answer if that is at most 30 s later, else to the last sign of life.
    """

    consumer_group: Annotated[str, means("name of the consumer group")]
    consumer_index: Annotated[Count, means("which consumer of the group, as in `consumer`")]
    kind: Annotated[str, means("the topic's kind, as in `topic`")]


class ConsumedFacts(Facts, frozen=True, kw_only=True):
    """What rules use of how a consumer handles a topic."""

    consumer_index: Annotated[Count, means("which consumer of the group, as in `consumer`")]
    client_id: Annotated[str, means("client id of the consumer")]
    topic: Annotated[str, means("name of the topic")]
    consume_rt_ms: Annotated[
        Amount | None,
        means(
            "mean duration of a listener call (one call handles up to consume_batch_size messages); 0 if nothing was consumed"
        ),
    ] = None


class ConsumeStatus(ConsumedFacts, Dataset, frozen=True, kw_only=True):
    """How fast a consumer handles a topic, as it reports it.

    RocketMQ's clients report the last minute. If that minute is empty, the response time is the last hour's.

    Grain: one row a consumer and topic.
    Units: milliseconds, messages a second.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "consumer_index", "topic")

    consumer_group: Annotated[str, means("name of the consumer group")]
    kind: Annotated[str, means("the topic's kind, as in `topic`")]
    consume_ok_msgs_per_s: Annotated[Amount | None, means("messages a second consumed")] = None
    consume_failed_msgs_per_s: Annotated[
        Amount | None, means("messages a second that the listener refused or failed on")
    ] = None
