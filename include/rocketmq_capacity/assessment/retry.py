"""RETRY_PRESSURE: messages that fail and are delivered again, or would not be."""

from collections.abc import Iterator
from math import fsum
from typing import Annotated, Final

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.lag import duration
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import CRITICAL, DLQ_PREFIX, RETRY, RETRY_PREFIX, WARNING, java_order
from rocketmq_capacity.wording import counted, percent, rounded, verbatim


class RetryEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of RETRY_PRESSURE."""

    failed_ratio: Annotated[float | None, means("share of the messages that fail, as clients say")]
    failed_msgs_per_s: Annotated[float, means("messages that fail")]
    consumed_msgs_per_s: Annotated[float, means("messages that clients handle")]
    retried_ratio: Annotated[float | None, means("messages that come again, as a share of all that arrive")]
    retried_msgs_per_s: Annotated[float | None, means("messages that come again by the retry topic")]
    bound_ratio: Annotated[float, means("share that may fail, by the policy")]


class RetryQueuesEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of RETRY_PRESSURE where a broker leaves failed messages unread."""

    retry_queue_nums: Annotated[
        int, means("that the broker spreads failed messages over; it throws them away at 0", "queue")
    ]
    read_queue_nums: Annotated[int, means("of the retry topic there that are read", "queue")]
    failed_msgs_per_s: Annotated[float | None, means("messages that fail, on all brokers")]


class DeadLetterEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of RETRY_PRESSURE where few messages fail, and some of them for good."""

    topic: Annotated[str, means("the group's dead-letter topic")]
    dead_letters: Annotated[int | None, means("that went there since an earlier snapshot", "message")]
    elapsed_s: Annotated[float | None, means("time between the two snapshots")]
    dead_letters_msgs_per_h: Annotated[float, means("messages that go there, as far as it is known")]


def _advice(_: Finding, evidence: Evidence) -> str:
    if isinstance(evidence, DeadLetterEvidence):
        return DEAD.format(topic=verbatim(evidence.topic))
    if not isinstance(evidence, RetryQueuesEvidence):
        return LISTENER_FAILS
    return MORE_RETRY_QUEUES if evidence.retry_queue_nums else NO_RETRY_QUEUES


LISTENER_FAILS: Final = (
    "Find out why the listener fails: a message that fails is delivered again up to 16 times, and then goes to"
    " the dead-letter topic."
)
DEAD: Final = (
    "Look at the messages of {topic}: nobody reads them. Find out why the listener fails on them, mend it, and send"
    " them again."
)
MORE_RETRY_QUEUES: Final = (
    "Give the retry topic as many queues on this broker as retryQueueNums says. The clients take the new queues within"
    " half a minute, and read what is in them from its beginning."
)
NO_RETRY_QUEUES: Final = (
    "Set retryQueueNums on this broker to the queues of the retry topic, or to 1. The messages that it has thrown away"
    " do not come back."
)

RETRY_PRESSURE: Final = Rule(
    name="RETRY_PRESSURE",
    title="Failed messages are many, or are not delivered again",
    meaning=(
        "Consumers fail on many messages. These are delivered again, and in the end go to the dead-letter topic. Or a"
        " broker puts failed messages where nobody reads them."
    ),
    place=210,
    evidence=(RetryEvidence, RetryQueuesEvidence, DeadLetterEvidence),
    advice=_advice,
    shows="#Max Offset has stopped growing, and each broker has as many rows as retryQueueNums says.",
    shown_by="retry topic",
    needs=("clients", "consumed"),
    severities={
        "CRITICAL": (
            "so many fail that many end in the dead-letter topic, 16 attempts and some hours later; or some fail, and a"
            " broker leaves them unread"
        ),
        "WARNING": ("some fail; or some end in the dead-letter topic; or a broker would leave those unread that fail"),
    },
    details="""
    The listener fails for more than `failed_ratio` of the messages, or that many come again by the group's retry
    topic. A failed message is delivered up to 16 times more, and each time it takes a thread. Where fewer fail, there
    is a finding if the offsets of the group's dead-letter topic have grown since the snapshot of a day before;
    without one, if something is written there now.

    A broker puts a failed message into any of `retryQueueNums` queues of the group's retry topic. A retry topic that is
    there already keeps its number of queues when `retryQueueNums` is raised, so nobody reads the others
    ([apache/rocketmq#3953](https://github.com/apache/rocketmq/issues/3953)). With 0 the broker throws failed messages
    away, and says that it took them. This is about groups that pull and consume in any order. The others send no
    failed messages to a broker, or the broker makes their retry topics itself.
    """,
    flaps=True,
)


def retry_pressure(group: AssessedGroup) -> Iterator[Finding]:
    """RETRY_PRESSURE: the listener fails on more than a few messages, which are delivered again."""
    bounds, low = group.policy.thresholds.RETRY_PRESSURE, group.policy.thresholds.LOW_UTILISATION
    handled = [one.msgs_per_s for one in group.facts.consumed if one.msgs_per_s is not None]
    failed = _failed(group)
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
        yield from _dead_letters(group)
        return
    yield finding(
        RETRY_PRESSURE,
        CRITICAL if most > bounds.critical_ratio else WARNING,
        consumer_group=group.name,
        evidence=RetryEvidence(
            failed_ratio=rounded(failed_ratio),
            failed_msgs_per_s=rounded(failing),
            consumed_msgs_per_s=rounded(total),
            retried_ratio=rounded(retried_ratio),
            retried_msgs_per_s=rounded(again) if retried else None,
            bound_ratio=bounds.failed_ratio,
        ),
        message=f"{percent(most)} of the group's messages fail and are delivered again.",
    )


def _dead_letters(group: AssessedGroup) -> Iterator[Finding]:
    """What became dead letters: the listener failed on each of them as often as it may."""
    dead, topic = group.facts.dead_letters, DLQ_PREFIX + group.name
    if dead is None:
        return
    if dead.letters is None or dead.elapsed_s is None:
        went = f"{counted(max(1, round(dead.msgs_per_h)), 'message')} an hour go to {topic} at the present rate"
    else:
        went = f"{counted(dead.letters, 'message')} went to {topic} within {duration(dead.elapsed_s)}"
    yield finding(
        RETRY_PRESSURE,
        WARNING,
        consumer_group=group.name,
        evidence=DeadLetterEvidence(
            topic=topic,
            dead_letters=dead.letters,
            elapsed_s=rounded(dead.elapsed_s),
            dead_letters_msgs_per_h=rounded(dead.msgs_per_h),
        ),
        message=f"{went}: the listener failed on them as often as it may, and they are not delivered again.",
    )


def unread_retries(group: AssessedGroup) -> Iterator[Finding]:
    """RETRY_PRESSURE: a broker spreads failed messages over more queues than are read, or throws them away.

    Source: AbstractSendMessageProcessor.consumerSendMsgBack, rocketmq-all-5.3.3.
    """
    facts = group.facts
    if not facts.is_clustering or facts.is_orderly or not facts.pulls or not facts.connections:
        return
    numbers = {one.broker_name: one.retry_queue_nums for one in facts.retry_queues}
    name = RETRY_PREFIX + group.name
    places = (place for reads in facts.reads if reads.topic.topic == name for place in reads.topic.places)
    failed = _failed(group)
    for place in sorted(places, key=lambda place: java_order(place.broker_name)):
        number = numbers.get(place.broker_name)
        if number is None or place.read_queue_nums is None or 0 < number <= place.readable:
            continue
        yield finding(
            RETRY_PRESSURE,
            CRITICAL if any(failed) else WARNING,
            consumer_group=group.name,
            broker_name=place.broker_name,
            evidence=RetryQueuesEvidence(
                retry_queue_nums=number,
                read_queue_nums=place.readable,
                failed_msgs_per_s=rounded(fsum(failed)) if failed else None,
            ),
            message=_unread(place.broker_name, number, place.readable),
        )


def _unread(broker_name: str, number: int, readable: int) -> str:
    if not number:
        return f"{broker_name} throws away the group's messages that fail: its retryQueueNums is 0."
    return (
        f"{broker_name} puts {percent((number - readable) / number)} of the group's messages that fail where nobody"
        f" reads them: its retryQueueNums is {number}, and {counted(readable, 'queue')} of its retry topic can be read."
    )


def _failed(group: AssessedGroup) -> list[float]:
    """Messages a second that fail, by each client and topic that says so."""
    return [one.failed_msgs_per_s for one in group.facts.consumed if one.failed_msgs_per_s is not None]


GROUP_RULES: Final[tuple[GroupRule, ...]] = (retry_pressure, unread_retries)
