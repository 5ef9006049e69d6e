"""RETRY_PRESSURE: messages that fail and are delivered again."""

from collections.abc import Iterator
from math import fsum
from typing import Annotated, Final

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import CRITICAL, RETRY, WARNING
from rocketmq_capacity.wording import percent, rounded


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
    flaps=True,
)


def retry_pressure(group: AssessedGroup) -> Iterator[Finding]:
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


GROUP_RULES: Final[tuple[GroupRule, ...]] = (retry_pressure,)
