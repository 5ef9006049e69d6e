"""Who owns what under each strategy."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Dataset, QueueId


class Allocation(Dataset, frozen=True, kw_only=True):
    """Who owns what under each strategy.

    Grain: one row a queue and consumer, for every strategy that applies to the group.
    Key: none; consumers with the same client id have one equal row each.
    Units: ``queue_id`` counts from 0.
    """

    strategy: Annotated[str, means("getName() of the strategy, POP, or BROADCASTING for broadcasting groups")]
    consumer_group: Annotated[str, means("name of the consumer group")]
    topic: Annotated[str, means("name of the topic")]
    broker_name: Annotated[str, means("name of the broker")]
    queue_id: Annotated[QueueId, means("id of the queue on that broker; -1 is every queue of the broker, under POP")]
    client_id: Annotated[str, means("client id of the owner")]


class StrategyStatus(Dataset, frozen=True, kw_only=True):
    """Whether a strategy can be run for a group.

    Grain: one row a clustering group and strategy.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "strategy")

    consumer_group: Annotated[str, means("name of the consumer group")]
    strategy: Annotated[str, means("name of the strategy, as getName() gives it, or POP")]
    is_applicable: Annotated[bool, means("RocketMQ would allocate at least some topics by it")]
    reason: Annotated[
        str | None,
        means("why not, or for which topics it throws, in RocketMQ's words if it has some; null if it allocates all"),
    ] = None
