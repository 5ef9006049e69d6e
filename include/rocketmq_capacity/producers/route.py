"""The route of a topic as a producer sees it: brokers, and the queues that it may write to."""

from collections.abc import Iterable
from typing import NamedTuple

from rocketmq_capacity.vocabulary import PERM_WRITE, java_order


class WritePlace(NamedTuple):
    """A topic's write queues on one broker, as the route shows them."""

    broker_name: str
    write_queue_nums: int
    perm: int = 6
    has_master: bool = True


class WriteQueue(NamedTuple):
    """A queue that a producer may choose."""

    broker_name: str
    queue_id: int


def write_queues(route: Iterable[WritePlace]) -> list[WriteQueue]:
    """The writable queues in a producer's order: by broker name, then by id. The Proxy's order is the same.

    Source: MQClientInstance.topicRouteData2TopicPublishInfo, MessageQueueSelector.buildWrite, rocketmq-all-5.3.3.
    """
    return [
        WriteQueue(place.broker_name, queue_id)
        for place in sorted(route, key=lambda one: java_order(one.broker_name))
        if place.perm & PERM_WRITE and place.has_master
        for queue_id in range(place.write_queue_nums)
    ]
