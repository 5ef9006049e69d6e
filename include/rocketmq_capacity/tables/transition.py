"""Datasets ``transition``, ``group_transition`` and ``recommended_transition``."""

from typing import Annotated, ClassVar

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, Count, Dataset, QueueId


class Transition(Dataset, frozen=True, kw_only=True):
    """Each queue that a scenario gives to another client, and what happens in between; only a what-if has it.

    Only queues that clients pull are here: under POP the broker hands out messages, and queues have no owners. Times are
    at best, on average and at worst, computed from the timers in `group_transition`.

    Grain: one row a group and queue.
    Units: seconds, messages.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "topic", "broker_name", "queue_id")

    consumer_group: Annotated[str, means("name of the consumer group")]
    topic: Annotated[str, means("name of the topic")]
    broker_name: Annotated[str, means("name of the broker")]
    queue_id: Annotated[QueueId, means("id of the queue on that broker")]
    old_owners: Annotated[tuple[str, ...], means("client ids that own it before; none for a new queue")]
    new_owners: Annotated[tuple[str, ...], means("client ids that own it afterwards; none if nobody will read it")]
    cause: Annotated[
        str,
        means(
            "how its new owner learns of it: SHUTDOWN, KILL or SILENT (its old owner ends so), STARTS (its new "
            "owner does), MEMBERS (both stay, and others come or go), ROUTE (queues come or go), RESTART (other code)"
        ),
    ]
    unread_best_s: Annotated[
        Amount | None, means("how long nobody reads it, at best; null if nobody reads it afterwards")
    ] = None
    unread_expected_s: Annotated[Amount | None, means("on average")] = None
    unread_worst_s: Annotated[Amount | None, means("at worst")] = None
    twice_best_s: Annotated[Amount, means("how long both read it, at best")]
    twice_expected_s: Annotated[Amount, means("on average")]
    twice_worst_s: Annotated[Amount, means("at worst")]
    lock_wait_best_s: Annotated[
        Amount, means("how long the new owner waits for the lock of a queue consumed in order, at best")
    ]
    lock_wait_expected_s: Annotated[Amount, means("on average")]
    lock_wait_worst_s: Annotated[Amount, means("at worst")]
    messages_twice_expected: Annotated[
        Amount | None, means("messages that are consumed twice, on average; null if the rate is unknown")
    ] = None
    messages_twice_worst: Annotated[Amount | None, means("at worst")] = None
    starts_at: Annotated[
        str | None,
        means(
            "where its new owner begins: COMMITTED (the group's offset), NEW_QUEUE (the first message while that is "
            "in memory, else where consumeFromWhere says), NO_OFFSET (the same for a queue without an offset); null if unknown, as on a topic that is new to the group"
        ),
    ] = None
    messages_skipped_worst: Annotated[
        Amount | None,
        means(
            "messages that are never read: 0 if clients begin at the first offset; if it is unknown where "
            "they begin, as if at the last offset; null if unknown"
        ),
    ] = None


class TransitionTotals(Struct, frozen=True, kw_only=True):
    """What a change means while it spreads over the clients, which do not all notice it at the same moment."""

    moved_queues: Annotated[Count, means("queues that are there before and after, and get another owner")]
    new_queues: Annotated[Count, means("queues that are new and get an owner")]
    ownerless_queues: Annotated[Count, means("queues that had an owner or are new, and get none")]
    unread_longest_expected_s: Annotated[Amount, means("of the queues that get an owner, the longest mean")]
    unread_longest_worst_s: Annotated[Amount, means("the longest that one of them is unread")]
    twice_longest_worst_s: Annotated[Amount, means("the longest that one of them is read twice")]
    lock_wait_worst_s: Annotated[Amount, means("the longest wait for the lock of a queue that is consumed in order")]
    messages_twice_expected: Annotated[
        Amount | None, means("messages that are consumed twice, on average; null if a rate is unknown")
    ]
    messages_twice_worst: Annotated[Amount | None, means("at worst")]
    messages_skipped_worst: Annotated[
        Amount | None,
        means(
            "messages that are never read, at worst: 0 if clients begin at the first offset; if it is unknown "
            "where they begin, as if at the last offset; null if unknown"
        ),
    ]
    most_unread_at_once: Annotated[Count, means("the most queues that nobody reads at the same time")]
    most_twice_at_once: Annotated[Count, means("the most queues that two read at the same time")]


class TransitionOfGroup(TransitionTotals, frozen=True, kw_only=True):
    """The same for one group, with its worst moments and the timers."""

    unread_switched: Annotated[
        tuple[str, ...] | None, means("the clients that know of it when most are unread; null if the number is a bound")
    ] = None
    twice_switched: Annotated[tuple[str, ...] | None, means("the clients that know of it when most are read twice")] = (
        None
    )
    timers: Annotated[str, means("JSON of the timers in seconds, and which of them are settings that brokers reported")]


class GroupTransition(TransitionOfGroup, Dataset, frozen=True, kw_only=True):
    """What a scenario means for a group while it spreads, and the timers that this is computed from.

    Only a what-if has it.

    Grain: one row a group whose queues get other owners.
    Units: queues, seconds, messages.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group",)

    consumer_group: Annotated[str, means("name of the consumer group")]


class RecommendedTransition(TransitionOfGroup, Dataset, frozen=True, kw_only=True):
    """The same for each recommendation that changes owners, for each of its groups whose owners are known.

    Fixed lists for CONFIG are another way beside a recommendation, and have a row of their own.

    Grain: one row a recommendation, group and way, moved queues or not.
    Units: queues, seconds, messages.
    """

    KEY: ClassVar[tuple[str, ...]] = ("recommendation_id", "consumer_group", "is_of_lists")

    recommendation_id: Annotated[str, means("the recommendation")]
    is_of_lists: Annotated[
        bool, means("true: of its fixed lists for CONFIG (config_assignment), if all clients restart in one go")
    ] = False
    consumer_group: Annotated[str, means("name of the consumer group")]
