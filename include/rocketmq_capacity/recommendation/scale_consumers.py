"""SCALE_CONSUMERS: fewer clients if some are not needed, more if the busiest one is too busy or shares are uneven.

A change of the deployment, so there is no command.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.capacity import TooBusyEvidence, TooManyEvidence, TrafficGrowsEvidence
from rocketmq_capacity.assessment.choice_of_clients import RoomClients
from rocketmq_capacity.assessment.ownership import OrphanEvidence
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.recommendation.answer import answer, json_object, sentences
from rocketmq_capacity.recommendation.commands import consumer_connection
from rocketmq_capacity.recommendation.effects import TOLERANCE, excess, gives_work, is_worse, side_shown
from rocketmq_capacity.recommendation.facts import AdvisedGroup, GroupAction, needs_fewer
from rocketmq_capacity.vocabulary import AVG, AVG_BY_CIRCLE, CONFIG, CONSISTENT_HASH, INFO, java_order
from rocketmq_capacity.wording import counted, listed


def _check(recommended: Recommended, nameserver: str) -> Proof:
    clients = json_object(recommended.after).get("clients")
    number = "as many clients as were decided on" if clients is None else counted(clients, "client")
    return consumer_connection(nameserver, recommended.consumer_group or ""), f"{number}, each id once."


def _way_back(before: Mapping[str, Any]) -> str:
    clients = before.get("clients")
    return "Run as many clients as before." if clients is None else f"Run {counted(clients, 'client')} again."


RULE: Final = "IDLE_CONSUMERS"
CAPACITY: Final = "CONSUMER_CAPACITY"
ORPHAN: Final = "ORPHAN_QUEUE"
CROSS_TOPIC: Final = "CROSS_TOPIC_SKEW"
ACTION: Final = Action(
    name="SCALE_CONSUMERS",
    title="Run {clients} consumers of {group}",
    meaning="As many as the messages need, and not more than can own a queue.",
    place=15,
    changes="clients",
    check=_check,
    way_back=_way_back,
    answers=(RULE, CAPACITY, CROSS_TOPIC, ORPHAN),
    offered=(
        "if clients own no queue and every queue has an owner, if clients are not needed, if more of them end an"
        " overload, or if a few more leave no remainder; under CONFIG also for a client that has a list in the policy"
        " and does not run"
    ),
    moves_queues=True,
    thresholds=(
        "PROVISION.under_utilisation",
        "PROVISION.over_utilisation",
    ),
    details="""
    Fewer: those that own no queue, or those without whom the busiest client stays below
    `PROVISION.over_utilisation`, and below `under_utilisation` with one more lost. While messages wait or queues are
    not read once, nobody goes. More: the smallest number that
    brings the busiest client below `under_utilisation`, or up to a quarter more if every topic is then divided
    without a remainder (CROSS_TOPIC_SKEW). Scale the deployment; there is no command.
    """,
)
BY_IDS: Final = (
    "CONSISTENT_HASH divides by client ids: with others than those simulated the busiest client may own more queues."
)
MOST_ADDED: Final = 0.25
"""Of today's clients, rounded up, come at most: evenness is not worth more."""


