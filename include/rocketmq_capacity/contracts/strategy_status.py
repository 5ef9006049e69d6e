"""Dataset ``strategy_status``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class StrategyStatus(Dataset, frozen=True, kw_only=True):
    """Whether a strategy can be run for a group.

    Grain: one row a clustering group and strategy.
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
