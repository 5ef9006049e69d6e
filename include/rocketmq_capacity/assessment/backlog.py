"""Rules on messages that wait: RETENTION_RISK, RETRY_PRESSURE, and the part of LAG_STATE that looks at samples."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from math import fsum
from typing import Annotated, ClassVar, Final, TypedDict

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import Group, GroupRule
from rocketmq_capacity.assessment.lag import (
    HOUR_S,
    STANDING,
    STATES,
    WARN,
    WINDOW,
    QueueState,
    State,
    business_topics,
    duration,
    grown,
    lag_troubles,
)
from rocketmq_capacity.assessment.ownership import STUCK, orphan_cause
from rocketmq_capacity.assessment.suspended import ADVICE as SUSPENDED_ADVICE
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import FALLS, Rule
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CRITICAL, INFO, RETRY, WARNING, Severity
from rocketmq_capacity.wording import counted, fixed, listed, percent, queue_label, rounded

NO_CLIENTS: Final = (
    "Find out whether this group is still needed: it has no clients. If it is, start them, and messages that are kept"
    " are read; if not, nothing is lost."
)
HELD_UP: Final = (
    "Find out what holds the group up on these queues: whether a client owns them, and what its listener waits for."
)


class StalledQueue(Queue, frozen=True, kw_only=True):
    """A queue whose lag does not fall."""

    state: Annotated[State, means("what its samples show")]
    lag: Annotated[int, means("unread", "message")]


class Stalled(Evidence, frozen=True, kw_only=True):
    """The evidence of LAG_STATE if lag does not fall by its samples; at its end, if messages also wait too long."""

    adds_to: ClassVar = {"lag": "lag"}

    state: Annotated[State, means("the worst of its queues")]
    lag: Annotated[int, means("unread on these queues", "message")]
    clients: Annotated[int, means("of the group", "client")]
    lag_growth: Annotated[int, means("by which their lag grew", "message")]
    over_s: Annotated[float, means("time from the first sample to the last")]
    growth_msgs_per_h: Annotated[float | None, means("growth of the lag")]
    behind_s: Annotated[float | None, means("age of the last message that was read on the worst of them")]
    put_msgs_per_s: Annotated[float | None, means("messages that are written to them")]
    consume_msgs_per_s: Annotated[float | None, means("messages that are read from them")]
    catches_up: Annotated[bool | None, means("whether more is read than written")]
    catch_up_s: Annotated[float | None, means("time until all is read if it goes on like this")]
    suspended_client_ids: Annotated[Sequence[str] | UnsetType, means("who holds them and looks suspended")] = UNSET
    queues: Annotated[Sequence[StalledQueue], means("the queues")]
    max_lag_s: Annotated[float | UnsetType, means("time for which a message may wait, by the policy")] = UNSET
    waits_s: Annotated[float | UnsetType, means("time for which the oldest unread message has waited")] = UNSET
    breach_in_s: Annotated[float | UnsetType | None, means("time until one waits too long (null: one does now)")] = (
        UNSET
    )
    late_queues: Annotated[int | UnsetType, means("on which messages wait too long", "queue")] = UNSET


class LateFigures(TypedDict, total=False):
    """What both say of messages that wait too long."""

    max_lag_s: float
    waits_s: float
    breach_in_s: float | None
    late_queues: int


class Late(Evidence, frozen=True, kw_only=True):
    """The evidence of LAG_STATE if messages wait too long, or soon will."""

    adds_to: ClassVar = {"lag": "lag"}

    lag: Annotated[int, means("unread on these queues", "message")]
    max_lag_s: Annotated[float, means("time for which a message may wait, by the policy")]
    waits_s: Annotated[float, means("time for which the oldest unread message has waited")]
    breach_in_s: Annotated[float | None, means("time until one waits too long (null: one does now)")]
    late_queues: Annotated[int, means("on which messages wait too long", "queue")]


def _look_at_readers(_: Finding, evidence: Evidence) -> str:
    if not isinstance(evidence, Stalled):
        return HELD_UP
    if evidence.suspended_client_ids is not UNSET:
        return SUSPENDED_ADVICE
    return HELD_UP if evidence.clients else NO_CLIENTS


LAG_STATE: Final = Rule(
    name="LAG_STATE",
    title="A backlog that does not shrink",
    meaning="Over the last samples the group did not catch up with what is written.",
    place=120,
    evidence=(Stalled, Late),
    advice=_look_at_readers,
    looks="its clients",
    shows=FALLS,
    needs=("lag of its queues", "samples of its queues"),
    severities={
        "CRITICAL": (
            "offsets stand (STOP, STALL), at least `LOW_UTILISATION.min_lag` messages wait there, and more are"
            " written; or messages wait too long, and lag is known not to fall"
        ),
        "WARNING": (
            "so many wait, or an offset stands for `STUCK_QUEUE.critical_s`; or messages wait too long, or soon will"
        ),
        "INFO": "fewer wait, or the group has no clients, and may be gone for ever",
    },
    thresholds=(
        "LOW_UTILISATION.min_lag",
        "LOW_UTILISATION.min_growth_s",
        "STUCK_QUEUE.critical_s",
    ),
    details="""
    By its last ten samples, a queue of the group does not catch up. The rules are Burrow's:

    - **STOP**: the group's last commit is older than the samples, the offset does not move, and no client owns the
      queue.
    - **REWIND**: the offset went back.
    - **STALL**: the offset does not move while messages wait.
    - **WARN**: the lag never falls, and is more than `allowed_lag` and what comes in
      `LOW_UTILISATION.min_growth_s`.

    The group is as bad as its worst queue. The evidence has how much the lag of these queues grew, over which time,
    and by how many messages an hour. `suspended_client_ids` are the clients that look suspended, if all of these queues
    are theirs (STUCK_QUEUE). `behind_s` is the age of the last message that was read on the queues that the
    finding names. `catch_up_s` is how long they take at the speed of the samples; it is unknown if they do not
    catch up. Clients of a broadcasting group keep their own offsets, so that there is no verdict on its lag. This
    needs ten samples: `snapshot.sample_count` in the policy, or earlier inventories by `--history`.

    Or messages wait longer than `max_lag_s` of the group's entry in the policy allows (`groups`). `waits_s` is the
    age of the oldest unread message, and `breach_in_s` the time until messages wait too long, if that is less than
    `breach_hours`. A group has one finding for both. A group without clients has neither in hours in which its
    `schedule` in the policy does not expect it.
    """,
)
CATCH_UP: Final = (
    "Let the group catch up before its messages are deleted: more or faster clients, or a longer retention if the"
    " disks have room for it."
)


class LeftQueue(Queue, frozen=True, kw_only=True):
    """A queue whose unread messages are deleted now or soon."""

    left_hours: Annotated[float, means("time until messages are deleted unread")]


class Retention(Evidence, frozen=True, kw_only=True):
    """The evidence of RETENTION_RISK."""

    adds_to: ClassVar = {"deleted_messages": "deleted"}

    clients: Annotated[int, means("of the group", "client")]
    lost_queues: Annotated[int, means("of which messages were deleted unread", "queue")]
    deleted: Annotated[int, means("that were deleted unread", "message")]
    left_hours: Annotated[float | None, means("time until the next messages are deleted unread")]
    warning_hours: Annotated[float, means("time below which this is a finding, by the policy")]
    queues: Annotated[Sequence[LeftQueue], means("the queues")]


def _catch_up(_: Finding, evidence: Retention) -> str:
    return NO_CLIENTS if not evidence.clients else CATCH_UP


RETENTION_RISK: Final = Rule(
    name="RETENTION_RISK",
    title="Unread messages close to deletion",
    meaning=(
        "A broker deletes old files, also if they were not read. A group this far behind is about to lose messages."
    ),
    place=90,
    evidence=Retention,
    advice=_catch_up,
    looks="its clients",
    shows=FALLS,
    needs=("lag of its queues",),
    is_for_good=True,
    severities={
        "CRITICAL": "messages are deleted unread, or will be within `critical_hours`",
        "WARNING": "they will be within `warning_hours`",
        "INFO": "nobody waits for a group without clients any more",
    },
    thresholds=("STALE_OBJECT.days",),
    details="""
    The broker deletes messages that the group has not read within `warning_hours`, or it has deleted some.
    `left_hours` is how much older the broker's oldest message is than the last one that the group has read; where
    the broker has deleted nothing of the queue yet, its `fileReservedTime` counts. Nobody waits for a group without
    clients outside its `schedule`, once it is gone for the days of STALE_OBJECT, or if it is unknown since when it
    is gone and nothing is left to save.
    """,
)


class Retry(Evidence, frozen=True, kw_only=True):
    """The evidence of RETRY_PRESSURE."""

    failed_ratio: Annotated[float | None, means("share of the messages that fail, as clients say")]
    failed_msgs_per_s: Annotated[float, means("messages that fail")]
    consumed_msgs_per_s: Annotated[float, means("messages that clients handle")]
    retried_ratio: Annotated[float | None, means("messages that come again, as a share of all that arrive")]
    retried_msgs_per_s: Annotated[float | None, means("messages that come again by the retry topic")]
    bound_ratio: Annotated[float, means("share that may fail, by the policy")]


RETRY_PRESSURE: Final = Rule(
    name="RETRY_PRESSURE",
    title="Many messages fail and are delivered again",
    meaning=("Consumers fail on many messages. These are delivered again, and in the end go to the dead-letter topic."),
    place=210,
    evidence=Retry,
    advice=(
        "Find out why the listener fails: a message that fails is delivered again up to 16 times, and then goes to"
        " the dead-letter topic."
    ),
    shows="#Max Offset has stopped growing.",
    shown_by="retry topic",
    needs=("clients", "consumed"),
    severities={
        "CRITICAL": "so many fail that many end in the dead-letter topic, 16 attempts and some hours later",
        "WARNING": "some fail",
    },
    details="""
    The listener fails for more than `failed_ratio` of the messages, or that many come again by the group's retry
    topic. A failed message is delivered up to 16 times more, and each time it takes a thread.
    """,
)


EARLIEST: Final = "earliestMessageTimeStamp"
"""A broker's runtime figure: store time of its oldest message, milliseconds since 1970 (BrokerStatsManager)."""
RESERVED: Final = "fileReservedTime"
DEFAULT_RESERVED: Final = "72"
"""Hours (MessageStoreConfig.fileReservedTime)."""


