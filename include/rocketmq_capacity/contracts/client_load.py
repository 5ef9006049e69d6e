"""Dataset ``client_load``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, BigCount, Dataset


class ClientLoad(Dataset, frozen=True, kw_only=True):
    """Load of each client id over the group's business topics, under each strategy that applies to all of them.

    Grain: one row a client id and strategy; an idle client has zeros, equal ids count once.
    Units: queues, messages a second, messages.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "strategy", "client_id")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    strategy: Annotated[str, Meta(description="name of the strategy, as getName() gives it, or POP")]
    client_id: Annotated[str, Meta(description="client id; equal ids count once")]
    queues: Annotated[BigCount, Meta(description="queues owned over all business topics")]
    msgs_per_s: Annotated[
        Amount | None, Meta(description="messages a second written to its queues; null if a rate is unknown")
    ] = None
    lag: Annotated[BigCount | None, Meta(description="messages not read on its queues; null if a lag is unknown")] = (
        None
    )
