"""The healthy fleets are what they claim to be, by figures that do not come from the product."""

import json

import pytest

from tests.advice.fleet import BUSIEST_DAY, healthy
from tests.advice.healthy import BUSY, BUSY_ONE_LOST, KINDS
from tests.advice.shape import SIZES


def busy_shares(fleet, group, without=None):
    """The busy share of each client: messages a second x seconds a call / calls at once (Little's law)."""
    owned = {one.client_id: 0 for one in group.clients}
    for name in group.topics:
        for one, share in fleet.model.owned(group, fleet.model.topics[name].readable):
            owned[one.client_id] += len(share)
    rates = fleet.model.incoming(group, without)
    return [
        rates[one.client_id]
        * one.rt_ms
        / 1000
        / (min(one.threads, owned[one.client_id] or 1) if group.orderly else one.threads)
        for one in group.clients
    ]


@pytest.mark.parametrize("size", ["small", "middle"])
def test_equal_seeds_give_equal_fleets_and_others_give_others(size):
    first, again, other = (json.dumps(healthy(size, seed).inventory) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("size", SIZES)
def test_a_fleet_has_as_many_groups_topics_and_brokers_as_its_size_says(size):
    model = healthy(size, 1).model
    assert (len(model.groups), len(model.topics), len(model.brokers)) == (
        SIZES[size].groups,
        SIZES[size].topics,
        SIZES[size].brokers,
    )
    assert {group.kind for group in model.groups.values()} == set(KINDS)


@pytest.mark.parametrize(("size", "seed"), [("small", 1), ("small", 2), ("middle", 1), ("large", 1)])
def test_the_busiest_client_is_neither_idle_nor_too_busy_even_without_a_broker(size, seed):
    fleet = healthy(size, seed)
    for group in fleet.model.groups.values():
        assert BUSY[0] * 0.5 <= max(busy_shares(fleet, group)) <= BUSY[1] + 1e-6
        if not (group.is_broadcasting or group.orderly):
            lost = max(max(busy_shares(fleet, group, broker)) for broker in fleet.model.brokers_of(group))
            assert lost <= BUSY_ONE_LOST + 1e-6


@pytest.mark.parametrize("seed", [1, 5])
def test_the_peaks_of_a_history_stay_within_the_bound_even_without_a_broker(seed):
    fleet = healthy("small", seed, with_history=True)
    for group in fleet.model.groups.values():
        assert max(busy_shares(fleet, group)) * BUSIEST_DAY <= BUSY[1] + 1e-6
        if not (group.is_broadcasting or group.orderly):
            lost = max(max(busy_shares(fleet, group, broker)) for broker in fleet.model.brokers_of(group))
            assert lost * BUSIEST_DAY <= BUSY_ONE_LOST + 1e-6


@pytest.mark.parametrize("size", SIZES)
def test_every_queue_of_a_topic_is_read_by_one_client_of_each_group_that_divides_it(size):
    inventory = healthy(size, 1).inventory
    readable = {
        (topic["topic"], queues["broker_name"], queue_id)
        for topic in inventory["topics"]
        for queues in topic["queues"]
        for queue_id in range(queues["read_queue_nums"])
    }
    for group in inventory["consumer_groups"]:
        divides = group["message_model"] == "CLUSTERING" and group["message_request_mode"] == "PULL"
        if not divides or group["clients"][0]["protocol"] == "GRPC":
            continue
        topics = {each["topic"] for each in group["subscriptions"]}
        owned = [
            (queue["topic"], queue["broker_name"], queue["queue_id"])
            for client in group["clients"]
            for queue in client["owned_queues"]
        ]
        assert sorted(owned) == sorted(queue for queue in readable if queue[0] in topics)


def test_every_topic_is_read():
    for size in SIZES:
        model = healthy(size, 1).model
        assert all(model.readers(topic) for topic in model.topics)
