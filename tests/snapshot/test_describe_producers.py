from rocketmq_capacity.protocol.body.consumers import ConsumerChannel
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts
from rocketmq_capacity.snapshot.describe_producers import describe_producers
from rocketmq_capacity.snapshot.inventory import InventoryProducer


def channel(client_id: str, port: int) -> ConsumerChannel:
    return ConsumerChannel(client_id, f"10.0.0.9:{port}", "JAVA", 479)


def broker(name: str, producers: dict[str, tuple[ConsumerChannel, ...]] | None) -> BrokerFacts:
    return BrokerFacts(name, 0, f"{name}:10911", is_asked_for_all=True, producers=producers)


def entry(client_id: str, port: int, *seen_on: str) -> InventoryProducer:
    return InventoryProducer(
        producer_group="p_pay",
        client_id=client_id,
        client_addr=f"10.0.0.9:{port}",
        language="JAVA",
        version="V5_3_3",
        seen_on=seen_on,
    )


def test_a_producer_with_a_channel_to_each_broker_is_one() -> None:
    told = [broker(name, {"p_pay": (channel("a", port),)}) for name, port in (("broker-a", 1), ("broker-b", 2))]
    (one,) = describe_producers(told) or ()
    assert (one.client_id, one.seen_on) == ("a", ("broker-a", "broker-b"))


def test_two_channels_of_one_id_to_one_broker_are_two_producers() -> None:
    told = [
        broker("broker-a", {"p_pay": (channel("a", 2), channel("a", 1))}),
        broker("broker-b", {"p_pay": (channel("a", 3),)}),
    ]
    assert describe_producers(told) == (
        entry("a", 1, "broker-a", "broker-b"),
        entry("a", 2, "broker-a", "broker-b"),
    )


def test_brokers_that_know_no_producer_tell_of_none_and_silent_ones_nothing() -> None:
    assert describe_producers([broker("broker-a", {}), broker("broker-b", None)]) == ()
    assert describe_producers([broker("broker-b", None)]) is None
