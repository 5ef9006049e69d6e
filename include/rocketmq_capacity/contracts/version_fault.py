"""Dataset ``version_fault``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Int


class VersionFault(Dataset, frozen=True, kw_only=True):
    """Java clients whose version has a known fault that can affect their group.

    Grain: one row a group, version and fault.
    Key: consumer_group, version, issue.
    Units: clients.
    """

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    version: Annotated[str, Meta(description="version of the client library, such as V4_8_0")]
    issue: Annotated[Int, Meta(description="number of the fault's issue of apache/rocketmq")]
    clients: Annotated[Int, Meta(description="client ids of this version that the fault can affect")]
    client_ids: Annotated[tuple[str, ...], Meta(description="the first of them in Java's order, at most 50")]
