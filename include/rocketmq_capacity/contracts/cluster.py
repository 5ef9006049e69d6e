"""Dataset ``cluster``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Ratio


class Cluster(Dataset, frozen=True, kw_only=True):
    """The snapshot itself.

    Grain: one row.
    Key: none.
    Units: ``completeness_ratio`` from 0 to 1.
    """

    cluster_name: Annotated[str, Meta(description="name of the cluster")]
    taken_at: Annotated[str, Meta(description="UTC ISO-8601, as in the inventory")]
    recorded_at: Annotated[
        str | None, Meta(description="when a recorded snapshot was really taken, if it was given another taken_at")
    ] = None
    fingerprint: Annotated[str, Meta(description="SHA-256 of the canonical inventory")]
    nameservers: Annotated[tuple[str, ...], Meta(description="host:port of each name server; empty if unknown")]
    completeness_ratio: Annotated[
        Ratio,
        Meta(
            description="readable business queues whose broker answered every request / all of them; 1 if there are none"
        ),
    ]
