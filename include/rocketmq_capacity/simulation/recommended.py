"""What happens to a group while a recommendation is carried out: which queues move, and how long they are unread."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import structs

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.current import client_runs
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.cases import QueueChange, QueueCounts
from rocketmq_capacity.model.config_assignment import CONFIG_ASSIGNMENT
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Consumption, GroupFacts
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.model.owners import NO_OWNERS
from rocketmq_capacity.model.queues import Queues
from rocketmq_capacity.recommendation.cases import changed_facts
from rocketmq_capacity.recommendation.facts import AdvisedCluster
from rocketmq_capacity.recommendation.fix_clients import all_subscribe, each_an_id
from rocketmq_capacity.simulation.state import State
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.transition import OwnerChange
from rocketmq_capacity.simulation.trial import changed_division, owned_on_trial, owners_under_lists
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.tables.snapshot.clients import ConsumerFacts

NEW_CODE: Final = ("FIX_CLIENT_ID", "FIX_SUBSCRIPTION")
"""Actions that give clients with different code the same code."""


def recommended_transitions(
    cluster: AdvisedCluster,
    group: AssessedGroup,
    consumption: Consumption,
    current: str | None,
    recommendations: Sequence[tables.Recommendation],
    timing: Timing,
) -> Iterator[tables.RecommendedTransition]:
    """A row for each recommendation that changes who reads what in the group.

    There is no row if that cannot be computed, or for a change to POP, under which no queue has an owner. Clients that
    leave are shut down. Clients that get other code restart. Fixed lists for CONFIG have a row of their own: with them
    every client restarts.

    Args:
        cluster: what holds for every recommendation.
        group: the group.
        consumption: what it consumes, and its offsets.
        current: the strategy that it runs; None for a group that is not clustering.
        recommendations: the recommendations for the group and for its topics.
        timing: the timers of the cluster.
    """
    if current is None or not group.is_clustering:
        return
    facts = structs.replace(group.facts, consumed=consumption.consumed, lags=consumption.lags)
    of_topic = {reads.topic.topic: reads for reads in facts.business}
    before: State | None = None
    for recommendation in sorted(recommendations, key=lambda each: each.id):
        case, changed = _case(recommendation), _changed(facts, current, recommendation)
        if case is None and changed is None and recommendation.config_assignment is None:
            continue
        before = before or _state(group, facts, current, facts)
        if before is None:
            return
        after = None
        if case is not None:
            of_case = structs.replace(facts, reads=(of_topic[case.topic],), lags=())
            after = _with_queues(group, before, changed_facts(of_case, case, cluster), current)
        elif changed is not None:
            after = _state(group, *changed, changed[0] if recommendation.action in NEW_CODE else facts)
        if after is not None:
            yield _row(recommendation, OwnerChange(before, after, timing))
        if recommendation.config_assignment is not None:
            lists = CONFIG_ASSIGNMENT.decode(recommendation.config_assignment).clients
            yield _row(
                recommendation, OwnerChange(before, _listed(group, before.division, lists), timing), is_of_lists=True
            )


def _row(
    asked: tables.Recommendation, change: OwnerChange, *, is_of_lists: bool = False
) -> tables.RecommendedTransition:
    return tables.RecommendedTransition(
        recommendation_id=asked.id,
        consumer_group=change.after.division.group.consumer_group,
        is_of_lists=is_of_lists,
        **structs.asdict(change.totals()),
    )


def _listed(group: AssessedGroup, division: Division, lists: Mapping[str, Sequence[Queue]]) -> State:
    """Who owns which queue once every client runs CONFIG with its list."""
    runs = dict.fromkeys(division.members.client_ids, "CONFIG with these lists")
    return State(division, owners_under_lists(group, division, lists), runs)


def _state(group: AssessedGroup, facts: GroupFacts, current: str, code: GroupFacts) -> State | None:
    """Who owns which queue while the clients run these strategies; without clients nobody owns a queue.

    ``code`` are the facts that say which clients run different code.
    """
    modes = "".join(f" {reads.topic.topic} {reads.message_request_mode}" for reads in group.business)
    division = changed_division(group, facts)
    strategies = client_runs(division, current, group.policy)
    marks = _own_code(code.consumers)
    runs = {
        one: f"{run}{modes}{marks.get(one, '')}"
        for one, run in zip(division.members.client_ids, strategies, strict=True)
    }
    if not runs:
        return State(division, NO_OWNERS, runs)
    owners = owned_on_trial(group, strategies, division)
    return None if owners is None else State(division, owners, runs)


def _with_queues(group: AssessedGroup, before: State, facts: GroupFacts, current: str) -> State | None:
    """Who owns which queue of a topic with other queues; the group's other topics stay as they are ``before``.

    Strategies divide each topic by itself. ``facts`` are of this topic alone, or else a group of thousands of topics
    would be computed whole for each of their recommendations.
    """
    division = Division(facts, Queues.of(facts), before.division.members)
    if not before.runs:
        return State(division, NO_OWNERS, before.runs)
    owners = owned_on_trial(group, client_runs(division, current, group.policy), division)
    return None if owners is None else State(division, owners, before.runs)


def _own_code(consumers: Sequence[ConsumerFacts]) -> dict[str, str]:
    """By client id, a mark for clients that share their id or subscribe to fewer topics than the others.

    Clients lose the mark by a restart with other code.
    """
    copies = Counter(one.client_id for one in consumers)
    return {
        one.client_id: f" {copies[one.client_id]} {one.only_topics}"
        for one in consumers
        if copies[one.client_id] > 1 or one.only_topics is not None
    }


def _case(asked: tables.Recommendation) -> QueueChange | None:
    """The queues of a topic after its recommendation; None for another one, or if not all their numbers are given."""
    if asked.topic is None or asked.consumer_group is not None:
        return None
    counts = _counts(json.loads(asked.after))
    return None if counts is None else QueueChange(case_id=asked.id, topic=asked.topic, counts=counts)


def _changed(facts: GroupFacts, current: str, asked: tables.Recommendation) -> tuple[GroupFacts, str] | None:
    """The group after its recommendation, and the strategy that it then runs; None if no queue changes its owner."""
    after: dict[str, Any] = json.loads(asked.after)
    if asked.action == "CHANGE_STRATEGY":
        strategy = str(after["strategy"])
        consumers = tuple(structs.replace(one, allocate_strategy=strategy) for one in facts.consumers)
        return structs.replace(facts, consumers=consumers), strategy
    if asked.action == "FIX_CLIENT_ID":
        return each_an_id(facts), current
    if asked.action == "FIX_SUBSCRIPTION":
        return all_subscribe(facts), current
    if asked.action == "SCALE_CONSUMERS" and isinstance(after.get("clients"), int):
        return structs.replace(facts, consumers=_scaled(facts, after["clients"])), current
    return None


def _counts(after: dict[str, Any]) -> tuple[QueueCounts, ...] | None:
    """A topic's queues after a recommendation; None if the recommendation does not give all their numbers."""
    queues = after.get("queues")
    if not isinstance(queues, list):
        return None
    names = QueueCounts.__struct_fields__
    known = [one for one in queues if isinstance(one, dict) and all(one.get(name) is not None for name in names)]
    if len(known) < len(queues):
        return None
    return tuple(QueueCounts(**{name: one[name] for name in names}) for one in known)


def _scaled(facts: GroupFacts, clients: int) -> tuple[Any, ...]:
    """This number of consumers: the last ones in Java's order leave, or copies of the last one join behind it."""
    consumers = Members.of(facts).consumers
    if clients <= len(consumers) or not consumers:
        return consumers[:clients]
    last = consumers[-1]
    return consumers + tuple(
        structs.replace(last, client_id=f"{last.client_id}~{number:05}", consumer_index=len(consumers) + number)
        for number in range(clients - len(consumers))
    )
