"""Dataset ``run_before``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class RunBefore(Dataset, frozen=True, kw_only=True):
    """The run that this one is compared with; no row if there is no run before.

    Grain: one row a run.
    Key: none.
    Units: a UTC time.
    """

    taken_at: Annotated[str, Meta(description="when its snapshot was taken")]
