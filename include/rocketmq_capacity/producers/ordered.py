"""Which share of ordered messages goes to other queues when the writable queues of a topic change.

Ordered messages choose a queue by its place in a list: all writable queues, sorted by broker and id. A Proxy takes for
a message group the index ``Hashing.consistentHash(hash of its name, queues)``, a jump hash. The Java client's selector
for keys takes the index ``hash of the key % queues``. With another list an index may also mean another queue.
Source: SendMessageActivity.SendMessageQueueSelector, MessageQueueSelector.buildWrite, SelectMessageQueueByHash and
MQClientInstance.topicRouteData2TopicPublishInfo, rocketmq-all-5.3.3.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import gcd

from rocketmq_capacity.vocabulary import java_order

WriteQueue = tuple[str, int]
"""Broker name, queue id."""


def ordered_write_queues(numbers: Mapping[str, int]) -> list[WriteQueue]:
    """The writable queues in the order of clients and Proxies; ``numbers`` has those of each broker."""
    return [(name, queue_id) for name in sorted(numbers, key=java_order) for queue_id in range(numbers[name])]


def moved_message_groups(before: Sequence[WriteQueue], after: Sequence[WriteQueue]) -> float:
    """The share of all message groups that a Proxy sends to another queue; neither list may be empty.

    From M to N queues the fraction 1 - M/N of the groups gets another index, in both directions.
    """
    fewer, more = sorted((before, after), key=len)
    kept_index = sum(old == new for old, new in zip(fewer, more, strict=False))
    index_of_new = Counter(more[len(fewer) :])
    met_again = sum(index_of_new[queue] for queue in fewer) / len(fewer)
    return 1 - (kept_index + met_again) / len(more)


def moved_keys(before: Sequence[WriteQueue], after: Sequence[WriteQueue]) -> float:
    """The share of all keys that SelectMessageQueueByHash sends to another queue; neither list may be empty.

    Two indexes belong to one hash if they are equal modulo the greatest common divisor of the lengths; each such pair
    has the same share of all hashes.
    """
    divisor = gcd(len(before), len(after))
    index_of = {queue: index for index, queue in enumerate(after)}
    kept = sum((index - index_of[queue]) % divisor == 0 for index, queue in enumerate(before) if queue in index_of)
    return 1 - kept * divisor / (len(before) * len(after))
