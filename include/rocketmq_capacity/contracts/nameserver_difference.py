"""Dataset ``nameserver_difference``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Count, Dataset


class NameserverDifference(Dataset, frozen=True, kw_only=True):
    """What a name server lists differently from the inventory, if several name servers were asked.

    Grain: one row a name server, broker and topic; without a topic it is about the broker's processes.
    Units: queues, counted; ``perm`` is a bit set. Null if the name server, or the inventory, has nothing there.
    """

    KEY: ClassVar[tuple[str, ...]] = ("nameserver_addr", "topic", "broker_name")

    nameserver_addr: Annotated[str, Meta(description="host:port of the name server")]
    topic: Annotated[str | None, Meta(description="topic whose route differs; null if the broker itself does")] = None
    broker_name: Annotated[str, Meta(description="name of the broker that differs")]
    is_listed: Annotated[bool, Meta(description="the name server lists the broker, or the topic's queues on it")]
    read_queue_nums: Annotated[Count | None, Meta(description="read queues by this name server")] = None
    write_queue_nums: Annotated[Count | None, Meta(description="write queues by this name server")] = None
    perm: Annotated[Count | None, Meta(description="4 read + 2 write by this name server")] = None
    readable: Annotated[Count, Meta(description="queues that consumers of this name server see")] = 0
    readable_elsewhere: Annotated[Count, Meta(description="queues that consumers see according to the inventory")] = 0
