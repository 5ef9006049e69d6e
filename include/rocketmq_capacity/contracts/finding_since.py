"""Dataset ``finding_since``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class FindingSince(Dataset, frozen=True, kw_only=True):
    """Since when runs in a row have found something; no rows where there is no run before.

    Grain: one row for what findings are about: a rule, a group, a topic and a broker.
    Key: rule, consumer_group, topic, broker_name.
    Units: a UTC time.
    """

    rule: Annotated[str, Meta(description="name of the rule")]
    consumer_group: Annotated[str | None, Meta(description="the finding's; null where it is about none")] = None
    topic: Annotated[str | None, Meta(description="the finding's; null where it is about none")] = None
    broker_name: Annotated[str | None, Meta(description="the finding's; null where it is about none")] = None
    since: Annotated[
        str, Meta(description="taken_at of the first run; of this one where the run before did not find it")
    ]

    @property
    def place(self) -> tuple[str, str | None, str | None, str | None]:
        """What it is about."""
        return self.rule, self.consumer_group, self.topic, self.broker_name
