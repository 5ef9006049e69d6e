"""LAG_STATE by samples of offsets: a backlog that does not shrink. `lateness` adds messages that wait too long."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final, TypedDict

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.lag import (
    HOUR_S,
    STANDING,
    STATES,
    WARN,
    WINDOW,
    QueueState,
    State,
    duration,
    grown,
    lag_troubles,
    left_behind,
)
from rocketmq_capacity.assessment.ownership import STUCK, orphan_cause
from rocketmq_capacity.assessment.suspended import ADVICE as SUSPENDED_ADVICE
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import FALLS, Rule
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CRITICAL, INFO, PERM_READ, WARNING, Severity
from rocketmq_capacity.wording import counted, fixed, listed, queue_label, rounded, verbatim

NO_CLIENTS: Final = (
    "Find out whether this group is still needed: it has no clients. If it is, start them, and messages that are kept"
    " are read; if not, nothing is lost."
)
UNSEEN: Final = (
    "Find out who reads for this group: its clients are unknown, because somebody did not answer or a Proxy is not"
    " named (SNAPSHOT_INCOMPLETE). Then take another snapshot."
)
GONE: Final = (
    f"{NO_CLIENTS} It ran until lately: find out why its clients ended. If it only runs at certain hours, tell its"
    " schedule in the policy (groups)."
)
HELD_UP: Final = (
    "Find out what holds the group up on these queues: whether a client owns them, and what its listener waits for."
)
CLOSED: Final = (
    "Find out why nobody may read on {brokers}: the broker's own permission (brokerPermission), or the topics' there,"
    " lacks READ. With READ the group goes on there within half a minute. No change of the group helps."
)
UNREACHED: Final = (
    "Look at the network between the clients of this group and {brokers}, and at the logs of the clients: they read"
    " from other brokers, and have no connection there."
)


class StalledQueue(Queue, frozen=True, kw_only=True):
    """A queue whose lag does not fall."""

    state: Annotated[State, means("what its samples show")]
    lag: Annotated[int, means("unread", "message")]


class PullBound(Struct, frozen=True, kw_only=True):
    """Settings of clients that pull less of a queue than it gets."""

    client_ids: Annotated[Sequence[str], means("who has such settings")]
    pull_batch_size: Annotated[int, means("in the answer to one pull at most, of the slowest", "message")]
    pull_interval_ms: Annotated[int, means("its pause before the next pull of a queue")]
    most_msgs_per_s: Annotated[float, means("that it pulls of one queue at most")]


class StalledEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of LAG_STATE if lag does not fall by its samples; at its end, if messages also wait too long."""

    adds_to: ClassVar = {"lag": "lag"}

    state: Annotated[State, means("the worst of its queues")]
    lag: Annotated[int, means("unread on these queues", "message")]
    clients: Annotated[int | None, means("of the group", "client")]
    last_clients: Annotated[int | UnsetType, means("that it had before all of them went", "client")] = UNSET
    gone_s: Annotated[float | UnsetType, means("time since it was last seen with clients")] = UNSET
    lag_growth: Annotated[int, means("by which their lag grew", "message")]
    over_s: Annotated[float, means("time from the first sample to the last")]
    growth_msgs_per_h: Annotated[float | None, means("growth of the lag")]
    behind_s: Annotated[float | None, means("age of the last message that was read on the worst of them")]
    put_msgs_per_s: Annotated[float | None, means("messages that are written to them")]
    consume_msgs_per_s: Annotated[float | None, means("messages that are read from them")]
    catches_up: Annotated[bool | None, means("whether more is read than written")]
    catch_up_s: Annotated[float | None, means("time until all is read if it goes on like this")]
    suspended_client_ids: Annotated[Sequence[str] | UnsetType, means("who holds them and looks suspended")] = UNSET
    slow_pulls: Annotated[PullBound | UnsetType, means("settings of their readers that let them pull too little")] = (
        UNSET
    )
    closed_brokers: Annotated[Sequence[str] | UnsetType, means("where the permission lets nobody read them")] = UNSET
    unreached: Annotated[Sequence[str] | UnsetType, means("their brokers, if none of them knows a client")] = UNSET
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


class LateEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of LAG_STATE if messages wait too long, or soon will."""

    adds_to: ClassVar = {"lag": "lag"}

    lag: Annotated[int, means("unread on these queues", "message")]
    max_lag_s: Annotated[float, means("time for which a message may wait, by the policy")]
    waits_s: Annotated[float, means("time for which the oldest unread message has waited")]
    breach_in_s: Annotated[float | None, means("time until one waits too long (null: one does now)")]
    late_queues: Annotated[int, means("on which messages wait too long", "queue")]


def _look_at_readers(_: Finding, evidence: Evidence) -> str:
    if not isinstance(evidence, StalledEvidence):
        return HELD_UP
    if evidence.closed_brokers is not UNSET:
        return CLOSED.format(brokers=verbatim(listed(evidence.closed_brokers)))
    if evidence.suspended_client_ids is not UNSET:
        return SUSPENDED_ADVICE
    if evidence.unreached is not UNSET:
        return UNREACHED.format(brokers=verbatim(listed(evidence.unreached)))
    if evidence.slow_pulls is not UNSET:
        return _pull_more(evidence.slow_pulls)
    if evidence.last_clients is not UNSET:
        return GONE
    return HELD_UP if evidence.clients else advice_without(evidence.clients)


def advice_without(clients: int | None) -> str:
    """What to do about the lag of a group with 0 clients, or an unknown number of them (None)."""
    return UNSEEN if clients is None else NO_CLIENTS


def _pull_more(bound: PullBound) -> str:
    client_ids = verbatim(listed(bound.client_ids))
    return (
        f"Set pullInterval of {client_ids} to 0, its default, or pull more at once: with pullBatchSize"
        f" {bound.pull_batch_size} and a pause of {bound.pull_interval_ms:,} ms a client reads at most"
        f" {fixed(bound.most_msgs_per_s, 1)} msg/s of a queue, and more of them come. Neither more clients nor more"
        " threads change that."
    )


LAG_STATE: Final = Rule(
    name="LAG_STATE",
    title="A backlog that does not shrink",
    meaning="Over the last samples the group did not catch up with what is written.",
    place=120,
    goal="CAPACITY_AT_PEAK",
    evidence=(StalledEvidence, LateEvidence),
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
        "INFO": "fewer wait, or the group has no clients, and is not known to have run lately",
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
    - **REWIND**: the offset went back, and messages wait.
    - **STALL**: the offset does not move while messages wait.
    - **WARN**: the lag never falls, and is more than `allowed_lag` and what comes in
      `LOW_UTILISATION.min_growth_s`.

    The group is as bad as its worst queue. The evidence has how much the lag of these queues grew, over which time,
    and by how many messages an hour. `suspended_client_ids` are the clients that look suspended, if all of these queues
    are theirs (STUCK_QUEUE). `unreached` are the brokers of all of these queues, if no client of the group is
    connected to any of them: look at the network. `closed_brokers` says that nobody may read any of these queues.
    `slow_pulls` says that all of these queues get more messages than `pullBatchSize` and `pullInterval` of their
    readers let them pull; such growth does not count in CONSUMER_CAPACITY. `behind_s` is the age of the last message
    that was read on the queues that the finding names. `catch_up_s` is how long they take at the speed of the samples;
    it is unknown if they do not catch up. Clients of a broadcasting group keep their own offsets, so that there is no
    verdict on its lag. This needs ten samples: `snapshot.sample_count` in the policy, or earlier inventories by
    `--history`.

    A group whose clients are all gone needs no ten samples: each queue on which messages wait is STOP. It is one if
    it has no clients now, and had some (`last_clients`) in nine of ten earlier inventories and hours of samples, up to
    `gone_s` ago; that is less than the days of STALE_OBJECT. Other groups without clients may be jobs.

    Or messages wait longer than `max_lag_s` of the group's entry in the policy allows (`groups`). `waits_s` is the
    age of the oldest unread message, and `breach_in_s` the time until messages wait too long, if that is less than
    `breach_hours`. A group has one finding for both. A group without clients has neither in hours in which its
    `schedule` in the policy does not expect it.
    """,
)


