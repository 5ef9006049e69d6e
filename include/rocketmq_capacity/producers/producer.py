"""The Java producer: which queue it chooses, and what it does if a broker is slow or fails.

It is one thread. With the same random numbers at the start, it makes the same choices as the
official class. Times are ms since any moment.
Source: DefaultMQProducerImpl.sendDefaultImpl, MQFaultStrategy and TopicPublishInfo, rocketmq-all-4.9.7, 4.9.8, 5.1.3,
5.1.4 and 5.3.3; of asynchronous and one-way messages also MQClientAPIImpl and NettyRemotingClient, 5.3.3.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

import numpy as np

from rocketmq_capacity.producers.faults import DetectedFaults, Faults, Index
from rocketmq_capacity.producers.generation import Release
from rocketmq_capacity.producers.java_numbers import absolute, as_int, remainder
from rocketmq_capacity.producers.route import WritePlace, WriteQueue
from rocketmq_capacity.producers.turn import CountedQueues, Turn, turn_of
from rocketmq_capacity.settings.producers import ASYNC, ONEWAY, RETRIES, SEND_TIMEOUT_MS, SYNC
from rocketmq_capacity.vocabulary import PERM_WRITE


class SendOutcome(Enum):
    """The end of a try that the broker does not refuse with a code."""

    STORED = "stored"
    UNREACHABLE = "an error of the network, such as a refused connection"
    SILENT = "nothing answers, ever"
    UNKNOWN_ADDRESS = "the producer has no address of the broker any more"


NEVER_MS: Final = 1 << 40
"""The latency of a broker that never answers."""


class SendAnswer(NamedTuple):
    """The answer to a try: the time that it took, and the outcome; an int is the code of a refusal."""

    latency_ms: int
    outcome: SendOutcome | int = SendOutcome.STORED


class SentMessage(NamedTuple):
    """The result of a message: the queues that were tried, whether one stored it, and when the producer knew."""

    tries: tuple[WriteQueue, ...]
    is_stored: bool
    ended_at_ms: int


class ProducerThread(CountedQueues):
    """One sending thread of a producer, for one topic."""

    def __init__(
        self,
        release: Release,
        route: Sequence[WritePlace],
        *,
        start: int,
        worst_start: int = 0,
        resets: Iterable[int] = (),
        tolerates: bool = False,
        detects: bool = False,
        mode: str = SYNC,
        retries: int = RETRIES,
        timeout_ms: int = SEND_TIMEOUT_MS,
    ) -> None:
        """Begin before the first message.

        Args:
            release: the client's version.
            route: the topic on each broker.
            start: where the index of queues starts; random in the client.
            worst_start: where the index of bad brokers starts; random in the client.
            resets: where the index of queues starts again at each retry, from 5.1.4 on; random in the client.
            tolerates: its latency fault tolerance is on (``sendLatencyFaultEnable``).
            detects: its detector of reachability is on (``startDetectorEnable``).
            mode: SYNC, ASYNC or ONEWAY.
            retries: its ``retryTimesWhenSendFailed``, or ``retryTimesWhenSendAsyncFailed``.
            timeout_ms: its ``sendMsgTimeout``, for all tries of a message.
        """
        self._release = release
        self._generation = release.generation
        self._route = route
        self._take(route)
        self._resets = iter(resets)
        self._index = Index(start, self._resets)
        self._faults: Faults = Faults(Index(worst_start))
        if self._generation.has_filters:
            self._faults = DetectedFaults(needs_reach=release.needs_reach)
        self._tolerates = tolerates
        self._detects = detects
        self._mode = mode
        self._retries = retries
        self._timeout_ms = timeout_ms

    def send(self, now_ms: int, network: Callable[[str], SendAnswer]) -> SentMessage:
        """Send one message; ``network`` gives the answer of a broker now.

        A message whose time is up is not tried again. So the message fails if a broker does not answer in time. An
        asynchronous message that a broker refuses is not tried again either, and a retry keeps the queue's id. A one-
        way message takes no time.
        """
        if self._mode == ONEWAY:
            return self._send_one_way(now_ms, network)
        begun, tries, is_async = now_ms, list[WriteQueue](), self._mode == ASYNC
        chosen: WriteQueue | None = None
        for times in range(1 + self._retries if self._queues else 0):
            left = self._timeout_ms - (now_ms - begun)
            if is_async and left <= 0:
                break
            chosen = self.choose(now_ms, chosen and chosen.broker_name, is_retry=times > 0 and self._mode == SYNC)
            if left < 0:
                break
            answer = network(chosen.broker_name)
            if answer.outcome is SendOutcome.UNKNOWN_ADDRESS:
                self.note(chosen, now_ms, 0, has_failed=not self._generation.has_filters)
                if is_async:
                    break
                continue
            tries.append(WriteQueue(chosen.broker_name, tries[0].queue_id) if tries and is_async else chosen)
            taken = answer.latency_ms if answer.latency_ms <= left else left + 1
            now_ms += taken
            if answer.latency_ms > left or answer.outcome is SendOutcome.UNREACHABLE:
                self.note(chosen, now_ms, taken, has_failed=True, is_reachable=is_async or not self._detects)
            elif answer.outcome is SendOutcome.STORED:
                self.note(chosen, now_ms, taken)
                return SentMessage(tuple(tries), True, now_ms)
            else:
                self.note(chosen, now_ms, taken, has_failed=True, is_reachable=is_async)
                if is_async or answer.outcome not in self._release.retried_codes:
                    break
        return SentMessage(tuple(tries), False, now_ms)

    def _send_one_way(self, now_ms: int, network: Callable[[str], SendAnswer]) -> SentMessage:
        """Nobody waits for the broker. So a slow one stores the message, and one that is gone is not noticed."""
        if not self._queues:
            return SentMessage((), False, now_ms)
        chosen = self.choose(now_ms, None, is_retry=False)
        outcome = network(chosen.broker_name).outcome
        self.note(chosen, now_ms, 0)
        tried = () if outcome is SendOutcome.UNKNOWN_ADDRESS else (chosen,)
        return SentMessage(tried, outcome is SendOutcome.STORED, now_ms)

    def is_calm(self, answer: SendAnswer) -> bool:
        """Whether the first try of a message that is answered so leaves everything as it is."""
        is_in_time = self._mode == ONEWAY or answer.latency_ms <= self._timeout_ms
        is_stored = answer.outcome is SendOutcome.STORED and is_in_time
        return is_stored and not (self._tolerates and self._generation.back_off_ms(answer.latency_ms))

    def turn(self, now_ms: int) -> Turn | None:
        """The queues of the next messages as long as they are calm; None if they have to be sent one by one."""
        avoided, until_ms = self._faults.avoided(now_ms) if self._tolerates else ([], None)
        size = len(self._queues)
        return turn_of(
            self.listed.usable(avoided) if size else np.zeros(0, np.int64),
            size,
            (self._index.now + 1) % max(size, 1),
            steps_before=1,
            skips=self._generation.has_filters,
            until_ms=until_ms,
            steps_left=self._index.steps_left,
        )

    def take(self, turn: Turn, count: int, ended: Mapping[str, tuple[int, int]]) -> None:
        """Have sent the first ``count`` messages of a turn.

        Args:
            turn: the turn, from the same time.
            count: the number of messages; at least 1.
            ended: by broker, how long its last message took and when it ended, in the order of their first messages.
        """
        self._index.advance(turn.steps(count))
        if self._tolerates:
            for name, (taken_ms, ended_at_ms) in ended.items():
                self._faults.update(name, ended_at_ms, taken_ms, 0)

    @property
    def unreachable(self) -> list[str]:
        """The brokers that a detector waits for."""
        return self._faults.unreachable if isinstance(self._faults, DetectedFaults) else []

    def learn(self, route: Sequence[WritePlace], start: int) -> None:
        """Take another route: a new list, counted through from a new start. What it remembers of brokers stays.

        Source: MQClientInstance.updateTopicRouteInfoFromNameServer, which makes a new TopicPublishInfo.
        """
        self._route = route
        self._take(route)
        self._index = Index(start, self._resets)

    def detect(self, now_ms: int, answers: Callable[[str], bool | None]) -> None:
        """One round of the detector, which looks every 3 s; see :meth:`DetectedFaults.detect`."""
        if isinstance(self._faults, DetectedFaults):
            self._faults.detect(now_ms, answers)

    def note(
        self, queue: WriteQueue, now_ms: int, taken_ms: int, *, has_failed: bool = False, is_reachable: bool = True
    ) -> None:
        """MQFaultStrategy.updateFaultItem."""
        if not self._tolerates:
            return
        avoided = self._generation.back_off_ms(taken_ms, has_failed=has_failed)
        if isinstance(self._faults, DetectedFaults):
            self._faults.update(queue.broker_name, now_ms, taken_ms, avoided, is_reachable=is_reachable)
        else:
            self._faults.update(queue.broker_name, now_ms, taken_ms, avoided)

    def choose(self, now_ms: int, last_broker: str | None, *, is_retry: bool) -> WriteQueue:
        """MQFaultStrategy.selectOneMessageQueue."""
        if isinstance(self._faults, DetectedFaults):
            return self._choose_by_filters(self._faults, now_ms, last_broker, is_retry=is_retry)
        if not self._tolerates:
            elsewhere = last_broker and self._first(lambda queue: queue.broker_name != last_broker)
            return elsewhere or self._next()
        index = self._index.next()
        for i in range(len(self._queues)):
            position = self._position(as_int(index + i))
            if position is None:
                return self._next()
            queue = self._queues[position]
            is_last = self._release.avoids_last_broker and queue.broker_name == last_broker
            if not is_last and self._faults.is_available(queue.broker_name, now_ms):
                return queue
        return self._choose_among_bad(now_ms)

    def _choose_by_filters(
        self, faults: DetectedFaults, now_ms: int, last_broker: str | None, *, is_retry: bool
    ) -> WriteQueue:
        def is_elsewhere(queue: WriteQueue) -> bool:
            return last_broker is None or queue.broker_name != last_broker

        def is_available(queue: WriteQueue) -> bool:
            return is_elsewhere(queue) and faults.is_available(queue.broker_name, now_ms)

        def is_reachable(queue: WriteQueue) -> bool:
            return is_elsewhere(queue) and faults.is_reachable(queue.broker_name)

        if not self._tolerates:
            return self._first(is_elsewhere) or self._next()
        if is_retry:
            self._index.reset()
        return self._first(is_available) or self._first(is_reachable) or self._next()

    def _choose_among_bad(self, now_ms: int) -> WriteQueue:
        """All brokers are avoided: choose one of the better half. Up to 5.1.3 this overwrites a queue (#7779)."""
        picked = self._faults.pick_one_at_least(now_ms)
        number = next((place.write_queue_nums for place in self._route if self._may_pick(place, picked)), -1)
        if picked is None or number <= 0:
            if picked is not None:
                self._faults.remove(picked)
            return self._next()
        position = self._index.next() % len(self._queues)
        queue = WriteQueue(picked, self._index.next() % number)
        if self._generation.displaces:
            self._queues[position] = queue
            self._listed = None
        return queue

    def _may_pick(self, place: WritePlace, broker_name: str | None) -> bool:
        return place.broker_name == broker_name and (not self._release.knows_perm or bool(place.perm & PERM_WRITE))

    def _first(self, fits: Callable[[WriteQueue], bool]) -> WriteQueue | None:
        """The first fitting queue of one round through all queues, from the current index on; None if none fits."""
        turn: Iterator[WriteQueue] = (self._next() for _ in self._queues)
        return next(filter(fits, turn), None)

    def _next(self) -> WriteQueue:
        return self._queues[self._index.next() % len(self._queues)]

    def _position(self, index: int) -> int | None:
        """The position of an index; None if the index has overflowed, and the client throws and catches."""
        size = len(self._queues)
        if index >= 0:
            return index % size
        if self._release.takes_absolute:
            return max(remainder(absolute(index), size), 0)
        return None if index % size else 0
