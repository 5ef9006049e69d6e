"""A simulation of many sending threads of one kind while brokers are slow, gone or read-only.

Each thread runs the model that equals the official classes. Threads differ in what is random in the client: where they
begin to count, and when they ask for the route. Both are spread evenly, so a mean over the threads is the expected
value. Messages that change nothing follow one another in turn and are computed together; the others are sent one by
one. Times are ms since the trouble began.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple

import numpy as np

from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.producers.producer import ProducerThread, SendAnswer, SendOutcome, SentMessage
from rocketmq_capacity.producers.proxy import ProxyChoice
from rocketmq_capacity.producers.route import WritePlace, WriteQueue, write_queues
from rocketmq_capacity.producers.senders import Sender
from rocketmq_capacity.producers.turn import Listed
from rocketmq_capacity.settings.producers import ONEWAY, SEND_TIMEOUT_MS, SYNC

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


@dataclass(frozen=True, slots=True)
class RouteTrouble:
    """What happens to the brokers of a route.

    Attributes:
        answers: a function from a broker and a time to the broker's answer to a try.
        until_ms: when the simulation ends.
        changes_ms: the times from which on brokers answer otherwise, ascending.
        route_after: the route that name servers have from ``known_from_ms`` on; None if the route does not change.
        known_from_ms: when name servers have the new route.
    """

    answers: Callable[[str, int], SendAnswer]
    until_ms: int
    changes_ms: tuple[int, ...] = ()
    route_after: tuple[WritePlace, ...] | None = None
    known_from_ms: int = 0


@dataclass(frozen=True, slots=True)
class Habits:
    """How each thread sends.

    Attributes:
        interval_ms: time between the beginnings of two messages; a synchronous message also waits until the one before
            has ended.
        refresh_ms: how often it asks for the route.
    """

    interval_ms: int
    refresh_ms: int


class Messages(NamedTuple):
    """Messages of a thread in their order, one array a column, one entry a message.

    Attributes:
        begun_ms: when the thread began to send it.
        taken_ms: how long it took, all tries; 0 for a one-way message.
        last: the number of the broker of its last try; -1 for a message without a try.
        tries: how many tries it had.
        is_stored: whether a broker stored it.
    """

    begun_ms: Integers
    taken_ms: Integers
    last: Integers
    tries: Integers
    is_stored: Flags


class Tries(NamedTuple):
    """All tries of a thread in their order, one array a column, one entry a try.

    Attributes:
        begun_ms: when the thread began to send the message.
        broker: the number of the broker.
        queue_id: the id of the queue.
    """

    begun_ms: Integers
    broker: Integers
    queue_id: Integers


@dataclass(frozen=True, slots=True)
class Watched:
    """What a thread did. Brokers are numbered as in the route.

    Attributes:
        messages: what it sent.
        tries: what it tried.
        turns: how many messages were computed one by one, and how many turns of messages at once.
        displaced_queues: how many entries of its list differ from the route.
        held: for each broker, its share of the list at the end: its share of the messages when all is well again.
    """

    messages: Messages
    tries: Tries
    turns: int
    displaced_queues: int
    held: Numbers


def watch(sender: Sender, route: Sequence[WritePlace], trouble: RouteTrouble, habits: Habits) -> Iterator[Watched]:
    """Let the threads of an ensemble send from the beginning of the trouble until the simulation ends."""
    starts = _starts(len(write_queues(route)))
    brokers = _Answers(route, trouble)
    for number, start in enumerate(starts):
        thread = _Thread(sender, route, start, number, brokers)
        yield thread.watched(trouble, habits, first_ms=habits.interval_ms * number // len(starts))


def _starts(queues: int) -> list[int]:
    """The queue at which each thread begins: every queue equally often, or queues that are evenly spaced."""
    if not queues:
        return []
    if queues <= MOST:
        return [*range(queues)] * -(-FEWEST // queues)
    return [place * queues // MOST for place in range(MOST)]


class _Answers:
    """How the brokers of a route answer between two changes."""

    def __init__(self, route: Sequence[WritePlace], trouble: RouteTrouble) -> None:
        self.names = tuple(place.broker_name for place in route)
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self._trouble = trouble
        self._answers: dict[int, tuple[SendAnswer, ...]] = {}

    def answers(self, now_ms: int) -> tuple[int, tuple[SendAnswer, ...], int]:
        """The number of the period, the answer of each broker in it, and when it ends."""
        changes = self._trouble.changes_ms
        period = bisect_right(changes, now_ms)
        if period not in self._answers:
            self._answers[period] = tuple(self._trouble.answers(name, now_ms) for name in self.names)
        return period, self._answers[period], changes[period] if period < len(changes) else self._trouble.until_ms


class _Thread:
    """One sending thread, and the random numbers that it draws."""

    def __init__(self, sender: Sender, route: Sequence[WritePlace], start: int, number: int, brokers: _Answers) -> None:
        self._dice = Random(number)  # spreads what is random in the client; no secret
        self._number = number
        self._route = route
        self._detects, self._tolerates = sender.detects, sender.tolerates
        mode, retries, timeout_ms = sender.sending
        self._waits, self._is_one_way = mode == SYNC, mode == ONEWAY
        self._brokers = brokers
        self._log = _Log(brokers)
        self._calm: dict[int, tuple[Integers, Flags, bool]] = {}
        self._sender: ProducerThread | ProxyChoice
        # A client counts one step before its first choice. Only a Proxy without fault tolerance chooses first.
        if sender.release is None:
            self._sender = ProxyChoice(route, start=start - sender.tolerates, tolerates=sender.tolerates)
        else:
            self._sender = ProducerThread(
                sender.release,
                route,
                start=start - 1,
                worst_start=self._dice.randrange(_INDICES),
                resets=self._drawn(),
                tolerates=sender.tolerates,
                detects=sender.detects,
                mode=mode,
                retries=retries,
                timeout_ms=SEND_TIMEOUT_MS if timeout_ms is None else timeout_ms,
            )

    def watched(self, trouble: RouteTrouble, habits: Habits, *, first_ms: int) -> Watched:
        """Send until the simulation ends."""
        now, detects_at, turns = first_ms, DETECT_ROUND_MS, 0
        # Threads ask for the route one after the other. The order is independent of the queues where they begin.
        asks_at = trouble.known_from_ms + int(habits.refresh_ms * ((self._number * _GOLDEN + 0.5) % 1))
        news = trouble.route_after
        if news == () and isinstance(self._sender, ProducerThread):
            news = None  # a client keeps its route if the name server says that there is no such topic
        while now < trouble.until_ms:
            if news is not None and now >= asks_at:
                self._route, news = news, None
                self._sender.learn(self._route, self._dice.randrange(_INDICES))
            while self._detects and now >= detects_at:
                self._detect(trouble, detects_at)
                detects_at += DETECT_ROUND_MS
            turns += 1
            ends_ms = min(trouble.until_ms, self._detected_from(now, detects_at))
            following = self._follow(now, ends_ms if news is None else min(ends_ms, asks_at), habits)
            if following is None:
                sent = self._sender.send(now, _Network(trouble.answers, now))
                self._log.add(now, sent)
                now = max(now + habits.interval_ms, sent.ended_at_ms if self._waits else now)
            else:
                now = following
        listed = self._sender.listed
        held = np.zeros(len(self._brokers.names))
        np.add.at(held, self._log.numbers(listed), 1 / max(len(listed.number), 1))
        return Watched(*self._log.columns(), turns, self._displaced(), held)

    def _follow(self, now: int, ends_ms: int, habits: Habits) -> int | None:
        """Send messages that change nothing, until a time at the latest; when the next one begins.

        None if the next message has to be sent by itself.
        """
        period, answers, changes_at = self._brokers.answers(now)
        if period not in self._calm:
            latency = np.array([answer.latency_ms for answer in answers], np.int64)
            calm = np.array([self._sender.is_calm(answer) for answer in answers], np.bool_)
            self._calm[period] = latency, calm, bool(calm.any())
        latency_of, is_calm, can_follow = self._calm[period]
        turn = self._sender.turn(now) if can_follow else None
        if turn is None:
            return None
        listed = self._sender.listed
        numbers = self._log.numbers(listed)
        if not turn.most or not is_calm[numbers[turn.positions[0]]]:
            return None
        brokers = numbers[turn.positions]
        calm = is_calm[brokers]
        size = len(brokers)
        waits = np.maximum(latency_of[brokers] if self._waits else 0, np.full(size, habits.interval_ms))
        ends_ms = min(ends_ms, changes_at, ends_ms if turn.until_ms is None else turn.until_ms)
        if not calm.all():
            size = int(np.argmin(calm))
        elif (rounds := 1 + (ends_ms - now) // int(waits.sum())) > 1:
            waits, brokers = np.tile(waits, rounds), np.tile(brokers, rounds)
            size *= rounds
        begun = np.empty(size + 1, np.int64)
        begun[0] = now
        np.cumsum(waits[:size], out=begun[1:])
        begun[1:] += now
        count = min(int(np.searchsorted(begun[:-1], ends_ms)), turn.most)
        positions = turn.positions[:count]
        if count > len(positions):
            positions = np.resize(positions, count)
        brokers = brokers[:count]
        taken_ms = np.zeros(count, np.int64) if self._is_one_way else latency_of[brokers]
        self._log.add_turn(begun[:count], brokers, taken_ms, listed.queue_id[positions])
        used = self._ended(begun[:count], brokers, latency_of, len(turn.positions)) if self._tolerates else {}
        self._sender.take(turn, count, used)
        return int(begun[count])

    def _ended(self, begun: Integers, brokers: Integers, latency_of: Integers, size: int) -> dict[str, tuple[int, int]]:
        """By broker, how long its last message took and when it ended, in the order of their first messages."""
        first, at = np.unique(brokers[:size], return_index=True)
        last, back = np.unique(brokers[::-1][:size], return_index=True)
        ended = {
            broker: (int(latency_of[broker]), int(begun[len(begun) - 1 - place] + latency_of[broker]))
            for broker, place in zip(last.tolist(), back.tolist(), strict=True)
        }
        return {self._brokers.names[broker]: ended[broker] for broker in first[np.argsort(at)].tolist()}

    def _detected_from(self, now: int, detects_at: int) -> int:
        """The time of the detector's next round if it finds a broker that can be reached again; else a time far off."""
        if self._detects and self._sender.unreachable:
            _, answers, _ = self._brokers.answers(now)
            numbers = self._brokers.numbers
            if any(_is_detected(answers[numbers[name]]) for name in self._sender.unreachable):
                return detects_at
        return _INDICES

    def _displaced(self) -> int:
        """How many entries of its list differ from its route."""
        return sum(one != other for one, other in zip(self._sender.queues, write_queues(self._route), strict=True))

    def _detect(self, trouble: RouteTrouble, at_ms: int) -> None:
        self._sender.detect(at_ms, lambda broker_name: _is_detected(trouble.answers(broker_name, at_ms)))

    def _drawn(self) -> Iterator[int]:
        while True:
            yield self._dice.randrange(_INDICES)


