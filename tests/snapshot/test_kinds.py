"""What a cluster's business is, and what is RocketMQ's own."""

import pytest

from rocketmq_capacity.settings.policy import Exclude
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker
from rocketmq_capacity.snapshot.kinds import Kinds


def kinds(cluster: str = "shop", exclude: Exclude | None = None, **clusters_of_brokers: str) -> Kinds:
    brokers = tuple(
        InventoryBroker(broker_name=name.replace("_", "-"), config={"brokerClusterName": told})
        for name, told in clusters_of_brokers.items()
    )
    inventory = Inventory(
        format="rocketmq-capacity/inventory/1",
        cluster_name=cluster,
        taken_at="2026-11-20T02:00:00Z",
        brokers=brokers,
        topics=(),
        consumer_groups=(),
    )
    return Kinds(inventory, exclude or Exclude())


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("pay", "BUSINESS"),
        ("TBW102", "SYSTEM"),
        ("rmq_sys_wheel_timer", "SYSTEM"),
        ("RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "SYSTEM"),
        ("RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC", "SYSTEM"),
        ("DefaultHeartBeatSyncerTopic", "SYSTEM"),
        ("shop", "SYSTEM"),
        ("shop_REPLY_TOPIC", "SYSTEM"),
        ("broker-a", "SYSTEM"),
        ("%RETRY%g_pay", "RETRY"),
        ("%DLQ%g_pay", "DLQ"),
        ("%LMQ%123", "LMQ"),
    ],
)
def test_the_kind_of_a_topic(topic: str, kind: str) -> None:
    assert kinds(broker_a="shop").of_topic(topic) == kind


@pytest.mark.parametrize("topic", ["east", "west", "east_REPLY_TOPIC", "west_REPLY_TOPIC"])
def test_several_clusters_behind_one_name_server_have_topics_of_their_own_names(topic: str) -> None:
    assert kinds("east_west", broker_a="east", broker_b="west").of_topic(topic) == "SYSTEM"


def test_what_the_policy_excludes_is_neither() -> None:
    told = kinds(exclude=Exclude(topics=("^bench_",), consumer_groups=("^test_",)))

    assert told.of_topic("bench_1") == "EXCLUDED"
    assert told.of_group("test_1") == "EXCLUDED"
    assert told.of_group("CID_RMQ_SYS_TRANS") == "SYSTEM"
    assert told.of_group("g_pay") == "BUSINESS"


def test_the_group_by_which_proxies_read_their_own_topic_is_a_system_group() -> None:
    assert kinds().of_group("CID_DefaultHeartBeatSyncerTopic") == "SYSTEM"
    assert kinds().of_group("CID_DefaultHeartBeatSyncerTopic2") == "BUSINESS"
