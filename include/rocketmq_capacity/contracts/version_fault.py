"""Dataset ``version_fault``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Count, Dataset


class VersionFault(Dataset, frozen=True, kw_only=True):
    """Java clients whose version has a known fault that can affect their group.

    Grain: one row a group, version and fault.
    Units: clients.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "version", "issue")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    version: Annotated[str, Meta(description="version of the client library, such as V4_8_0")]
    issue: Annotated[Count, Meta(description="number of the fault's issue of apache/rocketmq")]
    clients: Annotated[Count, Meta(description="client ids of this version that the fault can affect")]
    client_ids: Annotated[tuple[str, ...], Meta(description="the first of them in Java's order, at most 50")]
