"""Words of the page for severities, statuses, protocols and sources; those of rules are in the vocabulary."""

import re
from typing import Final

from rocketmq_capacity.report.plan_file.recommendation import Recommendation
from rocketmq_capacity.vocabulary import (
    ACTION_WORDS,
    CRITICAL,
    DISK,
    INFO,
    LOOKING_ACTIONS,
    OVER,
    PUT_BYTES,
    PUT_MESSAGES,
    READ,
    RIGHT,
    TWICE,
    UNDECIDED,
    UNDER,
    UNKNOWN,
    UNREAD,
    UTILISATION,
    WARNING,
    Breaks,
    Severity,
    Wording,
)

SEVERITY_WORDS: Final[dict[Severity, str]] = {CRITICAL: "Critical", WARNING: "Warning", INFO: "Info"}


STATUS_WORDS: Final[dict[str, Wording]] = {
    UNDER: Wording("Too few consumers", "More arrives than the consumers can handle with room to spare."),
    RIGHT: Wording("Right", "The consumers fit what arrives."),
    OVER: Wording("More than needed", "Fewer consumers are enough, with room to spare."),
    UNDECIDED: Wording("Undecided", "The facts do not suffice for a verdict."),
}
"""Worst first."""

READING_WORDS: Final[dict[str, Wording]] = {
    READ: Wording("Read", "Every queue has a reader."),
    UNREAD: Wording("Queues unread", "Some queues have no reader."),
    TWICE: Wording("Read twice", "Some queues are read by more than one consumer."),
    UNKNOWN: Wording("Unknown", "The facts do not tell who reads every queue."),
}

BREAKS_WORDS: Final[dict[Breaks, str]] = {
    UTILISATION: "the busiest client is above the policy's bound",
    PUT_MESSAGES: "a broker stores more messages than it can",
    PUT_BYTES: "a broker stores more bytes than it can",
    DISK: "the disk is too small for the retention",
}

PROTOCOL_WORDS: Final = {"GRPC": "gRPC", "MIXED": "gRPC and remoting"}
"""Kinds of clients that are not the usual remoting ones."""
SOURCE_WORDS: Final = {
    "reported": "as its clients report it",
    "observed": "as their ownership shows",
    "policy": "by the policy's entry for the group",
    "default": "assumed: the policy's default",
}

PLACEHOLDER: Final = re.compile(r"\{(group|topic|subject)\}")
"""All are replaced in one pass, so that a placeholder inside a name is not replaced."""


def lower_first(text: str) -> str:
    """The text as it stands inside a sentence."""
    return text[:1].lower() + text[1:]


def action_title(recommendation: Recommendation) -> str:
    """What to do, to what: ``Give pay more queues``."""
    wording = ACTION_WORDS.get(recommendation.action, Wording(recommendation.action + " {subject}", ""))
    group, topic = recommendation.consumer_group, recommendation.topic
    names = {
        "group": group or topic or "the group",
        "topic": topic or group or "the topic",
        "subject": " on ".join(name for name in (group, topic) if name) or "the cluster",
    }
    return PLACEHOLDER.sub(lambda found: names[found[1]], wording.title)


KIND_WORDS: Final = {
    "cluster": "Changes the cluster",
    "clients": "Change in the clients",
    "look": "Only looks",
}
"""What a recommendation changes, if it is carried out."""


CLUSTER_ACTIONS: Final[frozenset[str]] = frozenset({"ADD_BROKER"})
"""Actions that change the cluster without a command of mqadmin."""


def kind_of(action: str, *, changes_cluster: bool) -> str:
    """The kind of a recommendation of this action, in ``KIND_WORDS``."""
    if changes_cluster or action in CLUSTER_ACTIONS:
        return "cluster"
    return "look" if action in LOOKING_ACTIONS else "clients"
