"""Dataset ``topic_failure``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class TopicFailure(Dataset, frozen=True, kw_only=True):
    """The state of a business topic without each of its brokers, or machine rooms.

    Grain: one row a topic and failure.
    Key: topic, failure, lost.
    Units: queues, messages a second.
    """

    topic: Annotated[str, Meta(description="name of the topic")]
    failure: Annotated[str, Meta(description="BROKER or ROOM")]
    lost: Annotated[str, Meta(description="name of the broker or room")]
    msgs_per_s: Annotated[
        float | None, Meta(description="messages a second written to its queues there; null if unknown")
    ]
    readable_queues: Annotated[int, Meta(description="queues that consumers see elsewhere")]
    writable_queues: Annotated[int | None, Meta(description="queues that producers see elsewhere; null if unknown")]
    was_readable: Annotated[bool, Meta(description="consumers see some of its queues there now")]
    was_writable: Annotated[
        bool | None, Meta(description="producers see some of its queues there now; null if unknown")
    ]
