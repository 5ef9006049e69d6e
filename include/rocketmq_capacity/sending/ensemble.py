"""A simulation of many sending threads of one kind while brokers are slow, gone or read-only.

Each thread runs the model that equals the official classes. Threads differ in what is random in the client: where they
begin to count, and when they ask for the route. Both are spread evenly, so a mean over the threads is the expected
value. Times are ms since the trouble began.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple

from rocketmq_capacity.sending.generation import GENERATIONS, SEND_TIMEOUT_MS, Release, release_of
from rocketmq_capacity.sending.producer import Answer, Outcome, Producer, Sent
from rocketmq_capacity.sending.proxy import Proxy
from rocketmq_capacity.sending.route import Place, write_queues
from rocketmq_capacity.vocabulary import JAVA

PROXY: Final = "PROXY"
DETECT_TIMEOUT_MS: Final = 200
"""ClientConfig.detectTimeout: a broker that takes longer to answer is not reachable."""
DETECT_ROUND_MS: Final = 3_000
"""LatencyFaultToleranceImpl.startDetector."""
PROXY_REFRESH_MS: Final = 20_000
"""ProxyConfig.topicRouteServiceCacheRefreshSeconds: how often a Proxy asks for the routes that it uses."""
FEWEST: Final = 16
"""An ensemble has at least this many threads. So the route arrives at this many different moments."""
MOST: Final = 32
"""An ensemble has at most this many threads. If there are more queues, threads begin at evenly spaced ones."""
_INDICES: Final = 1 << 31
_GOLDEN: Final = 0.6180339887498949


class Sender(NamedTuple):
    """A kind of producers.

    Attributes:
        client: JAVA or PROXY.
        versions: which versions send alike.
        release: the version that is simulated; None for a Proxy.
        tolerates: whether its latency fault tolerance is on.
        detects: whether its detector of reachability is on.
    """

    client: str
    versions: str
    release: Release | None
    tolerates: bool = False
    detects: bool = False


def _release(version: str) -> Release:
    release = release_of(version)
    if release is None:
        raise AssertionError(version)
    return release


_OLD, _FIXED, _NEW = (generation.name for generation in GENERATIONS)
SENDERS: Final = (
    Sender(JAVA, "all", _release("V5_3_3")),
    Sender(JAVA, _OLD, _release("V4_9_7"), tolerates=True),
    Sender(JAVA, _FIXED, _release("V4_9_8"), tolerates=True),
    Sender(JAVA, _NEW, _release("V5_3_3"), tolerates=True),
    Sender(JAVA, _NEW, _release("V5_3_3"), tolerates=True, detects=True),
    Sender(PROXY, "all", None),
    Sender(PROXY, "all", None, tolerates=True),
    Sender(PROXY, "all", None, tolerates=True, detects=True),
)
"""All kinds that are simulated. Without fault tolerance all versions of the Java client choose alike."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What happens to the brokers of a route.

    Attributes:
        answers: a function from a broker and a time to the broker's answer to a try.
        until_ms: when the simulation ends.
        route_after: the route that name servers have from ``known_from_ms`` on; None if the route does not change.
        known_from_ms: when name servers have the new route.
    """

    answers: Callable[[str, int], Answer]
    until_ms: int
    route_after: tuple[Place, ...] | None = None
    known_from_ms: int = 0


@dataclass(frozen=True, slots=True)
class Habits:
    """How each thread sends.

    Attributes:
        interval_ms: time between the beginnings of two messages; a message also waits until the one before has ended.
        refresh_ms: how often it asks for the route.
        timeout_ms: how long a message may take.
    """

    interval_ms: int
    refresh_ms: int
    timeout_ms: int = SEND_TIMEOUT_MS


class Message(NamedTuple):
    """A message of one of the threads.

    Attributes:
        thread: number of the thread.
        begun_ms: when the thread began to send it.
        sent: the result.
    """

    thread: int
    begun_ms: int
    sent: Sent


@dataclass(frozen=True, slots=True)
class Watched:
    """What the threads did.

    Attributes:
        messages: all of them, thread by thread.
        threads: the number of threads.
        displaced_queues: how many entries of a thread's list differ from the route, on average over the threads.
        afterwards: by broker, its share of the messages when all brokers are fast again, by the lists at the end.
    """

    messages: tuple[Message, ...]
    threads: int
    displaced_queues: float
    afterwards: Mapping[str, float]


def watch(sender: Sender, route: Sequence[Place], trouble: Trouble, habits: Habits) -> Watched:
    """Let an ensemble send from the beginning of the trouble until the simulation ends."""
    starts = _starts(len(write_queues(route)))
    messages: list[Message] = []
    held: dict[str, float] = {}
    displaced = 0
    for thread, start in enumerate(starts):
        one = _Thread(sender, route, habits, start, thread)
        messages += one.messages(trouble, habits, first_ms=habits.interval_ms * thread // len(starts))
        displaced += one.displaced
        names = one.listed
        for name in names:
            held[name] = held.get(name, 0.0) + 1 / len(names)
    return Watched(
        tuple(messages),
        len(starts),
        displaced / len(starts) if starts else 0.0,
        {name: held[name] / sum(held.values()) for name in sorted(held)},
    )


def size_of(route: Sequence[Place]) -> int:
    """The number of simulated threads."""
    return len(_starts(len(write_queues(route))))


def _starts(queues: int) -> list[int]:
    """The queue at which each thread begins: every queue equally often, or queues that are evenly spaced."""
    if not queues:
        return []
    if queues <= MOST:
        return [*range(queues)] * -(-FEWEST // queues)
    return [place * queues // MOST for place in range(MOST)]


class _Thread:
    """One sending thread, and the random numbers that it draws."""

    def __init__(self, sender: Sender, route: Sequence[Place], habits: Habits, start: int, number: int) -> None:
        self._dice = Random(number)  # spreads what is random in the client; no secret
        self._number = number
        self._route = route
        self._detects = sender.detects
        self._sender: Producer | Proxy
        # A client counts one step before its first choice. Only a Proxy without fault tolerance chooses first.
        if sender.release is None:
            self._sender = Proxy(
                route, start=start - sender.tolerates, tolerates=sender.tolerates, timeout_ms=habits.timeout_ms
            )
        else:
            self._sender = Producer(
                sender.release,
                route,
                start=start - 1,
                worst_start=self._dice.randrange(_INDICES),
                resets=self._drawn(),
                tolerates=sender.tolerates,
                detects=sender.detects,
                timeout_ms=habits.timeout_ms,
            )

    @property
    def listed(self) -> list[str]:
        """The broker of each queue of its list."""
        return [queue.broker_name for queue in self._sender.queues]

    @property
    def displaced(self) -> int:
        """How many entries of its list differ from its route."""
        return sum(one != other for one, other in zip(self._sender.queues, write_queues(self._route), strict=True))

    def messages(self, trouble: Trouble, habits: Habits, *, first_ms: int) -> Iterator[Message]:
        """Send until the simulation ends."""
        now, detects_at = first_ms, DETECT_ROUND_MS
        # Threads ask for the route one after the other. The order is independent of the queues where they begin.
        asks_at = trouble.known_from_ms + int(habits.refresh_ms * ((self._number * _GOLDEN + 0.5) % 1))
        news = trouble.route_after
        if news == () and isinstance(self._sender, Producer):
            news = None  # a client keeps its route if the name server says that there is no such topic
        while now < trouble.until_ms:
            if news is not None and now >= asks_at:
                self._route, news = news, None
                self._sender.learn(self._route, self._dice.randrange(_INDICES))
            while self._detects and now >= detects_at:
                self._detect(trouble, detects_at)
                detects_at += DETECT_ROUND_MS
            sent = self._sender.send(now, _Network(trouble.answers, now))
            yield Message(self._number, now, sent)
            now = max(now + habits.interval_ms, sent.ended_at_ms)

    def _detect(self, trouble: Trouble, at_ms: int) -> None:
        def answers(broker_name: str) -> bool:
            answer = trouble.answers(broker_name, at_ms)
            return answer.outcome is Outcome.STORED and answer.latency_ms <= DETECT_TIMEOUT_MS

        self._sender.detect(at_ms, answers)

    def _drawn(self) -> Iterator[int]:
        while True:
            yield self._dice.randrange(_INDICES)


class _Network:
    """How brokers answer the tries of one message; each try begins when the one before has ended."""

    __slots__ = ("_answers", "_now_ms")

    def __init__(self, answers: Callable[[str, int], Answer], now_ms: int) -> None:
        self._answers = answers
        self._now_ms = now_ms

    def __call__(self, broker_name: str) -> Answer:
        answer = self._answers(broker_name, self._now_ms)
        self._now_ms += answer.latency_ms
        return answer
