"""Dataset ``finding_since``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, one_of
from rocketmq_capacity.vocabulary import SEVERITIES


class FindingSince(Dataset, frozen=True, kw_only=True):
    """Since when an unbroken row of runs has found something; no rows if there is no run before.

    Grain: one row a rule, group, topic and broker of findings.
    Units: a UTC time.
    """

    KEY: ClassVar[tuple[str, ...]] = ("rule", "consumer_group", "topic", "broker_name")

    rule: Annotated[str, Meta(description="name of the rule")]
    consumer_group: Annotated[str | None, Meta(description="the finding's; null if there is none")] = None
    topic: Annotated[str | None, Meta(description="the finding's; null if there is none")] = None
    broker_name: Annotated[str | None, Meta(description="the finding's; null if there is none")] = None
    since: Annotated[str, Meta(description="taken_at of the first run; of this run if the run before did not find it")]
    least_severity: Annotated[
        str | None,
        one_of(*SEVERITIES),
        Meta(description="the lowest severity that the unbroken row of runs has; null in tables of earlier versions"),
    ] = None

    @property
    def place(self) -> tuple[str, str | None, str | None, str | None]:
        """The rule and the names that it is about."""
        return self.rule, self.consumer_group, self.topic, self.broker_name
