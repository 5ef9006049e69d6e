"""Brokers that earlier inventories have with traffic, and that are lost now."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.snapshot.dated import dated
from rocketmq_capacity.snapshot.gone_brokers import gone_brokers, with_missing_brokers
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryBroker,
    InventoryFailure,
    InventoryTopic,
    MissingBroker,
    MissingReader,
    MissingTopic,
    parse_utc,
)
from tests.simulation.clusters import AT, broker, cluster, group, queues, topic

DAYS = 14.0
ALONE = topic("elsewhere", queues("broker-a", 2))


def at(hours_ago: float) -> str:
    return utc_text(parse_utc(AT) - timedelta(hours=hours_ago))


def having(hours_ago: float, *topics: InventoryTopic, **facts: Any) -> Inventory:
    """The cluster with these topics, and a group that reads all of them, so many hours ago."""
    whole = cluster((ALONE, *topics), [group("g", (), topics)], [broker("broker-a"), broker("broker-b")])
    return replace(whole, taken_at=at(hours_ago), **facts)


def pay(rate: float | None = 10.0, *, read: int = 2, write: int = 2, perm: int | None = 6) -> InventoryTopic:
    """The topic on both brokers; each queue on broker-b gets so many messages a second."""
    rates = {("broker-a", 0): 1.0, ("broker-b", 0): rate, ("broker-b", 1): rate}
    return topic("pay", queues("broker-a", 1), queues("broker-b", read, write, perm), rates=rates)


def without(hours_ago: float = 0, **facts: Any) -> Inventory:
    """The cluster without broker-b."""
    left = cluster([ALONE, topic("pay", queues("broker-a", 1))], (), [broker("broker-a")])
    return replace(left, taken_at=at(hours_ago), **facts)


def gone(*history: Inventory, now: Inventory | None = None) -> Sequence[MissingBroker]:
    return gone_brokers(now or without(), history, DAYS)


def names(*history: Inventory, now: Inventory | None = None) -> list[str]:
    return [one.broker_name for one in gone(*history, now=now)]


def test_a_broker_that_left_every_route_is_as_it_was_last_seen() -> None:
    (one,) = gone(having(48, pay(500.0)), having(24, pay(10.0)))

    assert one == MissingBroker(
        broker_name="broker-b",
        broker_addr="broker-b:10911",
        seen_at=at(24),
        topics=(MissingTopic(topic="pay", put_msgs_per_s=20.0),),
        readers=(MissingReader(consumer_group="g", topic="pay", unread_msgs=20),),
    )


def test_without_a_history_nothing_is_known() -> None:
    assert names() == []
    assert names(without(24)) == []


@pytest.mark.parametrize(
    "last",
    [
        pay(0.0),
        pay(perm=4),
        pay(perm=0),
        pay(read=0),
        pay(write=0),
    ],
    ids=["nothing written", "read only", "closed", "not read", "not written"],
)
def test_a_broker_that_was_drained_before_it_went_is_not_missed(last: InventoryTopic) -> None:
    assert names(having(24, pay())) == ["broker-b"]
    assert names(having(48, pay()), having(24, last)) == []


def test_one_whose_topics_were_deleted_before_it_went_is_not_missed() -> None:
    assert names(having(48, pay()), having(24)) == []


def test_what_the_brokers_keep_for_themselves_is_no_traffic() -> None:
    own = topic("broker-b", queues("broker-b", 1))
    heartbeats = topic("DefaultHeartBeatSyncerTopic", queues("broker-b", 1))
    dead = topic("%DLQ%g", queues("broker-b", 1))
    assert names(having(24, own, heartbeats, dead)) == []


@pytest.mark.parametrize(
    "now",
    [
        having(0, pay()),
        having(0),
        without(brokers=(broker("broker-a"), broker("broker-b", 1))),
        without(topics=(topic("pay", queues("broker-b", 1)),)),
    ],
    ids=["back", "back without topics", "with a slave", "in a route"],
)
def test_a_broker_that_is_listed_or_has_queues_is_not_gone(now: Inventory) -> None:
    assert names(having(24, pay()), now=now) == []


def test_nobody_waits_longer_than_the_days_of_a_stale_object() -> None:
    assert names(having(14 * 24 - 1, pay()), without(24)) == ["broker-b"]
    assert names(having(14 * 24, pay()), without(24)) == []


def test_a_snapshot_that_does_not_tell_what_was_written_is_not_the_last_one() -> None:
    silent = having(24, pay(None))
    assert [one.seen_at for one in gone(having(48, pay()), silent)] == [at(48)]
    assert names(silent) == []


def test_a_snapshot_with_only_its_slave_is_not_the_last_one() -> None:
    slave: tuple[InventoryBroker, ...] = (broker("broker-a"), broker("broker-b", 1))
    assert [one.seen_at for one in gone(having(48, pay()), having(24, pay(0.0), brokers=slave))] == [at(48)]


def test_a_group_whose_offsets_are_unknown_is_a_reader_without_a_number() -> None:
    seen = having(24, pay())
    (reader,) = seen.consumer_groups
    unknown = tuple(replace(one, consumer_offset=None) for one in reader.offsets or ())
    (one,) = gone(replace(seen, consumer_groups=(replace(reader, offsets=unknown),)))
    assert one.readers == (MissingReader(consumer_group="g", topic="pay"),)


def kept(*history: Inventory) -> Inventory:
    """The last inventory, as a run keeps it that had the others as its history."""
    *before, last = history
    return with_missing_brokers(last, before, DAYS)


def test_a_run_keeps_the_broker_for_the_runs_after_it() -> None:
    yesterday = kept(having(48, pay()), without(24))
    today = kept(yesterday, without())

    assert gone(yesterday) == gone(having(48, pay()))
    assert gone(now=today) == gone(having(48, pay()))  # as in a what-if, which has no history
    assert names(yesterday, now=having(0, pay())) == []


def test_a_run_keeps_a_broker_that_does_not_answer_and_forgets_it_once_it_does() -> None:
    failure = InventoryFailure(broker_addr="broker-b:10911", request="GET_BROKER_RUNTIME_INFO", error="timed out")
    silent = kept(having(48, pay()), having(24, pay(None), failures=(failure,)))

    assert names(now=silent) == []
    assert [one.seen_at for one in gone(silent)] == [at(48)]
    assert kept(silent, having(1, pay(0.0))).missing_brokers is None


def test_a_run_keeps_a_broker_that_only_has_a_slave() -> None:
    slave = (broker("broker-a"), broker("broker-b", 1))
    only_slave = kept(having(48, pay()), having(24, pay(0.0), brokers=slave))
    assert names(only_slave) == ["broker-b"]


def test_a_run_keeps_nothing_of_a_broker_that_was_drained() -> None:
    assert kept(having(48, pay()), having(24, pay(perm=4)), without(1)).missing_brokers is None


def test_the_moment_moves_with_the_date_of_the_inventory() -> None:
    (moved,) = dated(kept(having(24, pay()), without()), parse_utc(at(-24))).missing_brokers or ()
    assert moved.seen_at == at(0)
