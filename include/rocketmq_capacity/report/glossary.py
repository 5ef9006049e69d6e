"""The page's glossary: each term once, in plain words."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Term:
    """An entry of the glossary; ``slug`` is its id on the page."""

    slug: str
    name: str
    meaning: str


GLOSSARY: Final = (
    Term("broker", "Broker", "A server that stores messages."),
    Term("topic", "Topic", "A named stream of messages. It is made of queues, which stand on one or more brokers."),
    Term(
        "queue",
        "Queue",
        "A part of a topic. Within a group, one consumer reads it at a time (unless the group reads by POP).",
    ),
    Term("group", "Consumer group", "Consumers that share the work: each message of a topic goes to one of them."),
    Term(
        "client",
        "Consumer, client",
        "One running program that reads for a group. Its client id is the name RocketMQ knows it by.",
    ),
    Term(
        "broadcasting",
        "Clustering, broadcasting",
        "In clustering the consumers share the messages; in broadcasting each gets all of them.",
    ),
    Term(
        "strategy",
        "Strategy",
        "The rule by which the consumers of a group divide the queues. AVG is RocketMQ's default.",
    ),
    Term(
        "pop",
        "Pull, POP",
        "Under pull each queue has one owner. Under POP the broker hands out messages, and queues are shared.",
    ),
    Term("idle", "Idle client", "A consumer that owns no queue over all business topics of its group."),
    Term("orphan", "Orphan queue", "A readable queue that no consumer of the group owns."),
    Term(
        "doubly-owned",
        "Doubly owned queue",
        "A queue that more than one consumer of the group reads: messages are handled twice.",
    ),
    Term(
        "lag",
        "Lag",
        "Messages that are written and not yet read by the group. Unknown where its offset lies beyond the broker's.",
    ),
    Term("load", "Load", "What a client carries: its queues, the messages a second written to them, or their lag."),
    Term(
        "peak",
        "PEAK",
        "The busiest client's load ÷ the average load. 1 is perfectly even; at 2 the group can use half "
        "of its strength.",
    ),
    Term(
        "floor",
        "FLOOR",
        "The lowest PEAK that whole queues allow: 8 queues over 3 clients cannot be more even than 3 : 3 : 2. POP has "
        "none, since its clients share queues.",
    ),
    Term(
        "excess",
        "EXCESS",
        "PEAK ÷ FLOOR: how much of the unevenness could be mended by another division. 1 means nothing.",
    ),
    Term("gini", "GINI", "Unevenness over all clients, from 0 (all alike) towards 1 (one has all)."),
    Term("cv", "CV", "Coefficient of variation: the spread of the loads ÷ their average. 0 is perfectly even."),
    Term(
        "utilisation",
        "Utilisation",
        "What the busiest client must handle ÷ what it can handle, by its response time and its threads.",
    ),
    Term(
        "completeness",
        "Completeness",
        "The share of readable business queues whose broker answered every request of the snapshot.",
    ),
    Term(
        "undecided",
        "Undecided",
        "Not judged, because facts are missing: too few queues answered, or response times are not known.",
    ),
    Term(
        "manual",
        "Manual",
        "A recommendation whose steps a person must decide; no command of it may be run as it stands.",
    ),
)
"""Each term once; where the page uses one for the first time it links here."""
