"""The names that a cluster has by its stored snapshot, for the lists of a what-if's form."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.own_process import OwnProcessFailed, answer_of, answer_question
from rocketmq_capacity.settings.policy import Policy, read_policy
from rocketmq_capacity.simulation.parts import topics_read
from rocketmq_capacity.snapshot.inventory import Client, Inventory
from rocketmq_capacity.snapshot.kinds import Kinds
from rocketmq_capacity.snapshot.outline import LARGEST, LARGEST_APART, outline_of
from rocketmq_capacity.vocabulary import BUSINESS


class ClusterNames(msgspec.Struct, frozen=True, kw_only=True):
    """The names of a cluster for each kind of field; empty where nothing is known.

    Attributes:
        brokers: names of brokers.
        topics: names of business topics, those of the first group first.
        groups: names of consumer groups, those with most clients first.
        client_ids: ids of the first group's clients.
        rooms: machine rooms of the brokers and of the first group's clients, if the policy tells them.
        nameservers: addresses of name servers.
    """

    brokers: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    client_ids: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    nameservers: tuple[str, ...] = ()

    @classmethod
    def of(cls, inventory: Inventory | None, policy: Policy | None = None) -> "ClusterNames":
        """The names of an inventory; machine rooms by the policy."""
        if inventory is None:
            return cls()
        kinds = Kinds(inventory, Policy().exclude)
        groups = sorted(
            (one for one in inventory.consumer_groups if kinds.of_group(one.consumer_group) == BUSINESS),
            key=lambda one: (-len(one.clients or ()), one.consumer_group),
        )
        read = topics_read(groups[0]) if groups else set()
        topics = (one.topic for one in inventory.topics if kinds.of_topic(one.topic) == BUSINESS)
        return cls(
            brokers=tuple(sorted({one.broker_name for one in inventory.brokers})),
            topics=tuple(sorted(topics, key=lambda name: (name not in read, name))),
            groups=tuple(one.consumer_group for one in groups),
            client_ids=tuple(sorted({one.client_id for one in groups[0].clients or ()})) if groups else (),
            rooms=_rooms(inventory, groups[0].clients or () if groups else (), policy),
            nameservers=tuple(sorted(inventory.nameservers or ())),
        )


def _rooms(inventory: Inventory, clients: Sequence[Client], policy: Policy | None) -> tuple[str, ...]:
    """The machine rooms of the brokers and of some clients, by name."""
    if policy is None or policy.rooms is None:
        return ()
    rooms = {policy.rooms.of_broker(one.broker_name) for one in inventory.brokers}
    rooms |= {policy.rooms.of_client(one.client_id, one.client_addr) for one in clients}
    return tuple(sorted(room for room in rooms if room))


def names_in(inventory: Path, policy: Path | None, largest: int = LARGEST) -> ClusterNames:
    """The names in an inventory file, with the rooms of a policy file; none if it cannot be read, or is larger."""
    try:
        rooms = read_policy(policy)
    except BadInput:
        rooms = None
    return ClusterNames.of(outline_of(inventory, largest), rooms)


def all_names_in(inventory: Path, policy: Path | None) -> ClusterNames:
    """The same of any file up to LARGEST_APART; a large one is read by a process of its own, once."""
    try:
        state = inventory.stat()
        if state.st_size <= LARGEST:
            return names_in(inventory, policy)
        rooms = None if policy is None else (str(policy), policy.stat().st_mtime_ns)
        return _apart((str(inventory), state.st_size, state.st_mtime_ns), rooms)
    except (OSError, OwnProcessFailed):
        return ClusterNames()


@lru_cache(maxsize=4)
def _apart(inventory: tuple[str, int, int], policy: tuple[str, int] | None) -> ClusterNames:
    """Of 400 MB it takes a second or two. Errors: OwnProcessFailed."""
    asked = inventory[0], None if policy is None else policy[0]
    names: ClusterNames = answer_of(__name__, asked, ClusterNames)
    return names


def _answer(asked: tuple[str, str | None]) -> ClusterNames:
    inventory, policy = asked
    return names_in(Path(inventory), None if policy is None else Path(policy), LARGEST_APART)


if __name__ == "__main__":
    answer_question(tuple[str, str | None], _answer)
