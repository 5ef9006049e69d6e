"""What a failure would do, always computed: the loss of each broker, of each room, and of a group's busiest client."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from rocketmq_capacity.assessment.assigned_load import Assignment, assigned_loads
from rocketmq_capacity.assessment.broker_losses import BrokerLosses, Lost, losses_of
from rocketmq_capacity.assessment.change import GroupAfterChange, moved_queues
from rocketmq_capacity.assessment.effect import Crossed
from rocketmq_capacity.assessment.failure_effects import (
    FailureImpact,
    QueuesByReaders,
    effect_on,
    impacts,
    twice_after,
    unread_after,
)
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.owners_by_strategy import divide
from rocketmq_capacity.assessment.without_brokers import WithoutBrokers, added_at_peak
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import GroupFailure
from rocketmq_capacity.vocabulary import (
    BROKER,
    BROKER_FORGOTTEN_S,
    BUSIEST_CLIENT,
    CLIENT_FORGOTTEN_S,
    FIRST_PULL_S,
    ONE_FEWER,
    ONE_MORE,
    REQUEST_S,
    ROOM,
    UNDER,
)


def read_again_s(failure: str, policy: Policy) -> float:
    """The most seconds until every queue that stays is read again; `transition` has the same figure for this change.

    The figure is for something that falls silent. If a connection is closed, brokers and name servers know at once.
    Clients rebalance, and at worst brokers refuse their pulls until the next heartbeat. A broker's lock on a queue that
    is consumed in order (60 s) has expired by then.
    """
    clients = policy.thresholds.TRANSITION
    noticed_s = clients.rebalance_s + REQUEST_S + FIRST_PULL_S + clients.heartbeat_s
    if failure == ONE_MORE:
        return noticed_s
    if failure in (BUSIEST_CLIENT, ONE_FEWER):
        return CLIENT_FORGOTTEN_S + noticed_s
    route_s = BROKER_FORGOTTEN_S + clients.poll_nameserver_s
    return noticed_s + (max(route_s, CLIENT_FORGOTTEN_S) if failure == ROOM else route_s)


@dataclass(frozen=True, slots=True)
class _Failure:
    """A failure, and what is left of a group after it.

    Attributes:
        group: the group before the failure.
        failure: the kind of failure.
        lost: the name of what is lost.
        change: what is left.
    """

    group: AssessedGroup
    failure: str
    lost: str | None
    change: GroupAfterChange


def group_failures(groups: Sequence[AssessedGroup]) -> list[list[GroupFailure]]:
    """For each group a row for each failure that changes what it reads; none for a group without clients or queues."""
    rooms = _lost_rooms(groups)
    failures = [list(_failures(*each)) if each[0].is_clustering else [] for each in zip(groups, rooms, strict=True)]
    every = [failure for of_group in failures for failure in of_group]
    rows = map(_failed_row, every, _moved_by(every), _busy_after(every))
    without = iter(
        WithoutBrokers.of_each([group for group, of_group in zip(groups, failures, strict=True) if of_group])
    )
    return [
        [*_without_brokers(group, next(without)), *islice(rows, len(of_group))]
        if of_group
        else list(_of_broadcasting(group, of_rooms))
        for group, of_rooms, of_group in zip(groups, rooms, failures, strict=True)
    ]


def _lost_rooms(groups: Sequence[AssessedGroup]) -> list[list[BrokerLosses]]:
    """For each group that reads something the loss of each machine room: its brokers and its clients."""
    rooms = [_rooms(group) if _reads(group) else [] for group in groups]
    lost = [_lost(group, room) for group, of_group in zip(groups, rooms, strict=True) for room in of_group]
    losses = iter(losses_of(lost))
    return [list(islice(losses, len(of_group))) for of_group in rooms]


def _lost(group: AssessedGroup, room: str) -> Lost:
    division = group.division
    gone = {place.broker_name for place in division.queues.places if place.room == room}
    left = division.members.only([consumer.room != room for consumer in division.members.consumers])
    return Lost(division, group.weights, {room: gone}, left)


def _reads(group: AssessedGroup) -> bool:
    """Whether it has clients and queues."""
    return len(group.client_ids) > 0 and len(group.weights.queue) > 0


def _of_broadcasting(group: AssessedGroup, rooms: Sequence[BrokerLosses]) -> Iterator[GroupFailure]:
    """A row for each broker and room that a broadcasting group reads from: its clients read the other queues on."""
    if not group.facts.is_broadcasting or not _reads(group):
        return
    for failure, losses in ((BROKER, group.losses), *((ROOM, room) for room in rooms)):
        left = losses.division.members.client_ids
        # How much its clients have not read they alone know.
        impact_of_loss = [
            replace(loss, waiting=None) for loss in impacts(losses, [QueuesByReaders()] * len(losses.losses))
        ]
        for index, (name, loss) in enumerate(zip(losses.losses, impact_of_loss, strict=True)):
            use = _busy_without(group, losses, index, left) if left else None
            yield _row(group, failure, name, losses.lost_queues[index], {}, use, loss, len(left))


def _busy_without(group: AssessedGroup, losses: BrokerLosses, index: int, left: Sequence[str]) -> Interval | None:
    """The busy share of the busiest client that is left: it handles what it handled, but for topics nobody writes."""
    if group.work is None:
        return None
    unwritable = losses.base_topic[losses.is_unwritable & (losses.loss == index)]
    incoming = group.work.incoming_msgs_per_s.copy()
    incoming[:, unwritable] = 0.0
    incoming[~np.isin(group.client_ids, left)] = 0.0
    busiest = replace(group.work, incoming_msgs_per_s=incoming).busiest()
    return None if busiest is None else busiest[0].times(group.peak.scale)


def _failures(group: AssessedGroup, rooms: Sequence[BrokerLosses]) -> Iterator[_Failure]:
    """What is left if clients come or go, or if a machine room is lost."""
    if not _reads(group):
        return
    churn, members = group.churn, group.division.members
    if churn.fewer is not None:
        yield _Failure(group, ONE_FEWER, churn.last_client, churn.fewer)
    yield _Failure(group, ONE_MORE, None, churn.more)
    busiest = group.provision.busiest_client
    if busiest is not None and len(group.client_ids) > 1:
        left = members.only([consumer.client_id != busiest for consumer in members.consumers])
        yield _Failure(
            group, BUSIEST_CLIENT, busiest, GroupAfterChange.of_members(churn.before, left, _left_of(group, left))
        )
    for losses in rooms:
        stays = _left_of(group, losses.division.members)
        yield _Failure(group, ROOM, next(iter(losses.losses)), GroupAfterChange.of_losses(churn.before, losses, stays))


def _left_of(group: AssessedGroup, left: Members) -> Integers:
    """The indexes of the client ids that are left."""
    stays = set(left.client_ids)
    return np.flatnonzero([client_id in stays for client_id in group.client_ids])


def _moved_by(failures: Sequence[_Failure]) -> Iterator[Mapping[str, int | None]]:
    """How many queues each failure gives another owner, by strategy."""
    counts = moved_queues([(failure.change, _compared(failure)) for failure in failures])
    for failure, moved in zip(failures, counts, strict=True):
        churn = failure.group.churn
        if failure.failure == ONE_FEWER:
            yield {name: moves.fewer for name, moves in churn.moves.items()}
        elif failure.failure == ONE_MORE:
            yield {name: moves.more for name, moves in churn.moves.items()}
        else:
            yield churn.moved(failure.change, moved)


def _compared(failure: _Failure) -> list[str]:
    """The strategies under which owners are compared; where a client comes or goes, that is done already."""
    if failure.failure in (ONE_FEWER, ONE_MORE) or failure.change.is_empty:
        return []
    churn = failure.group.churn
    return [name for name in churn.strategies if name not in churn.leave_the_rest]


def _without_brokers(group: AssessedGroup, without: WithoutBrokers | None) -> Iterator[GroupFailure]:
    """A row for each broker."""
    moves, losses = group.churn.moves, group.losses
    nothing_known = [None] * len(losses.losses)
    impact_of_loss = impacts(losses, nothing_known if without is None else without.readers)
    for index, (name, loss) in enumerate(zip(losses.losses, impact_of_loss, strict=True)):
        moved = {strategy: each.brokers[name] for strategy, each in moves.items()}
        use = None if without is None else without.busy(index)
        yield _row(group, BROKER, name, losses.lost_queues[index], moved, use, loss, len(group.client_ids))


def _failed_row(failure: _Failure, moved: Mapping[str, int | None], use: Interval | None) -> GroupFailure:
    losses, left = failure.change.losses, failure.change.division.members.client_ids
    lost_queues = 0 if losses is None else losses.lost_queues[0]
    return _row(failure.group, failure.failure, failure.lost, lost_queues, moved, use, _impact(failure), len(left))


def _impact(failure: _Failure) -> FailureImpact:
    """What a failure takes from its group."""
    readers = _readers(failure)
    return FailureImpact.of(readers) if failure.change.losses is None else impacts(failure.change.losses, [readers])[0]


def _readers(failure: _Failure) -> QueuesByReaders | None:
    """Who reads the queues that stay after a failure; None if an owner is unknown."""
    group, change = failure.group, failure.change
    strategy = group.one_strategy
    if change.is_empty:
        return QueuesByReaders()  # no client is left, or no queue
    if strategy is None:
        return None
    owners = change.owners[strategy]
    if owners.unknown:
        return None
    unread = unread_after(group, owners, change.base_queue)
    twice = twice_after(group, owners, change.division, change.base_queue)
    return QueuesByReaders(*(Crossed(*(int(np.count_nonzero(flags)) for flags in both)) for both in (unread, twice)))


def _rooms(group: AssessedGroup) -> list[str]:
    """The machine rooms of its brokers and clients."""
    of_brokers = {place.room for place in group.division.queues.places}
    of_clients = {one.room for one in group.division.members.consumers}
    return sorted(room for room in of_brokers | of_clients if room is not None)


def _row(
    group: AssessedGroup,
    failure: str,
    lost: str | None,
    lost_queues: int,
    moved: Mapping[str, int | None],
    use: Interval | None,
    loss: FailureImpact,
    clients_left: int,
) -> GroupFailure:
    use_today = group.provision.at_peak
    effect = effect_on(group, loss, use, is_loss=failure in (BROKER, ROOM), is_more=failure == ONE_MORE)
    under = use is not None and use.lower > group.policy.thresholds.PROVISION.under_utilisation
    return GroupFailure(
        consumer_group=group.name,
        failure=failure,
        lost=lost,
        lost_queues=lost_queues,
        moved={strategy: float(number) for strategy, number in moved.items() if number is not None},
        moved_today=moved.get(group.computed_strategy or "") if group.is_clustering else 0,
        busy_lower=use and use.lower,
        busy_ratio=use and use.estimate,
        busy_upper=use and use.upper,
        busy_today=use_today and use_today.estimate,
        clients_today=len(group.client_ids),
        clients_left=clients_left,
        becomes_under=None if use is None else under and group.provision.status != UNDER,
        read_again_s=read_again_s(failure, group.policy) if group.is_clustering else 0.0,
        verdict=effect.verdict,
        reasons=effect.reasons,
        unread_queues=None if loss.unread is None else loss.unread.worse,
        waiting_messages=loss.waiting,
        unreadable_topics=loss.unreadable,
        unwritable_topics=loss.unwritable,
    )


def _busy_after(failures: Sequence[_Failure]) -> list[Interval | None]:
    """The busy share of the busiest client at the peak after each failure; a new client is like the last."""
    divide(
        (failure.change.owners, strategy)
        for failure in failures
        if (strategy := failure.group.one_strategy) is not None and not failure.change.is_empty
    )
    cases = [_case(one) for one in failures]
    each_load = iter(assigned_loads([case for case in cases if case is not None]))
    busy_shares = (None if case is None else next(each_load).busiest for case in cases)
    return [use and use.times(one.group.peak.scale) for one, use in zip(failures, busy_shares, strict=True)]


def _case(failure: _Failure) -> Assignment | None:
    """The group after a failure; None if the owners after it are unknown."""
    group, change, losses = failure.group, failure.change, failure.change.losses
    strategy = group.one_strategy
    if strategy is None or (losses is not None and change.is_empty):
        return None
    owners = change.owners[strategy]
    if owners.unknown:
        return None
    rows = np.minimum(change.base_client, len(group.client_ids) - 1)
    msgs_per_s = group.planned_msgs_per_s
    if losses is None:
        return Assignment(group.staff, change.division, owners, rows, msgs_per_s)
    changed = msgs_per_s[losses.base_queue] + added_at_peak(group, losses)
    return Assignment(group.staff, change.division, owners, rows, changed, losses.base_topic)