def lag_by_samples(group: AssessedGroup, late: LateFigures) -> Iterator[Finding]:
    """The finding of LAG_STATE if a queue is stopped, rewound, stalled, or never catches up by its last samples.

    A group that is bound to a LITE topic has no offsets on the topic's queues: brokers report 0, whatever it has read.
    ``late`` are the figures of messages that wait too long; none if there are no such messages.
    """
    if group.facts.is_lite:
        return
    gone = group.gone
    if gone is None:
        states = [one for one in lag_troubles(group.sampled) if one.state != WARN or not _is_under_way(group, one)]
    else:
        states = left_behind(group.sampled)
    if not states:
        return
    worst = min((one.state for one in states), key=STATES.index)
    queues = [one.queue for one in states if one.state == worst]
    lag, grew, over_s = sum(one.lag for one in states), sum(one.grew for one in states), _window_s(states)
    put = sum(one.written / one.over_s for one in states) if over_s > 0 else None
    consumed = sum((one.written - one.grew) / one.over_s for one in states) if over_s > 0 else None
    is_faster = None if put is None or consumed is None else consumed > put
    ages = [one.behind_s for one in group.facts.lags if one.behind_s is not None and one.queue in queues]
    counts, worst_s = Counter(one.state for one in states), max(ages, default=None)
    how = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    slow, closed, unreached = _pulled_slowly(group, states), _closed(group, states), _unreached(group, states)
    yield finding(
        LAG_STATE,
        _lag_severity(group, states),
        consumer_group=group.name,
        queues=queues,
        evidence=StalledEvidence(
            state=worst,
            lag=lag,
            clients=group.facts.known_connections,
            last_clients=UNSET if gone is None else gone.clients,
            gone_s=UNSET if gone is None else rounded(gone.ago_s, 0),
            lag_growth=grew,
            over_s=rounded(over_s, 0),
            growth_msgs_per_h=rounded(grew * HOUR_S / over_s, 1) if over_s > 0 else None,
            behind_s=worst_s,
            put_msgs_per_s=rounded(put),
            consume_msgs_per_s=rounded(consumed),
            catches_up=is_faster,
            catch_up_s=rounded(lag / (consumed - put), 0) if is_faster and consumed and put is not None else None,
            suspended_client_ids=_suspended(group, states),
            closed_brokers=closed or UNSET,
            slow_pulls=slow,
            unreached=unreached or UNSET,
            queues=[StalledQueue(**asdict(one.queue), state=one.state, lag=one.lag) for one in states],
            **late,
        ),
        message=(
            f"{counted(len(states), 'queue')} with {lag:,} {'message' if lag == 1 else 'messages'} of lag"
            f" {'does' if len(states) == 1 else 'do'} not catch up over the last {WINDOW} samples: {how}."
            if gone is None
            else f"It has no clients, and had {counted(gone.clients, 'client')} {duration(gone.ago_s)} ago. Nobody"
            f" reads {counted(len(states), 'queue')} with {lag:,} {'message' if lag == 1 else 'messages'} of lag."
        )
        + _stand(group, states, worst_s)
        + (f" Their lag {grown(grew, over_s)}." if grew > 0 else "")
        + (f" The permission on {listed(closed)} lets nobody read them." if closed else "")
        + (f" No client of the group is connected to {listed(unreached)}." if unreached else "")
        + ("" if slow is UNSET else f" Their readers pull at most {fixed(slow.most_msgs_per_s, 1)} msg/s of a queue."),
    )


def _suspended(group: AssessedGroup, states: Sequence[QueueState]) -> list[str] | UnsetType:
    """The clients that look suspended, if all of these queues are theirs."""
    behind = {one.queue for one in states}
    theirs = {queue for one in group.suspended for queue in (*one.unread, *one.not_taken)}
    if not theirs & behind:
        return UNSET
    load, current = group.today_load, group.current
    if load is not None and current is not None and orphan_cause(group, current.strategy) == STUCK:
        theirs |= {group.division.queues.names[queue] for queue in load.orphans.tolist()}
    if not behind <= theirs:
        return UNSET
    return [one.client_id for one in group.suspended if not behind.isdisjoint((*one.unread, *one.not_taken))]


