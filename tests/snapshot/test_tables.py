"""The tables of an inventory: what is resolved on the way, and the shape of the rows."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import (
    FORMAT,
    Client,
    Inventory,
    InventoryBroker,
    InventoryFailure,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryOwnedQueue,
    InventorySubscription,
    InventoryTopic,
    Sample,
    TopicQueues,
)
from rocketmq_capacity.snapshot.resolved import Resolved
from rocketmq_capacity.snapshot.tables import snapshot_tables
from rocketmq_capacity.tables.arrow import arrow_schema
from rocketmq_capacity.tables.dataset import Dataset

EMPTY = Inventory(
    format=FORMAT, cluster_name="C1", taken_at="2026-11-20T02:00:00Z", brokers=(), topics=(), consumer_groups=()
)
TAKEN_AT_S = 1_795_140_000.0


def rows(
    dataset: type[Dataset], inventory: Inventory, policy: Policy | None = None, history: Sequence[Inventory] = ()
) -> list[dict[str, Any]]:
    stored = dict(snapshot_tables(Resolved(inventory, policy or Policy(), history)))
    found: list[dict[str, Any]] = stored[dataset].to_pylist(maps_as_pydicts="strict")
    return found


def group(name: str = "g_pay", *clients: Client, **members: Any) -> InventoryGroup:
    return InventoryGroup(consumer_group=name, clients=clients, **members)


def reads(*topics: str) -> tuple[InventorySubscription, ...]:
    return tuple(InventorySubscription(topic=topic) for topic in topics)


def test_every_dataset_of_a_snapshot_has_its_schema_even_of_an_empty_cluster() -> None:
    stored = dict(snapshot_tables(Resolved(EMPTY, Policy())))

    assert set(stored) == set(tables.SNAPSHOT) - {tables.GroupUnit, tables.TopicUnit}
    assert all(table.schema.equals(arrow_schema(dataset)) for dataset, table in stored.items())
    assert {dataset: table.num_rows for dataset, table in stored.items() if table.num_rows} == {tables.Cluster: 1}


def test_completeness_counts_the_readable_queues_of_business_topics() -> None:
    def on(broker: str, read: int | None, perm: int | None = 6) -> TopicQueues:
        return TopicQueues(broker_name=broker, read_queue_nums=read, perm=perm)

    inventory = replace(
        EMPTY,
        brokers=(
            InventoryBroker(broker_name="broker-a", broker_addr="a:10911"),
            InventoryBroker(broker_name="broker-b", broker_addr="b:10911"),
        ),
        topics=(
            InventoryTopic(topic="pay", queues=(on("broker-a", 3), on("broker-b", 1))),
            InventoryTopic(topic="closed", queues=(on("broker-b", 8, perm=2), on("broker-b2", None))),
            InventoryTopic(topic="TBW102", queues=(on("broker-b", 8),)),
        ),
        failures=(InventoryFailure(broker_addr="b:10911"), InventoryFailure(broker_addr="elsewhere:9876")),
    )

    assert rows(tables.Cluster, inventory)[0]["completeness_ratio"] == 3 / 4
    assert [row["has_answered"] for row in rows(tables.TopicQueue, inventory)] == [True, False, False, False, False]
    assert [row["broker_name"] for row in rows(tables.Failure, inventory)] == ["broker-b", None]


def test_a_broker_of_a_route_is_a_master_masterless_absent_or_logical() -> None:
    names = ("broker-a", "broker-b", "broker-c", "__syslo__scope")
    inventory = replace(
        EMPTY,
        brokers=(InventoryBroker(broker_name="broker-a"), InventoryBroker(broker_name="broker-b", broker_id=1)),
        topics=(InventoryTopic(topic="pay", queues=tuple(TopicQueues(broker_name=name) for name in names)),),
    )

    found = rows(tables.TopicQueue, inventory)

    assert [row["broker_state"] for row in found] == ["MASTER", "MASTERLESS", "ABSENT", "ABSENT"]
    assert [row["has_answered"] for row in found] == [True, True, False, True]


def test_a_topic_that_only_a_client_reads_is_a_row_of_its_group() -> None:
    inventory = replace(
        EMPTY,
        topics=(InventoryTopic(topic="pay", message_type="NORMAL"),),
        consumer_groups=(
            group("g_pay", Client(client_id="c1", subscriptions=reads("ship")), subscriptions=reads("pay")),
        ),
    )

    read = [(row["topic"], row["is_declared_by_group"]) for row in rows(tables.Subscription, inventory)]
    topics = [(row["topic"], row["is_declared"], row["message_type"]) for row in rows(tables.Topic, inventory)]

    assert read == [("pay", True), ("ship", False)]
    assert topics == [("pay", True, "NORMAL"), ("ship", False, None)]


def test_the_request_mode_of_a_topic_wins_over_its_groups_and_two_of_them_are_mixed() -> None:
    popped = InventorySubscription(topic="pay", message_request_mode="POP", pop_share_queue_num=3)
    inventory = replace(
        EMPTY,
        consumer_groups=(
            group("g_all", message_request_mode="POP", pop_share_queue_num=0, subscriptions=reads("pay", "ship")),
            group("g_mixed", subscriptions=(popped, *reads("ship"))),
            group("g_retry", subscriptions=(popped, *reads("%RETRY%g_retry"))),
            group("g_none", message_request_mode="POP"),
        ),
    )

    told = {
        (row["consumer_group"], row["topic"]): (row["message_request_mode"], row["pop_share_queue_num"])
        for row in rows(tables.Subscription, inventory)
    }

    assert told[("g_all", "pay")] == ("POP", 0)
    assert told[("g_mixed", "pay")] == ("POP", 3)
    assert told[("g_mixed", "ship")] == ("PULL", -1)
    modes = [row["message_request_mode"] for row in rows(tables.ConsumerGroup, inventory)]
    assert modes == ["POP", "MIXED", "POP", "POP"]


def test_equal_client_ids_stay_apart_and_have_one_room() -> None:
    rooms = {"clients": [{"cidr": "10.1.0.0/16", "room": "hz"}, {"cidr": "10.2.0.0/16", "room": "sh"}]}
    inventory = replace(
        EMPTY,
        consumer_groups=(
            group(
                "g_pay",
                Client(client_id="c", client_addr="192.168.0.1:1", started_at="2026-11-20T01:59:58.5Z"),
                Client(client_id="c", client_addr="10.2.0.1:1"),
                Client(client_id="c", client_addr="10.1.0.1:1"),
                Client(client_id="d", client_addr="192.168.0.1:1"),
            ),
            group("g_ship", Client(client_id="c", client_addr="10.1.0.1:1")),
        ),
    )

    found = rows(tables.Consumer, inventory, Policy.model_validate({"rooms": rooms}))

    assert [row["room"] for row in found] == ["sh", "sh", "sh", None, "hz"]
    assert [row["consumer_index"] for row in found] == [0, 1, 2, 3, 0]
    assert [row["up_s"] for row in found] == [1.5, None, None, None, None]
    counted = [(row["connections"], row["distinct_client_ids"]) for row in rows(tables.ConsumerGroup, inventory)]
    assert counted == [(4, 2), (1, 1)]


def test_a_client_names_its_topics_only_where_they_are_not_all_of_its_groups() -> None:
    inventory = replace(
        EMPTY,
        consumer_groups=(
            group(
                "g_pay",
                Client(client_id="c1"),
                Client(client_id="c2", subscriptions=reads("ship", "pay", "fetch")),
                Client(client_id="c3", subscriptions=reads("ship")),
                Client(client_id="c4", subscriptions=()),
                subscriptions=reads("pay", "ship"),
            ),
        ),
    )

    found = rows(tables.Consumer, inventory)

    assert [row["only_topics"] for row in found] == [["pay", "ship"], None, ["ship"], []]
    assert [row["has_subscriptions"] for row in found] == [False, True, True, True]


def test_what_clients_report_names_the_client_and_the_kind_of_the_topic() -> None:
    owned = (
        InventoryOwnedQueue(
            topic="%RETRY%g_pay",
            broker_name="broker-a",
            queue_id=0,
            cached_msgs=3,
            locked=True,
            last_pulled_at="2026-11-20T01:59:50Z",
            last_consumed_at="2026-11-20T01:59:20Z",
        ),
    )
    inventory = replace(
        EMPTY,
        consumer_groups=(group("g_pay", Client(client_id="c1"), Client(client_id="c2", owned_queues=owned)),),
    )

    assert rows(tables.OwnedQueue, inventory) == [
        {
            "consumer_group": "g_pay",
            "consumer_index": 1,
            "client_id": "c2",
            "topic": "%RETRY%g_pay",
            "broker_name": "broker-a",
            "queue_id": 0,
            "kind": "RETRY",
            "dropped": None,
            "locked": True,
            "cached_msgs": 3,
            "locked_ago_s": None,
            "pulled_ago_s": 10.0,
            "consumed_ago_s": 40.0,
            "silent_s": 10.0,
        }
    ]


def offset(queue_id: int, broker: int | None, consumer: int | None, *samples: Sample) -> InventoryGroupOffset:
    return InventoryGroupOffset(
        topic="pay",
        broker_name="broker-a",
        queue_id=queue_id,
        broker_offset=broker,
        consumer_offset=consumer,
        samples=samples,
    )


def test_lag_is_unknown_where_an_offset_is_or_the_groups_lies_beyond_the_brokers() -> None:
    """A lag that no queue can have is that of a wrong offset; the lags of a group would not add up either."""
    known = offset(0, 9, 4), offset(4, 9, 9), offset(5, 2**47, 0)
    unknown = offset(1, 4, 9), offset(2, None, 4), offset(3, 9, None), offset(6, 2**47 + 1, 0), offset(7, 2**63 - 1, 0)
    offsets = *known, *unknown
    inventory = replace(EMPTY, consumer_groups=(group(offsets=offsets),))

    assert [row["lag"] for row in rows(tables.GroupOffset, inventory)] == [5, 0, 2**47, *[None] * 5]


def test_the_samples_of_a_queue_are_one_row_by_time_and_the_later_inventory_wins() -> None:
    before = Sample(at="2026-11-20T01:59:55Z", broker_offset=8, consumer_offset=None)
    same_moment = Sample(at="2026-11-20T02:00:00+00:00", broker_offset=0, consumer_offset=0)
    yesterday = replace(
        EMPTY,
        taken_at="2026-11-19T02:00:00Z",
        consumer_groups=(group(offsets=(offset(1, 1, 1, replace(before, broker_offset=7)), offset(7, 2**62, 2))),),
    )
    inventory = replace(
        EMPTY, consumer_groups=(group(offsets=(offset(0, 5, 4), offset(1, 9, 3, same_moment, before))),)
    )

    found = rows(tables.OffsetSample, inventory, history=(yesterday,))

    day = 86_400
    assert [row["queue_id"] for row in found] == [1, 7, 0]
    assert found[0]["at_s"] == [TAKEN_AT_S - day, TAKEN_AT_S - 5, TAKEN_AT_S]
    assert found[0]["broker_offset"] == [1, 8, 9]
    assert found[0]["consumer_offset"] == [1, None, 3]
    assert (found[1]["at_s"], found[1]["broker_offset"]) == ([TAKEN_AT_S - day], [2**62])
    assert (found[2]["at_s"], found[2]["consumer_offset"]) == ([TAKEN_AT_S], [4])


def test_samples_of_before_a_queue_began_anew_are_left_out() -> None:
    """Its topic was deleted and created again, or its broker lost it; an offset that was reset is another matter."""
    old = Sample(at="2026-11-20T01:59:40Z", broker_offset=900, consumer_offset=890)
    unknown = Sample(at="2026-11-20T01:59:45Z", broker_offset=None, consumer_offset=3)
    new = Sample(at="2026-11-20T01:59:50Z", broker_offset=5, consumer_offset=4)
    offsets = offset(0, 9, 8, old, unknown, new), offset(1, 900, 8, old, unknown), offset(2, 3, 2)
    found = rows(tables.OffsetSample, replace(EMPTY, consumer_groups=(group(offsets=offsets),)))

    assert [row["broker_offset"] for row in found] == [[5, 9], [900, None, 900], [3]]
    assert [row["consumer_offset"] for row in found] == [[4, 8], [890, 3, 8], [2]]
