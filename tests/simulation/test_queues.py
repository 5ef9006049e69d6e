from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.snapshot.inventory import InventoryGroupOffset, InventoryTopicOffset
from tests.simulation.clusters import (
    after,
    client,
    cluster,
    group,
    lags_of,
    owned_by,
    pay_cluster,
    queues,
    rates_of,
    samples_of,
    the_group,
    the_topic,
    topic,
)


def set_queues(read: int, write: int, broker_name: str | None = None, of_topic: str = "pay") -> dict[str, Any]:
    change = {"change": "set_queues", "topic": of_topic, "read_queue_nums": read, "write_queue_nums": write}
    return change if broker_name is None else change | {"broker_name": broker_name}


def pay_read_by(*layout: Any, **facts: Any) -> Any:
    pay = topic("pay", *layout, **facts)
    return cluster([pay], [group("g_pay", [client("c")], [pay])])


def test_one_broker_gets_its_queues() -> None:
    changed = after(pay_cluster(), set_queues(6, 5, "broker-a"))
    assert the_topic(changed).queues == (queues("broker-a", 6, 5), queues("broker-b", 4, 4))


def test_every_broker_of_the_topic_gets_them_where_none_is_named() -> None:
    ship = topic("ship", queues("broker-a"), queues("broker-c"))
    before = pay_cluster()
    changed = after(replace(before, topics=(*before.topics, ship)), set_queues(6, 6))
    assert the_topic(changed).queues == (queues("broker-a", 6), queues("broker-b", 6))
    assert the_topic(changed, "ship") == ship


def test_new_queues_start_empty_and_without_lag() -> None:
    changed = after(pay_cluster(), set_queues(6, 5, "broker-a"))
    new = {o.queue_id: (o.min_offset, o.max_offset) for o in the_topic(changed).offsets or () if o.max_offset == 0}
    assert new == {4: (0, 0), 5: (0, 0)}
    old = {("broker-a", i): 10 for i in range(4)} | {("broker-b", i): 10 for i in range(4)}
    assert lags_of(changed) == old | {("broker-a", 4): 0, ("broker-a", 5): 0}


def test_a_new_queue_that_nobody_can_read_has_no_lag_at_all() -> None:
    changed = after(pay_cluster(), set_queues(4, 5, "broker-a"))
    assert ("broker-a", 4) in rates_of(changed)
    assert ("broker-a", 4) not in lags_of(changed)


def test_groups_without_offsets_on_the_topic_get_none_for_new_queues() -> None:
    pay, ship = topic("pay", queues("broker-a")), topic("ship", queues("broker-a"))
    before = cluster([pay, ship], [group("g_new", [], [pay], offsets=None), group("g_ship", [], [ship])])
    changed = after(before, set_queues(8, 8))
    assert changed.consumer_groups == before.consumer_groups


def test_queues_that_vanish_take_their_offsets_along() -> None:
    changed = after(pay_cluster(), set_queues(1, 2, "broker-a"))
    kept = [("broker-a", 0), ("broker-a", 1), *(("broker-b", i) for i in range(4))]
    assert list(rates_of(changed)) == kept
    assert list(lags_of(changed)) == kept


def test_offsets_of_brokers_whose_queues_do_not_change_stay_even_beyond_their_counts() -> None:
    before = pay_read_by(queues("broker-a", 4), queues("broker-b", 4))
    leftover = InventoryTopicOffset(broker_name="broker-b", queue_id=7, max_offset=9)
    pay = the_topic(before)
    before = replace(before, topics=(replace(pay, offsets=(*(pay.offsets or ()), leftover)),))
    assert ("broker-b", 7) in rates_of(after(before, set_queues(2, 2, "broker-a")))
    assert ("broker-b", 7) not in rates_of(after(before, set_queues(5, 5, "broker-b")))


def test_messages_stranded_in_unread_queues_are_not_taken_for_new() -> None:
    before = pay_read_by(queues("broker-a", 4, 8))
    changed = after(before, set_queues(8, 8))
    assert the_topic(changed).offsets == the_topic(before).offsets
    assert lags_of(changed) == lags_of(before)  # where the group would start there is unknown


