"""A real broker that is slow, well again, and then dead, under real producers: they do what is predicted.

What is exact is checked exactly, whatever the machine does meanwhile: from the measured time of every try follows which
brokers a producer avoids, and that it uses the others in turn. What hangs on time is compared with the prediction for
the latencies and intervals that were measured. It hangs on the machine: a broker that is too busy for a moment refuses
messages, and is avoided for that.

``.make/env.sh python -m tests.cluster.slow_and_dead_broker`` runs it and prints what it finds; about a minute.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from rocketmq_capacity.sending.ensemble import Habits, Sender, Trouble, Watched, watch
from rocketmq_capacity.sending.generation import Release, release_of
from rocketmq_capacity.sending.producer import Answer
from rocketmq_capacity.sending.route import Place, write_queues
from rocketmq_capacity.vocabulary import JAVA
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.cluster.slow_network import ADDRESS, SlowNetwork
from tests.oracle.rocketmq_version import ROCKETMQ

WELL: Final = "broker-a"
SLOW: Final = "broker-b"
ROUTE: Final = (Place(WELL, 2), Place(SLOW, 2))
QUEUES: Final = frozenset(write_queues(ROUTE))
DEFAULT: Final = "default"
TOLERANT: Final = "tolerant"
PRODUCERS: Final = 3
"""Of each kind."""
INTERVAL_MS, POLL_MS, TIMEOUT_MS = 100, 3_000, 3_000
DELAY_S: Final = 0.8
WARM_S, SLOW_S, AFTER_S, SILENCE_S = 3.0, 8.0, 6.0, 4.0
PATIENCE_S: Final = 120.0
CLOCK_MS: Final = 5
"""Both are whole ms, and rounded at different moments."""


def _release() -> Release:
    release = release_of(f"V{ROCKETMQ.replace('.', '_')}")
    assert release is not None
    return release


RELEASE: Final = _release()


class Try(NamedTuple):
    """A try at a broker's queue, in ms of the clock."""

    begun: int
    ended: int
    broker_name: str
    queue_id: int
    is_stored: bool


@dataclass
class Message:
    """A message with its tries, in ms of the clock."""

    begun: int = 0
    ended: int = 0
    is_stored: bool = False
    tries: list[Try] = field(default_factory=list)


@dataclass(frozen=True)
class Measured:
    """What all producers did.

    Attributes:
        messages: by kind, the messages of each producer in their order.
        slow: when the broker became slow, in ms of the clock.
        well: when it was well again.
        dead: when it was killed.
    """

    messages: Mapping[str, Sequence[Sequence[Message]]]
    slow: int
    well: int
    dead: int

    def during(self, kind: str, begin: int, end: int) -> list[list[Message]]:
        """The messages of each producer that begin in a time."""
        return [[one for one in all_ if begin <= one.begun < end] for all_ in self.messages[kind]]

    @property
    def longest_stop(self) -> int:
        """The longest time between the beginnings of two messages of a producer while no broker was slow."""
        every = [all_ for kinds in self.messages.values() for all_ in kinds]
        return max(
            after.begun - before.begun
            for all_ in every
            for before, after in pairwise(all_)
            if not self.slow <= before.begun < self.well
        )


def measured_once() -> Measured:
    """One run on a cluster of its own. Errors: OracleUnavailable, ClusterError."""
    brokers = [Broker(WELL), Broker(SLOW, own_process=True, config={"brokerIP1": ADDRESS})]
    with Cluster(brokers) as cluster, tempfile.TemporaryDirectory() as folder:
        return _measured(cluster, Path(folder))


