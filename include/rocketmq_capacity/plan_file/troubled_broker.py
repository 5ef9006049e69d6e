"""Brokers that a what-if makes slow, read-only or lost, and what producers do meanwhile."""

from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.lost_master import MessagesAtRisk, ServedClients, WaitingMessages
from rocketmq_capacity.plan_file.numbers import JsonObject
from rocketmq_capacity.tables.compare import Course


class CanRead(Struct, frozen=True, kw_only=True):
    """Who can read the queues of a broker that lost its master; null if the slaves do not report it."""

    pull: Annotated[bool | None, means("clients that pull and consume in any order")]
    pull_in_order: Annotated[bool | None, means("clients that consume in order, and lock each queue")]
    pop: Annotated[bool | None, means("clients that pop")]


class LostMasterOutlook(Struct, frozen=True, kw_only=True, tag_field="change", tag="lose_master"):
    """A broker that lost its master."""

    broker_name: Annotated[str, means("name of the broker")]
    replicas: Annotated[int, means("slaves that stay")]
    has_new_master: Annotated[bool, means("a controller elects one of them")]
    readable_queues: Annotated[int, means("queues of business topics there that consumers saw before")]
    writable_queues: Annotated[int | None, means("the same for producers; null if unknown")]
    is_writable: Annotated[bool, means("producers can write there afterwards")]
    can_read: Annotated[CanRead, means("who can read there afterwards")]
    clients: Annotated[
        tuple[ServedClients, ...], means("each kind of clients: until when it can write or read there again")
    ] = ()
    waiting: Annotated[
        tuple[WaitingMessages, ...],
        means("what waits there for each group that reads there, most messages first, unknown before all"),
    ] = ()
    at_risk: Annotated[
        tuple[MessagesAtRisk, ...], means("what may be lost with the master's process, power or disk")
    ] = ()
    slave_behind_bytes: Annotated[
        float | None,
        means("bytes that the slave with most lacked in the snapshot; null if unknown, or without a slave"),
    ] = None
    back: Annotated[tuple[str, ...], means("how clients come back when the master returns, in words")] = ()
    timers: Annotated[JsonObject | None, means("the timers behind the figures, in seconds")] = None


class SlowProducers(Struct, frozen=True, kw_only=True):
    """Producers of some versions whose latency fault tolerance is on; it is off unless a client turns it on."""

    versions: Annotated[str, means("of the Java client")]
    back_off_ms: Annotated[int, means("how long they avoid the broker after each slow message")]
    most_sends_per_thread: Annotated[
        int | None, means("the most messages that a synchronous thread sends there; null without a back-off")
    ]
    avoided_for_s_afterwards: Annotated[
        float,
        means(
            "the most seconds that they still avoid the broker after it is fast again; they send there "
            "again at its next turn, so returns_worst_s in `producers` may be longer"
        ),
    ]


class SlowBrokerOutlook(Struct, frozen=True, kw_only=True, tag_field="change", tag="slow_broker"):
    """A broker that is slow for some time."""

    broker_name: Annotated[str, means("name of the broker")]
    latency_ms: Annotated[float, means("milliseconds that it takes for a message")]
    for_s: Annotated[float, means("seconds until it is fast again")]
    readable_queues: Annotated[int, means("queues of business topics there that consumers see")]
    writable_queues: Annotated[int | None, means("the same for producers; null if unknown")]
    fails: Annotated[bool, means("messages there take longer than the shortest timeout of the producers, and fail")]
    producers: Annotated[tuple[SlowProducers, ...], means("by generation of the client")]


class ProducersRoute(Struct, frozen=True, kw_only=True):
    """Topics with the same layout of writable queues, and what each kind of producers does there."""

    route: Annotated[int, means("its number, as in the tables")]
    write_queue_nums: Annotated[dict[str, int], means("by broker its writable queues before the changes")]
    topics: Annotated[int, means("how many topics have it")]
    topic_names: Annotated[tuple[str, ...], means("the first of them, by name")]
    put_msgs_per_s: Annotated[float | None, means("messages a second of all of them; null if unknown")]
    courses: Annotated[tuple[Course, ...], means("one entry for each kind of producers")]


class Producers(Struct, frozen=True, kw_only=True):
    """What producers do while brokers are slow, read-only or lost; the table `producer_timeline` has each second."""

    troubled_brokers: Annotated[tuple[str, ...], means("the brokers that are slow, read-only or lost")]
    send_interval_ms: Annotated[int, means("how often each thread sends, by the policy")]
    usual_latency_ms: Annotated[int, means("how long a message takes at a healthy broker")]
    poll_nameserver_s: Annotated[float, means("how often a Java client asks for routes")]
    producers: Annotated[dict[str, int], means("producers in the snapshot, by generation of the Java client")]
    routes: Annotated[tuple[ProducersRoute, ...], means("those with most topics first")]
    routes_left_out: Annotated[int, means("further routes, which are not computed")]
    topics_left_out: Annotated[int, means("topics of these routes, and topics whose queues are unknown")]