def lag_by_samples(group: Group, late: LateFigures) -> Iterator[Finding]:
    """The finding of LAG_STATE if a queue is stopped, rewound, stalled, or never catches up by its last samples.

    A group that is bound to a LITE topic has no offsets on the topic's queues: brokers report 0, whatever it has read.
    ``late`` are the figures of messages that wait too long; none if there are no such messages.
    """
    if group.facts.is_lite:
        return
    states = [one for one in lag_troubles(group.facts) if one.state != WARN or not _is_under_way(group, one)]
    if not states:
        return
    worst = min((one.state for one in states), key=STATES.index)
    queues = [one.queue for one in states if one.state == worst]
    lag, grew, over_s = sum(one.lag for one in states), sum(one.grew for one in states), _window_s(states)
    put = sum(one.written / one.over_s for one in states) if over_s > 0 else None
    consumed = sum((one.written - one.grew) / one.over_s for one in states) if over_s > 0 else None
    is_faster = None if put is None or consumed is None else consumed > put
    ages = [
        one.behind_s
        for one in group.facts.lags
        if one.behind_s is not None and Queue(one.topic, one.broker_name, one.queue_id) in queues
    ]
    counts, worst_s = Counter(one.state for one in states), max(ages, default=None)
    how = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    yield finding(
        LAG_STATE,
        _lag_severity(group, states),
        consumer_group=group.name,
        queues=queues,
        evidence=Stalled(
            state=worst,
            lag=lag,
            clients=group.facts.connections,
            lag_growth=grew,
            over_s=rounded(over_s, 0),
            growth_msgs_per_h=rounded(grew * HOUR_S / over_s, 1) if over_s > 0 else None,
            behind_s=worst_s,
            put_msgs_per_s=rounded(put),
            consume_msgs_per_s=rounded(consumed),
            catches_up=is_faster,
            catch_up_s=rounded(lag / (consumed - put), 0) if is_faster and consumed and put is not None else None,
            **_held_up_by(group, states),
            queues=[StalledQueue(**asdict(one.queue), state=one.state, lag=one.lag) for one in states],
            **late,
        ),
        message=f"{counted(len(states), 'queue')} with {lag:,} {'message' if lag == 1 else 'messages'} of lag"
        f" {'does' if len(states) == 1 else 'do'} not catch up over the last {WINDOW} samples: {how}."
        + _stand(states, worst_s)
        + (f" Their lag {grown(grew, over_s)}." if grew > 0 else ""),
    )


