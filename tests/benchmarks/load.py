"""What a snapshot asks of each broker and each Proxy of a cluster with many clients.

The clients are as cheap as a client can be: a connection to every broker with a heartbeat on it, and an answer when a
broker passes on the question about the client (307). The brokers, the Proxy and the name server are real.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

from rocketmq_capacity.client.connection import Connection
from rocketmq_capacity.protocol.codes import Flag, RequestCode
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.frame import FrameDecoder, encode_frame
from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.collect import CollectOptions, collect
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.cluster.proxies import Proxies
from tests.cluster.rocketmq import Cluster

CLIENTS: Final = 1_000
CLIENTS_PER_GROUP: Final = 20
QUEUES_PER_BROKER: Final = 8

HEART_BEAT: Final = 34
UPDATE_CONSUMER_OFFSET: Final = 25
HEARTBEAT_S: Final = 30.0
ANSWERS_AFTER_S: Final = 0.02
"""A Java client takes about as long to tell what it does."""
OPEN_AT_A_TIME: Final = 50
"""Clients that connect side by side; so many more would wait in the brokers' backlog."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one broker, Proxy or name server was asked: questions in all, and in the busiest second."""

    who: str
    questions: int
    most_in_a_second: int
    most_running_info: int
    """The most questions to clients (307) that were under way through it at a time."""


@dataclass(frozen=True, slots=True)
class Load:
    """One snapshot: how long it took, and what it asked of whom."""

    seconds: float
    clients: int
    groups: int
    asked: tuple[Asked, ...]


def measure_load(clients: int = CLIENTS) -> Load:
    """Start three brokers, a Proxy and so many clients, and take one snapshot as the policy's defaults say."""
    with Cluster(pop=True) as cluster, Proxies(cluster.nameserver, cluster.cluster_name) as proxies:
        brokers = [name for name, _ in cluster.broker_addrs]
        for group in range(_groups(clients)):
            cluster.create_topic(_topic(group), dict.fromkeys(brokers, QUEUES_PER_BROKER))
        return asyncio.run(_measure(cluster, proxies.places[0].remoting_addr, clients))


def _groups(clients: int) -> int:
    return -(-clients // CLIENTS_PER_GROUP)


def _topic(group: int) -> str:
    return f"topic-{group:03}"


async def _measure(cluster: Cluster, proxy: str, clients: int) -> Load:
    names = {address: f"{name} ({address})" for (name, _), address in cluster.broker_addrs.items()}
    names |= {proxy: f"the Proxy ({proxy})", cluster.nameserver: f"the name server ({cluster.nameserver})"}
    under_way = UnderWay()
    addresses = [address for address in names if address not in (proxy, cluster.nameserver)]
    held: list[asyncio.Task[None]] = []
    turn = asyncio.Semaphore(OPEN_AT_A_TIME)

    async def hold(number: int) -> None:
        async with turn:
            held.extend([await CheapClient(number, address, under_way).start() for address in addresses])

    await asyncio.gather(*(hold(number) for number in range(clients)))
    snapshot = Policy().snapshot
    options = CollectOptions(
        sample_count=snapshot.sample_count,
        sample_interval_s=snapshot.sample_interval_s,
        proxies=[parse_address(proxy)],
    )
    try:
        with questions() as asked:
            start = time.perf_counter()
            inventory = await collect([cluster.nameserver], options=options)
            seconds = time.perf_counter() - start
    finally:
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)
    _check(inventory, clients)
    return Load(
        seconds,
        clients,
        _groups(clients),
        tuple(
            Asked(names[who], sum(each.values()), max(each.values()), under_way.most[who])
            for who, each in sorted(asked.items(), key=lambda one: names[one[0]])
        ),
    )


def _check(inventory: Inventory, clients: int) -> None:
    """A snapshot that lacks something has asked for less. Errors: SystemExit."""
    told = [one for group in inventory.consumer_groups for one in group.clients or () if one.consume_threads]
    if inventory.failures or len(told) != clients:
        raise SystemExit(f"the snapshot is not whole: {len(told)} of {clients} clients, {inventory.failures}")


