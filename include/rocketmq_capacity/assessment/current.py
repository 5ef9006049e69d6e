"""The strategy in use of a group, and who owns its queues today."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import NO_OWNERS, Allocator, Owners, with_proxied
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BUSINESS, EVERY_QUEUE, MIXED, NOT_ASSIGNED_BY_BROKERS, POP

Source = Literal["reported", "observed", "policy", "default"]


@dataclass(frozen=True, slots=True)
class Current:
    """The strategy in use of a clustering group, and how it is known."""

    strategy: str
    source: Source


@dataclass(frozen=True, slots=True)
class OwnersToday:
    """The owners of today.

    Attributes:
        owners: of the group's business queues.
        is_predicted: whether all owners are computed from the strategies in use; else some are as clients report them.
    """

    owners: Owners
    is_predicted: bool


OldQueues = Callable[[str], Collection[Queue] | None]
"""The queues that a client id owned before a strategy threw; None if unknown."""


def current_strategy(division: Division, allocator: Allocator, policy: Policy) -> Current:
    """The strategy in use of a clustering group.

    gRPC clients always pop. For other clients it is the strategy that they report (MIXED if they differ); else the
    first strategy of the policy that gives each client exactly what it reports to own (if there is none, topics for
    which a strategy throws are left out); else the policy's entry for the group; else its default.
    """
    consumers = division.members.consumers
    if consumers and division.members.is_grpc.all():
        return Current(POP, "reported")
    reported = {one.allocate_strategy for one in consumers if one.allocate_strategy is not None and not one.is_grpc}
    if reported:
        return Current(MIXED if len(reported) > 1 else reported.pop(), "reported")
    if (observed := _observed(division, allocator, policy)) is not None:
        return Current(observed, "observed")
    if (stated := policy.current_strategies.of_group(division.group.consumer_group)) is not None:
        return Current(stated, "policy")
    return Current(policy.current_strategies.default, "default")


def client_runs(division: Division, current: str, policy: Policy) -> list[str]:
    """The strategy of each client id: the one it reports, else its group's, or in a MIXED group the policy's.

    Shape: -> one entry for each client id, the strategy as the policy computes it.
    """
    reported: dict[str, str] = {}
    for consumer in division.members.consumers:
        if consumer.allocate_strategy is not None:
            reported[consumer.client_id] = min(
                reported.get(consumer.client_id, consumer.allocate_strategy), consumer.allocate_strategy
            )
    others = current
    if current == MIXED:
        configured = policy.current_strategies
        others = configured.of_group(division.group.consumer_group) or configured.default
    computed = {name: policy.computed(name) for name in {others, *reported.values()}}
    return [computed[reported.get(client_id, others)] for client_id in division.members.client_ids]


def owned_today(
    owned: OwnersByStrategy,
    runs: list[str],
    applies: Callable[[str], bool],
    policy: Policy,
    old: OldQueues | None = None,
) -> OwnersToday | None:
    """The owners of today, each client by its own strategy, popped topics under POP; None if unknown.

    They are predicted if every strategy in use applies. Otherwise they are as observed, if every client reported what
    it owns. If a client's strategy throws for a topic, the client owns what it owned before.

    Args:
        owned: the owners of the group's queues by strategy.
        runs: of :func:`client_runs`.
        applies: whether RocketMQ would allocate by a strategy of the policy; False for one that the policy lacks.
        policy: the strategies that are computed.
        old: what clients owned before; without it, what they report to own.
    """
    if not runs:
        return None
    division = owned.division
    pops = any(map(division.group.pops, division.group.business))
    in_use = _in_use(division, runs)
    if _pops_all(division):  # there nothing is computed by a strategy that brokers do not know
        in_use = {POP if run in NOT_ASSIGNED_BY_BROKERS else run for run in in_use}
    if all(map(applies, in_use)) and not (pops and in_use and POP not in policy.strategies):
        predicted = predicted_owners(owned, runs)
        if not predicted.unknown:
            return OwnersToday(predicted, is_predicted=True)
        kept = {strategy: owned[strategy].unknown & predicted.unknown for strategy in in_use}
        known = _with_old_owners(division, predicted, [kept.get(run) for run in runs], old or _reported(division))
        return OwnersToday(known, is_predicted=old is not None)
    if all(one.has_owned_queues or one.is_grpc for one in division.members.consumers):
        return reported_owners(division)
    return None


def reported_owners(division: Division) -> OwnersToday:
    """The owners as clients report them; every remoting client has to report."""
    return OwnersToday(with_proxied(_owners_of(division, _seen(division)), division), is_predicted=False)


def _in_use(division: Division, runs: list[str]) -> set[str]:
    """The strategies that the clients run; gRPC clients run none."""
    members = division.members
    if not members.has_grpc:
        return set(runs)
    return {run for run, is_grpc in zip(runs, members.is_grpc[members.first].tolist(), strict=True) if not is_grpc}


def strategies_in_use(division: Division, runs: list[str]) -> list[str]:
    """The strategies whose owners :func:`predicted_owners` asks for; none where all clients are gRPC ones."""
    in_use = _in_use(division, runs)
    if not in_use:
        return []
    if _pops_all(division):
        return [POP]
    return sorted({*in_use, *([POP] if any(map(division.group.pops, division.queues.topics)) else [])})


def _pops_all(division: Division) -> bool:
    """Whether there are business topics with queues, and the clients pop all of these topics."""
    modes = {division.group.pops(reads) for reads in division.queues.topics if reads.topic.kind == BUSINESS}
    return modes == {True}


def predicted_owners(owned: OwnersByStrategy, runs: list[str], strategies: list[str] | None = None) -> Owners:
    """The owners if each client runs its own strategy; popped topics have the owners of POP.

    The owners of topics for which one of these strategies throws are unknown. ``strategies`` are those of
    :func:`strategies_in_use`, if they are known already.
    """
    division, queues = owned.division, owned.division.queues
    strategies = strategies_in_use(division, runs) if strategies is None else strategies
    if not strategies:
        return with_proxied(NO_OWNERS, division)
    if len(strategies) == 1 and strategies[0] != POP:
        return owned[strategies[0]]
    pops = [division.group.pops(reads) for reads in queues.topics]
    if _pops_all(division) and not division.members.has_grpc:
        return replace(_assigned(owned[POP], division), unknown=frozenset())
    is_popped = np.array(pops, bool)
    popped_names = {reads.topic.topic for reads in queues.topics if division.group.pops(reads)}
    is_grpc = division.members.is_grpc[division.members.first]
    ran = np.array(runs)
    parts, strangers, unknown = [], [], set[int]()
    for strategy in strategies:
        owners = _assigned(owned[POP], division) if strategy == POP else owned[strategy]
        of_popped = is_popped[queues.topic[owners.queue]]
        keep = np.where(of_popped, strategy == POP, ran[owners.client] == strategy) & ~is_grpc[owners.client]
        parts.append((owners.queue[keep], owners.client[keep], np.full(np.count_nonzero(keep), strategy == POP)))
        strangers += [one for one in owners.strangers if runs[one[0]] == strategy and one[1].topic not in popped_names]
        unknown |= {topic for topic in owners.unknown if not is_popped[topic]}
    queue, client, popped = (np.concatenate(part) for part in zip(*parts, strict=True))
    together = Owners(queue, client, tuple(sorted(strangers)), is_popped=popped, unknown=frozenset(unknown))
    return with_proxied(together, division)


def _assigned(popped: Owners, division: Division) -> Owners:
    """The owners of popped queues: without clients whose strategy the brokers do not know, to whom they assign none."""
    is_assigned = division.is_assigned
    if is_assigned.all():
        return popped
    keep = is_assigned[popped.client]
    is_popped = np.broadcast_to(popped.is_popped, keep.shape)[keep]
    return replace(popped, queue=popped.queue[keep], client=popped.client[keep], is_popped=is_popped)


def _with_old_owners(
    division: Division, predicted: Owners, kept: list[frozenset[int] | None], old: OldQueues
) -> Owners:
    """The predicted owners, and what each client id still owns of the topics for which its strategy throws.

    Args:
        division: the group's queues and consumers.
        predicted: the owners by the strategies in use.
        kept: by index of the client id, the topics for which its strategy throws; None if it runs none.
        old: what each client id owned before.
    """
    queues, members = division.queues, division.members
    held, unknown = set[tuple[int, Queue]](), set[int]()
    for client, consumer in zip(members.client.tolist(), members.consumers, strict=True):
        thrown = () if consumer.is_grpc else kept[client] or ()
        topics = {topic for topic in thrown if consumer.reads(queues.topics[topic].topic.topic)}
        owned = old(consumer.client_id) if topics else ()
        if owned is None:
            unknown |= topics
        else:
            names = queues.topic_names(topics)
            held |= {(client, queue) for queue in owned if queue.topic in names}
    old_owners = _owners_of(division, held)
    return Owners(
        np.concatenate([predicted.queue, old_owners.queue]),
        np.concatenate([predicted.client, old_owners.client]),
        tuple(sorted({*predicted.strangers, *old_owners.strangers})),
        is_popped=np.concatenate([np.broadcast_to(one.is_popped, one.queue.shape) for one in (predicted, old_owners)]),
        unknown=frozenset(unknown),
    )


def _owners_of(division: Division, owned: Iterable[tuple[int, Queue]]) -> Owners:
    """The owners, from pairs of a client id's index and a queue."""
    queues = division.queues
    number = {name: index for index, name in enumerate(queues.names)}
    of_broker: dict[tuple[str, str], list[int]] = {}
    for index, name in enumerate(queues.names):
        of_broker.setdefault((name.topic, name.broker_name), []).append(index)
    read = {reads.topic.topic for reads in division.group.reads if reads.topic.kind == BUSINESS}
    pairs, strangers = set(), set()
    for client, name in owned:
        if name.queue_id == EVERY_QUEUE:
            pairs |= {(index, client) for index in of_broker.get((name.topic, name.broker_name), ())}
        elif name in number:
            pairs.add((number[name], client))
        else:
            strangers.add((client, name))
    given = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    pops = np.array([division.group.pops(reads) for reads in queues.topics], bool)
    return Owners(
        given[:, 0],
        given[:, 1],
        tuple(sorted(one for one in strangers if one[1].topic in read)),
        is_popped=pops[queues.topic[given[:, 0]]],
    )


