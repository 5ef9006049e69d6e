"""What the snapshot stores of consumer groups: what they read, and how far they are."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset, Facts, Int, Queue, QueueId, Ratio, one_of
from rocketmq_capacity.vocabulary import UnseenClients


class GroupPart(Facts, frozen=True, kw_only=True):
    """What rules use of a group itself."""

    consumer_group: Annotated[str, means("name of the consumer group")]
    kind: Annotated[
        str,
        one_of("BUSINESS", "SYSTEM", "EXCLUDED"),
        means("BUSINESS, SYSTEM (RocketMQ's own) or EXCLUDED (by the policy)"),
    ]
    message_model: Annotated[
        str | None,
        means(
            "CLUSTERING, BROADCASTING or LITE_SELECTIVE; null is judged as CLUSTERING, and at a LITE topic as LITE_SELECTIVE"
        ),
    ] = None
    consume_type: Annotated[str | None, means("CONSUME_PASSIVELY (push) or CONSUME_ACTIVELY (pull)")] = None
    consume_from_where: Annotated[
        str | None,
        means(
            "where its clients begin on a queue without an offset, such as CONSUME_FROM_FIRST_OFFSET; null is"
            " judged as CONSUME_FROM_LAST_OFFSET"
        ),
    ] = None
    message_request_mode: Annotated[
        str, one_of("PULL", "POP", "MIXED"), means("PULL, POP or MIXED over the group's business topics")
    ]
    is_orderly: Annotated[bool | None, means("consumes in order")] = None
    protocol: Annotated[
        str | None,
        one_of("REMOTING", "GRPC", "MIXED"),
        means("of its clients: REMOTING, GRPC, or MIXED if they differ; null without clients"),
    ] = None
    unseen_clients: Annotated[
        UnseenClients | None,
        means(
            "why a group without known clients may still have some: PROXY_UNNAMED, OFFSETS_MOVE, PROXIES_SILENT or "
            "NOT_TOLD; else null"
        ),
    ] = None
    connections: Annotated[Count, means("running consumers; equal client ids count separately")]
    distinct_client_ids: Annotated[Count, means("different client ids")]


class ConsumerGroup(GroupPart, Dataset, frozen=True, kw_only=True):
    """Consumer groups: their settings on the brokers, and their members.

    Grain: one row a group.
    Units: consumers and client ids, counted.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group",)


class GroupSetting(Dataset, frozen=True, kw_only=True):
    """What each broker has set for a consumer group (SubscriptionGroupConfig).

    Grain: one row a group and broker.
    Units: queues and tries, counted.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "broker_name")

    consumer_group: Annotated[str, means("name of the consumer group")]
    broker_name: Annotated[str, means("name of the broker")]
    consume_enable: Annotated[bool | None, means("the broker gives it messages")] = None
    consume_broadcast_enable: Annotated[bool | None, means("it may broadcast")] = None
    consume_message_orderly: Annotated[bool | None, means("it is set to consume in order")] = None
    retry_queue_nums: Annotated[Count | None, means("queues of its retry topic for failed messages")] = None
    retry_max_times: Annotated[
        BigCount | None, means("times that a message comes again before it is a dead letter")
    ] = None


class ReadsPart(Facts, frozen=True, kw_only=True):
    """What rules use of how a group reads a topic."""

    is_declared_by_group: Annotated[
        bool, means("the group itself subscribes to it; false: only some of its consumers do")
    ]
    expression_type: Annotated[str | None, means("TAG or SQL92")] = None
    expression: Annotated[str | None, means("filter, such as * or TagA || TagB")] = None
    pass_ratio: Annotated[
        Ratio | None,
        means("share of the topic's messages that the filter lets through, 1 without a filter; null if unknown"),
    ] = 1.0
    message_request_mode: Annotated[
        str, one_of("PULL", "POP"), means("PULL or POP: the topic's own, else the group's, else PULL")
    ]
    pop_share_queue_num: Annotated[Int, means("number of next clients whose queues a client also pops; <= 0 means all")]


class Subscription(ReadsPart, Dataset, frozen=True, kw_only=True):
    """Topics that a group or one of its consumers reads.

    Grain: one row a group and topic.
    Units: ``pop_share_queue_num`` in other clients whose queues a client also pops; ``pass_ratio`` is a ratio.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "topic")

    consumer_group: Annotated[str, means("name of the consumer group")]
    topic: Annotated[str, means("name of the topic")]
    kind: Annotated[str, means("the topic's kind, as in `topic`")]