def _measured(cluster: Cluster, folder: Path) -> Measured:
    port = int(cluster.broker_addrs[SLOW, 0].rpartition(":")[2])
    cluster.create_topic("pay", {WELL: 2, SLOW: 2})
    with SlowNetwork(port) as network, Clients(cluster.nameserver) as clients:
        for kind in (DEFAULT, TOLERANT):
            clients.start_senders(
                kind,
                "pay",
                PRODUCERS,
                record=str(folder / kind),
                interval_ms=INTERVAL_MS,
                poll_nameserver_ms=POLL_MS,
                tolerates=kind == TOLERANT,
            )
        time.sleep(WARM_S)
        slow, network.delay_s = _now(), DELAY_S
        time.sleep(SLOW_S)
        well, network.delay_s = _now(), 0.0
        time.sleep(AFTER_S)
        dead = _now()
        cluster.kill(SLOW)
        network.refuse()
        _wait_until_nobody_tries(clients, dead)
        clients.stop_senders()
    return Measured({kind: _messages(folder, kind) for kind in (DEFAULT, TOLERANT)}, slow, well, dead)


def _wait_until_nobody_tries(clients: Clients, dead: int) -> None:
    """Wait for so long without a failed try that every producer must have left the dead broker."""
    deadline = time.monotonic() + PATIENCE_S
    while _now() - max(dead, clients.ask("last_failed_try")) < SILENCE_S * 1_000:
        assert time.monotonic() < deadline, f"producers still try the dead broker after {PATIENCE_S} s"
        time.sleep(0.5)


def _now() -> int:
    return int(time.time() * 1_000)


def _messages(folder: Path, kind: str) -> list[list[Message]]:
    found = []
    for file in sorted(folder.glob(f"{kind}-*")):
        messages: dict[int, Message] = {}
        for line in file.read_text("ascii").splitlines():
            what, _, number, begun, ended, *rest = line.split()
            message = messages.setdefault(int(number), Message())
            if what == "T":
                message.tries.append(Try(int(begun), int(ended), rest[0], int(rest[1]), rest[2] == "OK"))
            else:
                message.begun, message.ended, message.is_stored = int(begun), int(ended), rest[0] == "OK"
        found.append([messages[number] for number in sorted(messages)])
    assert len(found) == PRODUCERS
    return found


@dataclass
class Avoided:
    """Until when a producer avoids each broker: surely, and possibly; what is between hangs on the last milliseconds.

    Measured is a try alone, and what is around it. The client measures something between the two.
    """

    surely: dict[str, int] = field(default_factory=dict)
    possibly: dict[str, int] = field(default_factory=dict)

    def note(self, one: Try, begun_at_least: int, ended_at_most: int) -> None:
        """A try has ended."""
        failed = not one.is_stored
        least = RELEASE.generation.back_off_ms(one.ended - one.begun - CLOCK_MS, has_failed=failed)
        most = RELEASE.generation.back_off_ms(ended_at_most - begun_at_least + CLOCK_MS, has_failed=failed)
        for until, end, back_off in ((self.surely, one.ended, least), (self.possibly, ended_at_most, most)):
            if back_off:
                until[one.broker_name] = max(until.get(one.broker_name, 0), end + back_off)

    def is_surely_avoided(self, broker_name: str, at_most: int) -> bool:
        """At a choice that was made at that time at the latest."""
        return at_most + CLOCK_MS < self.surely.get(broker_name, 0)

    def is_surely_available(self, broker_name: str, at_least: int) -> bool:
        """At a choice that was made at that time at the earliest."""
        return at_least - CLOCK_MS > self.possibly.get(broker_name, 0)


def choices(messages: Sequence[Message]) -> Iterator[tuple[Message, Try, str | None, int, Avoided]]:
    """Each try: its message, the broker of the try before, when it was chosen at the earliest, and what is avoided."""
    avoided = Avoided()
    for message in messages:
        last, earliest = None, message.begun
        for place, one in enumerate(message.tries):
            yield message, one, last, earliest, avoided
            following = message.tries[place + 1].begun if place + 1 < len(message.tries) else message.ended
            avoided.note(one, earliest, following)
            last, earliest = one.broker_name, one.ended