def _closed(group: AssessedGroup, states: Sequence[QueueState]) -> list[str]:
    """The brokers of these queues, if clients see none of them for want of the permission; sorted."""
    if not group.facts.connections:
        return []
    closed = {
        (reads.topic.topic, place.broker_name)
        for reads in group.facts.reads
        for place in reads.topic.places
        if place.perm is not None and not place.perm & PERM_READ
    }
    behind = {(one.queue.topic, one.queue.broker_name) for one in states}
    return sorted({broker for _, broker in behind}) if behind <= closed else []


def _pulled_slowly(group: AssessedGroup, states: Sequence[QueueState]) -> PullBound | UnsetType:
    """The settings that let readers pull too little, if that is so on all of these queues."""
    slow = group.slow_pulls
    if slow is None or not {one.queue for one in states} <= slow.queues:
        return UNSET
    return PullBound(
        client_ids=slow.client_ids,
        pull_batch_size=slow.pull_batch_size,
        pull_interval_ms=slow.pull_interval_ms,
        most_msgs_per_s=round(slow.most_msgs_per_s, 4),
    )


def _unreached(group: AssessedGroup, states: Sequence[QueueState]) -> list[str]:
    """The brokers of these queues, if all of them answered the snapshot, and none knows a client of the group.

    Empty unless it is known of all clients which brokers know them, and some broker does.
    """
    consumers = group.facts.consumers
    if any(one.is_grpc or one.seen_on is None or not group.is_settled(one) for one in consumers):
        return []
    seen = {broker for one in consumers for broker in one.seen_on or ()}
    answered = {place.broker_name for reads in group.business for place in reads.topic.places if place.has_answered}
    behind = {one.queue.broker_name for one in states}
    return sorted(behind) if seen and behind <= answered - seen else []


def _is_under_way(group: AssessedGroup, state: QueueState) -> bool:
    """Whether the lag of a queue never was more than the messages that are always under way there.

    These are a few, and those of ``min_growth_s``: clients commit what they have read every few seconds.
    """
    usual_s = group.policy.thresholds.LOW_UTILISATION.min_growth_s
    written = state.written / state.over_s if state.over_s > 0 else 0.0
    return state.most <= max(group.policy.thresholds.LAG_STATE.allowed_lag, written * usual_s)


def _stand(group: AssessedGroup, states: Sequence[QueueState], behind_s: float | None) -> str:
    """A further sentence on the queues whose offset did not move at all, and for how long; empty if there are none.

    ``behind_s`` is the age of the last message that was read of the worst of them.
    """
    standing = [one for one in states if one.state in STANDING]
    if not standing:
        return ""
    names = listed([queue_label(one.queue, len(group.business)) for one in standing])
    over_s = max(one.over_s for one in standing)
    age = "" if behind_s is None else f"; the last message read is {duration(behind_s)} old"
    return f" The offset of {names} has not moved{f' for {duration(over_s)}' if over_s > 0 else ''}{age}."


def _window_s(states: Sequence[QueueState]) -> float:
    return max((one.over_s for one in states), default=0.0) if all(one.over_s > 0 for one in states) else 0.0


def _lag_severity(group: AssessedGroup, states: Sequence[QueueState]) -> Severity:
    """CRITICAL if much is left unread on queues whose offset stands while more is written.

    INFO for a group without clients, which may never come back unless it ran until lately, and for little lag, unless
    it stands at clients for so long that a stuck queue would be critical.
    """
    bounds, least = group.policy.thresholds.STUCK_QUEUE, group.policy.thresholds.LOW_UTILISATION.min_lag
    standing = [one for one in states if one.state in STANDING]
    if not group.facts.connections and group.gone is None:
        return INFO
    if sum(one.lag for one in standing) >= least and sum(one.grew for one in standing) > 0:
        return CRITICAL
    is_old = group.gone is None and any(one.over_s >= bounds.critical_s for one in standing)
    return WARNING if is_old or sum(one.lag for one in states) >= least else INFO
