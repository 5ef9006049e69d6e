"""Faults of who belongs to a group, and of how its clients divide the queues."""

from typing import Final

from tests.advice.choices import (
    about,
    dice_of,
    of_group,
    only_topic,
    owned_by,
    queues_of,
    some_group,
    sorted_clients,
    with_clients,
)
from tests.advice.faults import named
from tests.advice.fleet import DAYS, Fleet
from tests.advice.judge import Expected
from tests.advice.model import Client, Group, Lag

UNREAD_S: Final = 6 * 3600
"""How long queues without a reader have been unread."""
CRASHES_SEEN_H: Final = (2.0, 1.5, 1.0, 0.5)
"""When the snapshots were taken between which clients were started again."""
ENDED_S: Final = 3_600
"""How long ago the clients of a group ended that ran all the time."""
GONE_S: Final = (DAYS + 4) * 86_400
"""Since when a group that nobody runs is gone: from before the history."""
BEHIND: Final = frozenset({"ORPHAN_QUEUE", "LAG_STATE", "LAG_SKEW", "RETENTION_RISK", "CONSUMER_CAPACITY"})
"""Consequences of queues that nobody reads."""


def a_list_for_config_with_a_gap(fleet: Fleet) -> Expected:
    """Clients run CONFIG, and nobody's list has one of the queues."""
    group = some_group(fleet, "plain")
    lists = {one.client_id: owned_by(fleet, group, one.client_id) for one in group.clients}
    longest = max(lists.values(), key=len)
    longest.pop()
    group.strategy, group.config = "CONFIG", lists
    fleet.policy["config_assignments"] = {
        group.name: {client_id: [queue.row() for queue in own] for client_id, own in lists.items()}
    }
    _leave_unread(fleet, group)
    return of_group(
        fleet,
        group,
        "ORPHAN_QUEUE",
        ("CRITICAL",),
        ("CHANGE_STRATEGY",),
        *BEHIND | {"IDLE_CONSUMERS", "ALLOCATION_SKEW", "TRAFFIC_SKEW"},
    )


def two_clients_with_one_id(fleet: Fleet) -> Expected:
    group = some_group(fleet, "plain", of=lambda one: len(one.clients) >= 4)
    first, second = sorted_clients(group)[:2]
    second.client_id = first.client_id
    _leave_unread(fleet, group)
    return of_group(fleet, group, "DUPLICATE_CLIENT_ID", ("CRITICAL",), ("FIX_CLIENT_ID",), *BEHIND | {"TRAFFIC_SKEW"})


def a_client_with_another_tag(fleet: Fleet) -> Expected:
    group = some_group(fleet, "plain", "circle", of=lambda one: len(one.clients) >= 3)
    group.expression = "created || paid"
    sorted_clients(group)[-1].expression = "created"
    return of_group(fleet, group, "SUBSCRIPTION_MISMATCH", ("CRITICAL",), ("FIX_SUBSCRIPTION",))


def a_client_on_its_retry_topic_only(fleet: Fleet) -> Expected:
    group = some_group(fleet, "plain", "circle", of=lambda one: len(one.clients) >= 3)
    sorted_clients(group)[-1].topics = []
    _leave_unread(fleet, group)
    return of_group(
        fleet,
        group,
        "SUBSCRIPTION_MISMATCH",
        ("CRITICAL",),
        ("FIX_SUBSCRIPTION",),
        *BEHIND | {"IDLE_CONSUMERS", "ALLOCATION_SKEW", "TRAFFIC_SKEW"},
    )


def a_few_clients_without_a_queue(fleet: Fleet) -> Expected:
    return _idle(fleet, 1.3, "INFO")


def most_clients_without_a_queue(fleet: Fleet) -> Expected:
    return _idle(fleet, 2.5, "WARNING")


def _idle(fleet: Fleet, times: float, severity: str) -> Expected:
    group = some_group(fleet, "plain", "circle", alone=True)
    with_clients(fleet, group, int(len(queues_of(fleet, group)) * times) + 1)
    actions = ("EXPAND_QUEUES", "SCALE_CONSUMERS")
    return of_group(fleet, group, "IDLE_CONSUMERS", (severity,), actions)


def clients_of_two_strategies(fleet: Fleet) -> Expected:
    """A deployment that changed the strategy has stopped half-way."""
    group = some_group(fleet, "plain", of=lambda one: len(one.clients) >= 4 and _is_uneven(fleet, one))
    for one in sorted_clients(group)[::2]:
        one.strategy = "AVG_BY_CIRCLE"
    _leave_unread(fleet, group)
    return of_group(
        fleet,
        group,
        "MIXED_STRATEGIES",
        ("CRITICAL",),
        ("CHANGE_STRATEGY",),
        *BEHIND | {"ALLOCATION_SKEW", "IDLE_CONSUMERS", "TRAFFIC_SKEW"},
    )


