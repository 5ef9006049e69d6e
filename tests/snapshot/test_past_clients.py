"""When a group without clients last had some."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from rocketmq_capacity.model.facts import LastClients
from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.snapshot.inventory import (
    Client,
    HourlyGroup,
    Inventory,
    InventoryFailure,
    InventoryGroup,
    InventoryGroupOffset,
    parse_utc,
)
from rocketmq_capacity.snapshot.past_clients import last_clients
from tests.simulation.clusters import AT, cluster

READ = (InventoryGroupOffset(topic="pay", broker_name="broker-a", queue_id=0, broker_offset=5, consumer_offset=4),)


def at(hours_ago: float) -> str:
    return utc_text(parse_utc(AT) - timedelta(hours=hours_ago))


def seen(hours_ago: float, clients: int | None, **facts: Any) -> Inventory:
    """The group with so many clients, so many hours ago."""
    ids = None if clients is None else tuple(Client(client_id=f"c{number % 5}") for number in range(clients))
    group = InventoryGroup(**{"consumer_group": "g", "clients": ids, "offsets": READ} | facts)
    return replace(cluster([], [group]), taken_at=at(hours_ago))


def last(*history: Inventory, now: Inventory | None = None) -> LastClients | None:
    return last_clients(now or seen(0, 0), history).get("g")


def hourly(clients: Sequence[int | None]) -> Inventory:
    """Hours of samples that end with the hour of now."""
    course = HourlyGroup(first_at=at(len(clients) - 1), most_lag=(None,) * len(clients), clients=tuple(clients))
    return seen(0, 0, hourly=course)


def test_the_latest_snapshot_with_clients_counts() -> None:
    assert last(seen(48, 5), seen(24, 3)) == LastClients(clients=3, ago_s=86_400.0)
    assert last(seen(48, 5), seen(24, 0)) == LastClients(clients=5, ago_s=2 * 86_400.0)
    assert last(seen(48, 5), seen(24, None)) == LastClients(clients=5, ago_s=2 * 86_400.0)


def test_one_client_with_two_channels_counts_once() -> None:
    assert last(seen(24, 7)) == LastClients(clients=5, ago_s=86_400.0)


def test_a_group_with_clients_or_that_never_had_any_is_missing() -> None:
    assert last(seen(24, 3), now=seen(0, 2)) is None
    assert last(seen(24, 3), now=seen(0, None)) is None
    assert last(seen(24, 0), seen(12, None)) is None
    assert last() is None


def test_a_group_that_often_was_without_clients_may_be_a_job() -> None:
    assert last(seen(72, 3), seen(48, 0), seen(24, 3)) is None
    assert last(seen(48, 0), seen(24, 3)) is None


def test_a_group_that_had_not_read_yet_when_it_had_no_clients_is_none() -> None:
    assert last(seen(48, 0, offsets=()), seen(24, 3)) == LastClients(clients=3, ago_s=86_400.0)


def test_an_outage_of_a_group_that_runs_all_the_time_does_not_hide_the_next_one() -> None:
    assert last(now=hourly([3] * 9 + [0, 4, 0, 0])) == LastClients(clients=4, ago_s=7_200.0)
    assert last(now=hourly([3] * 7 + [0, 4, 0])) is None


def test_hours_of_samples_and_snapshots_count_together() -> None:
    assert last(seen(3.5, 2), now=hourly([4, 5, None, 0])) == LastClients(clients=5, ago_s=7_200.0)
    assert last(seen(1.5, 2), now=hourly([4, 5, None, 0])) == LastClients(clients=2, ago_s=5_400.0)
    assert last(seen(24, 2), now=hourly([0] * 23 + [3, 0])) is None


def test_nothing_is_known_while_a_server_does_not_say_who_its_clients_are() -> None:
    failure = InventoryFailure(broker_addr="10.0.1.2:10911", request="GET_CONSUMER_CONNECTION_LIST", error="timed out")
    assert last(seen(24, 3), now=replace(seen(0, 0), failures=(failure,))) is None
    of_clients = replace(failure, of_clients=True)
    assert last(seen(24, 3), now=replace(seen(0, 0), failures=(of_clients,))) is not None
