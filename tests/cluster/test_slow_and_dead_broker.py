"""Real producers while a broker is slow, well again, and then dead: each of their choices is the model's.

The producers write down what their choices depend on: random numbers, latencies, errors, routes and times, as they were
on this machine. The model is given the same, and has to choose the same queue for each try of each message. So the
comparison is exact, however slow the machine is.
"""

import contextlib
import copy
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from rocketmq_capacity.producers.generation import Release, release_of
from rocketmq_capacity.producers.producer import ProducerThread
from rocketmq_capacity.producers.route import WritePlace, WriteQueue
from rocketmq_capacity.settings.producers import RETRIES, SEND_TIMEOUT_MS
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.cluster.slow_network import ADDRESS, SlowNetwork
from tests.oracle.requirement import started_or_skipped
from tests.oracle.rocketmq_version import ROCKETMQ
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.timeout(600)]

WELL: Final = "broker-a"
SLOW: Final = "broker-b"
DEFAULT: Final = "default"
TOLERANT: Final = "tolerant"
PRODUCERS: Final = 2
"""Of each kind."""
INTERVAL_MS, POLL_MS = 50, 1_000
DELAY_S: Final = 0.8
PATIENCE_S: Final = 180.0
AT_FIRST, WHILE_SLOW, WHEN_WELL, WHEN_DEAD = 2, 2, 4, 1
"""How often every producer chooses the broker in each state."""
UNKNOWN_ADDRESS: Final = "UNKNOWN_ADDRESS"


def _release() -> Release:
    release = release_of(f"V{ROCKETMQ.replace('.', '_')}")
    assert release is not None
    return release


RELEASE: Final = _release()


class Choice(NamedTuple):
    """A choice of a queue that was made between two times; the broker of the try before, if there was one."""

    before: int
    after: int
    last_broker: str | None
    is_retry: bool
    queue: WriteQueue


class Noted(NamedTuple):
    """What a producer noted between two times about a try; the time until which it avoids the broker, or 0."""

    before: int
    after: int
    broker_name: str
    latency_ms: int
    has_failed: bool
    is_reachable: bool
    until: int


@dataclass
class Try:
    """A try of a message; without a note its time was up after the choice. The outcome is as in RecordedProducer."""

    choice: Choice
    outcome: str = UNKNOWN_ADDRESS
    noted: Noted | None = None


@dataclass
class Message:
    """A message; ``learns`` is the list of queues if it is new, with the random number where the index begins."""

    learns: tuple[list[WriteQueue], int] | None = None
    tries: list[Try] = field(default_factory=list)
    begun: int = 0
    ended: int = 0
    is_stored: bool = False


class Record(NamedTuple):
    """The messages of one producer, and the random numbers from which its index began again."""

    messages: Sequence[Message]
    resets: Sequence[int]


@dataclass(frozen=True)
class Measured:
    """What all producers did.

    Attributes:
        records: by kind, the record of each producer.
        slow: when the broker became slow, in ms of the clock.
        well: when it was well again.
        dead: when connections to it were refused. Its process was killed a little later, so that it left the route.
    """

    records: Mapping[str, Sequence[Record]]
    slow: int
    well: int
    dead: int


@pytest.fixture(scope="module")
def measured() -> Iterator[Measured]:
    brokers = [Broker(WELL), Broker(SLOW, own_process=True, config={"brokerIP1": ADDRESS})]
    cluster = started_or_skipped(Cluster(brokers).start)
    with contextlib.closing(cluster), tempfile.TemporaryDirectory() as folder:
        yield _measured(cluster, Path(folder))


