"""The two sides of a comparison, and the definition of what moves between them, told anew."""

from collections.abc import Mapping
from dataclasses import dataclass

from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.compare import scenario_effects
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.tables import ScenarioEffect
from tests.fixtures.units import units_of

Queue = tuple[str, str, int]
"""Topic, broker name, queue id."""
Effects = dict[tuple[str, str], ScenarioEffect]
"""By group and strategy."""


def groups_of(inventory: Inventory, policy: Policy) -> Mapping[str, GroupFacts]:
    """The groups of an inventory by name."""
    return {group.consumer_group: group for group in units_of(inventory, policy).business_groups}


def effects(before: Inventory, after: Inventory, policy: Policy) -> Effects:
    """What the changes between two inventories do to every group."""
    was, strategies = groups_of(before, policy), Strategies(policy)
    rows = [
        row
        for name, group in groups_of(after, policy).items()
        for row in scenario_effects(was.get(name), group, strategies)
    ]
    found = {(row.consumer_group, row.strategy): row for row in rows}
    assert len(found) == len(rows)
    return found


@dataclass(frozen=True)
class Side:
    """One side, as its inventory and the rows of ``allocation`` have it.

    Attributes:
        inventory: the cluster.
        owners: (group, strategy) that can be run -> (queue, client id), as often as ``allocation`` has it.
    """

    inventory: Inventory
    owners: Mapping[tuple[str, str], list[tuple[Queue, str]]]

    @classmethod
    def of(cls, inventory: Inventory, policy: Policy) -> "Side":
        """The side of an inventory."""
        owners = {}
        for name, group in groups_of(inventory, policy).items():
            division = Division.of(group)
            for rows in rows_of(division, Strategies(policy)):
                owners[name, rows.strategy] = [
                    ((queue.topic, queue.broker_name, queue.queue_id), division.members.client_ids[client])
                    for client, queue in rows.named()
                ]
        return cls(inventory, owners)

    def readable(self, group: str) -> set[Queue]:
        """The readable business queues of a group."""
        (reader,) = (one for one in self.inventory.consumer_groups if one.consumer_group == group)
        lists = [reader.subscriptions, *(client.subscriptions for client in reader.clients or ())]
        read = {subscription.topic for each in lists for subscription in each or ()}
        return {
            (topic.topic, queues.broker_name, queue_id)
            for topic in self.inventory.topics
            if topic.topic in read and not topic.topic.startswith("%RETRY%")
            for queues in topic.queues or ()
            if queues.perm is not None and queues.perm & 4
            for queue_id in range(queues.read_queue_nums or 0)
        }

    def owners_of(self, group: str, strategy: str, queue: Queue) -> list[str]:
        """Who owns a queue: the sorted client ids, under POP each once."""
        everything = (*queue[:2], -1)
        ids = [client for owned, client in self.owners[group, strategy] if owned in (queue, everything)]
        return sorted(set(ids)) if strategy == "POP" else sorted(ids)

    def idle(self, group: str, strategy: str) -> int:
        """How many client ids own no queue of a business topic."""
        (reader,) = (one for one in self.inventory.consumer_groups if one.consumer_group == group)
        busy = {client for queue, client in self.owners[group, strategy] if not queue[0].startswith("%RETRY%")}
        return len({client.client_id for client in reader.clients or ()} - busy)


def moved(before: Side, after: Side, group: str, strategy: str) -> tuple[int, float | None]:
    """How many queues of both sides have other owners, and their share of the queues of both sides."""
    kept = before.readable(group) & after.readable(group)
    had, has = ({queue: side.owners_of(group, strategy, queue) for queue in kept} for side in (before, after))
    count = sum(had[queue] != has[queue] for queue in kept)
    return count, count / len(kept) if kept else None