def _is_uneven(fleet: Fleet, group: Group) -> bool:
    """Whether the two strategies differ for it: some client has several queues."""
    return len(queues_of(fleet, group)) > len(group.clients)


def a_broker_that_lacks_a_client(fleet: Fleet) -> Expected:
    group = some_group(fleet, "plain", "several", of=lambda one: len(one.clients) >= 3)
    broker = dice_of(fleet, "unseen").choice(fleet.model.brokers_of(group))
    sorted_clients(group)[0].unseen_by = frozenset({broker})
    return of_group(fleet, group, "MEMBERSHIP_DISAGREEMENT", ("WARNING",), ("INVESTIGATE",))


def clients_of_a_version_that_repeats_ids(fleet: Fleet) -> Expected:
    """4.8.0 ends a client id with the bare process id, which repeats in containers."""
    group = some_group(fleet, "plain")
    for place, one in enumerate(group.clients):
        one.version = "V4_8_0"
        one.client_id = f"{one.addr.partition(':')[0]}@{100 + place}"
    return of_group(fleet, group, "BAD_VERSION", ("WARNING", "INFO"), ("INVESTIGATE",))


def a_concurrent_reader_of_a_fifo_topic(fleet: Fleet) -> Expected:
    group = some_group(fleet, "orderly")
    group.orderly = False
    return Expected(
        "FIFO_BROKEN", ("CRITICAL", "WARNING"), ("INVESTIGATE",), group.name, only_topic(fleet, group).name,
        may_name=about(fleet, group),
    )  # fmt: skip


def a_group_that_nobody_runs(fleet: Fleet) -> Expected:
    """A group without clients, whose place on its topic has not moved for longer than the history goes back."""
    group = _without_clients(fleet, GONE_S)
    fleet.remember()
    return of_group(fleet, group, "STALE_OBJECT", ("INFO",), ("INVESTIGATE",), *BEHIND)


def clients_of_a_group_that_all_ended(fleet: Fleet) -> Expected:
    """An hour ago every client of a group ended that ran on each of the days before."""
    fleet.remember()
    group = _without_clients(fleet, ENDED_S)
    return of_group(fleet, group, "LAG_STATE", ("CRITICAL",), ("INVESTIGATE",))


def _without_clients(fleet: Fleet, since_s: float) -> Group:
    """A group whose clients are gone, and whose topics others read."""
    group = some_group(fleet, "plain", of=lambda one: any(len(fleet.model.readers(each)) > 1 for each in one.topics))
    group.clients.clear()
    for queue in queues_of(fleet, group):
        lag = int(fleet.model.topics[queue.topic].rates[queue] * since_s)
        group.lags[queue] = Lag(lag, stands=True, behind_s=since_s)
    return group


def a_client_that_ends_again_and_again(fleet: Fleet) -> Expected:
    """Something ends it some minutes after each start, and something starts it again."""
    group = some_group(fleet, "plain", "circle", of=lambda one: len(one.clients) >= 3)
    dice_of(fleet, "crashes").choice(group.clients).crashes = True
    fleet.hours_before = CRASHES_SEEN_H
    return of_group(fleet, group, "REBALANCE_FREQUENCY", ("WARNING",), ("INVESTIGATE",))  # fmt: skip


def _leave_unread(fleet: Fleet, group: Group) -> None:
    """Let the group's place stand still on each queue that no client owns."""
    read = {queue for one in _distinct(group) for queue in owned_by(fleet, group, one.client_id)}
    for queue in queues_of(fleet, group):
        if queue not in read:
            lag = int(fleet.model.topics[queue.topic].rates[queue] * UNREAD_S)
            group.lags[queue] = Lag(lag, stands=True, behind_s=UNREAD_S)


def _distinct(group: Group) -> list[Client]:
    return list({one.client_id: one for one in group.clients}.values())


FAULTS: Final = named(
    a_list_for_config_with_a_gap,
    two_clients_with_one_id,
    a_client_with_another_tag,
    a_client_on_its_retry_topic_only,
    a_few_clients_without_a_queue,
    most_clients_without_a_queue,
    clients_of_two_strategies,
    a_broker_that_lacks_a_client,
    clients_of_a_version_that_repeats_ids,
    a_concurrent_reader_of_a_fifo_topic,
) | named(
    a_group_that_nobody_runs,
    clients_of_a_group_that_all_ended,
    a_client_that_ends_again_and_again,
    with_history=True,
)
