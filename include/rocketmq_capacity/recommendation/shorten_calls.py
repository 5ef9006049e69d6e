"""SHORTEN_CALLS: shorter calls of the listener, if the busiest client is too busy. A change of the clients' code."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.capacity import TooBusyEvidence
from rocketmq_capacity.assessment.remedies import CallTime
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.answer import answer, json_object, sentences
from rocketmq_capacity.recommendation.facts import AdvisedGroup, GroupAction
from rocketmq_capacity.wording import listed


def _check(recommended: Recommended, nameserver: str) -> Proof:
    times = [f"{one['topic']} {one['consume_rt_ms']:g}" for one in json_object(recommended.after).get("topics") or ()]
    command = commands.consumer_status(nameserver, recommended.consumer_group or "")
    return command, f"in the file of each client #Consume RT is at most {listed(times) or 'what was decided on'}."


RULE: Final = "CONSUMER_CAPACITY"
ACTION: Final = Action(
    name="SHORTEN_CALLS",
    title="Shorten the calls of the listener of {group}",
    meaning="A change in the consumers' code: what a call waits for.",
    place=80,
    changes="clients",
    check=_check,
    way_back="Start the clients with their old code.",
    answers=(RULE,),
    offered="if shorter calls end an overload, as an alternative to more clients, threads or queues",
    details="""
    The recommendation names the time that a call may take for each topic. The commands only look.
    """,
)
HOW: Final = "Find out what a call waits for: a service, a database, a lock."
NOTHING_ELSE: Final = (
    "Neither more clients nor more threads, queues or another strategy alone bring the busiest client within the bound."
)


def shorten_calls(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation if shorter calls are enough to bring the busiest client within the bound, with their time."""
    for finding in group.answerable(RULE):
        facts = TooBusyEvidence.read(finding)
        times = None if facts is None else facts.response_times
        if facts is None or not times:
            continue
        nameserver, asked = group.cluster.nameserver, [one for one in finding.subjects if one in group.askable]
        yield answer(
            ACTION,
            consumer_group=group.name,
            target={"consume_rt_ratio": facts.needed_rt_ratio},
            is_manual=True,
            reason=sentences(_shorter(times, finding.subjects), *([] if _has_others(facts) else _all(facts)), HOW),
            rules=[RULE],
            commands=[commands.consumer_status(nameserver, group.name, client_id) for client_id in asked],
            before=_side({one.topic: one.consume_rt_ms for one in times}, facts.peak_utilisation_ratio),
            after=_side({one.topic: one.needed_rt_ms for one in times}, facts.calls_busy_ratio),
        )


def _shorter(times: Sequence[CallTime], clients: tuple[str, ...]) -> str:
    changes = [f"{one.needed_rt_ms:g} ms instead of {one.consume_rt_ms:g} for {one.topic}" for one in times]
    return f"Shorten the calls of the listener in every client; on {listed(clients)} to {listed(changes)}."


def _all(facts: TooBusyEvidence) -> list[str]:
    """That no other measure is enough alone, and which are together."""
    both = facts.needed_together
    if both is None:
        return [NOTHING_ELSE]
    shorter = "" if both.rt_ratio == 1 else f" and calls of {both.rt_ratio * 100:g} % of their time"
    clients = f"{both.clients} clients with {both.consume_threads} threads each{shorter}"
    return [NOTHING_ELSE, f"Together they do: {clients}."]


def _has_others(facts: TooBusyEvidence) -> bool:
    """Whether another single change is enough as well."""
    others = (facts.needed_clients, facts.needed_consume_threads, facts.needed_queues)
    is_enough = any(one.busy_ratio <= facts.under_utilisation_ratio for one in facts.strategies)
    return is_enough or any(one is not None for one in others)


def _side(times: Mapping[str, float], share: float | None) -> dict[str, Any]:
    return {
        "utilisation_ratio": share,
        "topics": [{"topic": topic, "consume_rt_ms": time_ms} for topic, time_ms in times.items()],
    }


GROUP_ACTIONS: Final[tuple[GroupAction, ...]] = (shorten_calls,)
