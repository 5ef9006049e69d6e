"""What differs between the versions of the Java producer: back-off, retries, and what is done with a chosen queue."""

from dataclasses import dataclass
from typing import Final

SEND_TIMEOUT_MS: Final = 3_000
"""DefaultMQProducer.sendMsgTimeout: all tries of a message together."""
RETRIES: Final = 2
"""DefaultMQProducer.retryTimesWhenSendFailed: how often a synchronous message is tried again."""


@dataclass(frozen=True, slots=True)
class Generation:
    """Java clients whose latency fault tolerance is the same.

    Attributes:
        name: which versions these are.
        table: (latency from which on, how long the broker is avoided) in ms, ascending.
        error_ms: the latency that an error counts as.
        displaces: the choice writes into the queue that all threads share, which displaces it for ever (#7779).
        has_filters: it filters queues by what is available and reachable, and can detect what is reachable again.
    """

    name: str
    table: tuple[tuple[int, int], ...]
    error_ms: int
    displaces: bool = False
    has_filters: bool = False

    def back_off_ms(self, latency_ms: float, *, has_failed: bool = False) -> int:
        """How long a broker is avoided after a message that took so long, or failed, where the tolerance is on."""
        taken = self.error_ms if has_failed else latency_ms
        return next((back_off for least, back_off in reversed(self.table) if taken >= least), 0)


OLD_TABLE: Final = (
    (50, 0),
    (100, 0),
    (550, 30_000),
    (1_000, 60_000),
    (2_000, 120_000),
    (3_000, 180_000),
    (15_000, 600_000),
)
NEW_TABLE: Final = (
    (50, 0),
    (100, 0),
    (550, 2_000),
    (1_800, 5_000),
    (3_000, 6_000),
    (5_000, 10_000),
    (15_000, 30_000),
)
"""MQFaultStrategy's latencyMax and notAvailableDuration."""
GENERATIONS: Final = (
    Generation("up to 4.9.7, 5.0.0 to 5.1.3", OLD_TABLE, error_ms=30_000, displaces=True),
    Generation("4.9.8", OLD_TABLE, error_ms=30_000),
    Generation("from 5.1.4 on", NEW_TABLE, error_ms=10_000, has_filters=True),
)
"""MQFaultStrategy at rocketmq-all-4.9.7, 4.9.8, 5.1.4 and 5.3.3."""

_ALWAYS_RETRIED: Final = frozenset({1, 14, 16, 17, 204, 205})
"""SYSTEM_ERROR, SERVICE_NOT_AVAILABLE, NO_PERMISSION, TOPIC_NOT_EXIST, NO_BUYER_ID, NOT_IN_CURRENT_UNIT."""
SYSTEM_BUSY: Final = 2
GO_AWAY: Final = 1_500


@dataclass(frozen=True, slots=True)
class Release:
    """What decides how the Java producer of one version sends.

    Attributes:
        generation: its latency fault tolerance.
        avoids_last_broker: with the tolerance on, a retry avoids the broker that failed; always so where it is off,
            and where the generation has filters.
        takes_absolute: an index that runs over counts by its absolute value; else choosing fails and starts again.
        knows_perm: a broker that is picked for want of a better one has to be writable.
        needs_reach: a broker has to be reachable to be available (#7812); with filters alone.
        retried_codes: the refusals of a broker after which a message is tried again. Errors of the network always are.
    """

    generation: Generation
    avoids_last_broker: bool
    takes_absolute: bool
    knows_perm: bool
    needs_reach: bool
    retried_codes: frozenset[int]


def release_of(version: str | None) -> Release | None:
    """The release of a Java client by what it calls its version, such as V4_9_8; None where that is not a release.

    Source: MQVersion, whose names are V4_9_8, V5_1_4, and some with -SNAPSHOT or -BETA after them; MQFaultStrategy,
    TopicPublishInfo and DefaultMQProducer at every tag from rocketmq-all-4.1.0-incubating to rocketmq-all-5.3.3.
    """
    parts = (version or "").removeprefix("V").split("_")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    number = tuple(map(int, parts))
    old, fixed, new = GENERATIONS
    is_fixed = (4, 9, 8) <= number < (5, 0, 0)
    later_codes = {code for code, since in ((SYSTEM_BUSY, (5, 3, 0)), (GO_AWAY, (5, 3, 1))) if number >= since}
    return Release(
        generation=new if number >= (5, 1, 4) else fixed if is_fixed else old,
        avoids_last_broker=number >= (5, 1, 1),
        takes_absolute=number < (5, 1, 0),
        knows_perm=is_fixed,
        needs_reach=number == (5, 1, 4),
        retried_codes=_ALWAYS_RETRIED | later_codes,
    )


def generation_of(version: str | None) -> Generation | None:
    """The generation of a Java client; None where its version is not a release."""
    release = release_of(version)
    return None if release is None else release.generation