def _held_up_by(group: Group, states: Sequence[QueueState]) -> dict[str, list[str]]:
    """The clients that look suspended, for the evidence, if all of these queues are theirs."""
    behind = {one.queue for one in states}
    theirs = {queue for one in group.suspended for queue in (*one.unread, *one.not_taken)}
    if not theirs & behind:
        return {}
    load, current = group.today_load, group.current
    if load is not None and current is not None and orphan_cause(group, current.strategy) == STUCK:
        theirs |= {group.division.queues.names[queue] for queue in load.orphans.tolist()}
    if not behind <= theirs:
        return {}
    return {
        "suspended_client_ids": [
            one.client_id for one in group.suspended if not behind.isdisjoint((*one.unread, *one.not_taken))
        ]
    }


def _is_under_way(group: Group, state: QueueState) -> bool:
    """Whether the lag of a queue never was more than the messages that are always under way there.

    These are a few, and those of ``min_growth_s``: clients commit what they have read every few seconds.
    """
    usual_s = group.policy.thresholds.LOW_UTILISATION.min_growth_s
    written = state.written / state.over_s if state.over_s > 0 else 0.0
    return state.most <= max(group.policy.thresholds.LAG_STATE.allowed_lag, written * usual_s)


def _stand(states: Sequence[QueueState], behind_s: float | None) -> str:
    """A further sentence on the queues whose offset did not move at all, and for how long; empty if there are none.

    ``behind_s`` is the age of the last message that was read of the worst of them.
    """
    standing = [one for one in states if one.state in STANDING]
    if not standing:
        return ""
    names = listed([queue_label(one.queue) for one in standing])
    over_s = max(one.over_s for one in standing)
    age = "" if behind_s is None else f"; the last message read is {duration(behind_s)} old"
    return f" The offset of {names} has not moved{f' for {duration(over_s)}' if over_s > 0 else ''}{age}."


