"""Dataset ``producer_balance``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, Count, Dataset, one_of


class ProducerBalance(Dataset, frozen=True, kw_only=True):
    """A business topic whose queues or brokers get another share than producers without keys would give them.

    Grain: one row such a topic.
    Units: messages a second, ratios, probabilities.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, Meta(description="name of the topic")]
    kind: Annotated[
        str,
        one_of("KEYED", "DISPLACED", "KEYED_OR_DISPLACED"),
        Meta(description="KEYED, DISPLACED or KEYED_OR_DISPLACED"),
    ]
    message: Annotated[str, Meta(description="one sentence for people")]
    message_type: Annotated[str | None, Meta(description="of the topic; null if unknown")]
    queues: Annotated[Count, Meta(description="its writable queues")]
    msgs_per_s: Annotated[Amount, Meta(description="messages a second written to it")]
    peak: Annotated[Amount, Meta(description="rate of its busiest queue / the mean of all")]
    level: Annotated[Amount, Meta(description="the policy's level of the test")]
    p_between_brokers: Annotated[
        Amount, Meta(description="probability that brokers differ so much by chance; 1 if there is only one broker")
    ]
    p_within_brokers: Annotated[
        Amount, Meta(description="probability that the queues of each broker do so; 1 if each broker has one queue")
    ]
    broker_expected_ratios: Annotated[
        dict[str, float], Meta(description="for each broker, its share where producers use all queues in turn")
    ]
    broker_measured_ratios: Annotated[dict[str, float], Meta(description="for each broker, its share of the messages")]
    producer_groups_elsewhere: Annotated[
        tuple[str, ...],
        Meta(
            description="producer groups, at most five, that are not seen on a broker that gets too little; none if KEYED"
        ),
    ]
    displacing_producer_groups: Annotated[
        tuple[str, ...],
        Meta(description="producer groups, at most five, whose version can displace a queue for ever; none if KEYED"),
    ]
