"""The safety preflight: what forbids a command, in words. Forbidden commands become comments.

Source: ConsumerManageProcessor and RebalancePushImpl (rocketmq-all-5.3.3) for groups that are offline: a group reads a
new queue from its end, if its first messages are no longer in memory.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.model.cases import QueueCounts
from rocketmq_capacity.model.facts import Place
from rocketmq_capacity.model.kept_counts import STATIC
from rocketmq_capacity.recommendation.commands import comment
from rocketmq_capacity.recommendation.facts import AdvisedTopic, AdvisedTopicPlace
from rocketmq_capacity.vocabulary import BUSINESS, FIFO, MASTER, SYSTEM
from rocketmq_capacity.wording import listed

ORDERED: Final = (
    "The topic is consumed in order, and with other queue counts keys move to other queues. Pause the producers, wait"
    " until every group has read all of it, then change the counts on every broker and let the producers on; or move"
    " to a new topic. Where name servers hand out an order configuration (orderMessageEnable), updateOrderConf has to"
    " follow."
)


@dataclass(frozen=True)
class Safety:
    """What may forbid a change of a topic's queues.

    Attributes:
        is_ordered: it is ordered, FIFO, or read in order by some group.
        order: its order flag as mqadmin takes it; None if unknown.
        forbids: reasons why none of its commands may be run; may be empty.
        offline: groups without a client, sorted.
        unseen: groups whose clients are unknown, sorted.
    """

    is_ordered: bool
    order: str | None
    forbids: tuple[str, ...]
    offline: tuple[str, ...]
    unseen: tuple[str, ...] = ()


def topic_safety(topic: AdvisedTopic) -> Safety:
    """What may forbid a change of the topic's queues."""
    facts = topic.facts
    groups = [reader for reader in topic.readers if reader.kind != SYSTEM]
    return Safety(
        is_ordered=bool(facts.is_ordered) or facts.message_type == FIFO or any(group.is_orderly for group in groups),
        order=None if facts.is_ordered is None else str(facts.is_ordered).lower(),
        forbids=reasons(
            kind(facts.kind) if facts.kind != BUSINESS else None,
            STATIC if facts.is_static else None,
            topic.cluster.suspect,
        ),
        offline=tuple(
            sorted(group.consumer_group for group in groups if group.connections == 0 and not group.unseen_clients)
        ),
        unseen=tuple(sorted(group.consumer_group for group in groups if group.unseen_clients)),
    )


def kind(of_topic: str) -> str:
    """The reason for a topic of a kind that is not BUSINESS."""
    return f"it is a topic of the kind {of_topic}"


def unknown_order(safety: Safety) -> str | None:
    """Why updateTopic must not be run on the topic, or None: it always sets the order flag."""
    return "its order flag is unknown, and the command would set it" if safety.order is None else None


def offline_groups(safety: Safety) -> str | None:
    """Why queues must not be added now, or None."""
    if not safety.offline:
        return None
    return f"groups without a running client would start the new queues at their end: {listed(safety.offline)}"


def unseen_groups(safety: Safety) -> str | None:
    """Why queues must not be added now, or None."""
    if not safety.unseen:
        return None
    return f"these groups may be offline, and would then start the new queues at their end: {listed(safety.unseen)}"


def unsafe_broker(place: Place) -> tuple[str, ...]:
    """What forbids a command to this broker of the topic."""
    broker, has_master = place.broker_name, place.broker_state == MASTER
    return reasons(
        None if has_master else f"{broker} has no master in the snapshot ({place.broker_state})",
        f"{broker} did not answer every request" if has_master and not place.has_answered else None,
    )


def unsafe_place(place: AdvisedTopicPlace, counts: QueueCounts) -> tuple[str, ...]:
    """What forbids to set the queue counts of a topic on one of its brokers."""
    broker, read, write = place.place.broker_name, place.place.read_queue_nums, place.place.write_queue_nums
    is_shrinking = read is not None and write is not None and write < read
    return unsafe_broker(place.place) + reasons(
        f"the topic's own perm on {broker} is unknown" if place.own_perm is None else None,
        fewer_read(counts),
        f"{broker} has more read than write queues, as in the middle of a shrink" if is_shrinking else None,
    )


def fewer_read(counts: QueueCounts) -> str | None:
    """Why a broker must not get these queues, or None: consumers would not see the last ones that are written."""
    if counts.read_queue_nums >= counts.write_queue_nums:
        return None
    return f"{counts.broker_name} would have fewer read than write queues"


def reasons(*given: str | None) -> tuple[str, ...]:
    """The reasons that are not None."""
    return tuple(reason for reason in given if reason is not None)


def commented(lines: Sequence[str], is_forbidden: bool) -> list[str]:
    """The commands; as comments if a person must not run them unchanged."""
    return [comment(line) for line in lines] if is_forbidden else list(lines)


def blocked(forbids: Iterable[str]) -> str | None:
    """The end of a recommendation's reason, or None if nothing forbids it."""
    reasons = dict.fromkeys(forbids)
    return f"Do not run the commands unchanged: {'; '.join(reasons)}." if reasons else None