def _window_s(states: Sequence[QueueState]) -> float:
    return max((one.over_s for one in states), default=0.0) if all(one.over_s > 0 for one in states) else 0.0


def _lag_severity(group: Group, states: Sequence[QueueState]) -> Severity:
    """CRITICAL if much is left unread on queues whose offset stands while more is written.

    INFO for a group without clients, which may never come back, and for little lag, unless it stands for so long that
    a stuck queue would be critical.
    """
    bounds, least = group.policy.thresholds.STUCK_QUEUE, group.policy.thresholds.LOW_UTILISATION.min_lag
    standing = [one for one in states if one.state in STANDING]
    if not group.facts.connections:
        return INFO
    if sum(one.lag for one in standing) >= least and sum(one.grew for one in standing) > 0:
        return CRITICAL
    is_old = any(one.over_s >= bounds.critical_s for one in standing)
    return WARNING if is_old or sum(one.lag for one in states) >= least else INFO


def _is_given_up(group: Group, *, can_be_saved: bool) -> bool:
    """Whether nobody waits for a group without clients: it is off, or was gone for the days of STALE_OBJECT.

    If it is unknown for how long it is gone, it counts as gone if what it lacks was deleted long ago.
    """
    if group.facts.connections:
        return False
    days = group.facts.unused_days
    if group.is_off or (days is not None and days >= group.policy.thresholds.STALE_OBJECT.days):
        return True
    return days is None and not can_be_saved


