"""Dataset ``topic_failure``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, BigCount, Dataset, one_of


class TopicFailure(Dataset, frozen=True, kw_only=True):
    """The state of a business topic without each of its brokers, or machine rooms.

    Grain: one row a topic and failure.
    Units: queues, messages a second.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic", "failure", "lost")

    topic: Annotated[str, Meta(description="name of the topic")]
    failure: Annotated[str, one_of("BROKER", "ROOM"), Meta(description="BROKER or ROOM")]
    lost: Annotated[str, Meta(description="name of the broker or room")]
    msgs_per_s: Annotated[
        Amount | None, Meta(description="messages a second written to its queues there; null if unknown")
    ]
    readable_queues: Annotated[BigCount, Meta(description="queues that consumers see elsewhere")]
    writable_queues: Annotated[
        BigCount | None, Meta(description="queues that producers see elsewhere; null if unknown")
    ]
    was_readable: Annotated[bool, Meta(description="consumers see some of its queues there now")]
    was_writable: Annotated[
        bool | None, Meta(description="producers see some of its queues there now; null if unknown")
    ]