def test_the_traffic_of_a_topic_is_spread_evenly_over_its_writable_queues() -> None:
    rates = {("broker-a", 0): 70.0, ("broker-a", 1): 10.0}
    before = pay_read_by(queues("broker-a", 2), rates=rates)
    assert rates_of(after(before, set_queues(4, 4))) == {("broker-a", i): 20.0 for i in range(4)}
    assert rates_of(after(before, set_queues(1, 1))) == {("broker-a", 0): 80.0}


def test_queues_that_are_no_longer_written_have_no_traffic_left() -> None:
    changed = after(pay_cluster(), set_queues(4, 2, "broker-a"))
    assert rates_of(changed) == {
        ("broker-a", 0): pytest.approx(80 / 6),
        ("broker-a", 1): pytest.approx(80 / 6),
        ("broker-a", 2): 0.0,
        ("broker-a", 3): 0.0,
    } | {("broker-b", i): pytest.approx(80 / 6) for i in range(4)}


def test_traffic_stays_where_it_is_as_long_as_the_writable_queues_do() -> None:
    rates = {("broker-a", 0): 70.0, ("broker-a", 1): 10.0}
    before = pay_read_by(queues("broker-a", 2), rates=rates)
    assert rates_of(after(before, set_queues(2, 2))) == rates
    assert rates_of(after(before, set_queues(3, 2))) == rates | {("broker-a", 2): 0.0}


def test_traffic_of_a_queue_that_vanishes_unwritable_is_not_lost() -> None:
    rates = {("broker-a", 0): 10.0, ("broker-a", 1): 2.0}  # producers with an old route still write to queue 1
    before = pay_read_by(queues("broker-a", 2, 1), rates=rates)
    assert rates_of(after(before, set_queues(1, 1))) == {("broker-a", 0): 12.0}


def test_one_unknown_rate_makes_every_rate_of_the_topic_unknown() -> None:
    rates = {("broker-a", 0): 70.0, ("broker-a", 1): None}
    before = pay_read_by(queues("broker-a", 2), rates=rates)
    assert rates_of(after(before, set_queues(3, 3))) == dict.fromkeys((("broker-a", i) for i in range(3)), None)


def test_a_writable_queue_without_an_offsets_entry_is_unknown_too() -> None:
    before = pay_read_by(queues("broker-a", 2), rates={("broker-a", 0): 70.0})
    assert rates_of(after(before, set_queues(3, 3))) == {("broker-a", 0): None, ("broker-a", 2): None}


def test_an_unknown_perm_makes_the_rates_unknown() -> None:
    before = pay_read_by(queues("broker-a", 2), queues("broker-b", 2, perm=None))
    assert set(rates_of(after(before, set_queues(3, 3, "broker-a"))).values()) == {None}


def test_unknown_counts_and_unknown_offsets_stay_unknown() -> None:
    before = pay_read_by(queues("broker-a", None), rates={})
    changed = after(before, set_queues(4, 4))
    assert the_topic(changed).queues == (queues("broker-a", 4),)
    assert rates_of(changed) == {}  # which of the four queues are new is not known
    pay = replace(the_topic(pay_cluster()), offsets=None)
    assert the_topic(after(cluster([pay]), set_queues(8, 8))).offsets is None


def test_brokers_without_a_master_get_no_traffic() -> None:
    before = pay_cluster()
    slave = replace(before.brokers[1], broker_id=1)
    pay = topic("pay", queues("broker-a"), queues("broker-b"), rates=rates_of(before))
    before = replace(before, brokers=(before.brokers[0], slave), topics=(pay,))
    changed = rates_of(after(before, set_queues(8, 8)))
    assert {name for (name, _), rate in changed.items() if rate != 10.0 and rate} == {"broker-a"}
    assert sum(rate or 0.0 for rate in changed.values()) == pytest.approx(80.0)


