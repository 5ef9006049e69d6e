"""Dataset ``cluster_failure``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, Dataset, one_of


class ClusterFailure(Dataset, frozen=True, kw_only=True):
    """The loss of each master, the restart of each broker and the loss of each name server: who can read and write.

    Grain: one row a failure.
    Units: seconds.
    """

    KEY: ClassVar[tuple[str, ...]] = ("failure", "lost")

    failure: Annotated[
        str,
        one_of("MASTER", "RESTART", "NAME_SERVER"),
        Meta(description="MASTER (its slaves stay), RESTART (of a broker that was killed) or NAME_SERVER"),
    ]
    lost: Annotated[str, Meta(description="name of the broker, or address of the name server")]
    lost_brokers: Annotated[
        tuple[str, ...] | None,
        Meta(description="brokers whose queues leave the route with it; null if that is unknown"),
    ] = None
    is_writable: Annotated[bool | None, Meta(description="producers can write its queues; null if unknown")] = None
    can_pull: Annotated[
        bool | None, Meta(description="clients that pull, in any order, can read its queues; null if unknown")
    ] = None
    can_pull_in_order: Annotated[bool | None, Meta(description="the same of clients that consume in order")] = None
    can_pop: Annotated[bool | None, Meta(description="the same of clients that pop")] = None
    read_again_s: Annotated[
        Amount | None,
        Meta(description="maximum of seconds until they are read again; null if unknown, or not before a repair"),
    ] = None
    is_estimated: Annotated[bool, Meta(description="the seconds are an estimate, and no maximum")] = False
    why: Annotated[str, Meta(description="what happens, in a sentence or two")]
