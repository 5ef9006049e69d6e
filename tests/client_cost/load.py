"""Many connections to a broker from one thread: requests that are answered at once or held, and how many answers."""

import asyncio
import json
import re
import struct
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.frame import encode_frame

TOPIC: Final = "load"
MEMBERS: Final = 10
"""Clients of a group."""
HEART_BEAT: Final = 34
PULL_MESSAGE: Final = 11
UPDATE_CONSUMER_OFFSET: Final = 15
GET_CONSUMER_LIST_BY_GROUP: Final = 38
RESPONSE: Final = 1
SUSPEND: Final = 2
SUBSCRIPTION: Final = 4
"""Bits of sysFlag: PullSysFlag, rocketmq-all-5.3.3."""
SUSPENDED_MS: Final = 15_000
BEATS: Final = 1
PULLS: Final = 2
COMMITS: Final = 3
LOOKUPS: Final = 4
"""Numbers of the kinds of requests: each request has that of its kind, which its answer repeats."""
_LENGTH: Final = struct.Struct(">I")
_KIND: Final = re.compile(rb'"flag":(\d+).*?"opaque":(\d+)')


def group_of(client: int) -> str:
    """The group of a client."""
    return f"load-{client // MEMBERS}"


def heartbeat(client: int) -> bytes:
    """A heartbeat of a push consumer, as a Java client sends it."""
    subscription = {"topic": TOPIC, "subString": "*", "subVersion": 1, "expressionType": "TAG"}
    consumer = {
        "groupName": group_of(client),
        "consumeType": "CONSUME_PASSIVELY",
        "messageModel": "CLUSTERING",
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
        "subscriptionDataSet": [subscription],
    }
    body = {"clientID": f"client-{client}", "consumerDataSet": [consumer], "producerDataSet": []}
    return encode_frame(Command(HEART_BEAT, BEATS, language="JAVA", body=json.dumps(body).encode()))


def pull(client: int, queue_id: int, *, is_held: bool) -> bytes:
    """A pull at the end of an empty queue, which the broker answers at once or holds."""
    fields = {
        "consumerGroup": group_of(client),
        "topic": TOPIC,
        "queueId": str(queue_id),
        "queueOffset": "0",
        "maxMsgNums": "32",
        "sysFlag": str(SUBSCRIPTION | (SUSPEND if is_held else 0)),
        "commitOffset": "0",
        "suspendTimeoutMillis": str(SUSPENDED_MS),
        "subscription": "*",
        "subVersion": "1",
        "expressionType": "TAG",
    }
    return encode_frame(Command(PULL_MESSAGE, PULLS, language="JAVA", ext_fields=fields))


def commit(client: int, queue_id: int) -> bytes:
    """The commit of an offset."""
    fields = {"consumerGroup": group_of(client), "topic": TOPIC, "queueId": str(queue_id), "commitOffset": "0"}
    return encode_frame(Command(UPDATE_CONSUMER_OFFSET, COMMITS, language="JAVA", ext_fields=fields))


def lookup(client: int) -> bytes:
    """A look-up of the members of a client's group."""
    fields = {"consumerGroup": group_of(client)}
    return encode_frame(Command(GET_CONSUMER_LIST_BY_GROUP, LOOKUPS, language="JAVA", ext_fields=fields))


class Connection(asyncio.Protocol):
    """A connection that counts the answers to each kind of request, and sends one kind again at each answer.

    Attributes:
        answers: how many answers came, by the number of the kind.
        again: what is sent at the next answer of the kind of this number; None ends that.
    """

    def __init__(self) -> None:
        """Nothing is sent yet."""
        self.answers: Counter[int] = Counter()
        self.again: tuple[int, bytes] | None = None
        self.transport: asyncio.Transport | None = None
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Count whole frames, and send the next request."""
        held = self._held + data
        while len(held) >= _LENGTH.size and len(held) >= (end := _LENGTH.size + _LENGTH.unpack_from(held)[0]):
            found = _KIND.search(held, 0, end)
            held = held[end:]
            assert found is not None
            if not int(found[1]) & RESPONSE:
                continue  # the broker tells that the members of the group have changed
            kind = int(found[2])
            self.answers[kind] += 1
            if self.again is not None and self.again[0] == kind:
                self.send(self.again[1])
        self._held = held

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        assert self.transport is not None
        self.transport.write(frame)


@dataclass(frozen=True, slots=True)
class Rate:
    """How many requests were answered in so many seconds."""

    answers: int
    lasted_s: float

    @property
    def per_s(self) -> float:
        """Requests a second."""
        return self.answers / self.lasted_s


async def connected(address: str, number: int) -> list[Connection]:
    """So many connections."""
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    return [(await loop.create_connection(Connection, host, int(port)))[1] for _ in range(number)]


async def answered(connections: Sequence[Connection], kind: int, frames: Sequence[bytes], lasts_s: float) -> Rate:
    """Each connection sends its frame, and again at each answer."""
    before, begin = _answers(connections, kind), time.monotonic()
    for one, frame in zip(connections, frames, strict=True):
        one.again = kind, frame
        one.send(frame)
    await asyncio.sleep(lasts_s)
    rate = Rate(_answers(connections, kind) - before, time.monotonic() - begin)
    for one in connections:
        one.again = None
    await asyncio.sleep(1.0)
    return rate


async def beating(connections: Sequence[Connection], lasts_s: float) -> tuple[Rate, Rate]:
    """Each connection sends a heartbeat every 30 s, spread over the time; the answers to heartbeats and to pulls."""
    beats = [heartbeat(number) for number in range(len(connections))]
    before, begin, sent = [_answers(connections, kind) for kind in (BEATS, PULLS)], time.monotonic(), 0
    while (now := time.monotonic()) < begin + lasts_s:
        due = int((now - begin) * len(connections) / 30.0)
        for number in range(sent, due):
            connections[number % len(connections)].send(beats[number % len(connections)])
        sent = due
        await asyncio.sleep(0.05)
    lasted = time.monotonic() - begin
    beaten, pulled = (
        Rate(_answers(connections, kind) - number, lasted) for kind, number in zip((BEATS, PULLS), before, strict=True)
    )
    return beaten, pulled


async def hold(connections: Sequence[Connection], queues: int, within_s: float) -> None:
    """Each connection has a pull at the broker from now on, which waits and is sent again.

    They begin one after the other, as clients that were not started together: else all would come back at once.
    """
    begin, sent = time.monotonic(), 0
    while sent < len(connections):
        due = min(len(connections), int((time.monotonic() - begin) * len(connections) / within_s))
        for number in range(sent, due):
            frame = pull(number, number % queues, is_held=True)
            connections[number].again = PULLS, frame
            connections[number].send(frame)
        sent = due
        await asyncio.sleep(0.05)


def _answers(connections: Sequence[Connection], kind: int) -> int:
    return sum(one.answers[kind] for one in connections)