def retention_risk(group: Group) -> Iterator[Finding]:
    """RETENTION_RISK: unread messages will soon be deleted, or were deleted.

    What was read of a LITE topic, or by a broadcasting group, is unknown: their offsets on brokers do not say it.
    """
    if group.facts.is_lite or group.facts.is_broadcasting:
        return
    bounds = group.policy.thresholds.RETENTION_RISK
    topics = business_topics(group.facts)
    behind = [
        (one, one.consumer_offset)
        for one in group.facts.lags
        if one.lag and one.consumer_offset is not None and one.topic in topics
    ]
    if not behind:
        return
    kept_s, reserved_s = _kept_s(group.cluster), _reserved_s(group.cluster)
    lost: list[Queue] = []
    hours: dict[Queue, float] = {}
    deleted = 0
    for one, offset in behind:
        queue = Queue(one.topic, one.broker_name, one.queue_id)
        least = one.min_offset
        if least is not None and offset < least:
            lost.append(queue)
            deleted += least - offset
        elif one.behind_s is not None and (kept := kept_s.get(one.broker_name)) is not None:
            if not least:  # the queue still has its first message, so the broker may be new
                kept = max(kept, reserved_s.get(one.broker_name, kept))
            hours[queue] = max(kept - one.behind_s, 0.0) / HOUR_S
    near = {queue: left for queue, left in hours.items() if left < bounds.warning_hours}
    if not lost and not near:
        return
    least_hours = min(near.values(), default=None)
    is_critical = bool(lost) or (least_hours is not None and least_hours < bounds.critical_hours)
    severity: Severity = CRITICAL if is_critical else WARNING
    yield finding(
        RETENTION_RISK,
        INFO if _is_given_up(group, can_be_saved=bool(near)) else severity,
        consumer_group=group.name,
        queues=sorted(lost) or sorted(near, key=lambda queue: (near[queue], queue)),
        evidence=Retention(
            clients=group.facts.connections,
            lost_queues=len(lost),
            deleted=deleted,
            left_hours=0.0 if lost else rounded(least_hours, 2),
            warning_hours=bounds.warning_hours,
            queues=[
                LeftQueue(**asdict(queue), left_hours=0.0 if queue in lost else rounded(hours[queue], 2))
                for queue in sorted([*lost, *near])
            ],
        ),
        message=f"{counted(deleted, 'message')} of {counted(len(lost), 'queue')} were deleted unread."
        if lost
        else f"In {fixed(least_hours or 0.0, 1)} hours the broker deletes messages that the group has not read.",
    )


def _kept_s(cluster: ClusterFacts) -> dict[str, float]:
    """By broker name, the age of its oldest message, in seconds."""
    taken_at = datetime.fromisoformat(cluster.cluster.taken_at).timestamp()
    kept: dict[str, float] = {}
    for broker in cluster.brokers:
        earliest = whole_number((broker.runtime or {}).get(EARLIEST))
        if broker.broker_id == 0 and earliest:
            kept[broker.broker_name] = taken_at - earliest / 1000
    return kept


def _reserved_s(cluster: ClusterFacts) -> dict[str, float]:
    """By broker name, how long it is configured to keep messages, in seconds."""
    return {
        broker.broker_name: hours * HOUR_S
        for broker in cluster.brokers
        if broker.broker_id == 0
        and (hours := whole_number((broker.config or {}).get(RESERVED, DEFAULT_RESERVED))) is not None
    }


def retry_pressure(group: Group) -> Iterator[Finding]:
    """RETRY_PRESSURE: the listener fails on more than a few messages, which are delivered again."""
    bounds, low = group.policy.thresholds.RETRY_PRESSURE, group.policy.thresholds.LOW_UTILISATION
    handled = [one.msgs_per_s for one in group.facts.consumed if one.msgs_per_s is not None]
    failed = [one.failed_msgs_per_s for one in group.facts.consumed if one.failed_msgs_per_s is not None]
    retried = [
        one.put_msgs_per_s
        for reads in group.facts.reads
        if reads.topic.kind == RETRY
        for one in reads.topic.written
        if one.put_msgs_per_s is not None
    ]
    total, failing, again = fsum(handled), fsum(failed), fsum(retried)
    rate = group.weights.total_msgs_per_s
    failed_ratio = failing / total if total > 0 else None
    retried_ratio = again / rate if rate and retried else None
    most = max(ratio for ratio in (failed_ratio, retried_ratio, 0.0) if ratio is not None)
    if most <= bounds.failed_ratio or max(failing, again) < bounds.failed_ratio * low.min_msgs_per_s:
        return
    yield finding(
        RETRY_PRESSURE,
        CRITICAL if most > bounds.critical_ratio else WARNING,
        consumer_group=group.name,
        evidence=Retry(
            failed_ratio=rounded(failed_ratio),
            failed_msgs_per_s=rounded(failing),
            consumed_msgs_per_s=rounded(total),
            retried_ratio=rounded(retried_ratio),
            retried_msgs_per_s=rounded(again) if retried else None,
            bound_ratio=bounds.failed_ratio,
        ),
        message=f"{percent(most)} of the group's messages fail and are delivered again.",
    )


GROUP_RULES: Final[tuple[GroupRule, ...]] = (
    retention_risk,
    retry_pressure,
)
