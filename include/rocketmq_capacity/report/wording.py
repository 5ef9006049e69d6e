"""What the page says in plain words: rules, actions, statuses, severities. No number and no name of a cluster here."""

from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.vocabulary import (
    COUNT_SKEWS,
    CRITICAL,
    INFO,
    OVER,
    RIGHT,
    UNDECIDED,
    UNDER,
    WARNING,
    Rule,
    Severity,
)

SEVERITY_WORDS: Final[dict[Severity, str]] = {CRITICAL: "Critical", WARNING: "Warning", INFO: "Info"}


@dataclass(frozen=True, slots=True)
class Wording:
    """A rule or an action: a title for people, and what it means."""

    title: str
    meaning: str


RULES: Final[dict[str, Wording]] = {
    "SUSPECT_SNAPSHOT": Wording(
        "The snapshot itself is doubtful",
        "So many groups are flagged at once, and were not before, that the snapshot is more likely wrong "
        "than the cluster.",
    ),
    "SNAPSHOT_INCOMPLETE": Wording(
        "Some facts could not be read",
        "A broker did not answer every request. What depends on it is unknown here, not fine.",
    ),
    "ORPHAN_QUEUE": Wording(
        "Queues that nobody reads",
        "Messages arrive in these queues, but no consumer of the group owns them: they wait until somebody does.",
    ),
    "DUPLICATE_CLIENT_ID": Wording(
        "Consumers that share one client id",
        "RocketMQ tells consumers apart by client id. Those with the same id are handed the same queues: "
        "these are read "
        "twice, and the queues meant for the others are read by nobody.",
    ),
    "SUBSCRIPTION_MISMATCH": Wording(
        "Consumers of one group that subscribe differently",
        "RocketMQ divides every topic among all consumers of a group. One that does not subscribe to a "
        "topic, or filters "
        "it differently, loses the messages of its share.",
    ),
    "MIXED_STRATEGIES": Wording(
        "Consumers of one group that divide the queues differently",
        "Each consumer works out its share alone. With different strategies the shares overlap, or leave "
        "queues to nobody.",
    ),
    "READ_LESS_THAN_WRITE": Wording(
        "Queues that are written but cannot be read",
        "A topic with fewer read queues than write queues takes messages that no consumer ever sees.",
    ),
    "RETENTION_RISK": Wording(
        "Unread messages close to deletion",
        "A broker deletes old files whether or not they were read. A group this far behind is about to lose messages.",
    ),
    "LAG_STATE": Wording(
        "A backlog that does not shrink",
        "Over the last samples the group did not catch up with what is written.",
    ),
    "CONSUMER_CAPACITY": Wording(
        "Consumers too busy, or more than needed",
        "Response times and threads say how many messages a second a consumer can handle. The busiest one limits its "
        "group.",
    ),
    "BROKER_LOSS": Wording(
        "What the loss of one broker would do",
        "If this broker goes, the brokers that remain take its share of the messages.",
    ),
    "BROKER_DISK": Wording(
        "Brokers whose disk fills",
        "Above its limits a broker first deletes messages early, then refuses new ones.",
    ),
    "MEMBERSHIP_DISAGREEMENT": Wording(
        "Brokers that disagree on who belongs to a group",
        "A consumer asks one broker, chosen at random, for the group's members. If brokers answer differently, the "
        "shares overlap or leave gaps.",
    ),
    "TOPIC_COVERAGE": Wording(
        "Topics that do not use all brokers alike",
        "A topic on one broker alone is lost with it; unequal queue counts send unequal load to the brokers.",
    ),
    "RETRY_PRESSURE": Wording(
        "Many messages fail and come again",
        "Consumers return messages faster than is healthy: they are delivered again, and at last set aside.",
    ),
    "HOT_QUEUE": Wording(
        "A queue that gets far more than its share",
        "Producers send most messages to few queues, often because of the key they choose. Sharing queues out "
        "differently does not help.",
    ),
    "TRAFFIC_SKEW": Wording(
        "Messages shared out unevenly",
        "One consumer gets far more messages a second than the average, and limits what the group can do.",
    ),
    "LAG_SKEW": Wording(
        "A backlog that sits with few consumers",
        "Most unread messages wait on the queues of few consumers, while others have nothing to do.",
    ),
    "ALLOCATION_SKEW": Wording(
        "Queues shared out unevenly",
        "Some consumers own at least two queues more than others, although a more even division exists.",
    ),
    "CROSS_TOPIC_SKEW": Wording(
        "Uneven once all topics are added up",
        "Every topic is divided as evenly as it can be, but its remainder goes to the same consumers each time.",
    ),
    "ROOM_STARVATION": Wording(
        "A machine room that gets nothing to read",
        "Queues are divided by machine room, and consumers of this room get none, or next to none.",
    ),
    "CROSS_ROOM": Wording(
        "Queues read from another machine room",
        "Their messages cross the link between the rooms, which is slower and may cost money.",
    ),
    "READ_ONLY_IDLE": Wording(
        "Consumers that own drained, read-only queues alone",
        "Nothing is written to these queues any more and all is read: these consumers have nothing to do.",
    ),
    "CLIENT_MEMORY": Wording(
        "Consumers that may buffer more than they can hold",
        "A consumer caches messages for each queue that it owns; all caches full would not fit.",
    ),
    "IDLE_CONSUMERS": Wording(
        "Consumers without a queue",
        "A queue is read by one consumer of a group at a time. With more consumers than queues, the rest only wait.",
    ),
    "STALE_OBJECT": Wording(
        "Topics or groups that nobody uses",
        "Nothing was written and nothing read for a long time.",
    ),
}
"""By what to mend first: no orphan, nothing unreadable, no loss, order, capacity, skew, cost."""

