"""Dataset ``producer_share``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, Dataset, QueueId, Ratio


class ProducerShare(Dataset, frozen=True, kw_only=True):
    """The share of a business topic's messages that each of its writable queues should get, and gets.

    A topic has no rows where its writable queues are unknown.

    Grain: one row a writable queue.
    Units: shares of the topic's messages, messages a second.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic", "broker_name", "queue_id")

    topic: Annotated[str, Meta(description="name of the topic")]
    broker_name: Annotated[str, Meta(description="name of the broker")]
    queue_id: Annotated[QueueId, Meta(description="id of the queue on the broker")]
    expected_ratio: Annotated[Ratio, Meta(description="its share where producers use all queues in turn")]
    measured_ratio: Annotated[
        Ratio | None, Meta(description="its share of the messages; null if unknown, or if there are none")
    ]
    broker_expected_ratio: Annotated[Ratio, Meta(description="expected_ratio of all of the broker's queues together")]
    broker_measured_ratio: Annotated[Ratio | None, Meta(description="measured_ratio of them together")]
    put_msgs_per_s: Annotated[Amount | None, Meta(description="messages a second written to it; null if unknown")]
