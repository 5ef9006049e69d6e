"""Dataset ``scenario_effect``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Count, Dataset, Metrics, Ratio


class ScenarioEffect(Dataset, frozen=True, kw_only=True):
    """What a scenario does to a group under a strategy; only a what-if has it.

    There is a row for each strategy that can run after the changes. If it could not run before, moved_* and before_* are
    null. If it throws for a business topic, the figures of that side are null; moved_* are null if the owners that the
    topic keeps are unknown.

    Grain: one row a group and strategy.
    Units: queues and client ids, counted; ``moved_ratio`` from 0 to 1.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "strategy")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    strategy: Annotated[str, Meta(description="name of the strategy, as getName() gives it, or POP")]
    moved_queues: Annotated[
        Count | None, Meta(description="business queues that are there before and after, and whose owner differs")
    ] = None
    moved_ratio: Annotated[
        Ratio | None,
        Meta(description="moved_queues / business queues present before and after; null if there are none"),
    ] = None
    before_idle: Annotated[Count | None, Meta(description="client ids that owned nothing before")] = None
    before_count: Annotated[Metrics | None, Meta(description="METRICS by queues before")] = None
    before_traffic: Annotated[Metrics | None, Meta(description="METRICS by messages a second before")] = None
    after_idle: Annotated[Count | None, Meta(description="client ids that own nothing after")] = None
    after_count: Annotated[Metrics | None, Meta(description="METRICS by queues after")] = None
    after_traffic: Annotated[Metrics | None, Meta(description="METRICS by messages a second after")] = None
