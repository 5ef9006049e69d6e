"""What clients cost brokers: their requests, and the thread pools that answer these."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset


class ClientCost(Dataset, frozen=True, kw_only=True):
    """The connections of known clients to each master, and the requests that they send it.

    Grain: one row a master.
    Units: connections and requests, counted; requests a second. Null is unknown.

    A lower figure holds while clients keep up and read in full batches; an upper one while each message wakes a request
    of its own. Requests of Proxies, other brokers and administration tools are not counted.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name",)

    broker_name: Annotated[str, means("name of the broker")]
    connections: Annotated[
        Count | None, means("remoting clients that it names, or that read its queues; a client id counts once")
    ] = None
    heartbeats_per_s: Annotated[Amount | None, means("HEART_BEAT of these clients")] = None
    member_lookups_per_s: Annotated[
        Amount | None, means("GET_CONSUMER_LIST_BY_GROUP, for each client and topic at every rebalance")
    ] = None
    assignment_queries_per_s: Annotated[Amount | None, means("QUERY_ASSIGNMENT, the same of clients that pop")] = None
    offset_commits_per_s: Annotated[
        Amount | None, means("UPDATE_CONSUMER_OFFSET, at most: one a queue and group each time")
    ] = None
    waiting_pulls: Annotated[BigCount | None, means("pulls that wait there for messages while everything is read")] = (
        None
    )
    waiting_pops: Annotated[BigCount | None, means("pops that do")] = None
    pulls_per_s_lower: Annotated[Amount | None, means("PULL_MESSAGE, at least")] = None
    pulls_per_s_upper: Annotated[Amount | None, means("PULL_MESSAGE, at most")] = None
    pops_per_s_lower: Annotated[Amount | None, means("POP_MESSAGE, at least")] = None
    pops_per_s_upper: Annotated[Amount | None, means("POP_MESSAGE, at most")] = None
    acks_per_s: Annotated[Amount | None, means("ACK_MESSAGE, at most: one a popped message")] = None
    counted_reads_per_s: Annotated[
        Amount | None, means("look-ups in its queues as it counts them; a pull or a pop that waits makes two")
    ] = None


class BrokerPool(Dataset, frozen=True, kw_only=True):
    """The thread pools of each master that answer clients, and what clients ask of them.

    Grain: one row a master and pool.
    Units: threads and requests, counted; requests a second, milliseconds. Null is unknown.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name", "pool")

    broker_name: Annotated[str, means("name of the broker")]
    pool: Annotated[str, means("the broker's setting that has the pool's threads")]
    threads: Annotated[BigCount | None, means("its threads, by the broker's settings")] = None
    queue_capacity: Annotated[BigCount | None, means("requests that may wait for a thread")] = None
    queue_size: Annotated[BigCount | None, means("requests that waited when the snapshot was taken")] = None
    head_wait_ms: Annotated[Amount | None, means("for how long the first of them had waited")] = None
    requests_per_s: Annotated[
        Amount | None, means("requests of clients, at most; a pull or a pop that waits counts twice")
    ] = None
    thread_ms: Annotated[Amount | None, means("time of a thread for each request before requests pile up")] = None
