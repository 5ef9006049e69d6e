"""What clients cost a broker, and the thread pools that answer them."""

from typing import Annotated

from msgspec import Meta, Struct


class ClientRequests(Struct, frozen=True, kw_only=True):
    """The connections of known clients to a master, and their requests a second; null is unknown."""

    connections: Annotated[int | None, Meta(description="remoting clients that it names, or that read its queues")]
    heartbeats_per_s: Annotated[float | None, Meta(description="their heartbeats")]
    member_lookups_per_s: Annotated[float | None, Meta(description="look-ups of the members of a group at rebalances")]
    assignment_queries_per_s: Annotated[float | None, Meta(description="the same of clients that pop")]
    offset_commits_per_s: Annotated[float | None, Meta(description="offsets that clients commit, at most")]
    waiting_pulls: Annotated[int | None, Meta(description="pulls that wait for messages while everything is read")]
    waiting_pops: Annotated[int | None, Meta(description="pops that do")]
    pulls_per_s_lower: Annotated[float | None, Meta(description="pulls, while clients read in full batches")]
    pulls_per_s_upper: Annotated[float | None, Meta(description="pulls, while each message ends one")]
    pops_per_s_lower: Annotated[float | None, Meta(description="pops, the same")]
    pops_per_s_upper: Annotated[float | None, Meta(description="pops, the same")]
    acks_per_s: Annotated[float | None, Meta(description="acknowledgements of popped messages, at most")]


class PoolUse(Struct, frozen=True, kw_only=True):
    """A thread pool of a broker, and what clients ask of it; null is unknown."""

    pool: Annotated[str, Meta(description="the broker's setting that has the pool's threads")]
    threads: Annotated[int | None, Meta(description="its threads")]
    queue_capacity: Annotated[int | None, Meta(description="requests that may wait for a thread")]
    queue_size: Annotated[int | None, Meta(description="requests that waited when the snapshot was taken")]
    head_wait_ms: Annotated[float | None, Meta(description="for how long the first of them had waited")]
    requests_per_s: Annotated[
        float | None, Meta(description="requests of clients, at most; a pull or a pop that waits counts twice")
    ]
    thread_ms: Annotated[float | None, Meta(description="time of a thread for each request before requests pile up")]


class ClientCostChange(Struct, frozen=True, kw_only=True):
    """What changes of the requests to a master."""

    broker_name: Annotated[str, Meta(description="name of the broker")]
    before: Annotated[ClientRequests | None, Meta(description="the cluster as it is; null if the broker is new")]
    after: Annotated[ClientRequests | None, Meta(description="the changed cluster; null if the broker is gone")]
