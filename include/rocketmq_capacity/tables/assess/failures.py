"""What happens to groups, topics and the cluster if something fails."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset, Metrics, one_of


class GroupFailure(Dataset, frozen=True, kw_only=True):
    """The state of a group after each failure that is always computed, and with one client more.

    Grain: one row a group with clients and failure; of a broadcasting group only brokers and rooms that it reads from.
    Units: queues, topics, messages, busy shares at the peak (1 is always busy), seconds.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "failure", "lost")

    consumer_group: Annotated[str, means("name of the consumer group")]
    failure: Annotated[
        str,
        one_of("BROKER", "ROOM", "BUSIEST_CLIENT", "ONE_FEWER", "ONE_MORE"),
        means(
            "BROKER, ROOM, BUSIEST_CLIENT, ONE_FEWER (the last client in Java's order) or ONE_MORE (one that "
            "sorts after it)"
        ),
    ]
    lost: Annotated[str | None, means("name of the broker or room, or the client id; null for ONE_MORE")]
    lost_queues: Annotated[BigCount, means("readable queues of its business topics that are lost with it")]
    moved: Annotated[
        Metrics,
        means("by strategy, queues that stay and get another owner; a strategy is missing if owners are unknown"),
    ]
    moved_today: Annotated[BigCount | None, means("the same under the strategy in use; null if unknown")]
    busy_lower: Annotated[Amount | None, means("busy share of the busiest client afterwards, lower limit")] = None
    busy_ratio: Annotated[Amount | None, means("the most likely value; null if unknown")] = None
    busy_upper: Annotated[Amount | None, means("upper limit")] = None
    busy_today: Annotated[
        Amount | None,
        means(
            "busy_ratio today, judged in the same way (at the peak, with the outliers of CLIENT_OUTLIER "
            "apart); null if unknown"
        ),
    ] = None
    clients_today: Annotated[
        Count | None, means("its client ids; null if an earlier version of this program wrote the row")
    ] = None
    clients_left: Annotated[Count | None, means("its client ids afterwards; null likewise")] = None
    becomes_under: Annotated[bool | None, means("the group becomes UNDER_PROVISIONED; null if unknown")]
    read_again_s: Annotated[Amount, means("maximum of seconds until every queue that stays is read again")]
    verdict: Annotated[
        str | None,
        one_of("BETTER", "WORSE", "UNCHANGED", "UNDECIDED"),
        means(
            "BETTER, WORSE, UNCHANGED or UNDECIDED, by capacity, reachability and loss; null if an earlier "
            "version of this program wrote the row"
        ),
    ] = None
    reasons: Annotated[
        tuple[str, ...],
        means("what the verdict is based on: CAPACITY (busiest client at the peak), REACHABILITY, LOSS"),
    ] = ()
    unread_queues: Annotated[
        Count | None, means("queues that stay and lose their last reader; null if owners are unknown")
    ] = None
    waiting_messages: Annotated[
        BigCount | None, means("messages not read on the lost queues, or on all if no client is left; null if unknown")
    ] = None
    unreadable_topics: Annotated[Count, means("its topics that consumers see no queue of any more")] = 0
    unwritable_topics: Annotated[Count, means("its topics that producers see no queue of any more")] = 0


