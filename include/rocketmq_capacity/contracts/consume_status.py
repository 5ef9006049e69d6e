"""Dataset ``consume_status``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, Count, Dataset, Facts


class ConsumedFacts(Facts, frozen=True, kw_only=True):
    """What rules use of how a consumer handles a topic."""

    consumer_index: Annotated[Count, Meta(description="which consumer of the group, as in `consumer`")]
    client_id: Annotated[str, Meta(description="client id of the consumer")]
    topic: Annotated[str, Meta(description="name of the topic")]
    consume_rt_ms: Annotated[
        Amount | None,
        Meta(
            description="mean duration of a listener call (one call handles up to consume_batch_size messages); 0 if nothing was consumed"
        ),
    ] = None


class ConsumeStatus(ConsumedFacts, Dataset, frozen=True, kw_only=True):
    """How fast a consumer handles a topic, as it reports it.

    RocketMQ's clients report the last minute. If that minute is empty, the response time is the last hour's.

    Grain: one row a consumer and topic.
    Units: milliseconds, messages a second.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "consumer_index", "topic")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    kind: Annotated[str, Meta(description="the topic's kind, as in `topic`")]
    consume_ok_msgs_per_s: Annotated[Amount | None, Meta(description="messages a second consumed")] = None
    consume_failed_msgs_per_s: Annotated[
        Amount | None, Meta(description="messages a second that the listener refused or failed on")
    ] = None
