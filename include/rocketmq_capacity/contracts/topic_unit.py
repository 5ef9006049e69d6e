"""Dataset ``topic_unit``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class TopicUnit(Dataset, frozen=True, kw_only=True):
    """Everything that the snapshot knows of a topic, in one row. The later steps read it.

    Grain: one row a topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, Meta(description="name of the topic")]
    facts: Annotated[str, Meta(description="JSON of the topic, its queues, and the groups that read it")]