class TopicFailure(Dataset, frozen=True, kw_only=True):
    """The state of a business topic without each of its brokers, or machine rooms.

    Grain: one row a topic and failure.
    Units: queues, messages a second.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic", "failure", "lost")

    topic: Annotated[str, means("name of the topic")]
    failure: Annotated[str, one_of("BROKER", "ROOM"), means("BROKER or ROOM")]
    lost: Annotated[str, means("name of the broker or room")]
    msgs_per_s: Annotated[Amount | None, means("messages a second written to its queues there; null if unknown")]
    readable_queues: Annotated[BigCount, means("queues that consumers see elsewhere")]
    writable_queues: Annotated[BigCount | None, means("queues that producers see elsewhere; null if unknown")]
    was_readable: Annotated[bool, means("consumers see some of its queues there now")]
    was_writable: Annotated[bool | None, means("producers see some of its queues there now; null if unknown")]


class ClusterFailure(Dataset, frozen=True, kw_only=True):
    """The loss of each master, the restart of each broker and the loss of each name server: who can read and write.

    Grain: one row a failure.
    Units: seconds.
    """

    KEY: ClassVar[tuple[str, ...]] = ("failure", "lost")

    failure: Annotated[
        str,
        one_of("MASTER", "RESTART", "NAME_SERVER"),
        means("MASTER (its slaves stay), RESTART (of a broker that was killed) or NAME_SERVER"),
    ]
    lost: Annotated[str, means("name of the broker, or address of the name server")]
    lost_brokers: Annotated[
        tuple[str, ...] | None, means("brokers whose queues leave the route with it; null if that is unknown")
    ] = None
    is_writable: Annotated[bool | None, means("producers can write its queues; null if unknown")] = None
    can_pull: Annotated[bool | None, means("clients that pull, in any order, can read its queues; null if unknown")] = (
        None
    )
    can_pull_in_order: Annotated[bool | None, means("the same of clients that consume in order")] = None
    can_pop: Annotated[bool | None, means("the same of clients that pop")] = None
    read_again_s: Annotated[
        Amount | None, means("maximum of seconds until they are read again; null if unknown, or not before a repair")
    ] = None
    is_estimated: Annotated[bool, means("the seconds are an estimate, and no maximum")] = False
    why: Annotated[str, means("what happens, in a sentence or two")]


class ProducerFailure(Dataset, frozen=True, kw_only=True):
    """What producers see when a broker is lost, for each way to send; latency fault tolerance is off, as by default.

    Nobody knows which producers send to which topics. So the figures hold for messages whose turn it is at the lost
    broker, of all its business topics.

    Grain: one row a broker that producers write to, ending and way to send.
    Units: tries, milliseconds, seconds since the loss.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name", "ending", "sending", "retries", "timeout_ms")

    broker_name: Annotated[str, means("name of the lost broker")]
    ending: Annotated[
        str,
        one_of("KILL", "SILENT"),
        means("KILL (its process ends; connections are refused) or SILENT (nothing answers)"),
    ]
    sending: Annotated[str, one_of("SYNC", "ASYNC", "ONEWAY"), means("SYNC, ASYNC or ONEWAY, by the policy")]
    retries: Annotated[Count, means("how often a message is tried again; 0 for ONEWAY")]
    timeout_ms: Annotated[Count | None, means("for all tries together; null for ONEWAY")] = None
    producer_groups: Annotated[
        tuple[str, ...], means("groups of the snapshot that send so; empty if producers are unknown")
    ] = ()
    failed_tries: Annotated[Count | None, means("the most tries of a message that fail; null if unknown")] = None
    failing: Annotated[
        str | None,
        one_of("NONE", "ONLY_THERE", "ALL"),
        means(
            "messages that fail for good: NONE, ONLY_THERE (of topics that producers see on no other "
            "broker) or ALL; null if unknown"
        ),
    ] = None
    noticed_by: Annotated[
        str,
        one_of("EXCEPTION", "CALLBACK", "NOBODY"),
        means("how a producer learns it: EXCEPTION of send, CALLBACK (onException), NOBODY"),
    ]
    worst_ms: Annotated[Count, means("the most ms until a producer knows what became of a message")]
    until_s: Annotated[
        Amount | None, means("the most seconds until no message is tried there; null if all topics are only there")
    ] = None


class UnroutedTopic(Dataset, frozen=True, kw_only=True):
    """Business topics without a queue that producers see, and what a producer gets that writes to one.

    Grain: one row a topic that no broker has (a group subscribes to it), or that is writable nowhere.
    Units: queues, counted.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, means("name of the topic")]
    is_declared: Annotated[bool, means("a broker has it, without a queue that producers see")]
    consumer_groups: Annotated[tuple[str, ...], means("groups that subscribe to it")] = ()
    outcome: Annotated[
        str | None,
        one_of("NO_ROUTE", "REFUSED", "CREATED"),
        means(
            "what a producer gets: NO_ROUTE (No route info of this topic), REFUSED (TOPIC_NOT_EXIST, of a "
            "broker that makes no topics) or CREATED (the broker that gets the first message makes the topic); null "
            "if brokers do not tell"
        ),
    ] = None
    created_queue_nums: Annotated[
        dict[str, float] | None,
        means(
            "by broker that may make it (autoCreateTopicEnable), the queues that it gets: those of TBW102, "
            "at most 4 (defaultTopicQueueNums of the client); null if unknown, or if a broker has the topic"
        ),
    ] = None
