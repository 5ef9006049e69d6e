"""Dataset ``undecided_finding``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.finding import Finding


class UndecidedFinding(Finding, frozen=True, kw_only=True):
    """Findings of the cluster as it is that can no longer be judged after the changes, or are gone with what they are about; only a what-if has it.

    Grain: one row a finding.
    Units: those of the figures in ``evidence`` are in their names.
    """

    KEY: ClassVar[tuple[str, ...]] = ("rule", "consumer_group", "topic", "broker_name")

    why: Annotated[str, Meta(description="what is unknown after the changes, in words")]
    gone_with: Annotated[
        str | None,
        Meta(description="the topic, broker, room or client that the changes take away with it; else null"),
    ] = None