def _is_detected(answer: SendAnswer) -> bool:
    return answer.outcome is SendOutcome.STORED and answer.latency_ms <= DETECT_TIMEOUT_MS


class _Log:
    """The messages and tries of a thread: some one by one, and whole turns."""

    def __init__(self, brokers: _Answers) -> None:
        self._of = brokers.numbers
        self._messages: list[tuple[int, int, int, int, bool]] = []
        self._tries: list[tuple[int, int, int]] = []
        self._parts: list[tuple[Messages, Tries]] = []
        self._listed: Listed | None = None
        self._numbers: Integers = np.zeros(0, np.int64)

    def numbers(self, listed: Listed) -> Integers:
        """The number of the broker of each queue of a list."""
        if listed is not self._listed:
            self._listed = listed
            of_names = np.array([self._of[name] for name in listed.names], np.int64)
            self._numbers = of_names[listed.number]
        return self._numbers

    def add(self, begun_ms: int, sent: SentMessage) -> None:
        """A message that was sent by itself."""
        tries: tuple[WriteQueue, ...] = sent.tries
        last = self._of[tries[-1].broker_name] if tries else -1
        self._messages.append((begun_ms, sent.ended_at_ms - begun_ms, last, len(tries), sent.is_stored))
        self._tries += [(begun_ms, self._of[queue.broker_name], queue.queue_id) for queue in tries]

    def add_turn(self, begun_ms: Integers, brokers: Integers, taken_ms: Integers, queue_id: Integers) -> None:
        """Messages that were stored at their first try."""
        self._flush()
        once = np.ones(len(begun_ms), np.int64)
        messages = Messages(begun_ms, taken_ms, brokers, once, once.astype(np.bool_))
        self._parts.append((messages, Tries(begun_ms, brokers, queue_id)))

    def columns(self) -> tuple[Messages, Tries]:
        """All of them."""
        self._flush()
        messages, tries = zip(*self._parts, strict=True) if self._parts else ((_part([], 5),), (_part([], 3),))
        return Messages(*map(np.concatenate, zip(*messages, strict=True))), Tries(
            *map(np.concatenate, zip(*tries, strict=True))
        )

    def _flush(self) -> None:
        if self._messages:
            begun_ms, taken_ms, last, tries, is_stored = _part(self._messages, 5)
            messages = Messages(begun_ms, taken_ms, last, tries, is_stored.astype(np.bool_))
            self._parts.append((messages, Tries(*_part(self._tries, 3))))
            self._messages, self._tries = [], []


def _part(rows: Sequence[tuple[int, ...]], columns: int) -> tuple[Integers, ...]:
    return tuple(np.array(rows, np.int64).reshape(len(rows), columns).T)


class _Network:
    """How brokers answer the tries of one message; each try begins when the one before has ended."""

    __slots__ = ("_answers", "_now_ms")

    def __init__(self, answers: Callable[[str, int], SendAnswer], now_ms: int) -> None:
        self._answers = answers
        self._now_ms = now_ms

    def __call__(self, broker_name: str) -> SendAnswer:
        answer = self._answers(broker_name, self._now_ms)
        self._now_ms += answer.latency_ms
        return answer
