"""A producer's memory of slow and failing brokers, used if its latency fault tolerance is on.

Times are ms since any moment; durations are ms. Source: LatencyFaultToleranceImpl, rocketmq-all-4.9.7 and 5.3.3.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final

from rocketmq_capacity.producers.java_numbers import hash_of

DETECT_INTERVAL_MS: Final = 2_000
"""ClientConfig.detectInterval: the least time between two detections of the same broker."""
_TABLE_SIZE: Final = 32
_INDEX_MASK: Final = 0x7FFFFFFF


@dataclass(slots=True)
class BrokerFault:
    """A broker that got at least one message.

    Attributes:
        added: number in the order in which brokers got their first message.
        latency_ms: how long its last message took.
        available_from_ms: the end of its back-off.
        next_check_ms: when the detector may ask it again.
        is_reachable: whether it could be reached at its last message or detection.
    """

    added: int
    latency_ms: int = 0
    available_from_ms: int = 0
    next_check_ms: int = 0
    is_reachable: bool = False


class Index:
    """ThreadLocalIndex of one thread: counts up from a start, and shows the lower 31 bits."""

    def __init__(self, start: int, resets: Iterable[int] = ()) -> None:
        """Start at ``start``, which is random in the client; ``resets`` are the starts after it."""
        self._value = start
        self._resets = iter(resets)

    def next(self) -> int:
        """Count up by one, and give the lower 31 bits."""
        self._value += 1
        return self._value & _INDEX_MASK

    def advance(self, steps: int) -> None:
        """Count up by so many steps."""
        self._value += steps

    @property
    def now(self) -> int:
        """The number of the last step."""
        return self._value & _INDEX_MASK

    @property
    def steps_left(self) -> int:
        """How many steps there are until the number begins at 0 again."""
        return _INDEX_MASK - self.now

    def reset(self) -> None:
        """Start again from the next of the ``resets``."""
        self._value = next(self._resets)


class Faults:
    """All brokers that got a message. Up to 5.1.3 only a broker's last message counts."""

    def __init__(self, worst: Index) -> None:
        """Begin without brokers; ``worst`` is the index by which one of the bad brokers is picked."""
        self._faults: dict[str, BrokerFault] = {}
        self._worst = worst
        self._added = count()

    def update(self, broker_name: str, now_ms: int, latency_ms: int, avoided_ms: int) -> None:
        """Note how long a message to the broker took, and for how long the broker is avoided because of it."""
        fault = self._fault(broker_name)
        fault.latency_ms = latency_ms
        fault.available_from_ms = now_ms + avoided_ms

    def is_available(self, broker_name: str, now_ms: int) -> bool:
        """Whether the broker may be used now; a broker that got no message may."""
        fault = self._faults.get(broker_name)
        return fault is None or now_ms >= fault.available_from_ms

    def avoided(self, now_ms: int) -> tuple[list[str], int | None]:
        """The brokers that may not be used now, and when the first of their back-offs ends; None without a back-off."""
        later = {
            name: fault.available_from_ms for name, fault in self._faults.items() if now_ms < fault.available_from_ms
        }
        return list(later), min(later.values(), default=None)

    def remove(self, broker_name: str) -> None:
        """Forget a broker."""
        del self._faults[broker_name]

    def pick_one_at_least(self, now_ms: int) -> str | None:
        """One of the better half of the brokers, sorted by availability, latency and end of the back-off.

        Equal brokers are in the order of Java's ConcurrentHashMap. This is exact for fewer than 24 brokers; with 24 the
        map grows. None if there is no broker.
        """
        order = sorted(
            self._faults,
            key=lambda name: (
                not self.is_available(name, now_ms),
                self._faults[name].latency_ms,
                self._faults[name].available_from_ms,
                slot_of(name),
                self._faults[name].added,
            ),
        )
        if not order:
            return None
        half = len(order) // 2
        return order[self._worst.next() % half if half else 0]

    def _fault(self, broker_name: str) -> BrokerFault:
        if broker_name not in self._faults:
            self._faults[broker_name] = BrokerFault(next(self._added))
        return self._faults[broker_name]


class DetectedFaults(Faults):
    """The same from 5.1.4 on: a back-off is never shortened, and a broker may also be unreachable."""

    def __init__(self, *, needs_reach: bool = False) -> None:
        """Begin without brokers; ``needs_reach``: only a reachable broker is available, as in 5.1.4 (#7812)."""
        super().__init__(Index(0))
        self._needs_reach = needs_reach

    def update(
        self, broker_name: str, now_ms: int, latency_ms: int, avoided_ms: int, *, is_reachable: bool = True
    ) -> None:
        """Note how long a message took, for how long the broker is avoided, and whether it could be reached."""
        fault = self._fault(broker_name)
        fault.latency_ms = latency_ms
        fault.is_reachable = is_reachable
        if avoided_ms > 0:
            fault.available_from_ms = max(fault.available_from_ms, now_ms + avoided_ms)

    def is_available(self, broker_name: str, now_ms: int) -> bool:
        """Whether the broker may be used now; a broker that got no message may."""
        return super().is_available(broker_name, now_ms) and (not self._needs_reach or self.is_reachable(broker_name))

    def avoided(self, now_ms: int) -> tuple[list[str], int | None]:
        """The brokers that may not be used now, and when the first of their back-offs ends; None without a back-off."""
        later, until_ms = super().avoided(now_ms)
        return (later + self.unreachable, until_ms) if self._needs_reach else (later, until_ms)

    @property
    def unreachable(self) -> list[str]:
        """The brokers that could not be reached at their last message or detection."""
        return [name for name, fault in self._faults.items() if not fault.is_reachable]

    def is_reachable(self, broker_name: str) -> bool:
        """Whether the broker could be reached at its last message or detection."""
        fault = self._faults.get(broker_name)
        return fault is None or fault.is_reachable

    def detect(self, now_ms: int, answers: Callable[[str], bool | None]) -> None:
        """One round of the detector: a broker that answers is reachable again.

        Args:
            now_ms: the time of the round.
            answers: whether a broker answers; None for a broker whose address the client no longer has.
        """
        for name, fault in list(self._faults.items()):
            if now_ms >= fault.next_check_ms:
                fault.next_check_ms = now_ms + DETECT_INTERVAL_MS
                answer = answers(name)
                if answer is None:
                    del self._faults[name]
                elif answer:
                    fault.is_reachable = True


def slot_of(name: str) -> int:
    """The slot of a key in Java's ConcurrentHashMap that was made for 16 entries."""
    spread = hash_of(name) & 0xFFFFFFFF
    return (spread ^ (spread >> 16)) % _TABLE_SIZE
