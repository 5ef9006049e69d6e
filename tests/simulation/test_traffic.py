import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.simulation.clusters import (
    after,
    client,
    cluster,
    group,
    owned_by,
    pay_cluster,
    queues,
    rates_of,
    samples_of,
    the_group,
    topic,
)


def two_topics() -> Inventory:
    pay = topic("pay", queues("broker-a", 2), rates={("broker-a", 0): 10.0, ("broker-a", 1): None})
    ship = topic("ship", queues("broker-a", 1), rates={("broker-a", 0): 3.0})
    return cluster([pay, ship], [group("g_pay", [client("c")], [pay, ship])])


def test_one_topic_is_scaled() -> None:
    changed = after(two_topics(), {"change": "scale_traffic", "topic": "pay", "factor": 2.5})
    assert rates_of(changed) == {("broker-a", 0): 25.0, ("broker-a", 1): None}
    assert rates_of(changed, "ship") == {("broker-a", 0): 3.0}
    assert (set(samples_of(changed)), samples_of(changed, of_topic="ship")[0] is None) == ({None}, False)


def test_every_topic_is_scaled_where_none_is_named() -> None:
    changed = after(two_topics(), {"change": "scale_traffic", "factor": 0})
    assert rates_of(changed) == {("broker-a", 0): 0.0, ("broker-a", 1): None}
    assert rates_of(changed, "ship") == {("broker-a", 0): 0.0}


def test_how_much_clients_consume_becomes_unknown_and_what_they_own_stays() -> None:
    before = pay_cluster()
    changed = after(before, {"change": "scale_traffic", "factor": 3})
    assert owned_by(changed) == owned_by(before)
    (now,) = {one for client in the_group(changed).clients or () for one in client.status or ()}
    (earlier,) = {one for client in the_group(before).clients or () for one in client.status or ()}
    assert (now.consume_ok_msgs_per_s, now.consume_rt_ms) == (None, earlier.consume_rt_ms)


def test_a_factor_of_one_changes_nothing() -> None:
    assert after(pay_cluster(), {"change": "scale_traffic", "factor": 1}) == pay_cluster()


def test_unknown_offsets_stay_unknown() -> None:
    before = cluster([topic("pay", queues("broker-a"), rates={})])
    assert after(before, {"change": "scale_traffic", "factor": 3}) == before


@pytest.mark.parametrize(
    ("change", "place", "says"),
    [
        ({"topic": "pya", "factor": 1.0}, "topic", "is 'pya', which is not there; the nearest topic is 'pay'"),
        ({"factor": 1e308}, "factor", "is 1e+308; expected one that keeps each rate of 'pay' within 2^63"),
        ({"factor": 1e18}, "factor", "is 1e+18; expected one that keeps each rate of 'pay' within 2^63"),
    ],
)
def test_what_cannot_be_scaled_is_refused(change: dict[str, object], place: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        after(pay_cluster(), {"change": "scale_traffic", **change})
    assert (caught.value.place, caught.value.problem) == (f"changes[0].{place}", says)


def test_what_a_broadcasting_client_would_handle_has_the_same_bound() -> None:
    pay = topic("pay", queues("broker-a", 1), rates={("broker-a", 0): None})
    before = cluster([pay], [group("g_pay", [client("c")], [pay], message_model="BROADCASTING")])
    with pytest.raises(BadInput, match="is 1e\\+18; expected one that keeps each rate of 'pay' within 2"):
        after(before, {"change": "scale_traffic", "factor": 1e18})