def _seen(division: Division) -> set[tuple[int, Queue]]:
    """The business queues that clients report to own, as pairs of a client id's index and a queue."""
    index = {client_id: number for number, client_id in enumerate(division.members.client_ids)}
    return {(index[one.client_id], one.queue) for one in division.group.owned if one.client_id in index}


def _reported(division: Division) -> OldQueues:
    """The queues that each client id reports to own; unknown if one of its consumers does not report."""
    owned: dict[str, set[Queue]] = {}
    for client, queue in _seen(division):
        owned.setdefault(division.members.client_ids[client], set()).add(queue)
    silent = {one.client_id for one in division.members.consumers if not one.has_owned_queues}
    return lambda client_id: None if client_id in silent else owned.get(client_id, set())


def _observed(division: Division, allocator: Allocator, policy: Policy) -> str | None:
    """The first strategy that gives every reporting client exactly the business queues that it reports.

    If there is none, the first one that does so for the topics for which it does not throw.
    """
    seen = _seen(division)
    if not seen:
        return None
    reporting = {one.client_id for one in division.members.consumers if one.has_owned_queues}
    ids = division.members.client_ids
    partly = None
    for strategy in policy.strategies_of(division.group.consumer_group):
        given = {one for one in allocator.reported(strategy, division) if ids[one[0]] in reporting}
        if given == seen:
            return strategy
        thrown = division.queues.topic_names(allocator.verdict(strategy, division).throws_for)
        if given and thrown and partly is None and given == {one for one in seen if one[1].topic not in thrown}:
            partly = strategy
    return partly