def a_tolerant_producer_avoids_a_broker_exactly_as_long_as_its_generation_does(measured: Measured) -> None:
    """A tolerant producer avoids a broker exactly as long as its generation does."""
    avoids = 0
    for messages in measured.messages[TOLERANT]:
        for message, one, last, earliest, avoided in choices(messages):
            other = SLOW if one.broker_name == WELL else WELL
            avoids += avoided.is_surely_avoided(SLOW, one.begun)
            if other == SLOW and message.begun >= measured.dead:
                continue  # it may have left the route
            if avoided.is_surely_avoided(one.broker_name, one.begun) and other != last:
                assert not avoided.is_surely_available(other, earliest), message
    assert avoids > 0


def producers_use_all_queues_in_turn_whenever_nothing_is_avoided(measured: Measured, kind: str) -> None:
    """Producers use all queues in turn whenever nothing is avoided."""
    turns = 0
    for messages in measured.messages[kind]:
        in_turn: list[tuple[str, int]] = []
        for message, one, _, earliest, avoided in choices(messages):
            is_free = kind == DEFAULT or all(avoided.is_surely_available(name, earliest) for name in (WELL, SLOW))
            if not is_free or len(message.tries) > 1 or message.ended >= measured.dead:
                in_turn.clear()
                continue
            in_turn.append((one.broker_name, one.queue_id))
            if len(in_turn) >= len(QUEUES):
                turns += 1
                assert set(in_turn[-len(QUEUES) :]) == QUEUES, message
    assert turns > 0


def predicted(measured: Measured, kind: str) -> list[Watched]:
    """What the model does in the slow time, for the latencies and the interval that were measured."""
    late = [
        one.ended - one.begun
        for all_ in measured.during(kind, measured.slow, measured.well)
        for message in all_
        for one in message.tries
        if one.broker_name == SLOW and one.ended - one.begun > DELAY_S * 900
    ]
    before = [all_ for all_ in measured.during(kind, measured.slow - 2_000, measured.slow) if len(all_) > 1]
    interval = median(b.begun - a.begun for all_ in before for a, b in pairwise(all_))
    usual = median(one.ended - one.begun for all_ in before for one in all_)
    slow, well = Answer(round(median(late))), Answer(round(usual))
    slow_ms = measured.well - measured.slow
    trouble = Trouble(
        lambda name, now: slow if name == SLOW and now < slow_ms else well,
        until_ms=measured.dead - measured.slow,
        changes_ms=(slow_ms,),
    )
    sender = Sender(JAVA, ROCKETMQ, RELEASE, tolerates=kind == TOLERANT)
    return [*watch(sender, ROUTE, trouble, Habits(interval_ms=max(1, round(interval)), refresh_ms=POLL_MS))]


def shares_in_slow_time(threads: Sequence[Watched], slow_ms: int) -> list[tuple[int, int]]:
    """For each thread, its messages that begin in the slow time, and how many of them are at the slow broker."""
    begun = [(one.messages.begun_ms < slow_ms, one.messages.last == 1) for one in threads]
    return [(int(is_early.sum()), int((is_early & is_slow).sum())) for is_early, is_slow in begun]


def the_slow_broker_gets_its_predicted_share_and_no_message_fails(measured: Measured, kind: str) -> None:
    """The slow broker gets its predicted share and no message fails."""
    sent = [
        (len(all_), sum(one.tries[-1].broker_name == SLOW for one in all_))
        for all_ in measured.during(kind, measured.slow, measured.well)
    ]
    expected = shares_in_slow_time(predicted(measured, kind), measured.well - measured.slow)
    share, foreseen = (sum(slow for _, slow in all_) / sum(count for count, _ in all_) for all_ in (sent, expected))

    # A turn that has begun and not ended is up to two of some twenty messages.
    assert abs(share - foreseen) <= 0.1, (share, foreseen)
    # A clock runs between two slow messages of a producer, so that there can be one more or one fewer, no matter how
    # fast the machine is.
    if kind == TOLERANT:
        assert all(slow <= max(most for _, most in expected) + 1 for _, slow in sent)
        assert all(slow >= 1 for _, slow in sent)
    assert _failed_early(measured, kind, measured.slow, measured.dead) == []


