"""LAG_STATE: lag that does not fall by its samples, and messages that wait longer than the policy allows the group."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity.assessment.backlog import LAG_STATE, LateEvidence, LateFigures, lag_by_samples
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.lag import HOUR_S, lag_growth
from rocketmq_capacity.assessment.sampled import business_topics
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CRITICAL, SEVERITIES, WARNING, Severity
from rocketmq_capacity.wording import counted, fixed, rounded


@dataclass(frozen=True, slots=True)
class Lateness:
    """Messages that wait longer than ``max_lag_s`` of the group's entry in the policy, or soon will.

    Attributes:
        allowed_s: the policy's ``max_lag_s``.
        waits_s: how long the oldest unread message of the worst queue has waited.
        queues: those whose oldest unread message has waited too long, by name; else the worst queue.
        lag: messages on these queues.
        breach_in_s: after how many seconds the first one waits too long if lag grows on; None if one does already.
        is_falling: whether the lag of the group falls; None if unknown.
    """

    allowed_s: float
    waits_s: float
    queues: tuple[Queue, ...]
    lag: int
    breach_in_s: float | None
    is_falling: bool | None

    @property
    def severity(self) -> Severity:
        """CRITICAL for messages that wait too long already, unless the group is known to catch up."""
        return CRITICAL if self.breach_in_s is None and self.is_falling is False else WARNING

    @property
    def figures(self) -> LateFigures:
        """The figures beside those of the samples."""
        return {
            "max_lag_s": self.allowed_s,
            "waits_s": rounded(self.waits_s, 1),
            "breach_in_s": rounded(self.breach_in_s, 0),
            "late_queues": len(self.queues) if self.breach_in_s is None else 0,
        }

    @property
    def message(self) -> str:
        """One sentence."""
        allowed = f"{fixed(self.allowed_s, 0)} s that its owner allows"
        if self.breach_in_s is not None:
            return (
                f"Lag grows: messages wait {fixed(self.waits_s, 0)} s now, and in about"
                f" {fixed(self.breach_in_s / HOUR_S, 1)} hours longer than the {allowed}."
            )
        return (
            f"The oldest message has waited {fixed(self.waits_s, 0)} s on {counted(len(self.queues), 'queue')},"
            f" longer than the {allowed}."
        )


def lag_state(group: AssessedGroup) -> Iterator[Finding]:
    """LAG_STATE: lag does not fall by its last samples, or messages wait longer than the group's owner allows.

    Both are one finding, with the severity of the worse. A message waits too long if it is older than ``max_lag_s`` of
    the group's entry in the policy. If lag grows so that one will be within the policy's hours, that is a warning.
    """
    late = lateness(group)
    by_samples = next(lag_by_samples(group, {} if late is None else late.figures), None)
    if late is None:
        yield from () if by_samples is None else (by_samples,)
    elif by_samples is None:
        yield finding(
            LAG_STATE,
            late.severity,
            consumer_group=group.name,
            queues=late.queues,
            evidence=LateEvidence(lag=late.lag, **late.figures),
            message=late.message,
        )
    else:
        yield replace(
            by_samples,
            severity=min(by_samples.severity, late.severity, key=SEVERITIES.index),
            message=f"{by_samples.message} {late.message}",
        )


def lateness(group: AssessedGroup) -> Lateness | None:
    """What waits too long, or soon will; None if nothing does, it is unknown, or the policy allows everything.

    The offsets of a broadcasting group and on LITE topics do not say what was read.
    """
    allowed_s = group.entry.max_lag_s
    if allowed_s is None or group.facts.is_lite or group.facts.is_broadcasting:
        return None
    waits = _waits_s(group)
    if not waits:
        return None
    growth, connections = lag_growth(group.sampled).by, group.facts.connections
    is_falling: bool | None = False
    if connections:
        is_falling = None if growth is None else growth < 0
    late = tuple(sorted(queue for queue, (wait_s, _) in waits.items() if wait_s > allowed_s))
    worst = max(waits, key=lambda queue: (waits[queue][0], queue))
    worst_s = waits[worst][0]
    if late:
        return Lateness(allowed_s, worst_s, late, sum(waits[queue][1] for queue in late), None, is_falling)
    slope = _slope(group)
    breach_in_s = None if slope is None else (allowed_s - worst_s) / slope
    if breach_in_s is None or breach_in_s >= group.policy.thresholds.LAG_STATE.breach_hours * HOUR_S:
        return None
    return Lateness(allowed_s, worst_s, (worst,), waits[worst][1], breach_in_s, is_falling)


def longest_wait_s(group: AssessedGroup) -> float | None:
    """How long the oldest unread message of the group has waited; None if unknown, or if its offsets do not say it."""
    if group.facts.is_lite or group.facts.is_broadcasting or not group.facts.connections:
        return None
    return max((wait_s for wait_s, _ in _waits_s(group).values()), default=None)


def _waits_s(group: AssessedGroup) -> dict[Queue, tuple[float, int]]:
    """By queue with unread messages: the seconds that its oldest one has waited, and how many there are.

    The oldest unread message was written after the last one read: on average as much later as the queue's messages are
    apart. Where the last one read has no time, as many seconds as it took to write the unread ones.
    """
    topics = business_topics(group.facts)
    rates = {
        (reads.topic.topic, one.broker_name, one.queue_id): one.put_msgs_per_s
        for reads in group.business
        for one in reads.topic.written
    }
    waits: dict[Queue, tuple[float, int]] = {}
    for row in group.facts.lags:
        if not row.lag or row.topic not in topics:
            continue
        rate = rates.get((row.topic, row.broker_name, row.queue_id)) or None
        if row.behind_s is not None:
            wait_s = row.behind_s - (0.0 if rate is None else 1 / rate)
        elif rate is not None:
            wait_s = row.lag / rate
        else:
            continue
        waits[row.queue] = (wait_s if wait_s > 0 else 0.0, row.lag)
    return waits


def _slope(group: AssessedGroup) -> float | None:
    """By how many seconds the wait grows a second; None if it does not, or if that is unknown.

    A message waits lag / rate seconds, so the wait grows by the lag's growth / rate.
    """
    growth, rate = lag_growth(group.sampled), group.weights.total_msgs_per_s
    is_much = growth.now is not None and growth.now >= group.policy.thresholds.LOW_UTILISATION.min_lag
    if growth.by is None or growth.by <= 0 or not is_much or not rate:
        return None
    return growth.by / growth.over_s / rate if growth.over_s > 0 else None


GROUP_RULES: Final[tuple[GroupRule, ...]] = (lag_state,)
