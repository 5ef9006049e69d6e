"""Queues that a client holds without progress."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from rocketmq_capacity.assessment.sampled import Sampled
from rocketmq_capacity.assessment.suspended import Suspended
from rocketmq_capacity.model.facts import GroupFacts, Owned, WhyRefused
from rocketmq_capacity.settings.thresholds import StuckQueue
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import MASTERLESS, java_order

DROPPED: Final = "DROPPED"
NOT_LOCKED: Final = "NOT_LOCKED"
NO_PROGRESS: Final = "NO_PROGRESS"
NOT_PULLED: Final = "NOT_PULLED"
NOT_READ: Final = "NOT_READ"
"""Its holder looks suspended."""
REFUSED: Final = "REFUSED"
"""Its broker gives the group no messages, whoever asks."""
NOT_TAKEN: Final = "NOT_TAKEN"
"""It is the share of a client that looks suspended, and nobody holds it."""
State = Literal["REFUSED", "DROPPED", "NOT_LOCKED", "NO_PROGRESS", "NOT_PULLED", "NOT_READ", "NOT_TAKEN"]
STATES: Final[tuple[State, ...]] = get_args(State)
"""In the order in which they are checked."""

LISTENER_BUSY: Final = "LISTENER_BUSY"
"""The listener has not returned from any message of the queue in this time."""
ONE_MESSAGE: Final = "ONE_MESSAGE"
"""The listener handles other messages of the queue, but not the first one: the offset cannot move beyond it."""
NO_MASTER: Final = "NO_MASTER"
"""A queue is locked at the master, and the broker has none."""
HELD_ELSEWHERE: Final = "HELD_ELSEWHERE"
"""Another client of the group holds the queue as well."""
CLIENT_OR_CLOCK: Final = "CLIENT_OR_CLOCK"
"""No queue of the client has a newer time: the whole client hangs, or its clock is wrong."""
PULLS_STOPPED: Final = "PULLS_STOPPED"
"""The client asks for messages of other queues, but no longer of this one."""

IN_HAND: Final = 20
"""The messages that a listener may have in hand: one a thread (DefaultMQPushConsumer.consumeThreadMin); more wait."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A queue that a client holds, or should hold, without progress.

    Attributes:
        queue: its name.
        client_id: who holds it, or should; None if nobody is known to, as of a queue that is popped.
        state: how it is stuck.
        cause: why, as far as known.
        since_s: for at least how many seconds, as far as known.
        lag: unread messages, as far as known.
        has_waiting: whether messages wait, unread or in the client's cache, and the group's offset is not seen to move.
    """

    queue: Queue
    client_id: str | None
    state: State
    cause: str | None
    since_s: float | None
    lag: int | None
    has_waiting: bool


def stuck_queues(sampled: Sampled, bounds: StuckQueue, suspended: Collection[Suspended] = ()) -> list[Stuck]:
    """The stuck queues of a group, sorted by queue and client; ``suspended`` are its clients that look suspended."""
    facts = sampled.group
    refused = refused_queues(facts)
    business = {reads.topic.topic for reads in facts.business}
    candidates = [
        one
        for one in facts.owned
        if one.topic in business and _may_be_stuck(facts, one, bounds) and one.queue not in refused
    ]
    if not candidates and not suspended and not refused:
        return []
    # The clients of a broadcasting group keep their offsets: those of the brokers say nothing of what was read.
    samples = None if facts.is_broadcasting else sampled
    lags = {one.queue: one.lag for one in facts.lags if samples is not None}
    holders: dict[Queue, set[str]] = {}
    for owned in facts.owned:
        holders.setdefault(owned.queue, set()).add(owned.client_id)
    written = {
        Queue(reads.topic.topic, one.broker_name, one.queue_id): one.put_msgs_per_s or 0.0
        for reads in facts.business
        for one in reads.topic.written
        if refused or candidates
    }
    stuck: dict[tuple[Queue, str], Stuck] = {}
    for queue, why in refused.items():
        since_s, lag = None if samples is None else samples.stands_s(queue), lags.get(queue)
        # Where the group is not created, the broker knows no lag.
        has_waiting = bool(lag) or written.get(queue, 0.0) > 0
        clients: list[str | None] = [*sorted(holders.get(queue, ()), key=java_order)]
        for client_id in clients or [None]:
            stuck[queue, client_id or ""] = Stuck(queue, client_id, REFUSED, why, since_s, lag, has_waiting)
    for owned in candidates:
        queue = owned.queue
        lag = lags.get(queue)
        busy = _busy(facts, owned, samples, lag, written.get(queue, 0.0))
        state = _state(facts, owned, samples, bounds, busy)
        if state is not None:
            cause, since_s = _cause(facts, owned, state, holders, bounds, busy)
            if since_s is None and state == NO_PROGRESS and samples is not None:
                since_s = samples.stands_s(queue)
            has_waiting = bool(lag or owned.cached_msgs) and _may_stand(samples, queue, cause)
            stuck[queue, owned.client_id] = Stuck(queue, owned.client_id, state, cause, since_s, lag, has_waiting)
    for client in suspended:
        of_client: tuple[tuple[State, tuple[Queue, ...]], ...] = (
            (NOT_READ, client.unread),
            (NOT_TAKEN, client.not_taken),
        )
        held = ((state, queue) for state, queues in of_client for queue in queues if queue not in refused)
        for state, queue in held:
            since_s, lag = None if samples is None else samples.stands_s(queue), lags.get(queue)
            stuck[queue, client.client_id] = Stuck(queue, client.client_id, state, client.why, since_s, lag, bool(lag))
    return [stuck[key] for key in sorted(stuck)]


def refused_queues(facts: GroupFacts) -> dict[Queue, WhyRefused]:
    """The readable business queues of brokers that give the group no messages, each with the reason."""
    refusing = facts.refusing
    if not refusing:
        return {}
    return {
        Queue(reads.topic.topic, place.broker_name, queue_id): refusing[place.broker_name]
        for reads in facts.business
        for place in reads.topic.places
        if place.broker_name in refusing
        for queue_id in range(place.readable)
    }


def _may_be_stuck(facts: GroupFacts, owned: Owned, bounds: StuckQueue) -> bool:
    """Whether the samples have to be looked at; most queues show no sign of being stuck."""
    is_silent = (owned.pulled_ago_s or 0.0) > bounds.pull_s or (owned.silent_s or 0.0) > bounds.pull_s
    is_unlocked = facts.is_orderly and (owned.locked is False or _is_over(owned.locked_ago_s, bounds.lock_s))
    return bool(owned.dropped or owned.cached_msgs or is_silent or is_unlocked)


class Busy(NamedTuple):
    """For how long a client has had messages of a queue and has finished none; None if unknown.

    Attributes:
        least_s: at least so many seconds.
        most_s: at most so many.
    """

    least_s: float | None
    most_s: float | None


def _busy(facts: GroupFacts, owned: Owned, sampled: Sampled | None, lag: int | None, rate: float) -> Busy:
    """For how long a client has had messages of a queue and has finished none.

    A client that consumes in order notes when it last gave its listener messages, any other one when the listener last
    finished one. An idle queue makes that long ago, although the few messages that wait have only just come: at the
    queue's rate as long ago as it takes to write them, and at the latest before the samples in which they wait.
    Source: ProcessQueue.takeMessages and removeMessage, rocketmq-all-5.3.3.
    """
    consumed_s = owned.consumed_ago_s
    if consumed_s is None or facts.is_orderly or sampled is None or lag is None or lag > IN_HAND:
        return Busy(consumed_s, consumed_s)
    stood_s = sampled.stands_s(owned.queue)
    if rate <= 0:
        return Busy(None if stood_s is None else min(stood_s, consumed_s), consumed_s)
    waited_s = min(max(lag / rate, stood_s or 0.0), consumed_s)
    return Busy(waited_s, waited_s)


def _state(facts: GroupFacts, owned: Owned, sampled: Sampled | None, bounds: StuckQueue, busy: Busy) -> State | None:
    if owned.dropped and (owned.pulled_ago_s is None or owned.pulled_ago_s > bounds.dropped_s):
        return DROPPED
    if facts.is_orderly and facts.is_clustering:
        # A client asks again within 20 s for a lock that it has just lost.
        if owned.locked_ago_s is None and owned.locked is False:
            return NOT_LOCKED
        if _is_over(owned.locked_ago_s, bounds.lock_s):
            return NOT_LOCKED
    if owned.cached_msgs and _makes_no_progress(owned, sampled, bounds.no_progress_s, busy):
        return NO_PROGRESS
    if _is_over(owned.pulled_ago_s, bounds.pull_s) or _is_over(owned.silent_s, bounds.pull_s):
        return NOT_PULLED
    return None


def _makes_no_progress(owned: Owned, sampled: Sampled | None, bound_s: float, busy: Busy) -> bool:
    """Whether a client has messages of a queue, but has not finished any for too long.

    A group that has never committed an offset on the queue has no samples; then only the client's report counts. The
    offset of an idle queue does not move either, so messages have to wait in two samples.
    """
    is_long = _is_over(busy.most_s, bound_s)
    if sampled is None or owned.queue not in sampled.places:
        return is_long
    stood_s = sampled.stands_s(owned.queue)
    return stood_s is not None and (is_long or stood_s > bound_s)


def _cause(
    facts: GroupFacts, owned: Owned, state: State, holders: Mapping[Queue, set[str]], bounds: StuckQueue, busy: Busy
) -> tuple[str | None, float | None]:
    """Why, and for how long, as far as known."""
    is_busy = bool(owned.cached_msgs) and _is_over(busy.most_s, bounds.no_progress_s)
    if state == DROPPED:
        return LISTENER_BUSY if is_busy else None, owned.pulled_ago_s
    if state == NOT_LOCKED:
        if _has_no_master(facts, owned):
            return NO_MASTER, owned.locked_ago_s
        return HELD_ELSEWHERE if holders[owned.queue] > {owned.client_id} else None, owned.locked_ago_s
    if state == NO_PROGRESS:
        return LISTENER_BUSY if is_busy else ONE_MESSAGE, busy.least_s if is_busy else None
    if _is_over(owned.silent_s, bounds.pull_s):
        return CLIENT_OR_CLOCK, owned.silent_s
    return PULLS_STOPPED, owned.pulled_ago_s


def _has_no_master(facts: GroupFacts, owned: Owned) -> bool:
    return any(
        place.broker_state == MASTERLESS
        for reads in facts.business
        if reads.topic.topic == owned.topic
        for place in reads.topic.places
        if place.broker_name == owned.broker_name
    )


def _may_stand(sampled: Sampled | None, queue: Queue, cause: str | None) -> bool:
    """Whether the group's offset may stand: another client may read the queue, and a client's clock may be wrong."""
    has_moved = None if sampled is None else sampled.moved_last(queue)
    return cause != CLIENT_OR_CLOCK if has_moved is None else not has_moved


def _is_over(age_s: float | None, bound_s: float) -> bool:
    return age_s is not None and age_s > bound_s