def test_what_clients_owned_is_unknown_once_the_readable_queues_change() -> None:
    assert set(owned_by(after(pay_cluster(), set_queues(6, 6)))) == {None}
    assert owned_by(after(pay_cluster(), set_queues(4, 2))) == owned_by(pay_cluster())


def test_samples_are_dropped_once_the_traffic_moves() -> None:
    assert set(samples_of(after(pay_cluster(), set_queues(4, 2)))) == {None}


def test_samples_say_only_what_was_written_once_other_clients_read_the_queue() -> None:
    before, more_to_read = samples_of(pay_cluster())[:8], samples_of(after(pay_cluster(), set_queues(5, 4)))[:8]
    more_readers = samples_of(after(pay_cluster(), {"change": "add_clients", "consumer_group": "g_pay", "count": 1}))
    unknown = [tuple(replace(one, consumer_offset=None) for one in samples) for samples in before]
    assert more_to_read == more_readers == unknown
    assert unknown != before


def test_groups_of_other_topics_keep_what_is_known_of_them() -> None:
    pay, ship = topic("pay", queues("broker-a")), topic("ship", queues("broker-a"))
    members = [client("c", subscriptions=None, owned_queues=())]
    before = cluster([pay, ship], [group("g_pay", members, [pay]), group("g_ship", members, [ship])])
    changed = after(before, set_queues(8, 8))
    assert the_group(changed, "g_ship") == the_group(before, "g_ship")
    assert owned_by(changed, "g_pay") == [None]


def test_a_group_that_reads_the_topic_through_a_client_alone_is_affected() -> None:
    pay = topic("pay", queues("broker-a"))
    before = cluster([pay], [group("g_pay", [client("c")], subscriptions=None, offsets=None)])
    assert owned_by(after(before, set_queues(8, 8))) == [None]


def test_changes_add_up() -> None:
    changed = after(pay_cluster(), set_queues(6, 6), set_queues(8, 8, "broker-b"), set_queues(2, 2, "broker-a"))
    assert the_topic(changed).queues == (queues("broker-a", 2), queues("broker-b", 8))
    assert rates_of(changed) == {
        ("broker-a" if i < 2 else "broker-b", i if i < 2 else i - 2): pytest.approx(8.0) for i in range(10)
    }


def test_an_offset_of_a_new_queue_that_is_there_already_is_kept() -> None:
    before = pay_read_by(queues("broker-a", 2))
    pay, g_pay = the_topic(before), the_group(before)
    left_behind = InventoryTopicOffset(
        broker_name="broker-a", queue_id=2, min_offset=5, max_offset=7, put_msgs_per_s=0.0
    )
    committed = InventoryGroupOffset(
        topic="pay", broker_name="broker-a", queue_id=2, broker_offset=7, consumer_offset=6
    )
    before = replace(
        before,
        topics=(replace(pay, offsets=(*(pay.offsets or ()), left_behind)),),
        consumer_groups=(replace(g_pay, offsets=(*(g_pay.offsets or ()), committed)),),
    )
    changed = after(before, set_queues(3, 3))
    kept = [o for o in the_topic(changed).offsets or () if o.queue_id == 2]
    assert [(o.min_offset, o.max_offset) for o in kept] == [(5, 7)]
    assert lags_of(changed)["broker-a", 2] == 1


@pytest.mark.parametrize(
    ("change", "place", "says"),
    [
        (set_queues(4, 4, of_topic="pya"), "topic", "is 'pya', which is not there; the nearest topic is 'pay'"),
        (
            set_queues(4, 4, "broker-c"),
            "broker_name",
            "is 'broker-c', which is not there; the nearest broker of the topic is 'broker-b'",
        ),
        (set_queues(4, 4, of_topic="empty"), "topic", "is 'empty', which has no queues on any broker"),
    ],
)
def test_queues_that_are_not_there_are_refused(change: dict[str, Any], place: str, says: str) -> None:
    before = pay_cluster()
    before = replace(before, topics=(*before.topics, topic("empty")))
    with pytest.raises(BadInput) as caught:
        after(before, set_queues(5, 5), change)
    assert (caught.value.place, caught.value.problem) == (f"changes[1].{place}", says)


