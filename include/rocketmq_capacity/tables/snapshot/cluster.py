"""What the snapshot stores of the cluster: itself, its brokers, and what differs between servers or was not answered."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset, Ratio


class Cluster(Dataset, frozen=True, kw_only=True):
    """The snapshot itself.

    Grain: one row.
    Key: none.
    Units: ``completeness_ratio`` from 0 to 1.
    """

    cluster_name: Annotated[str, means("name of the cluster")]
    taken_at: Annotated[str, means("UTC ISO-8601, as in the inventory")]
    recorded_at: Annotated[
        str | None, means("when a recorded snapshot was really taken, if it was given another taken_at")
    ] = None
    fingerprint: Annotated[str, means("SHA-256 of the canonical inventory")]
    nameservers: Annotated[tuple[str, ...], means("host:port of each name server; empty if unknown")]
    completeness_ratio: Annotated[
        Ratio, means("readable business queues whose broker answered every request / all of them; 1 if there are none")
    ]


class Broker(Dataset, frozen=True, kw_only=True):
    """Brokers, as the name server lists them and as they describe themselves.

    Grain: one row a broker process.
    Units: ``broker_perm`` is a bit set; ``config`` and ``runtime`` hold RocketMQ's own names, units and texts.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name", "broker_id")

    broker_name: Annotated[str, means("name of a master and its slaves")]
    broker_id: Annotated[BigCount, means("0 is the master, others are slaves")]
    broker_addr: Annotated[str | None, means("host:port")] = None
    broker_perm: Annotated[Count | None, means("what the broker allows: 4 read + 2 write")] = None
    version: Annotated[str | None, means("as the broker reports it, such as V5_3_3")] = None
    config: Annotated[dict[str, str] | None, means("the broker's properties, without secrets")] = None
    runtime: Annotated[dict[str, str] | None, means("the broker's runtime figures")] = None
    room: Annotated[str | None, means("machine room by the policy; null if no rule matches")] = None
    seen_msgs_per_s: Annotated[
        Amount | None, means("the most messages a second that it stored in the inventories of the history")
    ] = None
    seen_bytes_per_s: Annotated[Amount | None, means("the same in bytes")] = None
    seen_bytes_per_day: Annotated[
        Amount | None, means("bytes that it stored a day since the oldest inventory of the history")
    ] = None
    disk_days_ago: Annotated[
        tuple[float, ...], means("earlier days on which it is known how full its disk was, oldest first")
    ] = ()
    disk_used_ratios: Annotated[
        tuple[float, ...], means("used share of its fuller disk on these days, the highest of each")
    ] = ()
    has_answered: Annotated[bool, means("no request to this process failed")]


class GoneBroker(Dataset, frozen=True, kw_only=True):
    """Brokers that are in no route now, and that an earlier snapshot has with traffic and without a sign of a drain.

    Grain: one row a broker; those that went longer ago than the policy's ``STALE_OBJECT.days`` are missing.
    Units: messages a second; seconds. They are those of the last snapshot that has its master.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name",)

    broker_name: Annotated[str, means("its name")]
    broker_addr: Annotated[str | None, means("host:port of its master")] = None
    seen_at: Annotated[str, means("when the last snapshot with its master was taken; UTC ISO-8601")]
    seen_ago_s: Annotated[float, means("seconds from then to this snapshot")]
    msgs_per_s: Annotated[Amount, means("what was written then to its queues of these topics")]
    topics: Annotated[tuple[str, ...], means("business topics whose queues there could be written and read, sorted")]
    consumer_groups: Annotated[tuple[str, ...], means("business groups with offsets on these queues, sorted")]
    unread_msgs: Annotated[
        BigCount | None, means("messages on these queues that the groups had not read; null if nothing is known")
    ] = None


class NameserverDifference(Dataset, frozen=True, kw_only=True):
    """What a name server lists differently from the inventory, if several name servers were asked.

    Grain: one row a name server, broker and topic; without a topic it is about the broker's processes.
    Units: queues, counted; ``perm`` is a bit set. Null if the name server, or the inventory, has nothing there.
    """

    KEY: ClassVar[tuple[str, ...]] = ("nameserver_addr", "topic", "broker_name")

    nameserver_addr: Annotated[str, means("host:port of the name server")]
    topic: Annotated[str | None, means("topic whose route differs; null if the broker itself does")] = None
    broker_name: Annotated[str, means("name of the broker that differs")]
    is_listed: Annotated[bool, means("the name server lists the broker, or the topic's queues on it")]
    read_queue_nums: Annotated[Count | None, means("read queues by this name server")] = None
    write_queue_nums: Annotated[Count | None, means("write queues by this name server")] = None
    perm: Annotated[Count | None, means("4 read + 2 write by this name server")] = None
    readable: Annotated[Count, means("queues that consumers of this name server see")] = 0
    readable_elsewhere: Annotated[Count, means("queues that consumers see according to the inventory")] = 0


class SlaveDifference(Dataset, frozen=True, kw_only=True):
    """Topics and groups that a slave lacks, and topics that differ from its master's.

    Grain: one row a slave and topic or consumer group.
    Units: queues, counted; seconds. Counts of a slave are null if it lacks the topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name", "broker_id", "topic", "consumer_group")

    broker_name: Annotated[str, means("name of the slave and its master")]
    broker_id: Annotated[BigCount, means("the slave's id")]
    broker_addr: Annotated[str | None, means("host:port of the slave")] = None
    topic: Annotated[str | None, means("topic that differs; null if the row is about a group")] = None
    consumer_group: Annotated[str | None, means("group that the slave lacks; null if the row is about a topic")] = None
    read_queue_nums: Annotated[Count | None, means("read queues at the slave")] = None
    write_queue_nums: Annotated[Count | None, means("write queues at the slave")] = None
    master_read_queue_nums: Annotated[Count | None, means("read queues at the master")] = None
    master_write_queue_nums: Annotated[Count | None, means("write queues at the master")] = None
    changed_ago_s: Annotated[
        float | None, means("seconds from the last change of the master's tables to the snapshot")
    ] = None
    is_copying: Annotated[
        bool | None, means("true if the slave changed its tables as long as it was watched; null: false")
    ] = None


class Failure(Dataset, frozen=True, kw_only=True):
    """Requests without an answer. What depends on them is unknown, not empty.

    Grain: one row a broker address and request; a hand-written file may have several.
    Key: none.
    """

    broker_addr: Annotated[str, means("host:port that was asked: a broker's, a name server's or a Proxy's")]
    broker_name: Annotated[str | None, means("the broker at that address, if known")] = None
    request: Annotated[str | None, means("RocketMQ's name of the request")] = None
    error: Annotated[str | None, means("what happened; of several errors the first, and the number of the others")] = (
        None
    )
    of_clients: Annotated[bool | None, means("true where clients did not answer, and the broker did; null: false")] = (
        None
    )
