"""Dataset ``group_size``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, Count, Dataset


class GroupSize(Dataset, frozen=True, kw_only=True):
    """How busy the clients of a group would be with other numbers of them.

    With fewer than today, the last in Java's order leave. Additional ones are like those that are there. If a group can
    use more than a few clients, not every number has a row: today's, ``needed_clients_target`` and
    ``max_useful_clients`` have one. Groups for which other numbers cannot be computed have none.

    Grain: one row a group and number of clients.
    Units: clients, queues; busy shares are ratios at the peak; 1 is always busy.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "clients")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    clients: Annotated[Count, Meta(description="running consumers")]
    is_today: Annotated[bool, Meta(description="the group has this many today")]
    busy_lower: Annotated[Amount | None, Meta(description="busy_ratio with the shortest known response times")] = None
    busy_ratio: Annotated[
        Amount | None,
        Meta(description="busy share of the busiest client; null if unknown, or if nobody would own some queues"),
    ] = None
    busy_upper: Annotated[Amount | None, Meta(description="busy_ratio with the longest known response times")] = None
    idle_clients: Annotated[Count, Meta(description="client ids that would own no queue")]
    most_queues: Annotated[Count, Meta(description="the most queues that a client would own")]
    peak: Annotated[
        Amount | None, Meta(description="most_queues / the mean; null if clients share queues, or there are no queues")
    ] = None
