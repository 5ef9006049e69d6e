"""A network with faults between our client and a real cluster: a TCP proxy that knows where a frame begins and ends.

A name server's proxy puts the brokers' proxies into the list of brokers (106), so that clients of the name server's
proxy go through all of them. The real cluster and its other clients know nothing of it.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Final, Self

from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.frame import FrameDecoder, encode_frame
from rocketmq_capacity.settings.address import parse_address

_PIECE: Final = 65_536
_LENGTH: Final = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer, which the proxy holds in its hands: nothing of it is sent by itself.

    Attributes:
        request: what was asked.
        response: what the server says.
        frame: the same as bytes.
    """

    request: Command
    response: Command
    frame: bytes
    _client: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Send bytes to the client, as soon as it takes them."""
        self._client.write(data)
        await self._client.drain()

    def send_later(self, data: bytes, seconds: float) -> None:
        """Send bytes later, while other answers are handed on."""
        asyncio.get_running_loop().call_later(seconds, self._client.write, data)

    def reset(self) -> None:
        """End the connection at once, as a network that fails."""
        self._client.transport.abort()


Fault = Callable[[Answer], Awaitable[None]]
"""What becomes of an answer; the next answer of the connection waits until it returns."""


@dataclass
class FaultyNetwork:
    """Proxies in front of a name server and its brokers; an async context manager, for one event loop.

    Attributes:
        nameserver: the real name server, host:port.
        broker_addrs: the real addresses of its brokers.
        faults: by real address, what becomes of its answers; without an entry they are handed on.
        codes: the requests whose answers the faults hit; empty for all.
        hits: how many answers met a fault.
        proxies: by real address, the address of its proxy, once entered.
    """

    nameserver: str
    broker_addrs: tuple[str, ...]
    faults: Mapping[str, Fault]
    codes: frozenset[int] = frozenset()
    hits: int = 0
    proxies: dict[str, str] = field(default_factory=dict)
    _servers: list[asyncio.Server] = field(default_factory=list)
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        """Listen."""
        for address in (self.nameserver, *self.broker_addrs):
            server = await asyncio.start_server(self._accepts(address), "127.0.0.1", 0)
            self._servers.append(server)
            self.proxies[address] = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Close every connection, and listen no more."""
        for server in self._servers:
            server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def real(self, text: str) -> str:
        """A text in which the proxies' addresses are those of the real servers."""
        for address, proxy in self.proxies.items():
            text = text.replace(f'"{proxy}"', f'"{address}"')
        return text

    def _accepts(self, address: str) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._open.add(task)
            server = parse_address(address)
            try:
                of_server, to_server = await asyncio.open_connection(server.host, server.port)
                asked: dict[int, Command] = {}
                with contextlib.closing(to_server), contextlib.suppress(OSError, asyncio.CancelledError):
                    await asyncio.gather(
                        self._hand_on_requests(reader, to_server, asked),
                        self._hand_on_answers(address, of_server, writer, asked),
                    )
            finally:
                writer.close()

        return accept

    async def _hand_on_requests(
        self, client: asyncio.StreamReader, server: asyncio.StreamWriter, asked: dict[int, Command]
    ) -> None:
        decoder = FrameDecoder()
        while data := await client.read(_PIECE):
            asked.update((command.opaque, command) for command in decoder.feed(data))
            server.write(data)
            await server.drain()
        raise ConnectionError("the client has gone")

    async def _hand_on_answers(
        self, address: str, server: asyncio.StreamReader, client: asyncio.StreamWriter, asked: dict[int, Command]
    ) -> None:
        while True:
            try:
                length = await server.readexactly(_LENGTH)
                frame = length + await server.readexactly(int.from_bytes(length, "big"))
            except asyncio.IncompleteReadError:
                raise ConnectionError("the server has gone") from None
            (response,) = FrameDecoder().feed(frame)
            request = asked.pop(response.opaque, None) if response.is_response else None
            if request is not None and request.code == RequestCode.GET_BROKER_CLUSTER_INFO:
                response = replace(response, body=self._with_proxies(response.body))
                frame = encode_frame(response)
            fault = self.faults.get(address) if request is not None else None
            if request is None or fault is None or (self.codes and request.code not in self.codes):
                client.write(frame)
                await client.drain()
                continue
            self.hits += 1
            await fault(Answer(request, response, frame, client))

    def _with_proxies(self, body: bytes) -> bytes:
        for address in self.broker_addrs:
            body = body.replace(f'"{address}"'.encode(), f'"{self.proxies[address]}"'.encode())
        return body
