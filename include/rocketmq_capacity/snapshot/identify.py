"""Tells names apart: what is worth asking about, which group a topic or an offset belongs to, what is a secret."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from rocketmq_capacity.snapshot.inventory import CLUSTER_NAME, distinct
from rocketmq_capacity.snapshot.kinds import (
    SYSTEM_GROUP_PREFIX,
    SYSTEM_GROUPS,
    SYSTEM_TOPIC_PREFIX,
    SYSTEM_TOPICS,
)
from rocketmq_capacity.vocabulary import LOGICAL_BROKER_PREFIX, RETRY_PREFIX

NO_CLUSTER: Final = "unknown"
"""The name of a cluster none of whose brokers is registered."""

_NOT_IN_A_CLUSTER_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]")
_LONGEST_CLUSTER_NAME: Final = 255
_GLOBAL_SCOPE: Final = "__global__"

SECRET_WORDS: Final = ("password", "secret", "accesskey", "credential", "initauthenticationuser", "token", "privatekey")
"""A setting is a secret where its name or its value holds one of these, in any case. At 5.3.3 that leaves out
initAuthenticationUser, innerClientAuthenticationCredentials, objectStoreAccessKey and objectStoreSecretKey."""


def cluster_name(clusters: Iterable[str]) -> str:
    """One name for all clusters of the name server: groups are allocated over the brokers of all of them.

    Characters that an inventory does not allow become ``_``.
    """
    names = "_".join(distinct(clusters)) or NO_CLUSTER
    name = _NOT_IN_A_CLUSTER_NAME.sub("_", names)[:_LONGEST_CLUSTER_NAME]
    return name if CLUSTER_NAME.fullmatch(name) else NO_CLUSTER


def is_system_topic(topic: str, clusters: Collection[str], broker_names: Collection[str]) -> bool:
    """Whether RocketMQ made the topic for itself.

    Those named after a cluster or a broker, and a cluster's reply topic, are made at a broker's start
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


def group_of_retry_topic(topic: str, known_groups: Collection[str], known_topics: Collection[str]) -> str | None:
    """The group whose failed messages the topic holds; None where the topic is of another kind.

    POP keeps one retry topic for each topic of a group, ``%RETRY%group_topic`` or ``%RETRY%group+topic``: such a name
    is that of no group (KeyBuilder.java, rocketmq-all-5.3.3).
    """
    if not topic.startswith(RETRY_PREFIX):
        return None
    name = topic.removeprefix(RETRY_PREFIX)
    if name in known_groups:
        return name
    if "+" in name:
        return name.partition("+")[0] or None
    for cut, character in enumerate(name):
        if character == "_" and name[:cut] in known_groups and name[cut + 1 :] in known_topics:
            return name[:cut]
    return name or None


def logical_broker(scope: str) -> str:
    """The broker name that clients see for the queues of a static topic (TopicQueueMappingUtils.getMockBrokerName)."""
    return LOGICAL_BROKER_PREFIX + (scope[2:] if scope == _GLOBAL_SCOPE else scope)


def without_secrets(config: Mapping[str, str]) -> dict[str, str]:
    """A broker's settings by name, those left out that hold or may hold a secret."""
    return {
        name: value
        for name, value in sorted(config.items())
        if not any(word in f"{name}\n{value}".lower() for word in SECRET_WORDS)
    }
