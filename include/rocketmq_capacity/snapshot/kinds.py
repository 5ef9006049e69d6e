"""Which topics and groups are a cluster's business, and which are RocketMQ's own.

Source: TopicValidator, MixAll, TopicConfigManager.init and the Proxy's AbstractSystemMessageSyncer at
rocketmq-all-5.3.3. The broker adds the topics named after the cluster and its brokers when it starts; here they are
derived.
"""

from collections.abc import Collection, Iterable
from typing import Final

from rocketmq_capacity.settings.patterns import is_found
from rocketmq_capacity.settings.policy import Exclude
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.vocabulary import (
    BUSINESS,
    DLQ,
    DLQ_PREFIX,
    EXCLUDED,
    INNER_PRODUCER,
    LMQ,
    LMQ_PREFIX,
    RETRY,
    RETRY_PREFIX,
    SYSTEM,
)

HEARTBEAT_TOPIC: Final = "DefaultHeartBeatSyncerTopic"
"""Proxies in cluster mode send one another their clients' heartbeats by this topic
(ProxyConfig.heartbeatSyncerTopicName)."""
SYSTEM_TOPIC_PREFIX: Final = "rmq_sys_"
SYSTEM_TOPICS: Final = frozenset({
    "TBW102",
    "SCHEDULE_TOPIC_XXXX",
    "BenchmarkTest",
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRACE_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
    "TRANS_CHECK_MAX_TIME_TOPIC",
    "SELF_TEST_TOPIC",
    "OFFSET_MOVED_EVENT",
    "CHECKPOINT_TOPIC",
    # From 5.5 on.
    "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC",
    "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC",
    HEARTBEAT_TOPIC,
})
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"
SYSTEM_GROUPS: Final = frozenset({
    "DEFAULT_CONSUMER",
    "DEFAULT_PRODUCER",
    "TOOLS_CONSUMER",
    "SCHEDULE_CONSUMER",
    "FILTERSRV_CONSUMER",
    "__MONITOR_CONSUMER",
    INNER_PRODUCER,
    "SELF_TEST_P_GROUP",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
    "CID_ONSAPI_PULL",
    f"CID_{HEARTBEAT_TOPIC}",
})


def is_system_topic(topic: str, clusters: Collection[str], broker_names: Collection[str]) -> bool:
    """Whether RocketMQ made the topic for itself.

    A broker makes topics named after itself and its cluster, and the cluster's reply topic, when it starts
    (TopicConfigManager.init, rocketmq-all-5.3.3).
    """
    return (
        topic in SYSTEM_TOPICS
        or topic.startswith(SYSTEM_TOPIC_PREFIX)
        or topic in clusters
        or topic in broker_names
        or any(topic == f"{cluster}_REPLY_TOPIC" for cluster in clusters)
    )


def is_system_group(consumer_group: str) -> bool:
    """Whether RocketMQ made the group for itself."""
    return consumer_group in SYSTEM_GROUPS or consumer_group.startswith(SYSTEM_GROUP_PREFIX)


class Kinds:
    """The kind of every topic and group of one cluster under one policy."""

    def __init__(self, inventory: Inventory, exclude: Exclude) -> None:
        self._brokers = {broker.broker_name for broker in inventory.brokers}
        # A name server may have several clusters. The inventory's name is then made of theirs.
        configured = {(broker.config or {}).get("brokerClusterName") for broker in inventory.brokers}
        self._clusters = {inventory.cluster_name, *filter(None, configured)}
        self._exclude = exclude
        self._of_topic: dict[str, str] = {}
        self._of_group: dict[str, str] = {}

    def of_topic(self, topic: str) -> str:
        """SYSTEM, RETRY, DLQ, LMQ, EXCLUDED (by the policy) or BUSINESS."""
        if topic not in self._of_topic:  # saved, because every offset of the topic asks again
            self._of_topic[topic] = self._kind(topic)
        return self._of_topic[topic]

    def _kind(self, topic: str) -> str:
        if is_system_topic(topic, self._clusters, self._brokers):
            return SYSTEM
        if _matches(topic, self._exclude.topics):
            return EXCLUDED
        for prefix, kind in ((RETRY_PREFIX, RETRY), (DLQ_PREFIX, DLQ), (LMQ_PREFIX, LMQ)):
            if topic.startswith(prefix):
                return kind
        return BUSINESS

    def of_group(self, consumer_group: str) -> str:
        """SYSTEM, EXCLUDED (by the policy) or BUSINESS."""
        if consumer_group not in self._of_group:
            self._of_group[consumer_group] = self._kind_of_group(consumer_group)
        return self._of_group[consumer_group]

    def _kind_of_group(self, consumer_group: str) -> str:
        if is_system_group(consumer_group):
            return SYSTEM
        return EXCLUDED if _matches(consumer_group, self._exclude.consumer_groups) else BUSINESS


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(is_found(pattern, name) for pattern in patterns)
