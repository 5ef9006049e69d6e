"""Dataset ``broker``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, BigCount, Count, Dataset


class Broker(Dataset, frozen=True, kw_only=True):
    """Brokers, as the name server lists them and as they describe themselves.

    Grain: one row a broker process.
    Units: ``broker_perm`` is a bit set; ``config`` and ``runtime`` hold RocketMQ's own names, units and texts.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name", "broker_id")

    broker_name: Annotated[str, Meta(description="name of a master and its slaves")]
    broker_id: Annotated[BigCount, Meta(description="0 is the master, others are slaves")]
    broker_addr: Annotated[str | None, Meta(description="host:port")] = None
    broker_perm: Annotated[Count | None, Meta(description="what the broker allows: 4 read + 2 write")] = None
    version: Annotated[str | None, Meta(description="as the broker reports it, such as V5_3_3")] = None
    config: Annotated[dict[str, str] | None, Meta(description="the broker's properties, without secrets")] = None
    runtime: Annotated[dict[str, str] | None, Meta(description="the broker's runtime figures")] = None
    room: Annotated[str | None, Meta(description="machine room by the policy; null if no rule matches")] = None
    seen_msgs_per_s: Annotated[
        Amount | None, Meta(description="the most messages a second that it stored in the inventories of the history")
    ] = None
    seen_bytes_per_s: Annotated[Amount | None, Meta(description="the same in bytes")] = None
    seen_bytes_per_day: Annotated[
        Amount | None, Meta(description="bytes that it stored a day since the oldest inventory of the history")
    ] = None
    has_answered: Annotated[bool, Meta(description="no request to this process failed")]
