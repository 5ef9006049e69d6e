"""Dataset ``topic_answer``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class TopicAnswer(Dataset, frozen=True, kw_only=True):
    """What the groups of a topic need to know about the recommendations for the topic.

    Grain: one row a topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, Meta(description="name of the topic")]
    answer: Annotated[
        str, Meta(description="JSON of what its changes answer, why others were refused, and what forbids its commands")
    ]
