"""Dataset ``allocation``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, QueueId


class Allocation(Dataset, frozen=True, kw_only=True):
    """Who owns what under each strategy.

    Grain: one row a queue and consumer, for every strategy that applies to the group.
    Key: none; consumers with the same client id have one equal row each.
    Units: ``queue_id`` counts from 0.
    """

    strategy: Annotated[
        str, Meta(description="getName() of the strategy, POP, or BROADCASTING for broadcasting groups")
    ]
    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    topic: Annotated[str, Meta(description="name of the topic")]
    broker_name: Annotated[str, Meta(description="name of the broker")]
    queue_id: Annotated[
        QueueId, Meta(description="id of the queue on that broker; -1 is every queue of the broker, under POP")
    ]
    client_id: Annotated[str, Meta(description="client id of the owner")]