def _measured(cluster: Cluster, folder: Path) -> Measured:
    """Each state lasts until every producer has met it."""
    port = int(cluster.broker_addrs[SLOW, 0].rpartition(":")[2])
    cluster.create_topic("pay", {WELL: 2, SLOW: 2})
    with SlowNetwork(port) as network, Clients(cluster.nameserver) as clients:

        def have_chosen_it(times: int, since: int) -> Callable[[], bool]:
            return lambda: clients.ask("fewest_choices", broker_name=SLOW, since=since) >= times

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
        until(have_chosen_it(AT_FIRST, 0), PATIENCE_S)
        slow, network.delay_s = _now(), DELAY_S
        until(have_chosen_it(WHILE_SLOW, slow), PATIENCE_S)
        well, network.delay_s = _now(), 0.0
        until(have_chosen_it(WHEN_WELL, well), PATIENCE_S)
        network.refuse()
        dead = _now()
        until(have_chosen_it(WHEN_DEAD, dead), PATIENCE_S)
        cluster.kill(SLOW)
        until(lambda: clients.ask("senders_that_list", broker_name=SLOW) == 0, PATIENCE_S)
        time.sleep(10 * INTERVAL_MS / 1_000)  # some more messages
        clients.stop_senders()
    records = {kind: [_record(file) for file in sorted(folder.glob(f"{kind}-*"))] for kind in (DEFAULT, TOLERANT)}
    return Measured(records, slow, well, dead)


def _now() -> int:
    return int(time.time() * 1_000)


def _record(file: Path) -> Record:
    """The lines of RecordedProducer."""
    messages, resets = [Message()], list[int]()
    for line in file.read_text("ascii").splitlines():
        what, *rest = line.split()
        message = messages[-1]
        if what == "R":
            queues = (one.rpartition(":") for one in rest[0].split(","))
            message.learns = [WriteQueue(name, int(queue_id)) for name, _, queue_id in queues], 0
            is_start = True
        elif what == "I" and is_start and message.learns:
            message.learns, is_start = (message.learns[0], int(rest[0])), False
        elif what == "I":
            resets.append(int(rest[0]))
        elif what == "C":
            last = None if rest[2] == "-" else rest[2]
            queue = WriteQueue(rest[4], int(rest[5]))
            message.tries.append(Try(Choice(int(rest[0]), int(rest[1]), last, rest[3] == "1", queue)))
        elif what == "T":
            message.tries[-1].outcome = rest[0]
        elif what == "U":
            before, after, name, *numbers = rest
            latency_ms, has_failed, is_reachable, until = map(int, numbers)
            noted = Noted(int(before), int(after), name, latency_ms, bool(has_failed), bool(is_reachable), until)
            message.tries[-1].noted = noted
        else:
            message.begun, message.ended, message.is_stored = int(rest[0]), int(rest[1]), rest[2] == "OK"
            # Without tries there was no route yet.
            messages += [Message()] if message.tries else []
    return Record(messages[:-1], resets)


class Model:
    """The model of a producer that is told what the real one measured."""

    def __init__(self, record: Record, *, tolerates: bool) -> None:
        learnt = record.messages[0].learns
        assert learnt
        queues, start = learnt
        self._producer = ProducerThread(
            RELEASE, _places(queues), start=start, resets=iter([*record.resets]), tolerates=tolerates
        )
        self._tolerates = tolerates
        self._until: dict[str, int] = {}

    def learn(self, queues: Sequence[WriteQueue], start: int) -> None:
        self._producer.learn(_places(queues), start)

    def choose(self, real: Choice) -> WriteQueue:
        """The choice of the model; a broker may have become usable between the two times."""
        ends = sorted(until for until in self._until.values() if real.before < until <= real.after)
        tried = []
        for now in (real.before, *ends):
            producer = copy.deepcopy(self._producer)
            tried.append((producer, producer.choose(now, real.last_broker, is_retry=real.is_retry)))
        self._producer, chosen = next((one for one in tried if one[1] == real.queue), tried[0])
        return chosen

    def note(self, queue: WriteQueue, outcome: str, noted: Noted) -> None:
        """Note a try, and check what the real producer made of its latency and outcome."""
        assert noted.broker_name == queue.broker_name
        has_failed = outcome not in ("OK", UNKNOWN_ADDRESS)
        assert (noted.has_failed, noted.is_reachable) == (has_failed, outcome in ("OK", UNKNOWN_ADDRESS, "NETWORK"))
        now, before = noted.before, self._until.get(queue.broker_name, 0)
        back_off = RELEASE.generation.back_off_ms(noted.latency_ms, has_failed=has_failed) if self._tolerates else 0
        if noted.until != before:
            now = noted.until - back_off
            assert noted.before <= now <= noted.after
        else:
            assert not back_off or now + back_off <= before
        self._until[queue.broker_name] = noted.until
        self._producer.note(queue, now, noted.latency_ms, has_failed=has_failed, is_reachable=noted.is_reachable)

    def avoids(self, broker_name: str, now: int) -> bool:
        return now < self._until.get(broker_name, 0)


