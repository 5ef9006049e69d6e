"""RETENTION_RISK: unread messages that a broker deletes soon, or has deleted."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, ClassVar, Final

from msgspec.structs import asdict

from rocketmq_capacity.assessment.backlog import advice_without
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.lag import HOUR_S
from rocketmq_capacity.assessment.sampled import business_topics
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import FALLS, Rule
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CRITICAL, INFO, WARNING, Severity
from rocketmq_capacity.wording import counted, fixed, rounded

CATCH_UP: Final = (
    "Let the group catch up before its messages are deleted: more or faster clients, or a longer retention if the"
    " disks have room for it."
)


class LeftQueue(Queue, frozen=True, kw_only=True):
    """A queue whose unread messages are deleted now or soon."""

    left_hours: Annotated[float, means("time until messages are deleted unread")]


class RetentionEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of RETENTION_RISK."""

    adds_to: ClassVar = {"deleted_messages": "deleted"}

    clients: Annotated[int | None, means("of the group", "client")]
    lost_queues: Annotated[int, means("of which messages were deleted unread", "queue")]
    deleted: Annotated[int, means("that were deleted unread", "message")]
    left_hours: Annotated[float | None, means("time until the next messages are deleted unread")]
    warning_hours: Annotated[float, means("time below which this is a finding, by the policy")]
    queues: Annotated[Sequence[LeftQueue], means("the queues")]


def _catch_up(_: Finding, evidence: RetentionEvidence) -> str:
    return CATCH_UP if evidence.clients else advice_without(evidence.clients)


RETENTION_RISK: Final = Rule(
    name="RETENTION_RISK",
    title="Unread messages close to deletion",
    meaning=(
        "A broker deletes old files, also if they were not read. A group this far behind is about to lose messages."
    ),
    place=90,
    goal="NOTHING_UNREAD",
    evidence=RetentionEvidence,
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
    the broker has deleted nothing of the queue yet, its `fileReservedTime` counts. It is 0 for a group whose next
    message is the oldest that the broker has left of the queue. Nobody waits for a group without
    clients outside its `schedule`, once it is gone for the days of STALE_OBJECT, or if it is unknown since when it
    is gone and nothing is left to save.
    """,
)


EARLIEST: Final = "earliestMessageTimeStamp"
"""A broker's runtime figure: store time of its oldest message, milliseconds since 1970 (BrokerStatsManager)."""
RESERVED: Final = "fileReservedTime"
DEFAULT_RESERVED: Final = "72"
"""Hours (MessageStoreConfig.fileReservedTime)."""


def _is_given_up(group: AssessedGroup, *, can_be_saved: bool) -> bool:
    """Whether nobody waits for a group without clients: it is off, or was gone for the days of STALE_OBJECT.

    If it is unknown for how long it is gone, it counts as gone if what it lacks was deleted long ago.
    """
    if group.facts.connections:
        return False
    days = group.facts.unused_days
    if group.is_off or (days is not None and days >= group.policy.thresholds.STALE_OBJECT.days):
        return True
    return days is None and not can_be_saved


def retention_risk(group: AssessedGroup) -> Iterator[Finding]:
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
    for row, offset in behind:
        queue = row.queue
        least = row.min_offset
        if least is not None and offset < least:
            lost.append(queue)
            deleted += least - offset
        elif least and offset == least and row.behind_s is None:
            # What it read last is deleted, so its next message is the oldest of the queue.
            hours[queue] = 0.0
        elif row.behind_s is not None and (kept := kept_s.get(row.broker_name)) is not None:
            if not least:  # the queue still has its first message, so the broker may be new
                kept = max(kept, reserved_s.get(row.broker_name, kept))
            hours[queue] = max(kept - row.behind_s, 0.0) / HOUR_S
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
        evidence=RetentionEvidence(
            clients=group.facts.known_connections,
            lost_queues=len(lost),
            deleted=deleted,
            left_hours=0.0 if lost else rounded(least_hours, 2),
            warning_hours=bounds.warning_hours,
            queues=[
                LeftQueue(**asdict(queue), left_hours=0.0 if queue in lost else rounded(hours[queue], 2))
                for queue in sorted([*lost, *near])
            ],
        ),
        message=f"{counted(deleted, 'message')} of {counted(len(lost), 'queue')} {'was' if deleted == 1 else 'were'}"
        " deleted unread."
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


GROUP_RULES: Final[tuple[GroupRule, ...]] = (retention_risk,)
