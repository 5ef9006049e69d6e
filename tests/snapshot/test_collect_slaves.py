"""What a slave lacks of its master is recorded; what only the slave has, and RocketMQ's own topics, are not."""

from collections.abc import Iterable
from itertools import chain, count, repeat
from typing import Any

import pytest

from rocketmq_capacity.snapshot import broker_survey
from rocketmq_capacity.snapshot.inventory import DriftedTopic, Inventory, InventoryBroker
from tests.snapshot.told_cluster import Answer, Rule, ToldBroker, group_table, snapshot_of, topic_table

CHANGED_MS = 1_795_140_000_123


def topics(*, changed_ms: int | None = None, **queues: int) -> Answer:
    """The body of 21: so many queues of each topic."""
    table = {
        topic: {"readQueueNums": number, "writeQueueNums": number, "perm": 6, "order": False, "attributes": {}}
        for topic, number in queues.items()
    }
    version = {} if changed_ms is None else {"dataVersion": {"counter": 1, "timestamp": changed_ms}}
    return 0, {"topicConfigTable": table, **version}


def groups(*names: str, changed_ms: int) -> Answer:
    """The body of 201."""
    code, body = group_table(*names)
    return code, {**body, "dataVersion": {"counter": 1, "timestamp": changed_ms}}


def taken(master: dict[int, Rule | None], slave: dict[int, Rule | None], **facts: Any) -> Inventory:
    return snapshot_of([ToldBroker("a", rules=master), ToldBroker("a", 1, rules=slave)], **facts)


def slave_of(inventory: Inventory) -> InventoryBroker:
    (slave,) = (broker for broker in inventory.brokers if broker.broker_id == 1)
    return slave


def test_topics_queues_and_groups_that_a_slave_lacks_are_listed_with_the_time_of_the_last_change() -> None:
    inventory = taken(
        {
            21: topics(pay=4, ship=8, same=2, changed_ms=CHANGED_MS - 9_000),
            201: groups("g", "h", changed_ms=CHANGED_MS),
        },
        {21: topics(ship=4, same=2, more=1), 201: group_table("h", "more")},
    )

    slave = slave_of(inventory)
    assert slave.drifted_topics == (
        DriftedTopic(topic="pay", master_read_queue_nums=4, master_write_queue_nums=4),
        DriftedTopic(
            topic="ship",
            read_queue_nums=4,
            write_queue_nums=4,
            master_read_queue_nums=8,
            master_write_queue_nums=8,
        ),
    )
    assert slave.missing_groups == ("g",)
    assert slave.master_changed_at == "2026-11-20T02:00:00Z"
    assert inventory.failures == ()


def test_a_slave_like_its_master_lacks_nothing_and_the_master_is_asked_once() -> None:
    master = ToldBroker("a", rules={21: topic_table("pay"), 201: group_table("g")})
    slave = ToldBroker("a", 1, rules={21: topic_table("pay"), 201: group_table("g")})

    inventory = snapshot_of([master, slave])

    told = slave_of(inventory)
    assert (told.drifted_topics, told.missing_groups, told.master_changed_at) == ((), (), None)
    assert sum(request.code == 21 for request in master.asked) == 1


def one_by_one(answers: Iterable[Answer]) -> Rule:
    """Another answer each time."""
    following = iter(answers)
    return lambda _: next(following)


def test_a_slave_that_has_taken_its_topics_away_is_asked_again_until_it_has_copied_them() -> None:
    looks = [topics(same=2, changed_ms=CHANGED_MS), topics(changed_ms=CHANGED_MS + 9)]
    copied = repeat(topics(pay=4, same=2, changed_ms=CHANGED_MS + 20))
    inventory = taken({21: topics(pay=4, same=2)}, {21: one_by_one(chain(looks, copied))})

    assert (slave_of(inventory).drifted_topics, slave_of(inventory).is_copying) == ((), None)


def test_a_slave_at_rest_lacks_what_it_lacks() -> None:
    inventory = taken({21: topics(pay=4, same=2)}, {21: topics(same=2, changed_ms=CHANGED_MS)})

    slave = slave_of(inventory)
    assert ([one.topic for one in slave.drifted_topics or ()], slave.is_copying) == (["pay"], None)


def test_a_slave_that_does_not_come_to_rest_is_copying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_survey, "COPIES_WITHIN_S", 1.0)
    looks = (topics(same=2, changed_ms=CHANGED_MS + look) for look in count())
    inventory = taken({21: topics(pay=4, same=2)}, {21: one_by_one(looks)})

    slave = slave_of(inventory)
    assert ([one.topic for one in slave.drifted_topics or ()], slave.is_copying) == (["pay"], True)


def test_what_rocketmq_makes_for_itself_is_not_compared() -> None:
    inventory = taken({21: topic_table("C1", "a", "BenchmarkTest"), 201: group_table("TOOLS_CONSUMER")}, {})

    assert (slave_of(inventory).drifted_topics, slave_of(inventory).missing_groups) == ((), ())


def test_of_a_slave_that_does_not_answer_nobody_knows_what_it_lacks() -> None:
    inventory = taken({21: topic_table("pay")}, {201: (16, "no permission")})

    assert slave_of(inventory).drifted_topics is None
    assert [failure.request for failure in inventory.failures or ()] == ["GET_ALL_SUBSCRIPTIONGROUP_CONFIG"]


def test_a_slave_without_a_master_is_compared_with_nobody() -> None:
    first, second = ToldBroker("a", 1), ToldBroker("a", 2)
    inventory = snapshot_of([first, second])

    assert second.codes() == {26, 28}
    assert all(broker.drifted_topics is None for broker in inventory.brokers)
