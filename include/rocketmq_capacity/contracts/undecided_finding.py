"""Dataset ``undecided_finding``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.finding import Finding


class UndecidedFinding(Finding, frozen=True, kw_only=True):
    """What is wrong with the cluster as it is, and can no longer be judged after the changes; only a what-if has it.

    Grain: one row a finding.
    Key: rule, consumer_group, topic, broker_name.
    Units: those of the figures in ``evidence`` stand in their names.
    """

    why: Annotated[str, Meta(description="what is not known after the changes, in words")]
