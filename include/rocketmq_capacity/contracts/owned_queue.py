"""Dataset ``owned_queue``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import BigCount, Count, Dataset, Facts, QueueId


class Owned(Facts, frozen=True, kw_only=True):
    """What rules use of a queue that a consumer reported to own; only of business topics."""

    client_id: Annotated[str, Meta(description="client id of the consumer")]
    topic: Annotated[str, Meta(description="name of the topic")]
    broker_name: Annotated[str, Meta(description="name of the broker")]
    queue_id: Annotated[
        QueueId, Meta(description="id of the queue on that broker; -1 is all of the broker's, under POP")
    ]
    dropped: Annotated[bool | None, Meta(description="the client has to release it, and still has it")] = None
    locked: Annotated[bool | None, Meta(description="the client reports that it has locked it")] = None
    cached_msgs: Annotated[BigCount | None, Meta(description="messages pulled and not yet completely handled")] = None
    locked_ago_s: Annotated[float | None, Meta(description="seconds since its last lock")] = None
    pulled_ago_s: Annotated[float | None, Meta(description="seconds since the last request for messages")] = None
    consumed_ago_s: Annotated[float | None, Meta(description="seconds since the last message was handled")] = None
    silent_s: Annotated[
        float | None,
        Meta(description="seconds from the client's last sign of life, by its own clock, to its answer"),
    ] = None


class OwnedQueue(Owned, Dataset, frozen=True, kw_only=True):
    """Queues that consumers report to own.

    Grain: one row a consumer and queue that it reported; a hand-written file may repeat a queue.
    Key: none.
    Units: seconds and messages, as each column says; ``queue_id`` counts from 0.

    A client's last sign of life is the newest time that it reports for any queue, by its own clock. The other columns
    count to the client's answer if that is at most 30 s later, else to the last sign of life.
    """

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    consumer_index: Annotated[Count, Meta(description="which consumer of the group, as in `consumer`")]
    kind: Annotated[str, Meta(description="the topic's kind, as in `topic`")]
