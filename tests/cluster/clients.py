"""Real Java consumers and producers, in a JVM of their own."""

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from tests.cluster.jvm import ClusterError, Jvm, project_of
from tests.oracle.java_oracle import Queue
from tests.oracle.rocketmq_version import ROCKETMQ
from tests.oracle.started import Started

_JVM: Final = ("-Xms64m", "-Xmx512m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SETTLE_POLL_S: Final = 0.5
_SETTLED_S: Final = 5.0
"""Unchanged for longer than two rebalances (2 s each here)."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A topic and what of it; ``TAG`` or ``SQL92``."""

    topic: str
    expression: str = "*"
    expression_type: str = "TAG"


@dataclass(frozen=True, slots=True)
class Consumer:
    """One push consumer to start; its client id is ``client_ip@instance_name``.

    ``strategy`` is a strategy's name and ``strategy_params`` its parameters as in ``java_oracle.Case``; of CONFIG,
    ``config`` is this client's own list of (topic, broker name, queue id). ``delay_ms`` is slept for each message. The
    intervals are short, so that tests need not wait half a minute for what RocketMQ does every 30 s, nor a minute for a
    popped message whose answer came too late: it is given again after ``pop_invisible_ms``. ``record`` is a file that
    gets a line for each message: milliseconds, topic, broker, queue, offset, milliseconds when it was stored. With
    ``fails_first``, a listener that is not orderly takes a message only when it comes again.
    """

    consumer_group: str
    instance_name: str
    subscriptions: Sequence[Subscription | str]
    strategy: str = "AVG"
    strategy_params: Mapping[str, Any] | None = None
    message_model: str = "CLUSTERING"
    orderly: bool = False
    fails_first: bool = False
    pop: bool = False
    pop_invisible_ms: int = 10_000
    consume_from_where: str = "CONSUME_FROM_FIRST_OFFSET"
    delay_ms: int = 0
    consume_threads: int = 4
    consume_batch_size: int = 1
    pull_batch_size: int = 32
    pull_interval_ms: int = 0
    pull_threshold_for_queue: int = 1000
    poll_nameserver_ms: int = 2000
    heartbeat_ms: int = 2000
    persist_offset_ms: int = 1000
    client_ip: str = "127.0.0.1"
    record: str | None = None


@dataclass(frozen=True, slots=True)
class Owned:
    """What one live consumer holds in its own tables; ``pop_queues`` have id -1 where it pops a whole broker.

    ``busy_s`` is how long its listener has run for the messages ``consumed``, by its own clock.
    """

    number: int
    consumer_group: str
    client_id: str
    queues: tuple[Queue, ...]
    pop_queues: tuple[Queue, ...]
    consumed: int
    busy_s: float


Held = list[tuple[int, tuple[Queue, ...], tuple[Queue, ...]]]
"""For each consumer its number, its queues, and those that it pops."""


def _queues_of_topics(held: Held) -> Counter[str]:
    return Counter(queue.topic for _, queues, _ in held for queue in queues)


class Clients(Started):
    """A JVM with real consumers and a producer; a context manager."""

    def __init__(
        self, nameserver: str, *, processors: int | None = None, rocketmq: str = ROCKETMQ, jvm: Sequence[str] = ()
    ) -> None:
        """Say whose clients they are, of which version, and how many processors they see (all).

        Nothing runs before ``start``. ``jvm`` are further options of Java, which win over ours.
        """
        self._project = project_of(rocketmq)
        self._nameserver = nameserver
        self._options = (*_JVM, *([f"-XX:ActiveProcessorCount={processors}"] if processors else []), *jvm)
        self._folder = Path()
        self._jvm: Jvm | None = None

    def _start(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rocketmq-clients-"))
        main = "capacity.cluster.ClientsMain"
        self._jvm = Jvm(
            main, self._nameserver, folder=self._folder, name="clients", jvm=self._options, project=self._project
        )
        self._jvm.answer()

    def close(self) -> None:
        """Kill them all, as a machine that loses its power would."""
        if self._jvm is not None:
            self._jvm.close()
            self._jvm = None
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def log(self) -> str:
        """What the clients have logged."""
        return (self._folder / "clients.log").read_text(encoding="utf-8")

    def ask(self, command: str, **fields: Any) -> Any:
        """Any command of the Java side; see ClientsMain.java."""
        if self._jvm is None:
            raise ClusterError("the clients are not started")
        return self._jvm.ask(command, **fields)

    def start_consumer(self, consumer: Consumer) -> int:
        """Start a consumer, a second one of the same id too; the number under which it is known here."""
        fields = {name: getattr(consumer, name) for name in Consumer.__slots__}
        fields["strategy"] = {"strategy": consumer.strategy, **(fields.pop("strategy_params") or {})}
        fields["subscriptions"] = [_as_fields(subscription) for subscription in consumer.subscriptions]
        number: int = self.ask("start_consumer", **fields)["consumer"]
        return number

    def start_puller(self, kind: Literal["REGISTERED", "LITE", "ASSIGNED"], group: str, name: str, topic: str) -> None:
        """Start a consumer that asks for messages when it wants to; it polls once, and commits."""
        self.ask("start_puller", kind=kind, consumer_group=group, instance_name=name, topic=topic)

    def stop_pullers(self) -> None:
        """Shut all of them down."""
        self.ask("stop_pullers")

    def stop_consumer(self, number: int) -> None:
        """Shut a consumer down in good order."""
        self.ask("stop_consumer", consumer=number)

    def suspend_consumer(self, number: int) -> None:
        """Let a consumer stay a member and read no more, as its program does with ``suspend()``."""
        self.ask("suspend_consumer", consumer=number)

    def resubscribe_consumer(self, number: int, subscriptions: Sequence[Subscription | str]) -> None:
        """Let a running consumer read these topics and no others."""
        self.ask("resubscribe_consumer", consumer=number, subscriptions=[_as_fields(one) for one in subscriptions])

    def owned(self) -> list[Owned]:
        """What every live consumer holds, in the order of their start."""
        return [
            Owned(
                number=row["consumer"],
                consumer_group=row["consumer_group"],
                client_id=row["client_id"],
                queues=tuple(Queue(*queue) for queue in row["queues"]),
                pop_queues=tuple(Queue(*queue) for queue in row["pop_queues"]),
                consumed=row["consumed"],
                busy_s=row["busy_s"],
            )
            for row in self.ask("owned")
        ]

    def settled(
        self, time_limit_s: float = 300.0, *, with_queues_of: Mapping[str, int] = MappingProxyType({})
    ) -> list[Owned]:
        """What every live consumer holds, once that no longer changes and is as many queues of each of these topics.

        A client whose broker was too busy to say from where to read takes its queue 20 s later.

        Errors: ClusterError if it is not so when the time is up.
        """
        deadline = time.monotonic() + time_limit_s
        last, since = self._held(), time.monotonic()
        while time.monotonic() - since < _SETTLED_S or with_queues_of.items() - _queues_of_topics(last).items():
            if time.monotonic() > deadline:
                raise ClusterError(f"the consumers did not settle within {time_limit_s} s")
            time.sleep(_SETTLE_POLL_S)
            held = self._held()
            if held != last:
                last, since = held, time.monotonic()
        return self.owned()

    def _held(self) -> Held:
        return [(owned.number, owned.queues, owned.pop_queues) for owned in self.owned()]

    def produce(
        self,
        topic: str,
        count: int,
        *,
        weights: Mapping[tuple[str, int], float] | None = None,
        size_bytes: int = 100,
        tag: str = "",
        priority: int | None = None,
    ) -> None:
        """Send messages and wait for each to be stored; queues are drawn by weight, 1 where none is given.

        With a priority, a broker from 5.4 on puts a message into the queue of that number, or the last one.
        """
        fields = {"topic": topic, "count": count, "size_bytes": size_bytes, "tag": tag, "priority": priority}
        self.ask("produce", weights=_as_rows(weights), **fields)

    def start_load(
        self,
        topic: str,
        msgs_per_s: float,
        *,
        weights: Mapping[tuple[str, int], float] | None = None,
        size_bytes: int = 100,
        tag: str = "",
        by_route: bool = False,
    ) -> None:
        """Send so many messages a second, until ``stop_loads``.

        By route the producer chooses the queues, as one in the field does; else it keeps to those of the start.
        """
        fields = {"topic": topic, "msgs_per_s": msgs_per_s, "size_bytes": size_bytes, "tag": tag, "by_route": by_route}
        self.ask("start_load", weights=_as_rows(weights), **fields)

    def stop_loads(self) -> int:
        """End every load; how many messages of those by route were stored."""
        stored: int = self.ask("stop_loads")
        return stored

    def start_senders(
        self,
        name: str,
        topic: str,
        count: int,
        *,
        record: str,
        interval_ms: int,
        poll_nameserver_ms: int,
        tolerates: bool,
    ) -> None:
        """Start producers of one thread each that send one message after the other; see Senders.java.

        ``record`` begins the names of the files, one a producer. ``tolerates``: ``sendLatencyFaultEnable``.
        """
        fields = {"interval_ms": interval_ms, "poll_nameserver_ms": poll_nameserver_ms, "tolerates": tolerates}
        self.ask("start_senders", name=name, topic=topic, count=count, record=record, **fields)

    def stop_senders(self) -> None:
        """End them after the message that each of them sends."""
        self.ask("stop_senders")


def _as_fields(subscription: Subscription | str) -> dict[str, str]:
    given = Subscription(subscription) if isinstance(subscription, str) else subscription
    return {name: getattr(given, name) for name in Subscription.__slots__}


def _as_rows(weights: Mapping[tuple[str, int], float] | None) -> list[tuple[str, int, float]]:
    return [(broker_name, queue_id, weight) for (broker_name, queue_id), weight in (weights or {}).items()]
