"""Dataset ``subscription``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Facts, Int, Ratio, one_of


class ReadsPart(Facts, frozen=True, kw_only=True):
    """What rules use of how a group reads a topic."""

    is_declared_by_group: Annotated[
        bool, Meta(description="the group itself subscribes to it; false: only some of its consumers do")
    ]
    expression_type: Annotated[str | None, Meta(description="TAG or SQL92")] = None
    expression: Annotated[str | None, Meta(description="filter, such as * or TagA || TagB")] = None
    pass_ratio: Annotated[
        Ratio | None,
        Meta(
            description="share of the topic's messages that the filter lets through, 1 without a filter; null if unknown"
        ),
    ] = 1.0
    message_request_mode: Annotated[
        str, one_of("PULL", "POP"), Meta(description="PULL or POP: the topic's own, else the group's, else PULL")
    ]
    pop_share_queue_num: Annotated[
        Int, Meta(description="number of next clients whose queues a client also pops; <= 0 means all")
    ]


class Subscription(ReadsPart, Dataset, frozen=True, kw_only=True):
    """Topics that a group or one of its consumers reads.

    Grain: one row a group and topic.
    Units: ``pop_share_queue_num`` in other clients whose queues a client also pops; ``pass_ratio`` is a ratio.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "topic")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    topic: Annotated[str, Meta(description="name of the topic")]
    kind: Annotated[str, Meta(description="the topic's kind, as in `topic`")]
