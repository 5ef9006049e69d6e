"""Dataset ``producer``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset


class Producer(Dataset, frozen=True, kw_only=True):
    """The running producers, as brokers know them. The topics that they send to are unknown.

    Grain: one row a running producer.
    Key: none; a group may have a client id several times.
    """

    producer_group: Annotated[str, Meta(description="name of the producer group")]
    client_id: Annotated[str, Meta(description="id of the client; equal ids are several producers")]
    client_addr: Annotated[str | None, Meta(description="host:port that a broker sees")] = None
    language: Annotated[str | None, Meta(description="of the client library")] = None
    version: Annotated[str | None, Meta(description="of the client library, such as V5_3_3")] = None
    seen_on: Annotated[tuple[str, ...], Meta(description="brokers that know it; empty if unknown")] = ()
