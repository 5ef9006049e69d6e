"""Dataset ``tried_case``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class TriedCase(Dataset, frozen=True, kw_only=True):
    """Changes of topics that are tried before any is recommended.

    Grain: one row a change.
    """

    KEY: ClassVar[tuple[str, ...]] = ("case_id",)

    case_id: Annotated[str, Meta(description="id of the change, unique in the plan")]
    topic: Annotated[str, Meta(description="the topic that it changes")]
    counts: Annotated[str, Meta(description="JSON of the numbers of queues that it sets, by broker")]
