"""What a what-if means for a broadcasting group: each client reads every queue, and keeps its offsets itself."""

from typing import Any, Final

import pytest

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.plan_file.broadcasting import BroadcastGroup
from rocketmq_capacity.simulation.broadcasting import broadcast_group
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryConsumeStatus
from rocketmq_capacity.vocabulary import FIRST_OFFSET, LAST_OFFSET
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import after, client, cluster, group, queues, reads, topic
from tests.simulation.test_transition import AVG

PAY: Final = topic("pay", queues("broker-a", 2), queues("broker-b", 2))
REFUND: Final = topic("refund", queues("broker-a", 1), queues("broker-b", 1))
"""10 messages a second and 5,000 messages in each queue: 40 of pay and 20 of refund."""
LISTENERS: Final = ("10.0.0.1@DEFAULT", "10.0.0.2@DEFAULT")


def listeners(rate: float | None = 40.0, begins: str | None = LAST_OFFSET) -> Inventory:
    """Two clients that each read all of pay, and report what they handle."""
    status = (
        InventoryConsumeStatus(
            topic="pay", consume_rt_ms=5.0, consume_ok_msgs_per_s=rate, consume_failed_msgs_per_s=0.0
        ),
    )
    members = [client(name, subscriptions=(reads("pay"),), status=status, owned_queues=None) for name in LISTENERS]
    one = group("g", members, [PAY], message_model="BROADCASTING", consume_from_where=begins)
    return cluster([PAY, REFUND], [one])


def what_if(before: Inventory, *changes: dict[str, Any]) -> BroadcastGroup | None:
    """What the changes mean for g."""
    changed = after(before, *changes, policy=AVG)
    was, now = (_group(one) for one in (before, changed))
    return broadcast_group(was, now, Timing())


def _group(inventory: Inventory) -> AssessedGroup:
    return next(one for one in plain_plan(inventory, AVG).groups if one.name == "g")


def told(found: BroadcastGroup | None) -> BroadcastGroup:
    assert found is not None
    return found


def sides(found: BroadcastGroup) -> list[tuple[float | None, float | None]]:
    """Queues and messages a second of a client, and of all clients together, before and after."""
    each = found.queues_per_client, found.msgs_per_s_per_client, found.deliveries_per_s
    return [(one.before, one.after) for one in each]


def test_a_client_more_takes_nothing_from_the_others_and_brokers_deliver_to_it_as_well() -> None:
    found = told(what_if(listeners(), {"change": "add_clients", "consumer_group": "g", "count": 2}))

    assert sides(found) == [(4, 4), (40.0, 40.0), (80.0, 160.0)]
    assert (found.new_clients, found.gone_clients, found.new_queues) == (2, 0, 0)


@pytest.mark.parametrize(
    ("begins", "words"),
    [
        (LAST_OFFSET, "begins at the end, and skips the 20,000 messages that are stored."),
        (None, "begins at the end, and skips the 20,000 messages that are stored (its setting is unknown)."),
        (FIRST_OFFSET, "begins at the first message, and handles the 20,000 messages that are stored first."),
        ("CONSUME_FROM_TIMESTAMP", "begins at the moment that its consumeTimestamp names, by default half an hour"),
    ],
)
def test_a_new_client_begins_where_its_setting_says(begins: str | None, words: str) -> None:
    change = {"change": "add_clients", "consumer_group": "g", "client_ids": ["10.0.0.3@DEFAULT"]}
    found = told(what_if(listeners(begins=begins), change))

    assert found.stored_messages == 20_000
    assert words in found.meaning[0]


def test_nobody_takes_over_from_a_client_that_goes() -> None:
    found = told(what_if(listeners(), {"change": "remove_clients", "consumer_group": "g", "count": 1}))

    assert sides(found) == [(4, 4), (40.0, 40.0), (80.0, 40.0)]
    assert (found.gone_clients, found.stored_messages, found.skipped_worst) == (1, 0, 0.0)


def test_each_client_reads_all_new_queues_and_skips_what_comes_before_it_sees_them() -> None:
    change = {"change": "set_queues", "topic": "pay", "read_queue_nums": 4, "write_queue_nums": 4}
    found = told(what_if(listeners(), change))

    assert sides(found) == [(4, 8), (40.0, 40.0), (80.0, 80.0)]
    # Routes come every 30 s (3 s a request), a rebalance every 20 s; half of the messages come to the new queues.
    assert (found.new_queues, found.noticed_worst_s, found.skipped_worst) == (4, 53.0, 20 * 53.0)
    assert "1,060 messages at most" in found.meaning[1]


@pytest.mark.parametrize("begins", [FIRST_OFFSET, "CONSUME_FROM_TIMESTAMP"])
def test_who_does_not_begin_at_the_end_skips_nothing_of_a_new_queue(begins: str) -> None:
    change = {"change": "set_queues", "topic": "pay", "read_queue_nums": 4, "write_queue_nums": 4}
    found = told(what_if(listeners(begins=begins), change))

    assert (found.noticed_worst_s, found.skipped_worst) == (53.0, 0.0)
    assert found.meaning[1].endswith("skips nothing.")


def test_fewer_read_queues_than_write_queues_hide_a_part_of_the_messages() -> None:
    change = {"change": "set_queues", "topic": "pay", "read_queue_nums": 1, "write_queue_nums": 2}
    found = told(what_if(listeners(), change))

    assert sides(found) == [(4, 2), (40.0, 20.0), (80.0, 40.0)]


def test_a_lost_broker_leaves_each_client_its_other_queues_with_all_messages() -> None:
    found = told(what_if(listeners(), {"change": "lose_broker", "broker_name": "broker-b"}))

    assert sides(found) == [(4, 2), (40.0, 40.0), (80.0, 80.0)]
    assert found.gone_queues == 2
    assert "it goes on from there if they come back" in found.meaning[0]


def test_another_topic_comes_with_all_of_its_messages() -> None:
    change = {"change": "subscribe", "consumer_group": "g", "topic": "refund", "expression": "*", "consume_rt_ms": 2.0}
    found = told(what_if(listeners(), change))

    assert sides(found) == [(4, 6), (40.0, 60.0), (80.0, 120.0)]
    assert (found.new_topics, found.new_queues, found.stored_messages) == (("refund",), 0, 10_000)


def test_what_passes_another_filter_is_unknown() -> None:
    change = {"change": "subscribe", "consumer_group": "g", "topic": "refund", "expression": "TagA"}
    found = told(what_if(listeners(), change))

    assert sides(found) == [(4, 6), (40.0, None), (80.0, None)]


def test_twice_the_traffic_is_twice_the_work_of_each() -> None:
    found = told(what_if(listeners(), {"change": "scale_traffic", "topic": "pay", "factor": 2.0}))

    assert sides(found) == [(4, 4), (40.0, 80.0), (80.0, 160.0)]


def test_where_clients_do_not_report_what_they_handle_it_stays_unknown() -> None:
    found = told(what_if(listeners(rate=None), {"change": "add_clients", "consumer_group": "g", "count": 1}))

    assert sides(found) == [(4, 4), (None, None), (None, None)]


def test_a_change_of_something_else_says_nothing() -> None:
    assert what_if(listeners(), {"change": "scale_traffic", "topic": "refund", "factor": 2.0}) is None
