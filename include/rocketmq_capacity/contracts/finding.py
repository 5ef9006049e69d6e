"""Dataset ``finding``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Queue, one_of
from rocketmq_capacity.vocabulary import SEVERITIES


class Finding(Dataset, frozen=True, kw_only=True):
    """What is wrong.

    Grain: one row a finding: a rule and what it is about. Findings of a rule about one thing differ in what they say.
    Units: those of the figures in ``evidence`` are in their names.
    """

    KEY: ClassVar[tuple[str, ...]] = ("rule", "consumer_group", "topic", "broker_name", "message")

    rule: Annotated[str, Meta(description="name of the rule")]
    severity: Annotated[str, one_of(*SEVERITIES), Meta(description="INFO, WARNING or CRITICAL")]
    consumer_group: Annotated[str | None, Meta(description="the group that it is about; null if there is none")] = None
    topic: Annotated[str | None, Meta(description="the topic that it is about; null if there is none")] = None
    broker_name: Annotated[str | None, Meta(description="the broker that it is about; null if there is none")] = None
    subjects: Annotated[
        tuple[str, ...],
        Meta(description="client ids, brokers or groups that it is about, sorted; queues are in queues"),
    ] = ()
    queues: Annotated[tuple[Queue, ...], Meta(description="queues that it is about, sorted")] = ()
    evidence: Annotated[str, Meta(description="JSON object of the figures that it is based on")]
    message: Annotated[str, Meta(description="one sentence for people")]

    @property
    def about(self) -> tuple[str | Queue, ...]:
        """Queues and other subjects, as the plan file has them in ``subjects``."""
        return (*self.queues, *self.subjects)
