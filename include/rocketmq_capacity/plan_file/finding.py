"""What is wrong: findings, and the causes that they belong to."""

from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.accepted import Accepted
from rocketmq_capacity.plan_file.numbers import JsonObject
from rocketmq_capacity.plan_file.steps import StepCheck
from rocketmq_capacity.tables.assess.findings import PENDING
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import Severity


class PlanFinding(Struct, frozen=True, kw_only=True):
    """What is wrong, and with what."""

    id: Annotated[
        str, means("of its rule, group, topic, broker and subjects; empty in a plan of an earlier version")
    ] = ""
    rule: Annotated[str, means("name of the rule")]
    severity: Annotated[Severity, means("CRITICAL is to be mended now, INFO is for information")]
    consumer_group: Annotated[str | None, means("the group that it is about")]
    topic: Annotated[str | None, means("the topic that it is about")]
    broker_name: Annotated[str | None, means("the broker that it is about")]
    subjects: Annotated[
        tuple[str | Queue, ...], means("what it is about: client ids, brokers or groups as texts, queues as objects")
    ]
    evidence: Annotated[
        JsonObject, means("the figures that it is based on, their units in their names; a queue is an object")
    ]
    message: Annotated[str, means("one sentence for people")]
    owner: Annotated[
        str | None, means("whose it is by the policy's groups; null if nobody's, or if a topic has several owners")
    ] = None
    accepted: Annotated[
        Accepted | None, means("by whom it is accepted; it then belongs to no cause; null if nobody did")
    ] = None
    state: Annotated[
        Literal["PENDING", "OPEN"] | UnsetType,
        means(
            "PENDING: found for the first time, by a rule that flaps, and not CRITICAL: nothing alarms "
            "before a second run has found it; without a plan before there is no state, as all are open"
        ),
    ] = UNSET
    since: Annotated[
        str | UnsetType,
        means("taken_at of the first plan of the row that has it; without a plan before it is not told"),
    ] = UNSET

    @property
    def alarms(self) -> bool:
        """Whether people are told: nobody has accepted it, and it is not PENDING."""
        return self.accepted is None and self.state != PENDING


class Impact(Struct, frozen=True, kw_only=True):
    """What a cause does. A figure is null if it is unknown, or has nothing to do with the cause."""

    messages_at_risk: Annotated[int | None, means("messages that nobody reads")] = None
    unread_msgs_per_s: Annotated[float | None, means("messages a second for queues without owner")] = None
    unread_queues: Annotated[int | None, means("queues that are written to and that nobody reads")] = None
    deleted_messages: Annotated[int | None, means("messages that were deleted unread")] = None
    idle_clients: Annotated[int | None, means("clients without work")] = None
    lag: Annotated[int | None, means("messages by which its groups are behind")] = None
    utilisation_ratio: Annotated[float | None, means("busy share of the busiest client at the peak")] = None
    cross_room_mb_per_s: Annotated[float | None, means("MB a second read from another machine room")] = None


class Cause(Struct, frozen=True, kw_only=True):
    """What one action mends: findings that belong together, and what answers them.

    Every finding that nobody has accepted, and every recommendation, belongs to exactly one cause.
    """

    id: Annotated[str, means("of its rule, group and topic: the same from day to day")]
    rule: Annotated[str, means("rule of the finding that caused the others; empty if its action answers no finding")]
    severity: Annotated[Severity, means("of its worst finding; INFO if it has none")]
    action: Annotated[str | None, means("of its first recommendation; null if nothing is recommended")]
    consumer_group: Annotated[str | None, means("the one group that it is about; null if several")]
    topic: Annotated[str | None, means("the one topic that it is about; null if none or several")]
    owner: Annotated[str | None, means("the one owner of its findings; null if none or several")] = None
    tier: Annotated[int | None, means("the most important one of its findings; null if none is told")] = None
    title: Annotated[str, means("what to do, in a few words; what is wrong if nothing is recommended")]
    message: Annotated[str, means("one sentence about what is wrong")]
    findings: Annotated[tuple[str, ...], means("ids of its findings, the most urgent first")]
    recommendations: Annotated[
        tuple[str, ...], means("ids of what answers it: its action first, then what goes with it or may replace it")
    ]
    impact: Impact
    since: Annotated[
        str | None, means("moment of the first of the unbroken row of snapshots that have it; null without history")
    ] = None
    is_new: Annotated[bool | None, means("the plan before did not have it; null if there is none")] = None
    changes_cluster: Annotated[bool, means("a command of its first recommendation changes the cluster")]
    check: Annotated[StepCheck | None, means("of its first recommendation")]
    way_back: Annotated[str | None, means("of its first recommendation")]

    @property
    def anchor(self) -> str:
        """The id of its place on the page: the same from day to day, so that links to it last."""
        return f"cause-{self.id}"


def alarming(findings: Iterable[PlanFinding]) -> tuple[PlanFinding, ...]:
    """The findings that people are told of."""
    return tuple(finding for finding in findings if finding.alarms)


def still_open(findings: Iterable[PlanFinding]) -> tuple[PlanFinding, ...]:
    """The findings that nobody has accepted."""
    return tuple(finding for finding in findings if finding.accepted is None)
