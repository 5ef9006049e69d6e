"""Dataset ``demand``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, Count, Dataset


class Demand(Dataset, frozen=True, kw_only=True):
    """Groups that more queues of a topic might help.

    Grain: one row a topic, rule and group.
    Units: client ids and queues, counted; ``busy_…`` are ratios, 1 is always busy.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic", "rule", "consumer_group")

    topic: Annotated[str, Meta(description="the topic that might get more queues")]
    rule: Annotated[str, Meta(description="the rule whose finding they would answer")]
    consumer_group: Annotated[str, Meta(description="the group that the finding is about")]
    clients: Annotated[Count, Meta(description="different client ids of the group")]
    queues_per_broker: Annotated[
        Count | None, Meta(description="queues needed on each writable broker; null if the number is still to be found")
    ] = None
    then_clients: Annotated[
        Count | None, Meta(description="clients that are enough with these queues; null: those of today")
    ] = None
    busy_before: Annotated[
        Amount | None,
        Meta(description="busy share of the group's busiest client at the peak; null if nobody is too busy"),
    ] = None
    busy_after: Annotated[Amount | None, Meta(description="the same with these queues and clients")] = None
