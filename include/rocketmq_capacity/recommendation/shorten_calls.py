"""SHORTEN_CALLS: shorter calls of the listener, if the busiest client is too busy. A change of the clients' code."""

from collections.abc import Iterator
from typing import Any, Final

from rocketmq_capacity import tables
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.answer import answer, json_object, sentences
from rocketmq_capacity.recommendation.facts import Group, GroupAction, evidence
from rocketmq_capacity.wording import listed


def _check(found: Recommended, nameserver: str) -> Proof:
    times = [f"{one['topic']} {one['consume_rt_ms']:g}" for one in json_object(found.after).get("topics") or ()]
    command = commands.consumer_status(nameserver, found.consumer_group or "")
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


def shorten_calls(group: Group) -> Iterator[tables.Recommendation]:
    """One recommendation if shorter calls are enough to bring the busiest client within the bound, with their time."""
    for finding in group.found(RULE):
        facts = evidence(finding)
        times = facts.get("response_times")
        if not times:
            continue
        nameserver, asked = group.cluster.nameserver, [one for one in finding.subjects if one in group.askable]
        yield answer(
            ACTION,
            consumer_group=group.name,
            target={"consume_rt_ratio": facts["needed_rt_ratio"]},
            is_manual=True,
            reason=sentences(_shorter(times, finding.subjects), *([] if _has_others(facts) else _all(facts)), HOW),
            rules=[RULE],
            commands=[commands.consumer_status(nameserver, group.name, client_id) for client_id in asked],
            before=_side(times, "consume_rt_ms", facts["peak_utilisation_ratio"]),
            after=_side(times, "needed_rt_ms", facts["calls_busy_ratio"]),
        )


def _shorter(times: list[dict[str, Any]], clients: tuple[str, ...]) -> str:
    each = [f"{one['needed_rt_ms']:g} ms instead of {one['consume_rt_ms']:g} for {one['topic']}" for one in times]
    return f"Shorten the calls of the listener in every client; on {listed(clients)} to {listed(each)}."


def _all(facts: dict[str, Any]) -> list[str]:
    """That no other measure is enough alone, and which are together."""
    both = facts.get("needed_together")
    if not both:
        return [NOTHING_ELSE]
    shorter = "" if both["rt_ratio"] == 1 else f" and calls of {both['rt_ratio'] * 100:g} % of their time"
    clients = f"{both['clients']} clients with {both['consume_threads']} threads each{shorter}"
    return [NOTHING_ELSE, f"Together they do: {clients}."]


def _has_others(facts: dict[str, Any]) -> bool:
    """Whether another single change is enough as well."""
    bound = facts["under_utilisation_ratio"]
    has_more = any(facts[f"needed_{what}"] is not None for what in ("clients", "consume_threads", "queues"))
    return has_more or any(one["busy_ratio"] <= bound for one in facts["strategies"])


def _side(times: list[dict[str, Any]], name: str, share: float) -> dict[str, Any]:
    return {
        "utilisation_ratio": share,
        "topics": [{"topic": one["topic"], "consume_rt_ms": one[name]} for one in times],
    }


GROUP_ACTIONS: Final[tuple[GroupAction, ...]] = (shorten_calls,)
