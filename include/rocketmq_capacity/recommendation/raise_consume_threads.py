"""RAISE_CONSUME_THREADS: more threads in each client, if the busiest is too busy. A change of the clients' code."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.capacity import TooBusyEvidence
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.recommendation.answer import answer, json_object, sentences
from rocketmq_capacity.recommendation.commands import consumer_status
from rocketmq_capacity.recommendation.facts import AdvisedGroup, GroupAction
from rocketmq_capacity.wording import counted


def _check(recommended: Recommended, nameserver: str) -> Proof:
    threads = json_object(recommended.after).get("consume_threads", "what was decided on")
    command = consumer_status(nameserver, recommended.consumer_group or "")
    return command, f"in the file of each client PROP_THREADPOOL_CORE_SIZE is at least {threads}."


def _way_back(before: Mapping[str, Any]) -> str:
    threads = before.get("consume_threads")
    return "Set the number of threads as it was." if threads is None else f"Set {counted(threads, 'thread')} again."


RULE: Final = "CONSUMER_CAPACITY"
ACTION: Final = Action(
    name="RAISE_CONSUME_THREADS",
    title="Raise the consume threads of {group}",
    meaning="A change in the consumers' set-up, not a command.",
    place=17,
    changes="clients",
    check=_check,
    way_back=_way_back,
    answers=(RULE,),
    offered=(
        "if more threads in each client end an overload, up to `max_threads`, and to `max_factor` times those of today"
    ),
    details="""
    Raise `consumeThreadMin`. `consumeThreadMax` never acts, because the queue of the thread pool has no bound. The
    listener and what it calls must be able to take this many calls at once. A listener in order uses at most one
    thread for each queue that it owns.
    """,
)
HOW: Final = (
    "Raise consumeThreadMin. consumeThreadMax does nothing: the pool's queue has no bound, so the pool never starts"
    " more threads than the minimum. The listener, and what it calls, must be able to take this many calls at the same"
    " time."
)

HOW_GRPC: Final = (
    "Set it where the client is built (setConsumptionThreadCount of a PushConsumer). The listener, and what it calls,"
    " must be able to take this many calls at the same time."
)
"""Of a group with gRPC clients, which have one number of threads."""


def raise_consume_threads(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation if more threads are enough to bring the busiest client within the bound.

    Source: ConsumeMessageConcurrentlyService, rocketmq-all-5.3.3 (a LinkedBlockingQueue); apache/rocketmq issue 8354.
    """
    for finding in group.answerable(RULE):
        facts = TooBusyEvidence.read(finding)
        threads = None if facts is None else facts.needed_consume_threads
        if facts is None or threads is None:
            continue
        how = HOW_GRPC if group.facts.has_grpc_clients else HOW
        yield answer(
            ACTION,
            consumer_group=group.name,
            target=threads,
            reason=sentences(
                f"Run at least {threads} consume threads in every client instead of {facts.consume_threads}.", how
            ),
            rules=[RULE],
            before={"consume_threads": facts.consume_threads, "utilisation_ratio": facts.peak_utilisation_ratio},
            after={"consume_threads": threads, "utilisation_ratio": facts.threads_busy_ratio},
        )


GROUP_ACTIONS: Final[tuple[GroupAction, ...]] = (raise_consume_threads,)
