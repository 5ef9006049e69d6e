"""Dataset ``group_unit``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class GroupUnit(Dataset, frozen=True, kw_only=True):
    """Everything that the snapshot knows of a business group, in one row. The later steps read it.

    Grain: one row a business group.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group",)

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    facts: Annotated[
        str,
        Meta(
            description="JSON of what it divides and among whom: the group, its topics with their queues, its consumers"
        ),
    ]
    observations: Annotated[str, Meta(description="JSON of what its consumers report about themselves, and its lags")]
    samples: Annotated[str, Meta(description="JSON of its offset samples, a list over time for each queue")]
