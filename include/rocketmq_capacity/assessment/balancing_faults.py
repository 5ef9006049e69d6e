"""Versions of RocketMQ, and their known faults in how queues are shared out."""

from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.protocol.version import Version
from rocketmq_capacity.vocabulary import INFO, WARNING, Severity


@dataclass(frozen=True, slots=True)
class Range:
    """Versions with a fault, both ends included, and the first one of that line without it."""

    first: Version
    last: Version
    fixed: Version


@dataclass(frozen=True, slots=True)
class BalancingFault:
    """A fault in balancing.

    Attributes:
        issue: number of the issue of apache/rocketmq.
        pull_request: number of the pull request that mended it.
        ranges: the versions that have it.
        severity: of a finding that names it.
        what: what goes wrong, in words.
    """

    issue: int
    pull_request: int
    ranges: tuple[Range, ...]
    severity: Severity
    what: str

    def range_of(self, version: Version | None) -> Range | None:
        """The range that the version is in; None if it does not have the fault, or that is unknown."""
        return next((one for one in self.ranges if version and one.first <= version <= one.last), None)


MACHINE_ROOM_INDEX: Final = BalancingFault(
    2477,
    2478,
    (Range((4, 0, 0), (4, 7, 1), (4, 8, 0)),),
    WARNING,
    "MACHINE_ROOM takes queues by their place in the list of all rooms: some are read twice, others by nobody",
)


BARE_PROCESS_ID: Final = BalancingFault(
    2730,
    2731,
    (Range((3, 0, 0), (4, 8, 0), (4, 9, 0)),),
    WARNING,
    "the client id ends with the bare process id, which repeats in containers and among consumers of one process:"
    " consumers with one id are handed the same queues",
)


LITE_PULL_SKIPS: Final = BalancingFault(
    2732,
    2832,
    (Range((4, 6, 0), (4, 8, 0), (4, 9, 0)),),
    WARNING,
    "a LitePullConsumer that loses a queue and gets it back skips the messages of a pull that was on its way",
)


WAITS_WITH_A_LOCK: Final = BalancingFault(
    5465,
    5466,
    (Range((4, 0, 0), (4, 9, 4), (4, 9, 5)),),
    INFO,
    "a consumer in order does not know that it has locked a queue that it takes until it renews its locks: the queue is"
    " unread for up to 20 s more",
)


RENAMED_QUEUE: Final = BalancingFault(
    7779,
    7783,
    (Range((4, 0, 0), (4, 9, 7), (4, 9, 8)), Range((5, 0, 0), (5, 1, 3), (5, 1, 4))),
    INFO,
    "a producer of this version with sendLatencyFaultEnable gives a queue that it shares another broker's name for ever"
    " once a broker is slow: that broker gets too much until the producer restarts",
)


NEVER_REACHABLE: Final = BalancingFault(
    7812,
    7814,
    (Range((5, 1, 4), (5, 1, 4), (5, 2, 0)),),
    INFO,
    "a producer of this version with sendLatencyFaultEnable leaves a broker out for ever once it could not reach it",
)


OWN_PERM_LOST: Final = BalancingFault(
    7149,
    7151,
    (Range((4, 3, 0), (5, 1, 3), (5, 1, 4)),),
    INFO,
    "a broker with a permission of its own registers a topic that is created or updated with that permission in place"
    " of the topic's: queues that the topic closed are divided again",
)
