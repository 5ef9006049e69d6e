"""Dataset ``demand``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Int


class Demand(Dataset, frozen=True, kw_only=True):
    """Groups that more queues of a topic might help.

    Grain: one row a topic, rule and group.
    Key: topic, rule, consumer_group.
    Units: client ids and queues, counted; ``busy_…`` are ratios, 1 is always busy.
    """

    topic: Annotated[str, Meta(description="the topic that might get more queues")]
    rule: Annotated[str, Meta(description="the rule whose finding they would answer")]
    consumer_group: Annotated[str, Meta(description="the group that the finding is about")]
    clients: Annotated[Int, Meta(description="different client ids of the group")]
    queues_per_broker: Annotated[
        Int | None, Meta(description="queues needed on each writable broker; null if the number is still to be found")
    ] = None
    then_clients: Annotated[
        Int | None, Meta(description="clients that are enough with these queues; null: those of today")
    ] = None
    busy_before: Annotated[
        float | None,
        Meta(description="busy share of the group's busiest client at the peak; null if nobody is too busy"),
    ] = None
    busy_after: Annotated[float | None, Meta(description="the same with these queues and clients")] = None
