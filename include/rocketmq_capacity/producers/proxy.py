"""The Proxy: which queue it chooses for a message that came over gRPC.

The Proxy tries a message once. The gRPC client may try it again, with any Proxy. All clients of a Proxy share one index
of a topic's queues.
Source: MessageQueueSelector, ProducerProcessor.sendMessage and SendMessageActivity, rocketmq-all-5.3.3; the first is
the same at rocketmq-all-5.1.4.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from rocketmq_capacity.producers.faults import DetectedFaults
from rocketmq_capacity.producers.generation import GENERATIONS
from rocketmq_capacity.producers.java_numbers import as_int
from rocketmq_capacity.producers.producer import SendAnswer, SendOutcome, SentMessage
from rocketmq_capacity.producers.route import WritePlace, WriteQueue
from rocketmq_capacity.producers.turn import CountedQueues, Turn, turn_of
from rocketmq_capacity.settings.producers import SEND_TIMEOUT_MS

_NEWEST: Final = GENERATIONS[-1]
_LARGEST: Final = (1 << 31) - 1


class ProxyChoice(CountedQueues):
    """The choice of one Proxy for one topic."""

    def __init__(
        self, route: Iterable[WritePlace], *, start: int, tolerates: bool = False, timeout_ms: int = SEND_TIMEOUT_MS
    ) -> None:
        """Begin before the first message.

        Args:
            route: the topic on each broker.
            start: where the index of queues starts; random in the Proxy, and below 0 in half of all cases.
            tolerates: its ``sendLatencyEnable``.
            timeout_ms: the limit for a message.
        """
        self._take(route)
        self._index = start
        self._tolerates = tolerates
        self._timeout_ms = timeout_ms
        self._faults = DetectedFaults()

    def send(self, now_ms: int, network: Callable[[str], SendAnswer]) -> SentMessage:
        """Send one message without a message group; ``network`` gives the answer of a broker now."""
        queue = self._choose(now_ms)
        if queue is None:
            return SentMessage((), False, now_ms)
        answer = network(queue.broker_name)
        taken = min(answer.latency_ms, self._timeout_ms + 1)
        is_stored = answer.outcome is SendOutcome.STORED and answer.latency_ms <= self._timeout_ms
        now_ms += taken
        if self._tolerates:
            avoided = _NEWEST.back_off_ms(taken, has_failed=not is_stored)
            self._faults.update(queue.broker_name, now_ms, taken, avoided, is_reachable=is_stored)
        return SentMessage((queue,), is_stored, now_ms)

    def is_calm(self, answer: SendAnswer) -> bool:
        """See :meth:`ProducerThread.is_calm`."""
        is_stored = answer.outcome is SendOutcome.STORED and answer.latency_ms <= self._timeout_ms
        return is_stored and not (self._tolerates and _NEWEST.back_off_ms(answer.latency_ms))

    def turn(self, now_ms: int) -> Turn | None:
        """See :meth:`ProducerThread.turn`; None also while the index is below 0, where it counts backwards."""
        before = int(self._tolerates)
        looked_at, size = self._index + before, len(self._queues)
        if looked_at < 0 or not size:
            return None
        avoided, until_ms = self._faults.avoided(now_ms) if self._tolerates else ([], None)
        usable = self.listed.usable(avoided + self.unreachable if self._tolerates else ())
        steps_left = _LARGEST - looked_at
        return turn_of(
            usable, size, looked_at % size, steps_before=1, skips=True, until_ms=until_ms, steps_left=steps_left
        )

    def take(self, turn: Turn, count: int, ended: Mapping[str, tuple[int, int]]) -> None:
        """See :meth:`ProducerThread.take`."""
        self._index += turn.steps(count)
        if self._tolerates:
            for name, (taken_ms, ended_at_ms) in ended.items():
                self._faults.update(name, ended_at_ms, taken_ms, 0)

    @property
    def unreachable(self) -> list[str]:
        """See :meth:`ProducerThread.unreachable`."""
        return self._faults.unreachable

    def learn(self, route: Iterable[WritePlace], start: int) -> None:
        """Take another route: a new list, counted through from a new start. What it remembers of brokers stays.

        Source: TopicRouteService, which makes a new MessageQueueView of each route.
        """
        self._take(route)
        self._index = start

    def detect(self, now_ms: int, answers: Callable[[str], bool | None]) -> None:
        """One round of the detector; see :meth:`DetectedFaults.detect`."""
        self._faults.detect(now_ms, answers)

    def _choose(self, now_ms: int) -> WriteQueue | None:
        """MessageQueueSelector.selectOneByPipeline."""

        def is_available(queue: WriteQueue) -> bool:
            return self._faults.is_available(queue.broker_name, now_ms)

        def is_reachable(queue: WriteQueue) -> bool:
            return self._faults.is_reachable(queue.broker_name)

        pipeline = (lambda queue: is_available(queue) and is_reachable(queue), is_available, is_reachable)
        for fits in pipeline if self._tolerates else ():
            for _ in self._queues:
                self._index = as_int(self._index + 1)
                queue = self._queues[abs(self._index) % len(self._queues)]
                if fits(queue):
                    return queue
        index, self._index = self._index, as_int(self._index + 1)
        return self._queues[index % len(self._queues)] if self._queues else None
