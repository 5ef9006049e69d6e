"""Differences between the versions of the Java producer: back-off, retries, and the choice among bad brokers."""

from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.protocol.version import version_of


@dataclass(frozen=True, slots=True)
class Generation:
    """Java clients with the same latency fault tolerance.

    Attributes:
        name: their versions.
        table: pairs of a least latency and the back-off from this latency on, in ms, ascending.
        error_ms: the latency as which an error counts.
        displaces: a choice among bad brokers overwrites a queue that all threads share, for ever (#7779).
        has_filters: it filters queues by availability and reachability, and can detect reachable brokers.
    """

    name: str
    table: tuple[tuple[int, int], ...]
    error_ms: int
    displaces: bool = False
    has_filters: bool = False

    def back_off_ms(self, latency_ms: float, *, has_failed: bool = False) -> int:
        """How long a broker is avoided after a message with this latency, or after a failure; the tolerance is on."""
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
    """The properties of one version of the Java producer.

    Attributes:
        generation: its latency fault tolerance.
        avoids_last_broker: with the tolerance on, a retry avoids the broker that failed. With the tolerance off, or if
            the generation has filters, it always does.
        takes_absolute: an index that overflows counts by its absolute value; else the choice fails and starts again.
        knows_perm: a bad broker is only picked if it is writable.
        needs_reach: only a reachable broker is available (#7812); only with filters.
        retried_codes: the refusals of a broker after which a message is tried again. After errors of the network it
            always is.
    """

    generation: Generation
    avoids_last_broker: bool
    takes_absolute: bool
    knows_perm: bool
    needs_reach: bool
    retried_codes: frozenset[int]


def release_of(version: str | None) -> Release | None:
    """The release of a Java client with this version, such as V4_9_8; None if that is not a release.

    Source: MQVersion, whose names are V4_9_8, V5_1_4, and some with -SNAPSHOT or -BETA after them; MQFaultStrategy,
    TopicPublishInfo and DefaultMQProducer at every tag from rocketmq-all-4.1.0-incubating to rocketmq-all-5.3.3.
    """
    number = version_of(version)
    if number is None:
        return None
    old, fixed, new = GENERATIONS
    is_fixed = (4, 9, 8) <= number < (5, 0, 0)
    before_new = fixed if is_fixed else old
    later_codes = {code for code, since in ((SYSTEM_BUSY, (5, 3, 0)), (GO_AWAY, (5, 3, 1))) if number >= since}
    return Release(
        generation=new if number >= (5, 1, 4) else before_new,
        avoids_last_broker=number >= (5, 1, 1),
        takes_absolute=number < (5, 1, 0),
        knows_perm=is_fixed,
        needs_reach=number == (5, 1, 4),
        retried_codes=_ALWAYS_RETRIED | later_codes,
    )


def generation_of(version: str | None) -> Generation | None:
    """The generation of a Java client; None if its version is not a release."""
    release = release_of(version)
    return None if release is None else release.generation
