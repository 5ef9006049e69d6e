"""TOPIC_UNREAD: a topic that is written and that no group reads."""

from collections.abc import Iterator
from math import fsum
from typing import Annotated, Final

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.topic import AssessedTopic, TopicRule
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.broker_figures import MIB, kept_hours, mean_message_bytes
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import SYSTEM, WARNING
from rocketmq_capacity.wording import rounded


class UnreadEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of TOPIC_UNREAD."""

    msgs_per_s: Annotated[float, means("messages that are written")]
    bytes_per_day: Annotated[float | None, means("their size")]
    kept_hours: Annotated[float | None, means("shortest time for which a broker keeps them")]
    producers: Annotated[int | None, means("that the brokers name", "producer")]


TOPIC_UNREAD: Final = Rule(
    name="TOPIC_UNREAD",
    title="Topics that are written and that nobody reads",
    meaning="Producers send messages to which no group subscribes. They fill the disks and are deleted unread.",
    place=190,
    goal="NOTHING_UNREAD",
    evidence=UnreadEvidence,
    advice=(
        "Ask the producers of {subjects} who is meant to read it: the brokers' lists name them. If it is an archive,"
        " or the group is still to come, raise TOPIC_UNREAD.min_msgs_per_s of the policy or leave the topic out"
        " (exclude). No command changes anything here."
    ),
    looks="producers",
    about=("topic",),
    severities={
        "WARNING": (
            "messages are written for nobody; not CRITICAL, because the topic may be new, or be read by hand when"
            " it is needed"
        ),
    },
    details="""
    Messages are kept for the broker's retention and deleted unread. The evidence has the rate, the bytes a day and
    the retention. A group without clients counts as a subscriber as long as it has offsets on the topic. There is
    no finding if a broker of the topic did not answer, or if it is unknown what some group reads.
    """,
)


DAY_S: Final = 86_400


def topic_unread(topic: AssessedTopic) -> Iterator[Finding]:
    """TOPIC_UNREAD: a topic with traffic to which no group subscribes, so that its messages are deleted unread.

    A group without clients counts as long as it has offsets on the topic. There is no finding if a broker of the topic
    did not answer, if it is unknown what some group reads, or if the rate of a queue is unknown. It is WARNING and not
    CRITICAL: a topic that nobody has read yet may be new, or meant to be read by hand when it is needed.
    """
    facts, readers = topic.unit.facts, topic.unit.readers
    is_known = topic.unit.are_readers_known and all(place.has_answered for place in facts.places)
    if not facts.places or not is_known or any(reader.kind != SYSTEM for reader in readers):
        return
    written = [(one.broker_name, one.put_msgs_per_s) for one in facts.written if one.put_msgs_per_s != 0]
    rates: dict[str, float] = {}
    for name, rate in written:
        if rate is None:
            return
        rates[name] = rates.get(name, 0.0) + rate
    total = fsum(rates.values())
    if total < topic.policy.thresholds.TOPIC_UNREAD.min_msgs_per_s:
        return
    brokers = [one for one in topic.cluster.brokers if one.broker_id == 0 and rates.get(one.broker_name)]
    sizes = {one.broker_name: size for one in brokers if (size := mean_message_bytes(one)) is not None}
    bytes_per_day = None
    if rates.keys() <= sizes.keys():
        bytes_per_day = fsum(rate * sizes[name] * DAY_S for name, rate in rates.items())
    kept = [hours for one in brokers if (hours := kept_hours(one)) is not None]
    messages = f"{total:,.0f} message{'' if round(total) == 1 else 's'} a second"
    volume = "" if bytes_per_day is None else f", {bytes_per_day / MIB:,.0f} MiB a day"
    yield finding(
        TOPIC_UNREAD,
        WARNING,
        topic=topic.name,
        subjects=[topic.name],
        evidence=UnreadEvidence(
            msgs_per_s=rounded(total),
            bytes_per_day=rounded(bytes_per_day, 0),
            kept_hours=min(kept, default=None),
            producers=len(topic.producers) or None,
        ),
        message=f"{messages}{volume} are written to it, and no group subscribes to it: they are deleted unread.",
    )


TOPIC_RULES: Final[tuple[TopicRule, ...]] = (topic_unread,)
