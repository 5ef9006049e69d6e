"""What clients cost a broker, and the thread pools that answer them."""

from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means


class ClientRequests(Struct, frozen=True, kw_only=True):
    """The connections of known clients to a master, and their requests a second; null is unknown."""

    connections: Annotated[int | None, means("remoting clients that it names, or that read its queues")]
    heartbeats_per_s: Annotated[float | None, means("their heartbeats")]
    member_lookups_per_s: Annotated[float | None, means("look-ups of the members of a group at rebalances")]
    assignment_queries_per_s: Annotated[float | None, means("the same of clients that pop")]
    offset_commits_per_s: Annotated[float | None, means("offsets that clients commit, at most")]
    waiting_pulls: Annotated[int | None, means("pulls that wait for messages while everything is read")]
    waiting_pops: Annotated[int | None, means("pops that do")]
    pulls_per_s_lower: Annotated[float | None, means("pulls, while clients read in full batches")]
    pulls_per_s_upper: Annotated[float | None, means("pulls, while each message ends one")]
    pops_per_s_lower: Annotated[float | None, means("pops, the same")]
    pops_per_s_upper: Annotated[float | None, means("pops, the same")]
    acks_per_s: Annotated[float | None, means("acknowledgements of popped messages, at most")]


class PoolUse(Struct, frozen=True, kw_only=True):
    """A thread pool of a broker, and what clients ask of it; null is unknown."""

    pool: Annotated[str, means("the broker's setting that has the pool's threads")]
    threads: Annotated[int | None, means("its threads")]
    queue_capacity: Annotated[int | None, means("requests that may wait for a thread")]
    queue_size: Annotated[int | None, means("requests that waited when the snapshot was taken")]
    head_wait_ms: Annotated[float | None, means("for how long the first of them had waited")]
    requests_per_s: Annotated[
        float | None, means("requests of clients, at most; a pull or a pop that waits counts twice")
    ]
    thread_ms: Annotated[float | None, means("time of a thread for each request before requests pile up")]


class ClientCostChange(Struct, frozen=True, kw_only=True):
    """What changes of the requests to a master."""

    broker_name: Annotated[str, means("name of the broker")]
    before: Annotated[ClientRequests | None, means("the cluster as it is; null if the broker is new")]
    after: Annotated[ClientRequests | None, means("the changed cluster; null if the broker is gone")]
