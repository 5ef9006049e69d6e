"""Consumers that ask for messages when they want to: some divide queues by a strategy, others choose them."""

import time
from collections.abc import Iterator
from typing import Final, Literal

import pytest

from rocketmq_capacity.snapshot.collect import collect_now
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup
from tests.cluster.rocketmq import Clients, Cluster
from tests.fixtures.plain_plan import plain_plan

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

KINDS: Final[tuple[Literal["REGISTERED", "LITE", "ASSIGNED"], ...]] = ("REGISTERED", "LITE", "ASSIGNED")
TIME_LIMIT_S: Final = 60


@pytest.fixture(scope="module")
def pulling(running: Cluster, clients: Clients) -> Iterator[Inventory]:
    """A snapshot with two clients of each kind, once the lite ones have divided the queues."""
    running.create_topic("asked", {"broker-a": 2, "broker-b": 2})
    for kind in KINDS:
        for number in range(2):
            clients.start_puller(kind, f"g_{kind}", f"{kind}-{number}", "asked")
    deadline = time.monotonic() + TIME_LIMIT_S
    inventory = collect_now([running.nameserver])
    while time.monotonic() < deadline and owned(inventory, "LITE") != [2, 2]:
        time.sleep(1)
        inventory = collect_now([running.nameserver])
    yield inventory
    clients.stop_pullers()


def group(inventory: Inventory, kind: str) -> InventoryGroup:
    return next(one for one in inventory.consumer_groups if one.consumer_group == f"g_{kind}")


def owned(inventory: Inventory, kind: str) -> list[int | None]:
    each = [one.owned_queues for one in group(inventory, kind).clients or ()]
    return [None if queues is None else sum(one.topic == "asked" for one in queues) for queues in each]


def test_a_snapshot_says_who_pulls_and_who_chooses(pulling: Inventory) -> None:
    seen = {
        kind: ({one.allocate_strategy for one in group(pulling, kind).clients or ()}, owned(pulling, kind))
        for kind in KINDS
    }

    assert {group(pulling, kind).consume_type for kind in KINDS} == {"CONSUME_ACTIVELY"}
    assert seen == {
        "REGISTERED": ({"OWN_CHOICE"}, [None, None]),
        "LITE": ({"AVG"}, [2, 2]),
        "ASSIGNED": ({"OWN_CHOICE"}, [1, 1]),
    }


def test_each_of_them_reads_the_topic(pulling: Inventory) -> None:
    for kind in KINDS:
        assert "asked" in {one.topic for one in group(pulling, kind).subscriptions or ()}


def test_only_what_is_known_is_judged(pulling: Inventory) -> None:
    judged = {one.status.consumer_group: one for one in plain_plan(pulling).assessments}
    status = {kind: judged[f"g_{kind}"].status.reading_status for kind in KINDS}

    # Clients that have just started may still get queues. Only a strategy tells what they will own.
    assert status == {"REGISTERED": "UNKNOWN", "LITE": "READ", "ASSIGNED": "UNKNOWN"}
    for kind in ("REGISTERED", "ASSIGNED"):
        assert judged[f"g_{kind}"].findings == []
        assert judged[f"g_{kind}"].status.max_useful_clients is None
    assert "choose their queues themselves" in (judged["g_REGISTERED"].status.provision_reason or "")
