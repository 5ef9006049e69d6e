"""Many sending threads of one kind, watched while brokers are slow, gone or read-only.

Each thread is the model that equals the official classes. They differ in what is random in the client: where they begin
to count, and when they ask for the route. These are spread evenly, so that a mean over the threads is the expected
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
"""Threads of an ensemble at least: their route comes at so many different moments."""
MOST: Final = 32
"""Threads at most: above, they begin at every second queue, every third one, and so on."""
_INDICES: Final = 1 << 31
_GOLDEN: Final = 0.6180339887498949


class Sender(NamedTuple):
    """A kind of producers.

    Attributes:
        client: JAVA or PROXY.
        versions: which versions send alike.
        release: the one that stands for them; None of a Proxy.
        tolerates: its latency fault tolerance is on.
        detects: its detector of reachability is on.
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
"""Without the tolerance all versions of the Java client choose alike."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What happens to the brokers of a route.

    Attributes:
        answers: how a broker answers a try at a time.
        until_ms: how long is watched.
        route_after: the route that name servers tell from ``known_from_ms`` on; None where it stays.
        known_from_ms: when they know it.
    """

    answers: Callable[[str, int], Answer]
    until_ms: int
    route_after: tuple[Place, ...] | None = None
    known_from_ms: int = 0


@dataclass(frozen=True, slots=True)
class Habits:
    """How each thread sends.

    Attributes:
        interval_ms: from the beginning of a message to that of the next one, which waits for the one before.
        refresh_ms: how often it asks for the route.
        timeout_ms: how long a message may take.
    """

    interval_ms: int
    refresh_ms: int
    timeout_ms: int = SEND_TIMEOUT_MS


class Message(NamedTuple):
    """A message of one of the threads.

    Attributes:
        thread: which one.
        begun_ms: when it was to be sent.
        sent: what became of it.
    """

    thread: int
    begun_ms: int
    sent: Sent


@dataclass(frozen=True, slots=True)
class Watched:
    """What the threads did.

    Attributes:
        messages: all of them, thread by thread.
        threads: how many there are.
        displaced_queues: on average, how many queues of a thread's list are not those of the route any more.
        afterwards: by broker, the share of its messages when all brokers are fast: that of the lists at the end.
    """

    messages: tuple[Message, ...]
    threads: int
    displaced_queues: float
    afterwards: Mapping[str, float]


def watch(sender: Sender, route: Sequence[Place], trouble: Trouble, habits: Habits) -> Watched:
    """Let an ensemble send from the beginning of the trouble until it is watched no longer."""
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
    """The number of threads that stand for all."""
    return len(_starts(len(write_queues(route))))


def _starts(queues: int) -> list[int]:
    """At which queue each thread begins: at every queue equally often, or at queues as far apart as can be."""
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
        # The first choice comes after one step of the count; a Proxy without the tolerance takes it before the step.
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
        """How many queues of its list are not those of its route."""
        return sum(one != other for one, other in zip(self._sender.queues, write_queues(self._route), strict=True))

    def messages(self, trouble: Trouble, habits: Habits, *, first_ms: int) -> Iterator[Message]:
        """Send until it is watched no longer."""
        now, detects_at = first_ms, DETECT_ROUND_MS
        # The threads ask for the route one after the other, in an order that has nothing to do with where they begin.
        asks_at = trouble.known_from_ms + int(habits.refresh_ms * ((self._number * _GOLDEN + 0.5) % 1))
        news = trouble.route_after
        if news == () and isinstance(self._sender, Producer):
            news = None  # a client that is told that there is no such topic keeps the route that it has
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
    """How brokers answer the tries of one message, each when the one before has ended."""

    __slots__ = ("_answers", "_now_ms")

    def __init__(self, answers: Callable[[str, int], Answer], now_ms: int) -> None:
        self._answers = answers
        self._now_ms = now_ms

    def __call__(self, broker_name: str) -> Answer:
        answer = self._answers(broker_name, self._now_ms)
        self._now_ms += answer.latency_ms
        return answer
