"""How often the members of groups changed between the inventories of the last hours."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from rocketmq_capacity.model.facts import PastMembers, Returned
from rocketmq_capacity.settings.thresholds import RebalanceFrequency
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryGroup, parse_utc
from rocketmq_capacity.snapshot.seconds import HOUR_S

Members = Mapping[str, Client]
"""By client id; of equal ids the last one."""
Moment = tuple[datetime, Mapping[str, Members]]
"""When an inventory was taken, and the members of each group whose clients it knows."""


def past_members(
    inventory: Inventory, history: Sequence[Inventory], bounds: RebalanceFrequency
) -> dict[str, PastMembers]:
    """By group, how its members changed; without a group that two inventories close enough do not both know.

    Two snapshots or samples tell at least how many came and went between them: a client that came and left again is not
    seen. Where the group has samples, they alone count.

    Args:
        inventory: the cluster now.
        history: earlier inventories without failures, oldest first.
        bounds: how far to look back, and how far apart two snapshots may be.
    """
    members = _by_snapshots(inventory, history, bounds)
    for group in inventory.consumer_groups:
        if steps := _sampled(group, inventory, bounds):
            members[group.consumer_group] = _of_group(group.consumer_group, steps)
    return {name: members[name] for name in sorted(members)}


def _sampled(group: InventoryGroup, inventory: Inventory, bounds: RebalanceFrequency) -> list[tuple[Moment, Moment]]:
    """The members of a group at the begin and the end of each stretch of samples, and now; none without samples.

    Samples know ids alone, so that is all that is compared.
    """
    now = inventory.taken_at_utc
    begin = now - timedelta(hours=bounds.window_h)
    stretches = [
        (max(parse_utc(one.first_at), begin), parse_utc(one.last_at), _by_id(one.client_ids))
        for one in group.past_members or ()
        if begin <= parse_utc(one.last_at) < now
    ]
    if stretches and group.clients is not None and not inventory.unanswered:
        stretches.append((now, now, _by_id([client.client_id for client in group.clients])))
    name = group.consumer_group
    moments = [((first, {name: members}), (last, {name: members})) for first, last, members in stretches]
    within = [(first, last) for first, last in moments if first[0] != last[0]]
    between = [
        (earlier[1], later[0])
        for earlier, later in pairwise(moments)
        if _hours(earlier[1][0], later[0][0]) <= bounds.longest_gap_h
    ]
    return [*within, *between] if between else []


def _by_id(client_ids: Sequence[str]) -> Members:
    return {client_id: Client(client_id=client_id) for client_id in client_ids}


def _by_snapshots(
    inventory: Inventory, history: Sequence[Inventory], bounds: RebalanceFrequency
) -> dict[str, PastMembers]:
    """What whole inventories tell; those of the history have no failures."""
    now = inventory.taken_at_utc
    recent = [one for one in history if 0 < _hours(one.taken_at_utc, now) <= bounds.window_h]
    if not recent or inventory.unanswered:
        return {}
    moments = [_moment(one) for one in (*recent, inventory)]
    steps = [
        (earlier, later) for earlier, later in pairwise(moments) if _hours(earlier[0], later[0]) <= bounds.longest_gap_h
    ]
    names = {name for earlier, later in steps for name in earlier[1].keys() & later[1].keys()}
    return {name: _of_group(name, steps) for name in names}


def _moment(inventory: Inventory) -> Moment:
    return inventory.taken_at_utc, {
        group.consumer_group: _members(group) for group in inventory.consumer_groups if group.clients is not None
    }


def _members(group: InventoryGroup) -> Members:
    return {client.client_id: client for client in group.clients or ()}


def _of_group(name: str, steps: Sequence[tuple[Moment, Moment]]) -> PastMembers:
    came: Counter[str] = Counter()
    most: dict[str, int] = {}
    changed = left = compared = 0
    hours = 0.0
    most_clients = 0
    for (start, before), (end, after) in steps:
        if name not in before or name not in after:
            continue
        earlier, later = before[name], after[name]
        compared += 1
        hours += _hours(start, end)
        new = [one for one in later.values() if _is_new(earlier.get(one.client_id), one)]
        gone = sum(1 for one in earlier.values() if one.client_id not in later)
        restarted = sum(one.client_id in earlier for one in new)
        came.update(map(_host, new))
        left += gone + restarted
        changed += bool(new or gone)
        for members in (earlier, later):
            most_clients = max(most_clients, len(members))
            for host, clients in Counter(map(_host, members.values())).items():
                most[host] = max(most.get(host, 0), clients)
    return PastMembers(
        snapshots=compared + 1,
        hours=hours,
        changed=changed,
        came=came.total(),
        left=left,
        most_clients=most_clients,
        returned=tuple(
            Returned(host=host, came=number, clients=most[host])
            for host, number in sorted(came.items())
            if number > most[host]
        ),
    )


def _is_new(before: Client | None, now: Client) -> bool:
    """Whether a member was not there before, or has been started again since."""
    if before is None:
        return True
    return None not in (before.started_at, now.started_at) and before.started_at != now.started_at


def _host(client: Client) -> str:
    """Where it runs: the host of its address, else what its id begins with."""
    if client.client_addr is not None:
        return client.client_addr.rpartition(":")[0] or client.client_addr
    return client.client_id.partition("@")[0]


def _hours(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds() / HOUR_S


def bare(client: Client) -> Client:
    """What this module needs of a client."""
    return Client(client_id=client.client_id, client_addr=client.client_addr, started_at=client.started_at)
