"""The rule on queues that a client holds without progress: STUCK_QUEUE."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.stuck_queues import REFUSED, STATES, State, Stuck
from rocketmq_capacity.assessment.suspended import ADVICE, Suspended, looks_suspended
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.sums import most_of, sum_of
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CRITICAL, WARNING, java_order
from rocketmq_capacity.wording import counted, fixed, listed, rounded


class StuckOne(Queue, frozen=True, kw_only=True):
    """A queue that is stuck."""

    client_id: Annotated[str | None, means("who holds it, or should; null if nobody is known to")]
    state: Annotated[State, means("how it is stuck")]
    cause: Annotated[str | None, means("why, as far as known")]
    since_s: Annotated[float | None, means("least time for which it is stuck")]
    lag: Annotated[int | None, means("unread on it", "message")]


class StuckQueuesEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of STUCK_QUEUE."""

    clients: Annotated[int, means("that hold them, or should", "client")]
    client_ids: Annotated[Sequence[str], means("these clients")]
    suspended_client_ids: Annotated[Sequence[str] | UnsetType, means("those that look suspended")] = UNSET
    lag: Annotated[int | None, means("unread on all of them", "message")]
    since_s: Annotated[float | None, means("least time for which the longest is stuck")]
    queues: Annotated[Sequence[StuckOne], means("the queues, once for each client that holds one")]


LISTENERS: Final = (
    "Find out what the listener of the owners waits for: consumerStatus writes the stack of each. Restart a client"
    " whose listener does not come back, and set a time limit for what it waits for. In a group that consumes in order,"
    " one message that fails again and again holds up its queue. Afterwards consumerProgress shows that the offsets of"
    " these queues move."
)


ADMIT: Final[Mapping[str, str]] = {
    "NOT_CREATED": (
        "Create the group on {broker_name}, with the settings that it has elsewhere: getConsumerConfig shows them."
        " Clients then read there within half a minute."
    ),
    "CONSUME_DISABLED": (
        "Find out who has switched consumption off on {broker_name} (consumeEnable=false), and why. updateSubGroup"
        " switches it on again; it replaces all settings of the group, so give each as getConsumerConfig shows it."
    ),
    "BROADCAST_DISABLED": (
        "Let the group broadcast on {broker_name} as well (consumeBroadcastEnable). updateSubGroup replaces all"
        " settings of the group, so give each as getConsumerConfig shows it; left out, -d switches broadcasting off."
    ),
    "SQL92_DISABLED": (
        "Let {broker_name} filter by SQL92 as well (enablePropertyFilter). It takes effect at once. A client that"
        " starts asks only one broker, chosen at random, whether it may filter so: its next start may fail."
    ),
    "POP_DISABLED": (
        "Set timerWheelEnable=true in the settings of {broker_name}, and restart it: a broker without its timer refuses"
        " every pop, also those of Proxies."
    ),
}
"""What lets a broker give a group messages, by why it does not."""


def _advice(finding: Finding, evidence: StuckQueuesEvidence) -> str:
    if finding.broker_name is not None:
        return ADMIT[evidence.queues[0].cause or ""]
    if isinstance(evidence.suspended_client_ids, UnsetType):
        return LISTENERS
    are_all = set(evidence.suspended_client_ids).issuperset(evidence.client_ids)
    return ADVICE if are_all else f"{LISTENERS} {ADVICE}"


STUCK_QUEUE: Final = Rule(
    name="STUCK_QUEUE",
    title="Queues that a consumer holds and does not read",
    meaning=(
        "A consumer holds these queues, or should, but does not read on. Meanwhile no other consumer of its group may"
        " read them."
    ),
    place=100,
    goal="NOTHING_UNREAD",
    evidence=StuckQueuesEvidence,
    advice=_advice,
    looks="stacks",
    leaves_with_clients=True,
    severities={
        "CRITICAL": "messages have waited for `critical_s`, however many, or a broker refuses those that are written",
        "WARNING": "they have waited for less, or nobody knows for how long, or nothing is written that is refused",
    },
    details="""
    The evidence names for each queue the owner, the state, the cause as far as known, and for how long at least:

    - **REFUSED**: the queue's broker gives the group no messages, whoever asks; each such broker is a finding.
      NOT_CREATED: the group is not created there, and the broker creates none by itself
      (`autoCreateSubscriptionGroup=false`). CONSUME_DISABLED: `consumeEnable` is false there. BROADCAST_DISABLED: the
      group broadcasts, and `consumeBroadcastEnable` is false there. SQL92_DISABLED: the group pulls all of its topics
      by SQL92, and `enablePropertyFilter` is false there; a client asks one broker alone, when it starts, whether it
      may filter so. POP_DISABLED: the group pops all of its topics, as gRPC clients do, and `timerWheelEnable` is
      false there (5.1.1 and later).
    - **DROPPED**: the client was to let the queue go, has not, and has asked for no messages for `dropped_s`.
      LISTENER_BUSY: the listener has not come back from a message; Java clients release such a queue after 20 s
      from 5.2.0 on.
    - **NOT_LOCKED**: a client that consumes in order has not locked the queue for `lock_s`. NO_MASTER: the broker
      has none. HELD_ELSEWHERE: another client holds the queue as well.
    - **NO_PROGRESS**: messages are cached, the offset does not move over the samples, and none was handled for
      `no_progress_s`. LISTENER_BUSY, or ONE_MESSAGE: others are handled, but not the first one, or in order the first
      one fails again and again. Up to 20 messages that have just come to an idle queue do not count: at the queue's
      rate they were written within this time.
    - **NOT_PULLED**: no messages were asked for in `pull_s`. PULLS_STOPPED: only of this queue. CLIENT_OR_CLOCK: of
      none of the client's, or its clock is wrong. A pull consumer does so with a queue that its program has paused
      (`DefaultLitePullConsumer.pause`).
    - **NOT_READ**: messages wait, the offset has not moved over the samples for `no_progress_s`, and the client has
      none of them in its cache, nor has it handled any in this time. Yet it has marked each of its queues as asked
      for within 2 s, as a client does every second once its program has called `suspend()`. It is seen to read no
      queue that it alone holds. SUSPENDED: it also holds other queues than its share, so that it does not rebalance
      either, which only `suspend()` explains. SUSPENDED_OR_REFUSED: it holds its share, or its share is unknown;
      brokers that refuse each of its requests would look the same. Its log says which. This needs samples over
      more than `no_progress_s`: earlier inventories, or `snapshot.sample_count` and `sample_interval_s` in the policy.
    - **NOT_TAKEN**: the queue is the share of a SUSPENDED client, which has not taken it, and nobody holds it.

    A client whose listener never comes back has to be restarted. One that is suspended reads on, and takes its share,
    as soon as its program calls `resume()`. Until then it stays a member and keeps its share, and in order it also
    renews its locks. So more clients do not help. Queues that it holds beyond its share, and that another client
    holds as well, are read by that one alone; no rule counts them as read twice.
    """,
)


