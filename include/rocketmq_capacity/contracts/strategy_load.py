"""Dataset ``strategy_load``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import BigCount, Dataset, Metrics, Queue


class StrategyLoad(Dataset, frozen=True, kw_only=True):
    """The result of a strategy for a group, over its business topics.

    If it throws for a business topic, the owners of that topic are unknown. Then no client is called idle, all metrics
    are null, and the other lists are of the other topics.

    Grain: one row a clustering group and strategy.
    Units: those of METRICS.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "strategy")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    strategy: Annotated[str, Meta(description="name of the strategy, as getName() gives it, or POP")]
    is_applicable: Annotated[bool, Meta(description="RocketMQ would allocate at least some topics by it")]
    reason: Annotated[
        str | None,
        Meta(
            description="why not, or for which topics it throws, in RocketMQ's words if it has some; null if it "
            "allocates all"
        ),
    ] = None
    dialects: Annotated[
        tuple[str, ...],
        Meta(
            description="libraries by whose code its clients compute it (GO_V2, JAVA_4_7_1, JAVA for all others); empty "
            "if all compute as the official classes do"
        ),
    ] = ()
    idle_clients: Annotated[tuple[str, ...], Meta(description="client ids that own nothing over all business topics")]
    orphan_queues: Annotated[tuple[Queue, ...], Meta(description="readable business queues that nobody owns")]
    doubly_owned_queues: Annotated[
        tuple[Queue, ...],
        Meta(description="queues read by more than one consumer (POP does this on purpose, so none is listed)"),
    ]
    count: Annotated[Metrics | None, Meta(description="METRICS by number of queues")] = None
    traffic: Annotated[Metrics | None, Meta(description="METRICS by messages a second")] = None
    lag: Annotated[Metrics | None, Meta(description="METRICS by messages of lag")] = None
    moved_one_fewer: Annotated[
        BigCount | None,
        Meta(
            description="queues that get another owner if the last client in Java's order leaves; null if unknown, or for a "
            "single client"
        ),
    ] = None
    moved_one_more: Annotated[BigCount | None, Meta(description="the same if a client comes that sorts last")] = None
    moved_broker_lost: Annotated[
        BigCount | None,
        Meta(description="of the queues that stay, the same if the broker is lost whose loss moves most"),
    ] = None
    is_pareto_best: Annotated[
        bool | None,
        Meta(
            description="no other strategy is at least as good in queues with no reader or two readers, EXCESS by queues and "
            "moved queues, and better in one of them; null if one of these is unknown"
        ),
    ] = None
