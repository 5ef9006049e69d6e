"""Dataset ``owned_queue``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Facts, Int


class Owned(Facts, frozen=True, kw_only=True):
    """What rules read of a queue that a consumer reported to own; here of business topics alone."""

    client_id: Annotated[str, Meta(description="client id of the consumer")]
    topic: Annotated[str, Meta(description="name of the topic")]
    broker_name: Annotated[str, Meta(description="name of the broker")]
    queue_id: Annotated[Int, Meta(description="id of the queue on that broker; -1 is all of the broker's, under POP")]


class OwnedQueue(Owned, Dataset, frozen=True, kw_only=True):
    """Queues that consumers report to own.

    Grain: one row a consumer and queue that it reported; a file written by hand may repeat one.
    Key: none.
    Units: ``queue_id`` counts from 0.
    """

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    consumer_index: Annotated[Int, Meta(description="which consumer of the group, as in `consumer`")]
    kind: Annotated[str, Meta(description="the topic's kind, as in `topic`")]
