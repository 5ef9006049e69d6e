"""Dataset ``topic``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Facts, one_of


class TopicPart(Facts, frozen=True, kw_only=True):
    """What rules use of a topic itself."""

    topic: Annotated[str, Meta(description="name of the topic")]
    is_declared: Annotated[
        bool, Meta(description="the cluster has it; false: a group subscribes to it, and no broker has it")
    ] = True
    message_type: Annotated[
        str | None,
        Meta(
            description="NORMAL, FIFO, DELAY, TRANSACTION, MIXED, UNSPECIFIED, PRIORITY (from 5.4) or LITE (from 5.5)"
        ),
    ] = None
    is_ordered: Annotated[bool | None, Meta(description="the topic's own order flag")] = None
    kind: Annotated[
        str,
        one_of("BUSINESS", "RETRY", "DLQ", "LMQ", "SYSTEM", "EXCLUDED"),
        Meta(
            description="BUSINESS, RETRY (%RETRY%), DLQ (%DLQ%), LMQ (%LMQ%), SYSTEM (RocketMQ's own) or EXCLUDED (by the policy)"
        ),
    ]


class Topic(TopicPart, Dataset, frozen=True, kw_only=True):
    """Every topic that is declared or that a group subscribes to.

    Grain: one row a topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)
