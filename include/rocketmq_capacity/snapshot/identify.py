"""What a name means: whose cluster, topic or group it is, and which settings are secrets."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from rocketmq_capacity.snapshot.inventory import CLUSTER_NAME
from rocketmq_capacity.vocabulary import LOGICAL_BROKER_PREFIX, RETRY_PREFIX, distinct

NO_CLUSTER: Final = "unknown"
"""The cluster's name if no broker is registered."""

_NOT_IN_A_CLUSTER_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]")
_LONGEST_CLUSTER_NAME: Final = 255
_GLOBAL_SCOPE: Final = "__global__"

SECRET_WORDS: Final = (
    "pass",
    "pwd",
    "secret",
    "accesskey",
    "apikey",
    "credential",
    "initauthenticationuser",
    "token",
    "privatekey",
)
"""A setting is a secret if its name or its value has one of these words, in any case, with or without ``_``, ``-`` and
``.`` between them. At 5.3.3 these are initAuthenticationUser, innerClientAuthenticationCredentials,
objectStoreAccessKey and objectStoreSecretKey; plugins of brokers have their own."""
_SIGN_IN: Final = re.compile(r"(?:://|jdbc:)[^\s@]*[:/][^\s@]*@")
"""A user and a password in a URL; Oracle's have a slash between them, and a password may have one too."""
_BETWEEN: Final = re.compile(r"[_.-]")


def cluster_name(clusters: Iterable[str]) -> str:
    """One name for all clusters of the name server, because a group's queues may be on the brokers of all of them.

    Characters that an inventory does not allow become ``_``.
    """
    names = "_".join(distinct(clusters)) or NO_CLUSTER
    name = _NOT_IN_A_CLUSTER_NAME.sub("_", names)[:_LONGEST_CLUSTER_NAME]
    return name if CLUSTER_NAME.fullmatch(name) else NO_CLUSTER


def group_of_retry_topic(topic: str, known_groups: Collection[str], known_topics: Collection[str]) -> str | None:
    """The group whose failed messages the topic holds; None if it is not a retry topic.

    POP has one retry topic for each topic of a group, ``%RETRY%group_topic`` or ``%RETRY%group+topic``; the part after
    the prefix is then not a group's name (KeyBuilder.java, rocketmq-all-5.3.3).
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
    """A broker's settings, sorted by name, without those that are secrets or may be."""
    return {name: value for name, value in sorted(config.items()) if not _may_be_secret(f"{name}\n{value}")}


def _may_be_secret(text: str) -> bool:
    plain = _BETWEEN.sub("", text).lower()
    return any(word in plain for word in SECRET_WORDS) or _SIGN_IN.search(text) is not None