class LagFacts(Facts, frozen=True, kw_only=True):
    """What rules use of a group's offset on a queue."""

    topic: Annotated[str, means("name of the topic")]
    broker_name: Annotated[str, means("name of the broker")]
    queue_id: Annotated[QueueId, means("id of the queue on that broker")]
    consumer_offset: Annotated[BigCount | None, means("offset that the group will read next, as committed")] = None
    lag: Annotated[
        BigCount | None,
        means(
            "messages not read: broker_offset - consumer_offset; null if one of them is unknown, if consumer_offset"
            " is beyond broker_offset, or above 2^47, which no queue has"
        ),
    ] = None
    behind_s: Annotated[float | None, means("seconds from last_timestamp to the snapshot; null if that is unknown")] = (
        None
    )

    @property
    def queue(self) -> Queue:
        """The name of the queue."""
        return Queue(self.topic, self.broker_name, self.queue_id)


class GroupOffset(LagFacts, Dataset, frozen=True, kw_only=True):
    """A group's offset on a queue at the moment of the snapshot.

    Grain: one row a group and queue.
    Units: offsets and lag in messages, seconds.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "topic", "broker_name", "queue_id")

    consumer_group: Annotated[str, means("name of the consumer group")]
    kind: Annotated[str, means("the topic's kind, as in `topic`")]
    broker_offset: Annotated[BigCount | None, means("offset that the next message will be written at")] = None
    last_timestamp: Annotated[str | None, means("store time of the last message read, UTC ISO-8601")] = None


class OffsetSample(Dataset, frozen=True, kw_only=True):
    """A group's offset on a queue over time: the history's values, then the snapshot's samples and its final values.

    Where the end of the queue went back, earlier values are left out: its topic was deleted and created again.

    Grain: one row a group and queue; the three lists have one item a moment, oldest first.
    Units: offsets in messages, ``at_s`` in seconds.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "topic", "broker_name", "queue_id")

    consumer_group: Annotated[str, means("name of the consumer group")]
    topic: Annotated[str, means("name of the topic")]
    broker_name: Annotated[str, means("name of the broker")]
    queue_id: Annotated[QueueId, means("id of the queue on that broker")]
    at_s: Annotated[tuple[float, ...], means("moments of the samples, seconds since 1970-01-01 UTC")]
    broker_offset: Annotated[
        tuple[int | None, ...], means("offset that the next message would be written at, by moment; null if unknown")
    ]
    consumer_offset: Annotated[
        tuple[int | None, ...], means("offset that the group would read next, as committed, by moment; null if unknown")
    ]


class GroupHour(Dataset, frozen=True, kw_only=True):
    """What came to a group in an hour before the snapshot, what it had not read, and how many clients it had.

    Grain: one row a business group and hour of which any of this is known.
    Units: messages a second through the filters of the group, messages, clients.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "at")

    consumer_group: Annotated[str, means("name of the consumer group")]
    at: Annotated[str, means("the begin of the hour, UTC ISO-8601")]
    msgs_per_s: Annotated[
        Amount | None, means("the mean by samples, or the highest by earlier snapshots; null if a topic's is unknown")
    ] = None
    most_msgs_per_s: Annotated[
        Amount | None,
        means("the most between two samples; of several topics each one's most, together; null without samples"),
    ] = None
    most_lag: Annotated[
        BigCount | None, means("the most messages that it had not committed at a sample; null if that is unknown")
    ] = None
    clients: Annotated[Count | None, means("the most different client ids at a sample; null if they are unknown")] = (
        None
    )


class GroupDay(Dataset, frozen=True, kw_only=True):
    """The traffic of a group in the busy hour of a day before the snapshot, by earlier snapshots; trends go by it.

    Grain: one row a business group and day of which the rates of all its topics are known.
    Units: messages a second through the filters of the group.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "day")

    consumer_group: Annotated[str, means("name of the consumer group")]
    day: Annotated[str, means("the day, UTC, such as 2026-11-20")]
    msgs_per_s: Annotated[Amount, means("messages a second in the busy hour (p95) of each topic, together")]
