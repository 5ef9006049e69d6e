"""How long producers avoid a broker that was slow or did not answer, by the generation of their client."""

from dataclasses import dataclass
from typing import Final

SEND_TIMEOUT_MS: Final = 3_000
"""DefaultMQProducer.sendMsgTimeout: all tries of a message together."""


@dataclass(frozen=True, slots=True)
class Generation:
    """Java clients whose latency fault tolerance is the same.

    Attributes:
        name: which versions these are.
        table: (latency from which on, how long the broker is avoided) in ms, ascending.
        error_ms: the latency that an error counts as.
        displaces: the choice writes into the queue that all threads share, which displaces it for ever (#7779).
    """

    name: str
    table: tuple[tuple[int, int], ...]
    error_ms: int
    displaces: bool = False

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
    Generation("from 5.1.4 on", NEW_TABLE, error_ms=10_000),
)
"""MQFaultStrategy at rocketmq-all-4.9.7, 4.9.8, 5.1.4 and 5.3.3."""


def generation_of(version: str | None) -> Generation | None:
    """The generation of a Java client by what it calls its version, such as V4_9_8; None where that is not a release.

    Source: MQVersion, whose names are V4_9_8, V5_1_4, and some with -SNAPSHOT or -BETA after them.
    """
    parts = (version or "").removeprefix("V").split("_")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    number = tuple(map(int, parts))
    old, fixed, new = GENERATIONS
    if number >= (5, 1, 4):
        return new
    return fixed if (4, 9, 8) <= number < (5, 0, 0) else old
