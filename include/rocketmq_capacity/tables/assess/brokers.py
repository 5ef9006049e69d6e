"""What brokers and topics bear, and how evenly producers write."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, Count, Dataset, QueueId, Ratio, one_of


class BrokerLoad(Dataset, frozen=True, kw_only=True):
    """How much each master stores, how much it can, and what the loss of another broker adds.

    Grain: one row a master.
    Units: messages and bytes a second, bytes, days; ratios are parts of 1.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name",)

    broker_name: Annotated[str, means("name of the broker")]
    topics: Annotated[Count, means("business topics that have queues there")]
    topic_msgs_per_s: Annotated[
        Amount | None, means("messages a second written to these topics there; null if unknown")
    ] = None
    put_msgs_per_s: Annotated[
        Amount | None,
        means("messages a second that it stores, of all topics, as it says itself; else `topic_msgs_per_s`"),
    ] = None
    put_bytes_per_s: Annotated[Amount | None, means("the same in bytes, by the mean size of its messages")] = None
    most_msgs_per_s: Annotated[Amount | None, means("messages a second that it can store; null if unknown")] = None
    most_bytes_per_s: Annotated[Amount | None, means("bytes a second that it can store; null if unknown")] = None
    most_source: Annotated[
        str | None,
        one_of("TOLD", "SEEN"),
        means("TOLD (by the policy) or SEEN (the most in the history: it may be able to store more); else null"),
    ] = None
    busy_ratio: Annotated[
        Amount | None, means("what it stores / what it can, the larger one of messages and bytes")
    ] = None
    bytes_per_day: Annotated[Amount | None, means("bytes of messages that it stores a day")] = None
    kept_bytes: Annotated[
        Amount | None, means("bytes of messages once it has stored so much for its whole retention")
    ] = None
    room_bytes: Annotated[
        Amount | None, means("bytes of messages that its disk takes before messages are deleted early")
    ] = None
    disk_days: Annotated[Amount | None, means("days until messages are deleted early; null if never, or unknown")] = (
        None
    )
    disk_known_days: Annotated[
        Count | None, means("days of which it is known how full its disk was; null if it does not fill for certain")
    ] = None
    disk_ratio: Annotated[
        Amount | None, means("used share of its disk, by the trend of these days; today's if that is less")
    ] = None
    disk_per_day_ratio: Annotated[Amount | None, means("share of the disk that is used more a day")] = None
    disk_least_per_day_ratio: Annotated[Amount | None, means("the same at least, with 95 % confidence")] = None
    disk_most_per_day_ratio: Annotated[Amount | None, means("the same at most")] = None
    worst_loss: Annotated[str | None, means("the other broker whose loss adds most to it")] = None
    loss_msgs_per_s: Annotated[Amount | None, means("messages a second that it then stores")] = None
    loss_ratio: Annotated[Amount | None, means("`busy_ratio` then")] = None
    headroom_factor: Annotated[
        Amount | None, means("so many times its traffic until something breaks; null if unknown")
    ] = None
    headroom_breaks: Annotated[
        str | None,
        one_of("PUT_MESSAGES", "PUT_BYTES", "DISK"),
        means("what breaks first: PUT_MESSAGES, PUT_BYTES or DISK"),
    ] = None


class TopicHeadroom(Dataset, frozen=True, kw_only=True):
    """How much more traffic of a business topic alone its brokers bear; its groups have a headroom of their own.

    Grain: one row a topic with traffic on brokers of which it is known what they can store.
    Units: ``factor`` is a multiple of the measured traffic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, means("name of the topic")]
    factor: Annotated[Amount, means("so many times its traffic until one of its brokers cannot store it")]
    breaks: Annotated[
        str, one_of("PUT_MESSAGES", "PUT_BYTES"), means("what breaks first there: PUT_MESSAGES or PUT_BYTES")
    ]
    broker_name: Annotated[str, means("name of this broker")]


class ProducerShare(Dataset, frozen=True, kw_only=True):
    """The share of a business topic's messages that each of its writable queues should get, and gets.

    A topic has no rows where its writable queues are unknown.

    Grain: one row a writable queue.
    Units: shares of the topic's messages, messages a second.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic", "broker_name", "queue_id")

    topic: Annotated[str, means("name of the topic")]
    broker_name: Annotated[str, means("name of the broker")]
    queue_id: Annotated[QueueId, means("id of the queue on the broker")]
    expected_ratio: Annotated[Ratio, means("its share where producers use all queues in turn")]
    measured_ratio: Annotated[Ratio | None, means("its share of the messages; null if unknown, or if there are none")]
    broker_expected_ratio: Annotated[Ratio, means("expected_ratio of all of the broker's queues together")]
    broker_measured_ratio: Annotated[Ratio | None, means("measured_ratio of them together")]
    put_msgs_per_s: Annotated[Amount | None, means("messages a second written to it; null if unknown")]


class ProducerBalance(Dataset, frozen=True, kw_only=True):
    """A business topic whose queues or brokers get another share than producers without keys would give them.

    Grain: one row such a topic.
    Units: messages a second, ratios, probabilities.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, means("name of the topic")]
    kind: Annotated[
        str, one_of("KEYED", "DISPLACED", "KEYED_OR_DISPLACED"), means("KEYED, DISPLACED or KEYED_OR_DISPLACED")
    ]
    message: Annotated[str, means("one sentence for people")]
    message_type: Annotated[str | None, means("of the topic; null if unknown")]
    queues: Annotated[Count, means("its writable queues")]
    msgs_per_s: Annotated[Amount, means("messages a second written to it")]
    peak: Annotated[Amount, means("rate of its busiest queue / the mean of all")]
    level: Annotated[Amount, means("the policy's level of the test")]
    p_between_brokers: Annotated[
        Amount, means("probability that brokers differ so much by chance; 1 if there is only one broker")
    ]
    p_within_brokers: Annotated[
        Amount, means("probability that the queues of each broker do so; 1 if each broker has one queue")
    ]
    broker_expected_ratios: Annotated[
        dict[str, float], means("for each broker, its share where producers use all queues in turn")
    ]
    broker_measured_ratios: Annotated[dict[str, float], means("for each broker, its share of the messages")]
    producer_groups_elsewhere: Annotated[
        tuple[str, ...],
        means("producer groups, at most five, that are not seen on a broker that gets too little; none if KEYED"),
    ]
    displacing_producer_groups: Annotated[
        tuple[str, ...],
        means("producer groups, at most five, whose version can displace a queue for ever; none if KEYED"),
    ]