RULE_PRIORITY: Final = {rule: place for place, rule in enumerate(RULES)}

CHOICE_RULES: Final[frozenset[Rule]] = frozenset({
    "CONSUMER_CAPACITY",
    "IDLE_CONSUMERS",
    *COUNT_SKEWS,
    "TRAFFIC_SKEW",
    "LAG_SKEW",
})
"""Several actions that answer such a finding are alternatives: one of them is enough."""

ACTIONS: Final[dict[str, Wording]] = {
    "EXPAND_QUEUES": Wording("Give {topic} more queues", "So that every consumer can own one, evenly."),
    "SHRINK_QUEUES": Wording("Give {topic} fewer queues", "In phases, so that nothing written is left unread."),
    "SCALE_CONSUMERS": Wording(
        "Change the number of consumers of {group}", "Run as many as have queues to read, and are strong enough."
    ),
    "CHANGE_STRATEGY": Wording(
        "Divide the queues of {group} by another strategy", "A change in the consumers' code, not a command."
    ),
    "SWITCH_TO_POP": Wording(
        "Let {group} read by POP", "The broker then hands out messages one by one; queues are not divided any more."
    ),
    "RAISE_CONSUME_THREADS": Wording(
        "Raise the consume threads of {group}", "A change in the consumers' set-up, not a command."
    ),
    "FIX_CLIENT_ID": Wording("Give each consumer of {group} its own client id", "A change in the consumers' set-up."),
    "FIX_SUBSCRIPTION": Wording("Make all consumers of {group} subscribe alike", "A change in the consumers' code."),
    "RAISE_READ_QUEUES": Wording("Make all written queues of {topic} readable", "Read queues up to write queues."),
    "CREATE_TOPIC_ON_BROKER": Wording(
        "Create {topic} on the brokers that lack it", "RocketMQ does not spread it itself."
    ),
    "ADD_BROKER": Wording("Add a broker", "The cluster's own capacity ends."),
    "CHECK_PRODUCER_KEYS": Wording("Look at the keys that producers of {topic} send by", "They choose the queue."),
    "INVESTIGATE": Wording("Look into {subject}", "The facts say that something is wrong, but not what mends it."),
}

STATUS_WORDS: Final[dict[str, Wording]] = {
    UNDER: Wording("Too few consumers", "More arrives than the consumers can handle with room to spare."),
    RIGHT: Wording("Right", "The consumers fit what arrives."),
    OVER: Wording("More than needed", "Fewer consumers would do, with room to spare."),
    UNDECIDED: Wording("Undecided", "The facts do not suffice for a verdict."),
}
"""Worst first."""

PROTOCOL_WORDS: Final = {"GRPC": "gRPC", "MIXED": "gRPC and remoting"}
"""Kinds of clients, where they are not the usual ones."""
SOURCE_WORDS: Final = {
    "reported": "as its clients report it",
    "observed": "as their ownership shows",
    "policy": "by the policy's entry for the group",
    "default": "assumed: the policy's default",
}