def _places(queues: Sequence[WriteQueue]) -> list[WritePlace]:
    names = [queue.broker_name for queue in queues]
    return [WritePlace(name, names.count(name)) for name in dict.fromkeys(names)]


def replayed(record: Record, *, tolerates: bool) -> Iterator[tuple[Message, Try, WriteQueue, Model]]:
    """Each try with the choice of the model, in the state before the try is noted."""
    model = Model(record, tolerates=tolerates)
    for number, message in enumerate(record.messages):
        if message.learns and number:
            model.learn(*message.learns)
        for one in message.tries:
            yield message, one, model.choose(one.choice), model
            if one.noted:
                model.note(one.choice.queue, one.outcome, one.noted)


@pytest.mark.parametrize("kind", [DEFAULT, TOLERANT])
def test_every_choice_of_a_real_producer_is_the_models(measured: Measured, kind: str) -> None:
    for record in measured.records[kind]:
        choices = 0
        for message, one, chosen, _ in replayed(record, tolerates=kind == TOLERANT):
            choices += 1
            assert chosen == one.choice.queue, message
        assert choices >= AT_FIRST + WHILE_SLOW + WHEN_WELL + WHEN_DEAD


@pytest.mark.parametrize("kind", [DEFAULT, TOLERANT])
def test_a_message_is_tried_again_until_it_is_stored_or_its_tries_or_its_time_are_used_up(
    measured: Measured, kind: str
) -> None:
    for message in (message for record in measured.records[kind] for message in record.messages):
        outcomes = [one.outcome for one in message.tries if one.noted]
        lasts = [None, *(one.choice.queue.broker_name for one in message.tries)][: len(message.tries)]
        assert [one.choice.last_broker for one in message.tries] == lasts
        assert [one.choice.is_retry for one in message.tries] == [False, True, True][: len(message.tries)]
        assert "OK" not in outcomes[:-1]
        assert message.is_stored == (outcomes[-1:] == ["OK"])
        if not message.is_stored and len(outcomes) <= RETRIES:
            is_final = outcomes[-1:] and outcomes[-1].isdigit() and int(outcomes[-1]) not in RELEASE.retried_codes
            assert is_final or message.ended - message.begun >= SEND_TIMEOUT_MS, message


def test_tolerant_producers_avoid_the_slow_broker_and_come_back(measured: Measured) -> None:
    avoids = 0
    for record in measured.records[TOLERANT]:
        back = 0
        for _, one, chosen, model in replayed(record, tolerates=True):
            now = one.choice.before
            is_slow = measured.slow <= now < measured.well
            avoids += is_slow and model.avoids(SLOW, one.choice.after) and chosen.broker_name == WELL
            back += measured.well <= now < measured.dead and chosen.broker_name == SLOW
        assert back >= WHEN_WELL
    assert avoids > 0


def test_without_the_tolerance_the_slow_broker_keeps_its_share_of_the_messages(measured: Measured) -> None:
    for record in measured.records[DEFAULT]:
        sent = [message for message in record.messages if measured.slow <= message.begun < measured.well]
        slow = sum(message.tries[0].choice.queue.broker_name == SLOW for message in sent)
        # Each broker has two of four queues in turn. A retry, on a machine that is too busy, takes a turn of its own.
        if all(len(message.tries) == 1 for message in sent):
            assert abs(slow - (len(sent) - slow)) <= 2


def test_messages_for_a_dead_broker_go_elsewhere_until_it_leaves_the_route(measured: Measured) -> None:
    saved = 0
    for record in (record for records in measured.records.values() for record in records):
        dead = [message for message in record.messages if message.begun > measured.dead]
        tries = [one for message in dead for one in message.tries if one.choice.queue.broker_name == SLOW]
        saved += sum(message.is_stored and len(message.tries) > 1 for message in dead)

        assert all(one.outcome != "OK" for one in tries)
        learnt = [message.learns[0] for message in record.messages if message.learns]
        assert {queue.broker_name for queue in learnt[0]} == {WELL, SLOW}
        assert {queue.broker_name for queue in learnt[-1]} == {WELL}
    assert saved > 0
