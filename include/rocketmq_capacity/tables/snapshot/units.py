"""The units: everything that later steps need of a group, or of a topic, in one row."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Dataset


class GroupUnit(Dataset, frozen=True, kw_only=True):
    """Everything that the snapshot knows of a business group, in one row. The later steps read it.

    Grain: one row a business group.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group",)

    consumer_group: Annotated[str, means("name of the consumer group")]
    facts: Annotated[
        str, means("JSON of what it divides and among whom: the group, its topics with their queues, its consumers")
    ]
    observations: Annotated[str, means("JSON of what its consumers report about themselves, and its lags")]
    sampled: Annotated[
        str, means("JSON of its offsets over time: the names of queues, and the samples of all as arrays")
    ]


class TopicUnit(Dataset, frozen=True, kw_only=True):
    """Everything that the snapshot knows of a topic, in one row. The later steps read it.

    Grain: one row a topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, means("name of the topic")]
    facts: Annotated[str, means("JSON of the topic, its queues, and the groups that read it")]
