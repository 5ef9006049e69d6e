"""Dataset ``consumer_subscription``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Count, Dataset, Facts


class OwnSubscription(Facts, frozen=True, kw_only=True):
    """What rules use of the subscriptions that a consumer reported."""

    consumer_index: Annotated[Count, Meta(description="which consumer of the group, as in `consumer`")]
    topic: Annotated[str, Meta(description="name of the topic")]
    kind: Annotated[str, Meta(description="the topic's kind, as in `topic`")]
    expression_type: Annotated[str | None, Meta(description="TAG or SQL92")] = None
    expression: Annotated[str | None, Meta(description="filter, such as * or TagA || TagB")] = None


class ConsumerSubscription(OwnSubscription, Dataset, frozen=True, kw_only=True):
    """What each consumer that reported its subscriptions reads.

    Grain: one row a consumer and topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "consumer_index", "topic")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    client_id: Annotated[str, Meta(description="client id of the consumer")]