@contextmanager
def questions() -> Iterator[dict[str, Counter[int]]]:
    """Counts the questions of this process by address and by the second in which the answer came."""
    asked: dict[str, Counter[int]] = {}
    ask = Connection.ask

    def counted(
        self: Connection, code: RequestCode, fields: Mapping[str, str], *, limit_s: float
    ) -> asyncio.Future[Command]:
        answer = ask(self, code, fields, limit_s=limit_s)
        each = asked.setdefault(str(self.address), Counter())
        answer.add_done_callback(lambda _: each.update([int(time.monotonic())]))
        return answer

    with patch.object(Connection, "ask", counted):
        yield asked


class UnderWay:
    """How many questions to clients are under way through each broker, and the most at a time."""

    def __init__(self) -> None:
        """None yet."""
        self._now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    def begin(self, address: str) -> None:
        """One more."""
        self._now[address] += 1
        self.most[address] = max(self.most[address], self._now[address])

    def end(self, address: str) -> None:
        """One less."""
        self._now[address] -= 1


class CheapClient:
    """One consumer's connection to one broker."""

    def __init__(self, number: int, address: str, under_way: UnderWay) -> None:
        """Say who it is; nothing is sent before ``start``."""
        self._number, self._address, self._under_way = number, address, under_way
        self._group = number // CLIENTS_PER_GROUP
        self._opaque = 0

    async def start(self) -> asyncio.Task[None]:
        """Connect, and commit an offset for every queue; the task that answers until it is cancelled."""
        host, _, port = self._address.rpartition(":")
        self._reader, self._writer = await asyncio.open_connection(host, int(port))
        self._beat()
        if self._number % CLIENTS_PER_GROUP == 0:
            for queue in range(QUEUES_PER_BROKER):
                names = {"consumerGroup": f"group-{self._group:03}", "topic": _topic(self._group)}
                self._send(UPDATE_CONSUMER_OFFSET, {**names, "queueId": str(queue), "commitOffset": "0"})
        return asyncio.create_task(self._live())

    async def _live(self) -> None:
        beating, decoder = asyncio.create_task(self._beat_on()), FrameDecoder()
        answering: set[asyncio.Task[None]] = set()
        try:
            while data := await self._reader.read(65_536):
                for command in decoder.feed(data):
                    if not command.is_response and command.code == RequestCode.GET_CONSUMER_RUNNING_INFO:
                        task = asyncio.create_task(self._answer(command))
                        answering.add(task)
                        task.add_done_callback(answering.discard)
        finally:
            beating.cancel()
            self._writer.close()

    async def _answer(self, request: Command) -> None:
        self._under_way.begin(self._address)
        await asyncio.sleep(ANSWERS_AFTER_S)
        self._under_way.end(self._address)
        body = json.dumps(_RUNNING_INFO).encode()
        self._writer.write(encode_frame(Command(0, request.opaque, flag=int(Flag.RESPONSE), body=body)))

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            self._beat()

    def _beat(self) -> None:
        subscription = {"topic": _topic(self._group), "subString": "*", "expressionType": "TAG", "subVersion": 1}
        group = {
            "groupName": f"group-{self._group:03}",
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "subscriptionDataSet": [subscription],
        }
        told = {"clientID": f"10.0.0.1@{self._number}", "consumerDataSet": [group], "producerDataSet": []}
        self._send(HEART_BEAT, {}, json.dumps(told).encode())

    def _send(self, code: int, fields: Mapping[str, str], body: bytes = b"") -> None:
        self._opaque += 1
        self._writer.write(encode_frame(Command(code, self._opaque, ext_fields=fields, body=body, language="JAVA")))


_RUNNING_INFO: Final[Mapping[str, Any]] = {
    "properties": {"PROP_THREADPOOL_CORE_SIZE": "20", "PROP_CONSUMER_START_TIMESTAMP": "1763600000000"},
    "subscriptionSet": [],
    "mqTable": {},
    "statusTable": {},
}
