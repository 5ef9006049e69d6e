"""How brokers in trouble answer producers in a scenario, for how long, and when producers learn of it."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from rocketmq_capacity.producers.ensemble import Habits
from rocketmq_capacity.producers.generation import GENERATIONS
from rocketmq_capacity.producers.producer import NEVER_MS, SendAnswer, SendOutcome
from rocketmq_capacity.producers.route import WritePlace
from rocketmq_capacity.producers.senders import Sender
from rocketmq_capacity.vocabulary import BROKER_FORGOTTEN_S, PERM_READ

KILL: Final = "KILL"
SILENT: Final = "SILENT"
NO_PERMISSION: Final = 16
"""ResponseCode.NO_PERMISSION: a read-only broker refuses only messages of topics with the order flag.

Source: AbstractSendMessageProcessor.msgCheck, rocketmq-all-5.3.3."""
LONGEST_S: Final = 600
"""At most this much of a slow time is simulated. It is the longest back-off, and a longer time repeats it."""
SETTLED_S: Final = 5
"""The simulation goes on for this long after the last producer could have come back."""


@dataclass(frozen=True, slots=True)
class Troubles:
    """What a scenario does to brokers that producers send to.

    Attributes:
        slow: by broker, how long a message takes in ms, and for how many seconds.
        lost: brokers that are gone.
        read_only: brokers that consumers may still read.
        endings: how lost brokers can end; only None if no broker is lost.
    """

    slow: Mapping[str, tuple[int, float]]
    lost: frozenset[str]
    read_only: frozenset[str]
    endings: tuple[str | None, ...]

    def on(self, names: Set[str]) -> "Troubles":
        """Those of some brokers alone."""
        slow = {name: trouble for name, trouble in self.slow.items() if name in names}
        return replace(self, slow=slow, lost=self.lost & names, read_only=self.read_only & names)

    @property
    def brokers(self) -> frozenset[str]:
        """The brokers in trouble."""
        return self.lost | self.read_only | self.slow.keys()


def trouble_ms(ending: str | None, troubles: Troubles, habits: Habits) -> int:
    """How long the trouble lasts: until brokers are fast again and all producers know the new route."""
    slowest_ms = max((slow_ms(for_s) for _, for_s in troubles.slow.values()), default=0)
    if not troubles.lost and not troubles.read_only:
        return slowest_ms
    return max(slowest_ms, known_from_ms(ending) + habits.refresh_ms)


def slow_ms(for_s: float) -> int:
    """The simulated part of a slow time of so many seconds."""
    return round(min(for_s, LONGEST_S) * 1000)


def route_after(places: Sequence[WritePlace], troubles: Troubles) -> tuple[WritePlace, ...] | None:
    """The route that name servers have afterwards; None if it does not change."""
    if (troubles.lost | troubles.read_only).isdisjoint(place.broker_name for place in places):
        return None
    return tuple(
        place._replace(perm=PERM_READ) if place.broker_name in troubles.read_only else place
        for place in places
        if place.broker_name not in troubles.lost
    )


def known_from_ms(ending: str | None) -> int:
    """When name servers know, at worst, that a broker is lost."""
    return round(BROKER_FORGOTTEN_S * 1000) if ending == SILENT else 0


def watched_ms(sender: Sender, ending: str | None, troubles: Troubles, habits: Habits) -> int:
    """How long a kind of producers is simulated: until the last thread could have come back."""
    slowest = max((latency_ms for latency_ms, _ in troubles.slow.values()), default=0)
    # If all brokers are slow or lost, the broker that is avoided longest may be one that is avoided for an error.
    fails = sender.sending.is_late(slowest) or (bool(troubles.lost) and bool(troubles.slow))
    generation = GENERATIONS[-1] if sender.release is None else sender.release.generation
    back_off = generation.back_off_ms(slowest, has_failed=fails) if sender.tolerates and troubles.slow else 0
    taken_ms = min(slowest, sender.sending.timeout_ms or 0)
    return trouble_ms(ending, troubles, habits) + taken_ms + back_off + SETTLED_S * 1000


def changes_ms(troubles: Troubles) -> tuple[int, ...]:
    """The times at which brokers begin to answer otherwise: when slow ones are fast again."""
    return tuple(sorted({slow_ms(for_s) for _, for_s in troubles.slow.values()}))


def answers(
    troubles: Troubles, ending: str | None, usual_ms: int, *, is_ordered: bool
) -> Callable[[str, int], SendAnswer]:
    """A function from a broker and a time to the broker's answer to a try."""
    usual = SendAnswer(usual_ms)
    gone = SendAnswer(usual_ms, SendOutcome.UNREACHABLE) if ending == KILL else SendAnswer(NEVER_MS, SendOutcome.SILENT)
    refuses = SendAnswer(usual_ms, NO_PERMISSION)
    slow = {name: (SendAnswer(latency_ms), slow_ms(for_s)) for name, (latency_ms, for_s) in troubles.slow.items()}

    def answer(broker_name: str, now_ms: int) -> SendAnswer:
        if broker_name in troubles.lost:
            return gone
        if is_ordered and broker_name in troubles.read_only:
            return refuses
        late, until_ms = slow.get(broker_name, (usual, 0))
        return late if now_ms < until_ms else usual

    return answer
