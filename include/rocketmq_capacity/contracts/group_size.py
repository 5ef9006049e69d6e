"""Dataset ``group_size``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Int


class GroupSize(Dataset, frozen=True, kw_only=True):
    """How busy the clients of a group would be with other numbers of them.

    With fewer than today, the last in Java's order leave. Additional ones are like those that are there. If a group can
    use more than a few clients, not every number has a row: today's, ``needed_clients_target`` and
    ``max_useful_clients`` have one. Groups for which other numbers cannot be computed have none.

    Grain: one row a group and number of clients.
    Key: consumer_group, clients.
    Units: clients, queues; busy shares are ratios at the peak; 1 is always busy.
    """

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    clients: Annotated[Int, Meta(description="running consumers")]
    is_today: Annotated[bool, Meta(description="the group has this many today")]
    busy_lower: Annotated[float | None, Meta(description="busy_ratio with the shortest known response times")] = None
    busy_ratio: Annotated[
        float | None,
        Meta(description="busy share of the busiest client; null if unknown, or if nobody would own some queues"),
    ] = None
    busy_upper: Annotated[float | None, Meta(description="busy_ratio with the longest known response times")] = None
    idle_clients: Annotated[Int, Meta(description="client ids that would own no queue")]
    most_queues: Annotated[Int, Meta(description="the most queues that a client would own")]
    peak: Annotated[
        float | None, Meta(description="most_queues / the mean; null if clients share queues, or there are no queues")
    ] = None
