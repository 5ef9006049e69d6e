"""The rule on queues that a client holds without progress: STUCK_QUEUE."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from msgspec.structs import asdict

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.contracts import Finding
from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.contracts.facts import Owned, Samples, lag_of
from rocketmq_capacity.contracts.wording import counted, fixed, listed, rounded
from rocketmq_capacity.settings.thresholds import StuckQueue
from rocketmq_capacity.vocabulary import CRITICAL, MASTERLESS, WARNING, java_order

if TYPE_CHECKING:
    from rocketmq_capacity.assessment.group import Group, GroupRule

STUCK_QUEUE: Final = Rule(
    name="STUCK_QUEUE",
    title="Queues that a consumer holds and does not read",
    meaning=(
        "A consumer holds these queues, but does not read on. Meanwhile no other consumer of its group may read them."
    ),
    place=100,
    advice=(
        "Find out what the listener of the owners waits for: consumerStatus writes the stack of each. Restart a"
        " client whose listener does not come back, and set a time limit for what it waits for. Afterwards"
        " consumerProgress shows that the offsets of these queues move."
    ),
    looks="stacks",
    leaves_with_clients=True,
)


DROPPED: Final = "DROPPED"
NOT_LOCKED: Final = "NOT_LOCKED"
NO_PROGRESS: Final = "NO_PROGRESS"
NOT_PULLED: Final = "NOT_PULLED"
State = Literal["DROPPED", "NOT_LOCKED", "NO_PROGRESS", "NOT_PULLED"]
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


@dataclass(frozen=True, slots=True)
class Stuck:
    """A queue that a client holds without progress.

    Attributes:
        queue: its name.
        client_id: who holds it.
        state: how it is stuck.
        cause: why, as far as known.
        since_s: for at least how many seconds, as far as known.
        lag: unread messages, as far as known.
        has_waiting: whether messages wait, unread or in the client's cache, and the group's offset is not seen to move.
    """

    queue: Queue
    client_id: str
    state: State
    cause: str | None
    since_s: float | None
    lag: int | None
    has_waiting: bool


def stuck_queue(group: "Group") -> Iterator[Finding]:
    """STUCK_QUEUE: a client holds a queue that it should have released, has not locked, does not read on, or not pull.

    It is CRITICAL if messages have waited for ``critical_s``, however many.
    Source: ConsumerRunningInfo.analyzeProcessQueue, rocketmq-all-5.3.3; offsets of the samples are used as well.
    """
    stuck = group.stuck
    if not stuck:
        return
    each = {one.queue: one.lag for one in stuck}
    known = [lag for lag in each.values() if lag is not None]
    lag = sum(known) if len(known) == len(each) else None
    since_s = max((one.since_s for one in stuck if one.since_s is not None), default=None)
    waiting_s = max((one.since_s for one in stuck if one.since_s is not None and one.has_waiting), default=None)
    clients = sorted({one.client_id for one in stuck}, key=java_order)
    counts = Counter(one.state for one in stuck)
    how = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    yield finding(
        STUCK_QUEUE,
        CRITICAL if waiting_s is not None and waiting_s >= group.policy.thresholds.STUCK_QUEUE.critical_s else WARNING,
        consumer_group=group.name,
        queues=sorted(each),
        evidence={
            "clients": len(clients),
            "client_ids": clients,
            "lag": lag,
            "since_s": rounded(since_s, 0),
            "queues": [
                {
                    **asdict(one.queue),
                    "client_id": one.client_id,
                    "state": one.state,
                    "cause": one.cause,
                    "since_s": rounded(one.since_s, 0),
                    "lag": one.lag,
                }
                for one in stuck
            ],
        },
        message=f"{counted(len(each), 'queue')}"
        + ("" if lag is None else f" with {counted(lag, 'message')} of lag")
        + f" {'is' if len(each) == 1 else 'are'} stuck at {listed(clients)}"
        + ("" if since_s is None else f" for {fixed(since_s, 0)} s")
        + f": {how}.",
    )


def stuck_queues(group: "Group") -> list[Stuck]:
    """The stuck queues, sorted by queue and client."""
    bounds = group.policy.thresholds.STUCK_QUEUE
    business = {reads.topic.topic for reads in group.business}
    candidates = [one for one in group.facts.owned if one.topic in business and _may_be_stuck(group, one, bounds)]
    if not candidates:
        return []
    # The clients of a broadcasting group keep their offsets: those of the brokers say nothing of what was read.
    is_kept = not group.facts.is_broadcasting
    samples = {Queue(one.topic, one.broker_name, one.queue_id): one for one in group.facts.samples if is_kept}
    lags = {Queue(one.topic, one.broker_name, one.queue_id): one.lag for one in group.facts.lags if is_kept}
    holders: dict[Queue, set[str]] = {}
    for one in group.facts.owned:
        holders.setdefault(Queue(one.topic, one.broker_name, one.queue_id), set()).add(one.client_id)
    found: dict[tuple[Queue, str], Stuck] = {}
    for one in candidates:
        queue = Queue(one.topic, one.broker_name, one.queue_id)
        state = _state(group, one, samples.get(queue), bounds)
        if state is not None:
            cause, since_s = _cause(group, one, state, holders, bounds)
            if since_s is None and state == NO_PROGRESS and queue in samples:
                since_s = _stands_s(samples[queue])
            lag = lags.get(queue)
            has_waiting = bool(lag or one.cached_msgs) and _may_stand(samples.get(queue), cause)
            found[queue, one.client_id] = Stuck(queue, one.client_id, state, cause, since_s, lag, has_waiting)
    return [found[key] for key in sorted(found)]


def _may_be_stuck(group: "Group", one: Owned, bounds: StuckQueue) -> bool:
    """Whether the samples have to be looked at; most queues show no sign of being stuck."""
    is_unlocked = one.locked is False or _is_over(one.locked_ago_s, bounds.lock_s)
    is_silent = _is_over(one.pulled_ago_s, bounds.pull_s) or _is_over(one.silent_s, bounds.pull_s)
    return bool(one.dropped or one.cached_msgs or is_silent or (group.facts.is_orderly and is_unlocked))


def _state(group: "Group", one: Owned, samples: Samples | None, bounds: StuckQueue) -> State | None:
    if one.dropped and (one.pulled_ago_s is None or one.pulled_ago_s > bounds.dropped_s):
        return DROPPED
    if group.facts.is_orderly and group.is_clustering:
        # A client asks again within 20 s for a lock that it has just lost.
        if one.locked_ago_s is None and one.locked is False:
            return NOT_LOCKED
        if _is_over(one.locked_ago_s, bounds.lock_s):
            return NOT_LOCKED
    if one.cached_msgs and _makes_no_progress(one, samples, bounds.no_progress_s):
        return NO_PROGRESS
    if _is_over(one.pulled_ago_s, bounds.pull_s) or _is_over(one.silent_s, bounds.pull_s):
        return NOT_PULLED
    return None


def _makes_no_progress(one: Owned, samples: Samples | None, bound_s: float) -> bool:
    """Whether a client has messages of a queue, but has not finished any for too long.

    A group that has never committed an offset on the queue has no samples; then only the client's report counts. The
    offset of an idle queue does not move either, so messages have to wait in two samples.
    """
    is_long = _is_over(one.consumed_ago_s, bound_s)
    if samples is None:
        return is_long
    stands_s = _stands_s(samples)
    return stands_s is not None and (is_long or stands_s > bound_s)


def _cause(
    group: "Group", one: Owned, state: State, holders: Mapping[Queue, set[str]], bounds: StuckQueue
) -> tuple[str | None, float | None]:
    """Why, and for how long, as far as known."""
    queue = Queue(one.topic, one.broker_name, one.queue_id)
    is_busy = bool(one.cached_msgs) and _is_over(one.consumed_ago_s, bounds.no_progress_s)
    if state == DROPPED:
        return LISTENER_BUSY if is_busy else None, one.pulled_ago_s
    if state == NOT_LOCKED:
        if _has_no_master(group, one):
            return NO_MASTER, one.locked_ago_s
        return HELD_ELSEWHERE if holders[queue] > {one.client_id} else None, one.locked_ago_s
    if state == NO_PROGRESS:
        return LISTENER_BUSY if is_busy else ONE_MESSAGE, one.consumed_ago_s if is_busy else None
    if _is_over(one.silent_s, bounds.pull_s):
        return CLIENT_OR_CLOCK, one.silent_s
    return PULLS_STOPPED, one.pulled_ago_s


def _has_no_master(group: "Group", one: Owned) -> bool:
    return any(
        place.broker_state == MASTERLESS
        for reads in group.business
        if reads.topic.topic == one.topic
        for place in reads.topic.places
        if place.broker_name == one.broker_name
    )


def _stands_s(samples: Samples) -> float | None:
    """For how many seconds of the last samples messages waited and the offset did not move; None if it moved."""
    if not samples.at_s:
        return None
    last = samples.consumer_offset[-1]
    since, number = samples.at_s[-1], 0
    told = zip(samples.at_s, samples.broker_offset, samples.consumer_offset, strict=True)
    for at_s, broker, consumer in reversed(list(told)):
        if consumer is None or consumer != last or not lag_of(broker, consumer):
            break
        since, number = at_s, number + 1
    return samples.at_s[-1] - since if number > 1 else None


def _may_stand(samples: Samples | None, cause: str | None) -> bool:
    """Whether the group's offset may stand: another client may read the queue, and a client's clock may be wrong."""
    if samples is None or len(samples.at_s) < 2:
        return cause != CLIENT_OR_CLOCK
    return samples.consumer_offset[-1] == samples.consumer_offset[-2]


def _is_over(age_s: float | None, bound_s: float) -> bool:
    return age_s is not None and age_s > bound_s


GROUP_RULES: "Final[tuple[GroupRule, ...]]" = (stuck_queue,)
