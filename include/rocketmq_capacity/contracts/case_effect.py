"""Dataset ``case_effect``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class CaseEffect(Dataset, frozen=True, kw_only=True):
    """What the changes in ``tried_case`` would do to each group with clients on the topic.

    Grain: one row a change and group.
    """

    KEY: ClassVar[tuple[str, ...]] = ("case_id", "consumer_group")

    case_id: Annotated[str, Meta(description="the change, as in `tried_case`")]
    topic: Annotated[str, Meta(description="the topic that it changes")]
    consumer_group: Annotated[str, Meta(description="the group that reads the topic")]
    effect: Annotated[
        str, Meta(description="JSON of what the group owns before and after, and whether it would be worse off")
    ]