LEVELS = {0: 30.0, 1: 3.0, 2: 1.0}


def priority_topic(*layout: Any) -> Any:
    """A topic whose level 0 gets 30 messages a second on each broker, level 1 gets 3, and level 2 gets 1."""
    rates = {(q.broker_name, level): rate for q in layout for level, rate in LEVELS.items()}
    offsets = tuple(
        InventoryTopicOffset(broker_name=name, queue_id=level, min_offset=0, max_offset=0, put_msgs_per_s=rate)
        for (name, level), rate in rates.items()
    )
    return replace(topic("pay", *layout), message_type="PRIORITY", offsets=offsets)


def test_each_level_of_a_priority_topic_keeps_its_traffic_on_more_brokers() -> None:
    before = cluster([priority_topic(queues("broker-a", 3), queues("broker-b", 3))])
    changed = after(before, {"change": "add_broker", "broker_name": "broker-c", "topics_like": "broker-a"})
    names = ("broker-a", "broker-b", "broker-c")
    assert rates_of(changed) == {
        (name, level): pytest.approx(2 / 3 * rate) for name in names for level, rate in LEVELS.items()
    }


def test_each_level_of_a_priority_topic_keeps_its_traffic_on_the_brokers_that_are_left() -> None:
    before = cluster([priority_topic(queues("broker-a", 3), queues("broker-b", 3))])
    changed = after(before, {"change": "lose_broker", "broker_name": "broker-b"})
    assert rates_of(changed) == {("broker-a", level): 2 * rate for level, rate in LEVELS.items()}


@pytest.mark.parametrize("number", [2, 4])
def test_what_another_number_of_levels_gets_is_not_known(number: int) -> None:
    before = cluster([priority_topic(queues("broker-a", 3), queues("broker-b", 3))])
    changed = after(before, set_queues(number, number))
    names = ("broker-a", "broker-b")
    assert rates_of(changed) == {(name, level): None for name in names for level in range(number)}


def test_a_static_topic_may_grow() -> None:
    changed = after(pay_read_by(queues("__syslo__global__", 4)), set_queues(6, 6))
    assert the_topic(changed).queues == (queues("__syslo__global__", 6),)


def test_a_static_topic_never_has_fewer_queues() -> None:
    with pytest.raises(BadInput) as caught:
        after(pay_read_by(queues("__syslo__global__", 4)), set_queues(4, 3))
    assert "changes[0].write_queue_nums" in str(caught.value)
    assert "is 3; expected at least 4: a static topic never has fewer queues" in str(caught.value)


def test_an_lmq_has_one_queue_and_stays_where_it_is() -> None:
    lmq = topic("%LMQ%x", queues("broker-a", 1))
    before = cluster([lmq])
    with pytest.raises(BadInput) as caught:
        after(before, set_queues(2, 2, of_topic="%LMQ%x"))
    assert "an LMQ has one queue for ever" in str(caught.value)
    changed = after(before, {"change": "add_broker", "broker_name": "broker-b", "topics_like": "broker-a"})
    assert the_topic(changed, "%LMQ%x").queues == (queues("broker-a", 1),)


@pytest.mark.parametrize("name", ["%RETRY%g_pay_pay", "%RETRY%g_pay+pay"])
def test_separate_retry_queues_follow_their_topic(name: str) -> None:
    before = pay_cluster()
    retry = topic(name, queues("broker-a", 4), queues("broker-b", 4))
    others = topic("%RETRY%g_pay", queues("broker-a", 1)), topic("%RETRY%g_other_pay", queues("broker-a", 4))
    separate = replace(before.brokers[0], config={"useSeparateRetryQueue": "true"})
    before = replace(before, brokers=(separate, *before.brokers[1:]), topics=(*before.topics, retry, *others))
    changed = after(before, set_queues(8, 6))
    assert the_topic(changed, name).queues == (queues("broker-a", 6), queues("broker-b", 4))
    assert [the_topic(changed, one.topic) for one in others] == list(others)
