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
    Term("topic", "Topic", "A named stream of messages. It is made of queues on one or more brokers."),
    Term(
        "queue",
        "Queue",
        "A part of a topic. In a group one client reads it at a time, unless the group reads by POP.",
    ),
    Term("group", "Consumer group", "Consumers that share the work. Each message of a topic goes to one of them."),
    Term(
        "client",
        "Consumer, client",
        "One running program that reads for a group. RocketMQ knows it by its client id.",
    ),
    Term(
        "broadcasting",
        "Clustering, broadcasting",
        "In clustering the clients of a group share the messages. In broadcasting each client gets all of them.",
    ),
    Term(
        "strategy",
        "Strategy",
        "How the clients of a group divide the queues. AVG is RocketMQ's default.",
    ),
    Term(
        "pop",
        "Pull, POP",
        "Under pull each queue has one owner. Under POP the broker hands out messages, and clients share queues.",
    ),
    Term(
        "cause",
        "Cause",
        "What one action mends: findings that come of one another, with the recommendations that answer them.",
    ),
    Term("idle", "Idle client", "A client that owns no queue of any business topic of its group."),
    Term("orphan", "Orphan queue", "A readable queue that no client of the group owns."),
    Term(
        "doubly-owned",
        "Doubly owned queue",
        "A queue that more than one consumer of the group reads, so its messages are handled twice.",
    ),
    Term(
        "lag",
        "Lag",
        "Messages that are written and not yet read by the group. Unknown if its offset is beyond the broker's.",
    ),
    Term("load", "Load", "What a client carries: its queues, the messages a second that come from them, or their lag."),
    Term(
        "peak",
        "PEAK",
        "The busiest client's load ÷ the mean load. 1 is even. At 2 the group can use half of its capacity.",
    ),
    Term(
        "floor",
        "FLOOR",
        "The lowest PEAK that whole queues allow: 8 queues over 3 clients cannot be more even than 3 : 3 : 2. POP has "
        "no FLOOR, because its clients share queues.",
    ),
    Term(
        "excess",
        "EXCESS",
        "PEAK ÷ FLOOR: the part of the unevenness that another division could mend. At 1 there is nothing to mend.",
    ),
    Term(
        "utilisation",
        "Utilisation",
        "The share of time in which the busiest client is busy, by its messages, response time and threads.",
    ),
    Term(
        "completeness",
        "Completeness",
        "The share of readable queues of business topics whose broker answered every request of the snapshot.",
    ),
    Term(
        "undecided",
        "Undecided",
        "No verdict, because facts are missing: too few queues answered, or response times are unknown.",
    ),
    Term(
        "manual",
        "Manual",
        "A recommendation that a person must complete. None of its commands may be run unchanged.",
    ),
)
"""Each term once; the page links to it at its first use."""