def producers_come_back_to_the_broker_when_that_is_predicted(measured: Measured, kind: str) -> None:
    """Producers come back to the broker when that is predicted."""
    well = measured.well - measured.slow
    tried = [one.tries.begun_ms[one.tries.broker == 1] - well for one in predicted(measured, kind)]
    first = [int(begun_ms[begun_ms >= 0].min()) for begun_ms in tried]
    worst = max(first) + measured.longest_stop + 1_000  # a second for what the machine does beside

    for all_ in measured.during(kind, measured.well, measured.dead):
        returns = [one.begun - measured.well for one in all_ if one.tries[0].broker_name == SLOW]
        assert returns
        assert min(returns) <= worst


def a_dead_broker_costs_tries_and_no_message_until_the_route_is_without_it(measured: Measured, kind: str) -> None:
    """A dead broker costs tries and no message until the route is without it."""
    end = max(one.begun for all_ in measured.messages[kind] for one in all_)
    sent = measured.during(kind, measured.dead, end)
    tries = [one for all_ in sent for message in all_ for one in message.tries if one.broker_name == SLOW]

    assert all(not one.is_stored for one in tries if one.begun > measured.dead)
    assert _failed_early(measured, kind, measured.dead, end) == []
    assert all(one.tries[-1].broker_name == WELL for all_ in sent for one in all_[-5:])
    # The name server sees at once that the connection is gone; each producer asks for the route every 3 s, and a
    # request may take as long. A machine that stands still makes all of it later.
    latest = 2 * POLL_MS + 3 * measured.longest_stop + 2_000
    assert max((one.begun - measured.dead for one in tries), default=0) <= latest
    if kind == DEFAULT:
        assert any(len(one.tries) > 1 for all_ in sent for one in all_)


def _failed_early(measured: Measured, kind: str, begin: int, end: int) -> list[Message]:
    """Messages that failed before the time of a message was up, which only a stopped machine uses up."""
    return [
        one
        for all_ in measured.during(kind, begin, end)
        for one in all_
        if not one.is_stored and one.ended - one.begun < TIMEOUT_MS * 0.9
    ]


def faults(measured: Measured) -> Iterator[str]:
    """What is not as it is predicted."""
    checks = [partial(a_tolerant_producer_avoids_a_broker_exactly_as_long_as_its_generation_does, measured)]
    checks += [
        partial(check, measured, kind)
        for check in (
            producers_use_all_queues_in_turn_whenever_nothing_is_avoided,
            the_slow_broker_gets_its_predicted_share_and_no_message_fails,
            producers_come_back_to_the_broker_when_that_is_predicted,
            a_dead_broker_costs_tries_and_no_message_until_the_route_is_without_it,
        )
        for kind in (DEFAULT, TOLERANT)
    ]
    for check in checks:
        try:
            check()
        except AssertionError as error:
            yield f"{check.func.__name__} {check.args[1:]}: {error}"


def figures(measured: Measured, kind: str) -> str:
    """The shares and the pause of a kind of producers, beside the predicted ones."""
    sent = [one for all_ in measured.during(kind, measured.slow, measured.well) for one in all_]
    expected = shares_in_slow_time(predicted(measured, kind), measured.well - measured.slow)
    share = sum(one.tries[-1].broker_name == SLOW for one in sent) / len(sent)
    foreseen = sum(slow for _, slow in expected) / sum(count for count, _ in expected)
    failed = sum(not one.is_stored for all_ in measured.messages[kind] for one in all_)
    return f"{kind}: share of the slow broker {share:.3f}, predicted {foreseen:.3f}; {failed} messages failed"


if __name__ == "__main__":
    found = measured_once()
    for line in (figures(found, DEFAULT), figures(found, TOLERANT), *faults(found)):
        sys.stdout.write(f"{line}\n")
