"""Rules on the queues of topics on brokers: READ_LESS_THAN_WRITE, TOPIC_COVERAGE, HOT_QUEUE."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final

from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.assessment.coverage import TOPIC_COVERAGE, NoBrokerEvidence
from rocketmq_capacity.assessment.finding import finding, times
from rocketmq_capacity.assessment.topic import AssessedTopic, TopicRule
from rocketmq_capacity.catalogue.evidence import Evidence, FindingLike, means
from rocketmq_capacity.catalogue.rule import Rule, evidence_of
from rocketmq_capacity.model.facts import Place
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.producers import balance_of, is_hot, producers_rates, traced
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BUSINESS, CRITICAL, INFO, WARNING, is_write_only
from rocketmq_capacity.wording import counted, listed, rounded


class HiddenQueuesEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of READ_LESS_THAN_WRITE."""

    adds_to: ClassVar = {"messages_at_risk": "stranded", "unread_queues": "hidden"}

    read_queue_nums: Annotated[int, means("that consumers see", "queue")]
    write_queue_nums: Annotated[int, means("that producers see", "queue")]
    stranded: Annotated[int | None, means("that wait in the others", "message")]
    broker_perm: Annotated[
        int | UnsetType, means("what the broker allows all topics (4 read + 2 write), if that hides the queues", "")
    ] = UNSET

    @property
    def hidden(self) -> int:
        """The number of queues that no consumer sees."""
        return self.write_queue_nums - self.read_queue_nums


def is_hidden_by_broker(finding: FindingLike) -> bool:
    """Whether a broker's own permission hides queues from consumers: those of all topics there, not of one alone."""
    evidence = evidence_of(finding)
    return isinstance(evidence, HiddenQueuesEvidence) and evidence.broker_perm is not UNSET


WRITE_ONLY: Final = (
    "Find out why producers can write to {broker_name} and no consumer can read there: the permission of the broker"
    " (brokerPermission), or of the topic there, lacks READ. With READ consumers read there within half a minute."
)
CLOSED: Final = "Consumers see no queue of {broker_name}, which lets only producers in (brokerPermission {perm})."
WRITE_ONLY_BROKER: Final = (
    "Find out why producers can write to {broker_name} and no consumer can read there: the permission of the broker"
    " (brokerPermission) lacks READ. If nobody means it, let clients read there again (brokerPermission 6): they do"
    " within half a minute."
)


def _advice(_: Finding, evidence: HiddenQueuesEvidence) -> str:
    if evidence.read_queue_nums:
        return "{message}"
    return WRITE_ONLY if evidence.broker_perm is UNSET else WRITE_ONLY_BROKER


READ_LESS_THAN_WRITE: Final = Rule(
    name="READ_LESS_THAN_WRITE",
    title="Queues that are written but cannot be read",
    meaning="A topic with fewer read queues than write queues takes messages that no consumer ever sees.",
    advice=_advice,
    place=80,
    goal="NOTHING_UNREAD",
    evidence=HiddenQueuesEvidence,
    is_structural=True,
    needs=(),
    about=("topic",),
    severities={
        "CRITICAL": "messages are unread",
        "WARNING": "nothing is written there yet",
    },
    details="""
    `stranded` counts the messages in these queues. During a planned shrink this is intended, and it ends with the
    shrink. A broker whose permission, or the topic's there, has WRITE and not READ hides all of its queues
    (`read_queue_nums` 0); that is said where some group subscribes to the topic. Where the broker's own permission
    does it (`broker_perm`), all of its topics have one cause and one recommendation.
    """,
)


class HotOne(Struct, frozen=True, kw_only=True):
    """A hot queue."""

    queue: Annotated[Queue, means("the queue")]
    msgs_per_s: Annotated[float, means("messages that it gets")]


class HotQueuesEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of HOT_QUEUE."""

    queues: Annotated[int, means("that producers see", "queue")]
    peak: Annotated[float, means("how many times the mean the busiest queue gets", "")]
    share: Annotated[float, means("share of all messages that the busiest queue gets")]
    msgs_per_s: Annotated[float, means("messages that all queues get")]
    hottest: Annotated[Sequence[HotOne], means("the busiest queues")]
    message_type: Annotated[str | None, means("type of the topic")]
    kind: Annotated[str | None, means("whether keys or brokers make the difference, as far as it can be told")]
    producer_groups_elsewhere: Annotated[
        Sequence[str] | UnsetType, means("producer groups that a broker with too few messages does not name")
    ] = UNSET
    displacing_producer_groups: Annotated[
        Sequence[str] | UnsetType, means("producer groups whose version can avoid a queue for ever")
    ] = UNSET


HOT_QUEUE: Final = Rule(
    name="HOT_QUEUE",
    title="A queue that gets far more than its share",
    meaning=(
        "Producers send most messages to few queues, often because of the key that they choose. Another division of"
        " the queues does not help."
    ),
    place=220,
    goal="EVEN_LOAD",
    evidence=HotQueuesEvidence,
    about=("topic",),
    severities={
        "WARNING": "its readers may have little time left",
        "INFO": "all clients that read the topic are known to have time left",
    },
    thresholds=(
        "LOW_UTILISATION.min_msgs_per_s",
        "LOW_UTILISATION.busy_ratio",
    ),
    details="""
    Usually a key with few values chooses the queue. Neither more queues nor another strategy helps, only the key.
    `kind` says whether keys or brokers make the difference (see [how producers spread
    messages](how-to/read-a-report.md#how-producers-spread-messages)). The levels of a PRIORITY topic are not
    judged.
    """,
    flaps=True,
)


SHOWN: Final = 5
"""The hottest queues that the evidence shows."""


def read_less_than_write(topic: AssessedTopic) -> Iterator[Finding]:
    """READ_LESS_THAN_WRITE: a broker's queues [read, write) receive messages that no consumer sees.

    With a perm to write and not to read, consumers see none. It is a warning while nothing is known to be in these
    queues, or to be written to them.
    """
    is_subscribed = topic.unit.facts.kind == BUSINESS and any(one.is_subscribed for one in topic.unit.readers)
    for place in topic.unit.facts.places:
        read, write = place.read_queue_nums, place.write_queue_nums
        broker_perm: int | UnsetType = UNSET
        if is_subscribed and place.is_write_only:
            read, write, broker_perm = 0, place.writable, _perm_without_read(topic, place.broker_name)
        if read is None or write is None or read >= write:
            continue
        stranded = _stranded(topic, place.broker_name, read, write)
        is_empty = stranded == 0 and _hidden_msgs_per_s(topic, place.broker_name, read) == 0
        yield finding(
            READ_LESS_THAN_WRITE,
            WARNING if is_empty else CRITICAL,
            topic=topic.name,
            broker_name=place.broker_name,
            subjects=[place.broker_name],
            evidence=HiddenQueuesEvidence(
                read_queue_nums=read,
                write_queue_nums=write,
                stranded=stranded,
                broker_perm=broker_perm,
            ),
            message=CLOSED.format(broker_name=place.broker_name, perm=broker_perm)
            if broker_perm is not UNSET
            else f"Consumers cannot see {counted(write - read, 'queue')} that producers write to "
            f"(read {read}, write {write}).",
        )


def _perm_without_read(topic: AssessedTopic, broker_name: str) -> int | UnsetType:
    """What the broker allows all topics, where that is to write and not to read."""
    perm = topic.cluster.perm_of(broker_name)
    return perm if perm is not None and is_write_only(perm) else UNSET


def _hidden_msgs_per_s(topic: AssessedTopic, broker_name: str, read: int) -> float | None:
    """Messages a second that are written to a broker's hidden queues; None if unknown."""
    return sum_of(
        one.put_msgs_per_s
        for one in topic.unit.facts.written
        if one.broker_name == broker_name and one.queue_id >= read
    )


def _stranded(topic: AssessedTopic, broker_name: str, read: int, write: int) -> int | None:
    """The number of unread messages in a broker's hidden queues; None if it is unknown for one of them.

    It is counted for the group with an offset that is furthest behind: max_offset - max(its offset, min_offset). If no
    group has an offset, it is counted from min_offset. It is unknown if an offset of the queue is, or if the group's
    offset is beyond its end.
    """
    furthest: dict[int, int] = {}
    for row in topic.unit.stranded:
        if row.broker_name == broker_name and row.consumer_offset is not None:
            furthest[row.queue_id] = min(furthest.get(row.queue_id, row.consumer_offset), row.consumer_offset)
    stranded = known_queues = 0
    for queue in topic.unit.facts.written:
        if queue.broker_name != broker_name or queue.queue_id < read:
            continue
        unread = queue.unread_from(furthest.get(queue.queue_id, 0))
        if unread is None:
            return None
        stranded += unread
        known_queues += queue.queue_id < write
    return stranded if known_queues == write - read else None


def undeclared_topic(topic: AssessedTopic) -> Iterator[Finding]:
    """TOPIC_COVERAGE: a group subscribes to a topic that no broker has, or of which no broker has a queue."""
    if any(_may_have_queues(place) for place in topic.unit.facts.places):
        return
    groups = sorted(
        reader.consumer_group for reader in topic.unit.readers if reader.is_subscribed and reader.kind == BUSINESS
    )
    if groups:
        what = "queues of this topic" if topic.unit.facts.places else "this topic"
        yield finding(
            TOPIC_COVERAGE,
            WARNING,
            topic=topic.name,
            subjects=groups,
            evidence=NoBrokerEvidence(brokers=0, consumer_groups=groups),
            message=f"No broker has {what}, but groups subscribe to it: {listed(groups)}.",
        )


def _may_have_queues(place: Place) -> bool:
    return place.read_queue_nums != 0 or place.write_queue_nums != 0


def hot_queue(topic: AssessedTopic) -> Iterator[Finding]:
    """HOT_QUEUE: producers send much more to some queues of a topic than to others.

    They use keys, or avoid a broker; ``kind`` says which, as far as it can be told. Looked at are the queues that
    producers see: writable, with a master, ids below write_queue_nums. The levels of a PRIORITY topic are meant to
    differ. It warns unless the clients of every group that reads the topic are known to have time left.
    Source: MQClientInstance.topicRouteData2TopicPublishInfo, rocketmq-all-5.3.3.
    """
    rates = {Queue(topic.name, *place): rate for place, rate in producers_rates(topic.unit.facts).items()}
    if not is_hot(rates.values(), topic.policy):
        return
    queues, total, hottest = len(rates), sum(rates.values()), max(rates.values())
    peak, share = hottest * queues / total, hottest / total
    bounds, balance = topic.policy.thresholds.HOT_QUEUE, balance_of(topic.unit.facts, topic.policy)
    hot = sorted(
        ((queue, rate) for queue, rate in rates.items() if rate * queues / total > bounds.peak),
        key=lambda one: (-one[1], one[0]),
    )
    readers = {one.consumer_group for one in topic.unit.readers if one.is_subscribed and one.kind == BUSINESS}
    yield finding(
        HOT_QUEUE,
        INFO if readers and readers.issubset(topic.at_ease) else WARNING,
        topic=topic.name,
        queues=sorted(queue for queue, _ in hot),
        evidence=HotQueuesEvidence(
            queues=queues,
            peak=rounded(peak),
            share=rounded(share),
            msgs_per_s=rounded(total),
            hottest=[HotOne(queue=queue, msgs_per_s=rounded(rate)) for queue, rate in hot[:SHOWN]],
            message_type=topic.unit.facts.message_type,
            kind=None if balance is None else balance.kind,
            **(traced(topic.producers, balance) if balance else {}),
        ),
        message=f"The busiest of its {queues} queues receives {times(peak)} times the mean.",
    )


TOPIC_RULES: Final[tuple[TopicRule, ...]] = (read_less_than_write, undeclared_topic, hot_queue)
