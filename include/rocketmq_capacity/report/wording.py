"""Words of the page for severities, statuses, protocols and sources; those of rules are in the vocabulary."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.looks import looked_into
from rocketmq_capacity.vocabulary import (
    CRITICAL,
    DISK,
    INFO,
    MAX_LAG,
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
)
from rocketmq_capacity.wording import listed


@dataclass(frozen=True, slots=True)
class Wording:
    """A title for people, and what it means."""

    title: str
    meaning: str


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
    MAX_LAG: "messages wait longer than the policy allows the group",
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

PLACEHOLDER: Final = re.compile(r"\{(group|topic|strategy|clients|subject)\}")
"""All are replaced in one pass, so that a placeholder inside a name is not replaced."""


def lower_first(text: str) -> str:
    """The text as it stands inside a sentence."""
    return text[:1].lower() + text[1:]


def action_title(recommendation: PlanRecommendation, brokers: Collection[str | None] = ()) -> str:
    """What to do, to what: ``Give pay more queues``; of the brokers that it looks into only these, in this order."""
    names = looked_into(recommendation)
    return title_of(
        recommendation.action,
        recommendation.consumer_group,
        recommendation.topic,
        recommendation.after,
        [name for name in dict.fromkeys(brokers) if name is not None and name in names] or names,
    )


def title_of(
    action: str, group: str | None, topic: str | None, after: Mapping[str, Any], looked_into: Sequence[str] = ()
) -> str:
    """The same of an action, its group and topic, what is then, and the brokers that it looks into."""
    names = {
        "group": group or topic or "the group",
        "topic": topic or group or "the topic",
        "clients": str(after.get("clients") or "another number of"),
        "strategy": str(after.get("strategy") or "another strategy"),
        "subject": " on ".join(name for name in (group, topic) if name) or listed(looked_into) or "the cluster",
    }
    return PLACEHOLDER.sub(lambda found: names[found[1]], action_of(action).title)


KIND_WORDS: Final = {
    "cluster": "Changes the cluster",
    "clients": "Change in the clients",
    "look": "Only looks",
}
"""What a recommendation changes, if it is carried out."""
KINDS: Final = {"cluster": "cluster", "clients": "clients", "nothing": "look"}
"""What an action changes -> the kind of its recommendations."""


def kind_of(action: str, *, changes_cluster: bool) -> str:
    """The kind of a recommendation of this action, in ``KIND_WORDS``."""
    return "cluster" if changes_cluster else KINDS[action_of(action).changes]
