"""What is a cluster's business and what is RocketMQ's own.

Source: TopicValidator, MixAll, TopicConfigManager.init and the Proxy's AbstractSystemMessageSyncer at
rocketmq-all-5.3.3. The broker's own isSystemTopic also knows the topics named after the cluster and its brokers,
because it adds them at start; here they are derived.
"""

import re
from collections.abc import Iterable
from typing import Final

from rocketmq_capacity.settings.patterns import search
from rocketmq_capacity.settings.policy import Exclude
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.vocabulary import (
    BUSINESS,
    DLQ,
    DLQ_PREFIX,
    EXCLUDED,
    LMQ,
    LMQ_PREFIX,
    RETRY,
    RETRY_PREFIX,
    SYSTEM,
)

HEARTBEAT_TOPIC: Final = "DefaultHeartBeatSyncerTopic"
"""By it Proxies in cluster mode tell one another of their clients (ProxyConfig.heartbeatSyncerTopicName)."""
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
    "CLIENT_INNER_PRODUCER",
    "SELF_TEST_P_GROUP",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
    "CID_ONSAPI_PULL",
    f"CID_{HEARTBEAT_TOPIC}",
})


class Kinds:
    """The kind of every topic and group of one cluster under one policy."""

    def __init__(self, inventory: Inventory, exclude: Exclude) -> None:
        brokers = {broker.broker_name for broker in inventory.brokers}
        # Behind one name server may be several clusters: then the inventory's name is theirs, joined.
        told = {(broker.config or {}).get("brokerClusterName") for broker in inventory.brokers}
        clusters = {inventory.cluster_name, *filter(None, told)}
        self._own_topics = SYSTEM_TOPICS | brokers | clusters | {f"{cluster}_REPLY_TOPIC" for cluster in clusters}
        self._excluded_topics = [re.compile(pattern) for pattern in exclude.topics]
        self._excluded_groups = [re.compile(pattern) for pattern in exclude.consumer_groups]
        self._of_topic: dict[str, str] = {}
        self._of_group: dict[str, str] = {}

    def of_topic(self, topic: str) -> str:
        """SYSTEM, RETRY, DLQ, LMQ, EXCLUDED (by the policy) or BUSINESS."""
        if topic not in self._of_topic:  # asked for again with every offset of the topic
            self._of_topic[topic] = self._kind(topic)
        return self._of_topic[topic]

    def _kind(self, topic: str) -> str:
        if topic in self._own_topics or topic.startswith(SYSTEM_TOPIC_PREFIX):
            return SYSTEM
        if _matches(topic, self._excluded_topics):
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
        if consumer_group in SYSTEM_GROUPS or consumer_group.startswith(SYSTEM_GROUP_PREFIX):
            return SYSTEM
        return EXCLUDED if _matches(consumer_group, self._excluded_groups) else BUSINESS


def _matches(name: str, patterns: Iterable[re.Pattern[str]]) -> bool:
    return any(search(pattern, name) for pattern in patterns)
