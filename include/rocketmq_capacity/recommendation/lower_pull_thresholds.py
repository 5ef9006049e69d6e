"""LOWER_PULL_THRESHOLDS: smaller caches of pulled messages, if full ones do not fit. A change of the set-up."""

from collections.abc import Iterator
from typing import Any, Final

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.memory import ClientMemoryEvidence
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.recommendation.answer import answer, json_object, sentences
from rocketmq_capacity.recommendation.commands import consumer_status
from rocketmq_capacity.recommendation.facts import AdvisedGroup, GroupAction


def _check(recommended: Recommended, nameserver: str) -> Proof:
    command = consumer_status(nameserver, recommended.consumer_group or "")
    most = json_object(recommended.after).get("pull_threshold_for_queue")
    value = "as it was decided on" if most is None else f"at most {most}"
    return command, f"in the file of each client pullThresholdForQueue is {value}."


RULE: Final = "CLIENT_MEMORY"
ACTION: Final = Action(
    name="LOWER_PULL_THRESHOLDS",
    title="Let the consumers of {group} cache fewer messages",
    meaning="A change in the consumers' set-up, not a command.",
    place=90,
    changes="clients",
    check=_check,
    way_back="Set the thresholds as they were in all clients.",
    answers=(RULE,),
    offered="if full caches do not fit the heap",
    details="""
    Smaller caches of pulled messages (`pullThresholdForQueue` or `pullThresholdForTopic`).
    """,
)
HOW: Final = (
    "Small caches cost nothing while the listener is the slowest part. More heap, or more clients with fewer queues"
    " each, do as well."
)
NOT_ONE: Final = "Not even one message for each queue fits: give the clients more heap, or run more of them."


def lower_pull_thresholds(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation, with the thresholds that keep full caches within the policy's share of the heap."""
    for finding in group.answerable(RULE):
        facts = ClientMemoryEvidence.of(finding)
        threshold = facts.needed_pull_threshold_for_queue
        yield answer(
            ACTION,
            consumer_group=group.name,
            target={"pull_threshold_for_queue": threshold},
            is_manual=True,
            reason=NOT_ONE
            if threshold is None
            else sentences(_lower(threshold, facts.needed_pull_threshold_for_topic), HOW),
            rules=[RULE],
            before=_side(facts.pull_threshold_for_queue, max(facts.cache_bytes, facts.with_lost_cache_bytes or 0)),
            after=_side(threshold, facts.needed_cache_bytes),
        )


def _lower(of_queue: int, in_all: int | None) -> str:
    return (
        f"Set pullThresholdForQueue of every client to at most {of_queue} messages, or pullThresholdForTopic to at"
        f" most {in_all}, which a client divides by the queues that it owns."
    )


def _side(threshold: int | None, cache_bytes: int | None) -> dict[str, Any]:
    return {"pull_threshold_for_queue": threshold, "cache_bytes": cache_bytes}


GROUP_ACTIONS: Final[tuple[GroupAction, ...]] = (lower_pull_thresholds,)
