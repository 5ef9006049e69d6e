"""What it means that a group subscribes to a topic, or takes one away, while and after the deployment."""

from typing import Any, Final

import pytest

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.plan_file.subscription_change import SubscriptionChange
from rocketmq_capacity.simulation.changes.subscribe import Subscribe
from rocketmq_capacity.simulation.changes.unsubscribe import Unsubscribe
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.subscription_changes import FILTERS, subscription_change
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroupOffset
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import after
from tests.simulation.test_subscribing import PAY, REFUND, SUBSCRIBE, UNSUBSCRIBE, readers
from tests.simulation.test_transition import AVG

QUEUES: Final = tuple((name, queue_id) for name in ("broker-a", "broker-b") for queue_id in range(2))
"""Those of refund."""


def group_of(inventory: Inventory) -> AssessedGroup:
    return next(one for one in plain_plan(inventory, AVG).groups if one.name == "g")


def what_if(before: Inventory, change: dict[str, Any]) -> SubscriptionChange:
    """What the change of g means."""
    (asked,) = Scenario.model_validate({"name": "what if", "changes": [change]}).changes
    assert isinstance(asked, Subscribe | Unsubscribe)
    subscribes = isinstance(asked, Subscribe)
    group = group_of(after(before, change, policy=AVG) if subscribes else before)
    reads = "refund" in {one.topic.topic for one in group_of(before).business}
    return subscription_change(group, asked, Timing(), is_read_before=reads)


@pytest.mark.parametrize("clients", [2, 3, 5])
def test_while_a_new_topic_spreads_only_one_client_may_read_its_share(clients: int) -> None:
    found = what_if(readers(PAY, clients=clients), SUBSCRIBE)

    # 4 queues: 2 and 2, then 2, 1 and 1; of five clients one has none.
    assert (found.queues, found.unread_meanwhile, found.mismatch_s) == (4, {2: 2, 3: 3, 5: 4}[clients], 60.0)
    assert "of its 4 queues may have no reader" in found.meaning[0]


def test_one_client_alone_disagrees_with_nobody() -> None:
    found = what_if(readers(PAY, clients=1), SUBSCRIBE)

    assert (found.mismatch_s, found.unread_meanwhile) == (None, 0)
    (begins,) = found.meaning
    assert begins.startswith("If the group read the topic before, it goes on at the offsets that it left")


def test_another_filter_may_lose_messages_until_all_clients_have_it() -> None:
    found = what_if(readers(PAY, REFUND), SUBSCRIBE | {"expression": "TagA"})

    assert (found.unread_meanwhile, found.meaning) == (0, FILTERS)


def test_what_a_group_leaves_is_counted() -> None:
    offsets = tuple(
        InventoryGroupOffset(topic="refund", broker_name=name, queue_id=queue_id, broker_offset=100, consumer_offset=95)
        for name, queue_id in QUEUES
    )
    found = what_if(readers(PAY, REFUND, offsets=offsets), UNSUBSCRIBE)

    assert (found.waiting_messages, found.queues_with_offsets, found.unread_meanwhile) == (20, 4, 2)
    assert "20 messages of the topic are left unread." in found.meaning
    assert any("stay on the brokers, on 4 queues" in sentence for sentence in found.meaning)
    assert any(sentence.startswith("%RETRY%g stays as well") for sentence in found.meaning)


def test_what_nobody_knows_is_not_counted() -> None:
    found = what_if(readers(PAY, REFUND, offsets=()), UNSUBSCRIBE)

    assert (found.waiting_messages, found.queues_with_offsets) == (None, None)
    assert "How many messages of the topic are left unread is unknown." in found.meaning
