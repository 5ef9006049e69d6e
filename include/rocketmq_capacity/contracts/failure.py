"""Dataset ``failure``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class Failure(Dataset, frozen=True, kw_only=True):
    """Requests without an answer. What depends on them is unknown, not empty.

    Grain: one row a broker address and request; a hand-written file may have several.
    Key: none.
    """

    broker_addr: Annotated[str, Meta(description="host:port that was asked: a broker's, a name server's or a Proxy's")]
    broker_name: Annotated[str | None, Meta(description="the broker at that address, if known")] = None
    request: Annotated[str | None, Meta(description="RocketMQ's name of the request")] = None
    error: Annotated[
        str | None, Meta(description="what happened; of several errors the first, and the number of the others")
    ] = None