def stuck_queue(group: AssessedGroup) -> Iterator[Finding]:
    """STUCK_QUEUE: a client holds a queue that it should have released, has not locked, does not read on, or not pull.

    It is CRITICAL if messages have waited for ``critical_s``, however many.
    Source: ConsumerRunningInfo.analyzeProcessQueue, rocketmq-all-5.3.3; offsets of the samples are used as well.
    """
    refused = [one for one in group.stuck if one.state == REFUSED]
    for broker_name in sorted({one.queue.broker_name for one in refused}):
        yield _refused(group, broker_name, [one for one in refused if one.queue.broker_name == broker_name])
    stuck = [one for one in group.stuck if one.state != REFUSED]
    if not stuck:
        return
    waiting_s = most_of(one.since_s for one in stuck if one.has_waiting)
    counts = Counter(one.state for one in stuck)
    how = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    evidence = _evidence(stuck, group.suspended)
    queues = sorted({one.queue for one in stuck})
    clients, lag, since_s = evidence.client_ids, evidence.lag, evidence.since_s
    yield finding(
        STUCK_QUEUE,
        CRITICAL if waiting_s is not None and waiting_s >= group.policy.thresholds.STUCK_QUEUE.critical_s else WARNING,
        consumer_group=group.name,
        queues=queues,
        evidence=evidence,
        message=f"{counted(len(queues), 'queue')}"
        + ("" if lag is None else f" with {counted(lag, 'message')} of lag")
        + f" {'is' if len(queues) == 1 else 'are'} stuck at {listed(clients)}"
        + ("" if since_s is None else f" for {fixed(since_s, 0)} s")
        + f": {how}."
        + looks_suspended(group.suspended),
    )


REFUSALS: Final[Mapping[str, str]] = {
    "NOT_CREATED": (
        "it is not created there, and the broker creates no groups by itself (autoCreateSubscriptionGroup=false)"
    ),
    "CONSUME_DISABLED": "consumeEnable is false there",
    "BROADCAST_DISABLED": "it broadcasts, and consumeBroadcastEnable is false there",
    "SQL92_DISABLED": "it filters by SQL92, and enablePropertyFilter is false there",
    "POP_DISABLED": "it pops, and timerWheelEnable is false there",
}


def _refused(group: AssessedGroup, broker_name: str, refused: Sequence[Stuck]) -> Finding:
    """The finding about the queues of a broker that gives the group no messages."""
    queues, evidence = sorted({one.queue for one in refused}), _evidence(refused)
    waiting = (
        f" {counted(evidence.lag, 'message')} of lag {'is' if evidence.lag == 1 else 'are'} there."
        if evidence.lag
        else ""
    )
    return finding(
        STUCK_QUEUE,
        CRITICAL if any(one.has_waiting for one in refused) else WARNING,
        consumer_group=group.name,
        broker_name=broker_name,
        queues=queues,
        evidence=evidence,
        message=f"{broker_name} gives the group no messages of {counted(len(queues), 'queue')}:"
        f" {REFUSALS[refused[0].cause or '']}.{waiting}",
    )


def _evidence(stuck: Sequence[Stuck], suspended: Sequence[Suspended] = ()) -> StuckQueuesEvidence:
    lag_of_queue = {one.queue: one.lag for one in stuck}
    clients = sorted({one.client_id for one in stuck if one.client_id is not None}, key=java_order)
    return StuckQueuesEvidence(
        clients=len(clients),
        client_ids=clients,
        suspended_client_ids=[one.client_id for one in suspended] or UNSET,
        lag=sum_of(lag_of_queue.values()),
        since_s=rounded(most_of(one.since_s for one in stuck), 0),
        queues=[
            StuckOne(
                **asdict(one.queue),
                client_id=one.client_id,
                state=one.state,
                cause=one.cause,
                since_s=rounded(one.since_s, 0),
                lag=one.lag,
            )
            for one in stuck
        ],
    )


GROUP_RULES: Final[tuple[GroupRule, ...]] = (stuck_queue,)
