"""Dataset ``undecided_finding``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.finding import Finding


class UndecidedFinding(Finding, frozen=True, kw_only=True):
    """Findings of the cluster as it is that can no longer be judged after the changes, or are gone with what they are about; only a what-if has it.

    Grain: one row a finding.
    Key: rule, consumer_group, topic, broker_name.
    Units: those of the figures in ``evidence`` are in their names.
    """

    why: Annotated[str, Meta(description="what is unknown after the changes, in words")]
    gone_with: Annotated[
        str | None,
        Meta(description="the topic, broker, room or client that the changes take away with it; else null"),
    ] = None