def scale_consumers(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation if the group does not need its idle clients; with the reason why more queues do not help.

    None while the others are too busy: then more queues give the idle ones work. None either if still fewer clients are
    enough, because a group has one number of clients that it needs; nor below the policy's number, nor below its bounds
    under AVG and AVG_BY_CIRCLE: a group in trouble keeps everybody, until that is mended. Under other strategies the
    bounds keep today's number, because no autoscaler chooses who goes; the recommendation names them.
    """
    clients, target = group.facts.distinct_client_ids, group.policy.thresholds.ALLOCATION_SKEW.excess
    # What ends that gives them work.
    is_too_busy = any(one.severity != INFO for one in group.answerable(CAPACITY))
    for finding in () if is_too_busy or needs_fewer(group.findings) else group.answerable_without_set_up(RULE):
        kept = clients - len(finding.subjects)
        bound = group.judged.min_replicas if group.current_strategy in (AVG, AVG_BY_CIRCLE) else None
        if kept < max(bound or 0, group.policy.min_clients(group.name)):
            continue
        if group.named(ORPHAN) or (group.before is not None and group.before.doubly_owned_queues):
            continue  # an idle client can have these queues
        after = group.after(_without(group.facts, finding.subjects)) if kept > 0 else None
        if not gives_work(group.before, after, target):
            continue
        yield answer(
            ACTION,
            consumer_group=group.name,
            target=finding.subjects,
            reason=sentences(_why(group, kept, finding.subjects), group.refusal(finding)),
            rules=[RULE],
            before={"clients": clients, **side_shown(group.before)},
            after={"clients": kept, **side_shown(after)},
        )


def scale_to_capacity(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation if another number of clients brings the busiest one within the bounds."""
    for finding in group.answerable(CAPACITY):
        facts = evidence_of(finding)
        if not isinstance(facts, TooBusyEvidence | TooManyEvidence | TrafficGrowsEvidence):
            continue
        clients, needed = facts.clients, facts.needed_clients
        spare = facts if isinstance(facts, TooManyEvidence) else None
        if needed is None or (needed <= clients if spare is None else needed >= clients):
            continue
        yield answer(
            ACTION,
            consumer_group=group.name,
            target={"clients": needed},
            reason=sentences(_number(needed, clients, facts, finding), _who_they_are(group, facts)),
            rules=[CAPACITY, *_mended_too(group, clients, needed)],
            before=_side(
                clients,
                facts.peak_utilisation_ratio,
                None if spare is None else spare.clients_one_lost_busy_ratio,
                None if facts.needed_rooms is UNSET else Counter(one.room or "" for one in group.facts.consumers),
            ),
            after=_side(
                needed,
                facts.needed_busy_ratio,
                None if spare is None else spare.one_lost_busy_ratio,
                None if facts.needed_rooms is UNSET else _numbers(facts.needed_rooms),
            ),
        )


def scale_to_even(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation if a few clients more leave no remainders, and more queues of one topic do not help."""
    target = group.policy.thresholds.ALLOCATION_SKEW.excess
    if (
        group.current_strategy not in (AVG, AVG_BY_CIRCLE)
        or group.answerable(CAPACITY)
        or group.facts.distinct_client_ids != len(group.facts.consumers)
    ):
        return
    for finding in group.answerable_without_set_up(CROSS_TOPIC):
        is_helped = any((CROSS_TOPIC, group.name) in one.helped for one in group.topics.values())
        if finding.severity == INFO or is_helped:
            continue
        clients = group.facts.distinct_client_ids
        readable = [sum(place.readable for place in reads.topic.places) for reads in group.facts.business]
        number = next(_even_numbers(clients, readable, target), None)
        after = None if number is None else group.after(_with_more(group.facts, number - clients))
        reached = excess(None if after is None else after.count)
        if reached is None or reached > target + TOLERANCE or is_worse(group.before, after, target):
            continue
        yield answer(
            ACTION,
            consumer_group=group.name,
            target={"even": number},
            reason=(
                f"Run {number} instead of {counted(clients, 'client')}: then no topic leaves a remainder, which always"
                " goes to the same clients."
            ),
            rules=[CROSS_TOPIC],
            before={"clients": clients, **side_shown(group.before)},
            after={"clients": number, **side_shown(after)},
        )


def _even_numbers(clients: int, readable: Sequence[int], target: float) -> Iterator[int]:
    """Numbers of clients above today's among which AVG divides all topics evenly, the smallest first.

    The client that comes first gets the larger part of every topic.
    """
    for number in range(clients + 1, min(clients + ceil(clients * MOST_ADDED), max(readable)) + 1):
        most = sum(ceil(queues / number) for queues in readable)
        if most <= ceil(sum(readable) / number) * target:
            yield number


def _with_more(facts: GroupFacts, more: int) -> GroupFacts:
    """The group with clients like its last one, which come last in Java's order."""
    last = Members.of(facts).consumers[-1]
    today = len(facts.consumers)
    added = tuple(
        replace(last, client_id=f"{last.client_id}~{number:05}", consumer_index=today + number)
        for number in range(more)
    )
    return replace(facts, consumers=(*facts.consumers, *added))


def _mended_too(group: AdvisedGroup, clients: int, needed: int) -> Iterator[str]:
    """The other rules that so many clients answer: fewer leave none idle, a divisor of all queues leaves no rest."""
    if needed < clients:
        yield from {one.rule for one in group.answerable_without_set_up(RULE)}
    sizes = [sum(place.readable for place in reads.topic.places) for reads in group.facts.business]
    if group.current_strategy in (AVG, AVG_BY_CIRCLE) and not any(size % needed for size in sizes):
        yield from {one.rule for one in group.answerable(CROSS_TOPIC)}


def start_listed_clients(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation to start the clients that have lists under CONFIG and do not run: nobody else reads these."""
    missing = sorted(
        {client_id for one in group.answerable(ORPHAN) for client_id in OrphanEvidence.of(one).missing_clients or ()},
        key=java_order,
    )
    if not missing:
        return
    clients = group.facts.distinct_client_ids
    is_one = len(missing) == 1
    yield answer(
        ACTION,
        consumer_group=group.name,
        target={"started": missing},
        reason=f"Start {listed(missing)}: under CONFIG nobody else reads the queues that the policy lists for"
        f" {'it' if is_one else 'them'}. If {'it is' if is_one else 'they are'} gone for good, give the queues to other"
        " clients, in the policy and in the clients' code.",
        rules=[ORPHAN],
        before={"clients": clients},
        after={"clients": clients + len(missing)},
    )


def _who_they_are(group: AdvisedGroup, facts: TooBusyEvidence | TooManyEvidence | TrafficGrowsEvidence) -> str | None:
    """What the figures assume of the clients, where not only their number decides who owns what."""
    if facts.needed_rooms is UNSET:
        return BY_IDS if group.current_strategy == CONSISTENT_HASH else None
    return f"Clients in each machine room then: {_in_rooms(_numbers(facts.needed_rooms))}."


def _numbers(rooms: Sequence[RoomClients]) -> dict[str, int]:
    return {one.room: one.clients for one in rooms}


def _in_rooms(clients: Mapping[str, int]) -> str:
    return ", ".join(f"{room} {number}" for room, number in sorted(clients.items()))


def _number(
    needed: int, clients: int, facts: TooBusyEvidence | TooManyEvidence | TrafficGrowsEvidence, finding: tables.Finding
) -> str:
    if isinstance(facts, TooManyEvidence):
        return f"Run {needed} instead of {counted(clients, 'client')}: {finding.message}"
    if isinstance(facts, TrafficGrowsEvidence):
        return (
            f"Run {needed} instead of {counted(clients, 'client')} before that: they are enough for the traffic in"
            f" {facts.forecast_days:g} days, as it was simulated over all topics of the group."
        )
    return (
        f"Run {needed} instead of {counted(clients, 'client')}: with fewer the busiest one stays above the bound, as it"
        " was simulated over all topics of the group."
    )


def _side(
    clients: int, utilisation: float | None, one_lost: float | None, rooms: Mapping[str, int] | None
) -> dict[str, Any]:
    """The busy share of the busiest client at the peak, and if clients leave, also with one more client lost.

    ``rooms`` has the number of clients in each machine room, where that makes a difference.
    """
    side: dict[str, Any] = {"clients": clients, "utilisation_ratio": utilisation}
    if one_lost is not None:
        side["one_lost_utilisation_ratio"] = one_lost
    return side if rooms is None else {**side, "rooms": _in_rooms(rooms)}


def _without(facts: GroupFacts, client_ids: Collection[str]) -> GroupFacts:
    """The group without some clients."""
    left = tuple(one for one in facts.consumers if one.client_id not in client_ids)
    return replace(facts, consumers=left)


def _why(group: AdvisedGroup, kept: int, gone: tuple[str, ...]) -> str:
    is_one = len(gone) == 1
    others = (
        "No other client may leave: under CONFIG nobody takes over its queues."
        if group.current_strategy == CONFIG
        else f"If other clients leave instead, {'this one takes' if is_one else 'these take'} over their queues."
    )
    return (
        f"Run {kept} instead of {counted(group.facts.distinct_client_ids, 'client')}: {listed(gone)}"
        f" {'owns' if is_one else 'own'} no queue. Scale the deployment down. {others}"
    )


GROUP_ACTIONS: Final[tuple[GroupAction, ...]] = (
    scale_consumers,
    scale_to_capacity,
    scale_to_even,
    start_listed_clients,
)
