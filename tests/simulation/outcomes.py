"""A group of which nobody reads a queue, one with a hot queue, and what changes do to them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.assess import assess_groups, assess_topic
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.outcome import Sorted, outcome
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryOwnedQueue
from rocketmq_capacity.tables import ScenarioGroup
from tests.fixtures.units import units_of
from tests.simulation.clusters import after, client, cluster, group, queues, reads, topic

OWN: Final = "com.acme.MyStrategy"
"""What no policy computes: who owns what is known by observation alone."""
POLICY: Final = Policy.model_validate({"rooms": {"brokers": [{"broker_name": "b", "room": "north"}]}})


def own(*queue_ids: tuple[str, int], name: str = "pay") -> tuple[InventoryOwnedQueue, ...]:
    return tuple(InventoryOwnedQueue(topic=name, broker_name=on, queue_id=queue_id) for on, queue_id in queue_ids)


def observed(client_id: str, *queue_ids: tuple[str, int], **facts: Any) -> Client:
    """A client of a strategy that nobody computes, which reports what it owns."""
    return client(client_id, **{"allocate_strategy": OWN, "owned_queues": own(*queue_ids), "status": None} | facts)


PAY: Final = topic("pay", queues("a", 2), queues("b", 2))
SHIP: Final = topic("ship", queues("c", 2))
ORPHANED: Final = cluster(
    [PAY, SHIP],
    [
        group("g", [observed("1", ("a", 0), ("a", 1)), observed("2", ("b", 0)), observed("3")], [PAY]),
        group("other", [client("9", subscriptions=(reads("ship"),))], [SHIP]),
    ],
)
"""Nobody reads b:1 and client 3 is idle, as observed."""
ORPHAN: Final = "ORPHAN_QUEUE"
IDLE: Final = "IDLE_CONSUMERS"
OBSERVED: Final = {ORPHAN, IDLE, "ALLOCATION_SKEW", "TRAFFIC_SKEW"}
"""What the rules say of it."""


def tried(
    inventory: Inventory, *changes: Mapping[str, Any], name: str = "g", policy: Policy = POLICY
) -> tuple[ScenarioGroup, Sorted]:
    """What the changes do to a group."""
    was, now = (units_of(one, policy) for one in (inventory, after(inventory, *changes, policy=policy)))
    topics = [found for one in was.topics for found in assess_topic(AssessedTopic(one, was.cluster, policy))]
    hot = {found.topic for found in topics if found.rule == "HOT_QUEUE"}
    side, changed = (AssessedGroup(one.group(name), one.cluster, policy, Strategies(policy)) for one in (was, now))
    found, finds = (assess_groups([one])[0].findings for one in (side, changed))
    rooms = [str(change["room"]) for change in changes if change["change"] == "lose_room"]
    return outcome(side, changed, found, finds, frozenset(filter(None, hot)), rooms)


def rules(findings: Sequence[Any]) -> set[str]:
    return {finding.rule for finding in findings}


HOT: Final = topic(
    "pay", queues("a", 2), queues("b", 2), rates={("a", 0): 90.0, ("a", 1): 1.0, ("b", 0): 1.0, ("b", 1): 1.0}
)
