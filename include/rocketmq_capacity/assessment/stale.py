"""STALE_OBJECT: topics and groups that nobody uses any more."""

from collections.abc import Iterator, Sequence
from math import floor
from typing import Annotated, Final

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.topic import AssessedTopic, TopicRule
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import BUSINESS, INFO
from rocketmq_capacity.wording import counted, listed, rounded


class StaleTopicEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of STALE_OBJECT for a topic."""

    unused_days: Annotated[float, means("time for which nothing was written")]
    consumer_groups: Annotated[Sequence[str], means("groups that still subscribe to it")]
    queues: Annotated[int, means("that can be read", "queue")]


class StaleGroupEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of STALE_OBJECT for a group."""

    unused_days: Annotated[float, means("time without clients and without commits")]
    topics: Annotated[Sequence[str], means("topics that it has read")]


ASK: Final = (
    "Ask whether anybody still needs {subjects}. If the commands still show no messages, no offsets that move and"
    " no clients, a person may run the command in the comment; what it deletes does not come back."
)
DEAD_LETTERS: Final = (
    "deleteSubGroup also deletes the group's dead-letter topic, with all messages that nobody has sent again."
)
"""Source: DeleteSubscriptionGroupCommand, with -c."""


def _advice(_: Finding, evidence: Evidence) -> str:
    return f"{ASK} {DEAD_LETTERS}" if isinstance(evidence, StaleGroupEvidence) else ASK


STALE_OBJECT: Final = Rule(
    name="STALE_OBJECT",
    title="Topics or groups that nobody uses",
    meaning="Nothing was written and nothing read for a long time.",
    place=340,
    evidence=(StaleTopicEvidence, StaleGroupEvidence),
    advice=_advice,
    looks="unused",
    shows="the command fails if it was deleted; if it was kept, the next plan says whether it is used again.",
    needs=("unused time",),
    about=(
        "topic",
        "group",
    ),
    severities={
        "INFO": "it costs money, or is on purpose",
    },
    details="""
    A topic to which nothing was written, and of which nothing is unread, or a group that had no clients and
    committed nothing, for the policy's `days`. There is a finding only if that is proven: by inventories of the
    history (`plan --history`) whose offsets are those of today, or for a topic by its stored rates
    (`topics[].rates`, whose means are all 0) or by the times of its last messages, as groups that read it to the
    end tell them. Lag and deleted messages of such a group belong to this cause. The finding of a topic names the
    groups that still subscribe to it. The commands look; `deleteTopic` and `deleteSubGroup` are comments. With a
    group `deleteSubGroup` deletes its retry topic and its dead-letter topic as well.
    """,
)


def stale_topic(topic: AssessedTopic) -> Iterator[Finding]:
    """STALE_OBJECT: for the policy's days nothing was written to a topic, and everything in it is read.

    There is a finding only if the history or the times of its last messages prove it.
    """
    days = topic.unit.unused_days
    if days is None or days < topic.policy.thresholds.STALE_OBJECT.days:
        return
    groups = sorted(one.consumer_group for one in topic.unit.readers if one.is_subscribed and one.kind == BUSINESS)
    yield finding(
        STALE_OBJECT,
        INFO,
        topic=topic.name,
        subjects=[topic.name],
        evidence=StaleTopicEvidence(
            unused_days=rounded(days, 1),
            consumer_groups=groups,
            queues=sum(place.readable for place in topic.unit.facts.places),
        ),
        message=f"Nothing was written to it for {counted(floor(days), 'day')} or longer, and nothing in it is unread."
        + (f" These groups still subscribe to it: {listed(groups)}." if groups else ""),
    )


def stale_group(group: AssessedGroup) -> Iterator[Finding]:
    """STALE_OBJECT: for the policy's days a group had no clients and committed nothing, as the history proves."""
    days = group.facts.unused_days
    if days is None or days < group.policy.thresholds.STALE_OBJECT.days:
        return
    topics = [reads.topic.topic for reads in group.business]
    yield finding(
        STALE_OBJECT,
        INFO,
        consumer_group=group.name,
        subjects=[group.name],
        evidence=StaleGroupEvidence(unused_days=rounded(days, 1), topics=topics),
        message=f"It had no clients and committed nothing for {counted(floor(days), 'day')} or longer.",
    )


GROUP_RULES: Final[tuple[GroupRule, ...]] = (stale_group,)
TOPIC_RULES: Final[tuple[TopicRule, ...]] = (stale_topic,)
