"""What a scenario makes brokers do to producers: how long, how they answer, and when producers know of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.sending.ensemble import Habits, Sender
from rocketmq_capacity.sending.generation import GENERATIONS, SEND_TIMEOUT_MS
from rocketmq_capacity.sending.producer import Answer, Outcome
from rocketmq_capacity.sending.route import Place
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import (
    LoseBroker,
    LoseMaster,
    LoseRoom,
    ReadOnlyBroker,
    Scenario,
    SlowBroker,
)
from rocketmq_capacity.vocabulary import PERM_READ

KILL: Final = "KILL"
SILENT: Final = "SILENT"
NO_PERMISSION: Final = 16
"""ResponseCode.NO_PERMISSION: a read-only broker refuses messages of topics with the order flag, and of no other topic.

Source: AbstractSendMessageProcessor.msgCheck, rocketmq-all-5.3.3."""
EXPIRED_S: Final = 120 + 5
"""When a name server has forgotten a broker that is silent: NamesrvConfig.brokerChannelExpiredTime after its last
registration, at worst in the moment before, and a scan every scanNotActiveBrokerInterval. It forgets a killed one at
once (BrokerHousekeepingService.onChannelClose), and a read-only one registers at once
(AdminBrokerProcessor.updateBrokerConfig)."""
LONGEST_S: Final = 600
"""A slow time is watched so long: the longest back-off. What follows repeats it."""
SETTLED_S: Final = 5
"""Watched after the last producer could have come back."""


@dataclass(frozen=True, slots=True)
class Troubles:
    """What a scenario does to brokers that producers send to.

    Attributes:
        slow: by broker, how long a message takes and for how many seconds.
        lost: brokers that are gone.
        read_only: brokers that are to be read alone.
        endings: how lost brokers can end; None alone where none is lost.
    """

    slow: Mapping[str, tuple[int, float]]
    lost: frozenset[str]
    read_only: frozenset[str]
    endings: tuple[str | None, ...]

    @classmethod
    def of(cls, scenario: Scenario, brokers: Iterable[str], masters: Iterable[str], policy: Policy) -> "Troubles":
        """The troubles of all changes together, which begin at the same moment.

        A lost master for which a controller elects another one is left out: nobody knows how long that takes.

        Args:
            scenario: the changes.
            brokers: the names of all brokers before them.
            masters: the names of brokers that have a master after them.
            policy: its ``rooms`` tell which brokers a lost room takes away.
        """
        slow: dict[str, tuple[int, float]] = {}
        lost, read_only, in_rooms = set[str](), set[str](), set[str]()
        elected = set(masters)
        for change in scenario.changes:
            if isinstance(change, SlowBroker):
                slow[change.broker_name] = round(change.latency_ms), change.for_s
            elif isinstance(change, LoseBroker) or (
                isinstance(change, LoseMaster) and change.broker_name not in elected
            ):
                lost.add(change.broker_name)
            elif isinstance(change, ReadOnlyBroker):
                read_only.add(change.broker_name)
            elif isinstance(change, LoseRoom) and policy.rooms is not None:
                in_rooms |= {name for name in brokers if policy.rooms.of_broker(name) == change.room}
        endings: tuple[str | None, ...] = (KILL, SILENT) if lost else (SILENT,) if in_rooms else (None,)
        return cls(slow, frozenset(lost | in_rooms), frozenset(read_only), endings)

    @property
    def brokers(self) -> frozenset[str]:
        """The brokers in trouble."""
        return self.lost | self.read_only | self.slow.keys()


def trouble_ms(ending: str | None, troubles: Troubles, habits: Habits) -> int:
    """How long brokers are slow, or producers do not all know the new route."""
    slowest_ms = max((slow_ms(for_s) for _, for_s in troubles.slow.values()), default=0)
    if not troubles.lost and not troubles.read_only:
        return slowest_ms
    return max(slowest_ms, known_from_ms(ending) + habits.refresh_ms)


def slow_ms(for_s: float) -> int:
    """How long a broker that is slow for so many seconds is watched while it is slow."""
    return round(min(for_s, LONGEST_S) * 1000)


def route_after(places: Sequence[Place], troubles: Troubles) -> tuple[Place, ...] | None:
    """The route that name servers tell afterwards; None where it stays."""
    if (troubles.lost | troubles.read_only).isdisjoint(place.broker_name for place in places):
        return None
    return tuple(
        place._replace(perm=PERM_READ) if place.broker_name in troubles.read_only else place
        for place in places
        if place.broker_name not in troubles.lost
    )


def known_from_ms(ending: str | None) -> int:
    """When name servers know that a broker is lost, at worst."""
    return EXPIRED_S * 1000 if ending == SILENT else 0


def watched_ms(sender: Sender, ending: str | None, troubles: Troubles, habits: Habits) -> int:
    """How long a kind of producers is watched: until the last one could have come back."""
    slowest = max((latency_ms for latency_ms, _ in troubles.slow.values()), default=0)
    # With every broker slow or lost, one that is avoided for an error may be the last one that comes back.
    fails = slowest >= SEND_TIMEOUT_MS or (bool(troubles.lost) and bool(troubles.slow))
    generation = GENERATIONS[-1] if sender.release is None else sender.release.generation
    back_off = generation.back_off_ms(slowest, has_failed=fails) if sender.tolerates and troubles.slow else 0
    return trouble_ms(ending, troubles, habits) + min(slowest, SEND_TIMEOUT_MS) + back_off + SETTLED_S * 1000


def answers(troubles: Troubles, ending: str | None, usual_ms: int, *, is_ordered: bool) -> Callable[[str, int], Answer]:
    """How a broker answers a try at a time."""
    usual = Answer(usual_ms)
    gone = Answer(usual_ms, Outcome.UNREACHABLE) if ending == KILL else Answer(SEND_TIMEOUT_MS + 1)
    refuses = Answer(usual_ms, NO_PERMISSION)
    slow = {name: (Answer(latency_ms), slow_ms(for_s)) for name, (latency_ms, for_s) in troubles.slow.items()}

    def answer(broker_name: str, now_ms: int) -> Answer:
        if broker_name in troubles.lost:
            return gone
        if is_ordered and broker_name in troubles.read_only:
            return refuses
        late, until_ms = slow.get(broker_name, (usual, 0))
        return late if now_ms < until_ms else usual

    return answer
