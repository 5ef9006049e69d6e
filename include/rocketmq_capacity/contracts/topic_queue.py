"""Dataset ``topic_queue``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Count, Dataset, Facts, one_of
from rocketmq_capacity.vocabulary import MASTERLESS, PERM_WRITE, is_readable


class Place(Facts, frozen=True, kw_only=True):
    """What rules use of a topic's queues on one broker."""

    broker_name: Annotated[str, Meta(description="name of the broker")]
    read_queue_nums: Annotated[Count | None, Meta(description="queues that consumers see, ids from 0")] = None
    write_queue_nums: Annotated[Count | None, Meta(description="queues that producers see, ids from 0")] = None
    perm: Annotated[Count | None, Meta(description="4 read + 2 write, the topic's combined with the broker's")] = None
    room: Annotated[
        str | None, Meta(description="machine room of the broker by the policy; null if no rule matches")
    ] = None
    broker_state: Annotated[
        str,
        one_of("MASTER", "MASTERLESS", "ABSENT"),
        Meta(description="MASTER, MASTERLESS (slaves only) or ABSENT (not in the inventory)"),
    ]
    has_answered: Annotated[bool, Meta(description="the broker is present and answered every request")]

    @property
    def readable(self) -> int:
        """How many queues consumers see."""
        return (self.read_queue_nums or 0) if is_readable(self.perm, self.read_queue_nums) else 0

    @property
    def writable(self) -> int | None:
        """How many queues producers see; None if that is unknown."""
        if self.broker_state == MASTERLESS or (self.perm is not None and not self.perm & PERM_WRITE):
            return 0
        return None if self.perm is None else self.write_queue_nums


class TopicQueue(Place, Dataset, frozen=True, kw_only=True):
    """Queues of a topic on a broker.

    Grain: one row a topic and broker.
    Units: queues, counted; ``perm`` is a bit set.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic", "broker_name")

    topic: Annotated[str, Meta(description="name of the topic")]
    kind: Annotated[
        str,
        one_of("BUSINESS", "RETRY", "DLQ", "LMQ", "SYSTEM", "EXCLUDED"),
        Meta(description="the topic's kind, as in `topic`"),
    ]
