"""Dataset ``topic_headroom``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, Dataset, one_of


class TopicHeadroom(Dataset, frozen=True, kw_only=True):
    """How much more traffic of a business topic alone its brokers bear; its groups have a headroom of their own.

    Grain: one row a topic with traffic on brokers of which it is known what they can store.
    Units: ``factor`` is a multiple of the measured traffic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, Meta(description="name of the topic")]
    factor: Annotated[Amount, Meta(description="so many times its traffic until one of its brokers cannot store it")]
    breaks: Annotated[
        str, one_of("PUT_MESSAGES", "PUT_BYTES"), Meta(description="what breaks first there: PUT_MESSAGES or PUT_BYTES")
    ]
    broker_name: Annotated[str, Meta(description="name of this broker")]
