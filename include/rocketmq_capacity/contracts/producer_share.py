"""Dataset ``producer_share``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Int


class ProducerShare(Dataset, frozen=True, kw_only=True):
    """The share of a business topic's messages that each of its writable queues should get, and gets.

    A topic has no rows where its writable queues are unknown.

    Grain: one row a writable queue.
    Key: topic, broker_name, queue_id.
    Units: shares of the topic's messages, messages a second.
    """

    topic: Annotated[str, Meta(description="name of the topic")]
    broker_name: Annotated[str, Meta(description="name of the broker")]
    queue_id: Annotated[Int, Meta(description="id of the queue on the broker")]
    expected_ratio: Annotated[float, Meta(description="its share where producers use all queues in turn")]
    measured_ratio: Annotated[
        float | None, Meta(description="its share of the messages; null if unknown, or if there are none")
    ]
    broker_expected_ratio: Annotated[float, Meta(description="expected_ratio of all of the broker's queues together")]
    broker_measured_ratio: Annotated[float | None, Meta(description="measured_ratio of them together")]
    put_msgs_per_s: Annotated[float | None, Meta(description="messages a second written to it; null if unknown")]
