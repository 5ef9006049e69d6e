"""Faults of messages that wait, fail, or are about to be deleted."""

from typing import Final

from tests.advice.choices import about, dice_of, of_group, owned_by, queues_of, some_group, sorted_clients
from tests.advice.faults import named
from tests.advice.fleet import Fleet
from tests.advice.judge import Expected
from tests.advice.model import Group, Lag
from tests.advice.shape import KEPT_H, Moment, Row

STOOD_S: Final = 900
"""How long a queue has stood still."""
LOOKS: Final = ("INVESTIGATE",)


def a_queue_that_stands_still(fleet: Fleet) -> Expected:
    """A client has messages of one queue, and has not finished one for a quarter of an hour."""
    group = some_group(fleet, "plain", "circle", "several")
    queue = dice_of(fleet, "queue").choice(queues_of(fleet, group))
    _stop(fleet, group, queue)

    def hold(inventory: Row) -> None:
        for row in inventory["consumer_groups"]:
            for client in row["clients"] if row["consumer_group"] == group.name else ():
                for one in client["owned_queues"]:
                    if (one["topic"], one["broker_name"], one["queue_id"]) == queue:
                        one |= {"cached_msgs": 1000, "last_consumed_at": Moment().at(STOOD_S)}

    fleet.edits.append(hold)
    return of_group(
        fleet, group, "STUCK_QUEUE", ("CRITICAL",), ("INVESTIGATE", "REPLACE_CLIENT"), "LAG_STATE", "LAG_SKEW"
    )


def a_client_that_is_suspended(fleet: Fleet) -> Expected:
    """A client has handled nothing for a quarter of an hour, and marks its queues every second."""
    group = some_group(fleet, "plain", "circle", "several")
    idle = dice_of(fleet, "idle").choice(sorted_clients(group)).client_id
    for queue in owned_by(fleet, group, idle):
        _stop(fleet, group, queue)
    # The samples of a fleet without a history cover no more.
    fleet.policy["thresholds"] = {"STUCK_QUEUE": {"no_progress_s": 30.0}}

    def suspend(inventory: Row) -> None:
        for row in inventory["consumer_groups"]:
            for client in row["clients"] if row["consumer_group"] == group.name else ():
                if client["client_id"] == idle:
                    client["owned_queues"] = [
                        one | {"last_consumed_at": Moment().at(STOOD_S)} for one in client["owned_queues"]
                    ]
                    client["status"] = [one | {"consume_ok_msgs_per_s": 0.0} for one in client["status"]]

    fleet.edits.append(suspend)
    return of_group(fleet, group, "STUCK_QUEUE", ("WARNING", "CRITICAL"), LOOKS, "LAG_STATE", "LAG_SKEW")


def a_queue_that_does_not_catch_up(fleet: Fleet) -> Expected:
    """The group's place on one queue does not move, and its client says nothing of it."""
    group = some_group(fleet, "plain", "circle", "several")
    _stop(fleet, group, dice_of(fleet, "queue").choice(queues_of(fleet, group)))
    return of_group(
        fleet, group, "LAG_STATE", ("WARNING", "CRITICAL"), LOOKS, "LAG_SKEW", "STUCK_QUEUE", "CONSUMER_CAPACITY"
    )


def a_client_far_behind_the_others(fleet: Fleet) -> Expected:
    """All queues of one client fall behind a little, though it is not busy."""
    group = some_group(fleet, "plain", "circle", of=lambda one: len(one.clients) >= 5)
    late = dice_of(fleet, "late").choice(sorted_clients(group))
    for queue in owned_by(fleet, group, late.client_id):
        rate = fleet.model.topics[queue.topic].rates[queue]
        group.lags[queue] = Lag(int(rate * 1800), int(rate * 5 * 0.1))
    return of_group(fleet, group, "LAG_STATE", ("WARNING", "CRITICAL"), LOOKS, "LAG_SKEW", "CONSUMER_CAPACITY")


def messages_close_to_deletion(fleet: Fleet) -> Expected:
    """A group catches up on one queue, but what it reads next is two hours from deletion."""
    group = some_group(fleet, "plain", "circle")
    queue = dice_of(fleet, "queue").choice(queues_of(fleet, group))
    behind_s = (KEPT_H - 2) * 3600
    rate = fleet.model.topics[queue.topic].rates[queue]
    group.lags[queue] = Lag(int(rate * behind_s), -int(rate * 5 * 0.2), behind_s=behind_s)
    return of_group(fleet, group, "RETENTION_RISK", ("CRITICAL",), LOOKS, "LAG_STATE", "LAG_SKEW")


def messages_deleted_unread(fleet: Fleet) -> Expected:
    """A group has stood still on one queue for so long that messages are gone."""
    group = some_group(fleet, "plain", "circle")
    queue = dice_of(fleet, "queue").choice(queues_of(fleet, group))
    behind_s = (KEPT_H + 3) * 3600
    group.lags[queue] = Lag(
        int(fleet.model.topics[queue.topic].rates[queue] * behind_s), stands=True, behind_s=behind_s
    )
    return of_group(
        fleet,
        group,
        "RETENTION_RISK",
        ("CRITICAL",),
        LOOKS,
        "LAG_STATE",
        "LAG_SKEW",
        "STUCK_QUEUE",
        "CONSUMER_CAPACITY",
    )


def messages_that_fail(fleet: Fleet) -> Expected:
    group = some_group(fleet, "plain", "circle", "several")
    for one in group.clients:
        one.failed_ratio = 0.05
    return Expected(
        "RETRY_PRESSURE",
        ("WARNING",),
        LOOKS,
        group.name,
        may_name=about(fleet, group) | {group.retry_topic},
    )


def _stop(fleet: Fleet, group: Group, queue: tuple[str, str, int]) -> None:
    rates = fleet.model.topics[queue[0]].rates
    (found,) = (one for one in rates if one == queue)
    group.lags[found] = Lag(int(rates[found] * STOOD_S), stands=True, behind_s=STOOD_S)


FAULTS: Final = named(
    a_queue_that_stands_still,
    a_client_that_is_suspended,
    a_queue_that_does_not_catch_up,
    a_client_far_behind_the_others,
    messages_close_to_deletion,
    messages_deleted_unread,
    messages_that_fail,
)
