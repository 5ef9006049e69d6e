"""A peer that speaks RocketMQ's protocol on the loopback address and misbehaves as a test asks."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from rocketmq_capacity.protocol.codes import Flag
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.frame import FrameDecoder, encode_frame
from rocketmq_capacity.settings.address import Address

Handler = Callable[["Visit", Command], Awaitable[None]]


class Visit:
    """One connection of a client, seen from the peer; ``number`` counts connections from 1."""

    def __init__(self, number: int, writer: asyncio.StreamWriter) -> None:
        self.number, self._writer = number, writer

    def answer(self, request: Command, body: bytes = b"", *, code: int = 0, remark: str | None = None) -> None:
        """Send the response to a request."""
        response = Command(code, request.opaque, flag=int(Flag.RESPONSE), body=body, remark=remark, language="JAVA")
        self.send(encode_frame(response))

    def ask(self, request: Command) -> None:
        """Send a request of the peer's own."""
        self.send(encode_frame(replace(request, flag=0)))

    def send(self, data: bytes) -> None:
        """Send any bytes."""
        self._writer.write(data)

    async def hang_up(self) -> None:
        """Send what is written, and close."""
        await self._writer.drain()
        self._writer.close()


class SpeakingPeer:
    """Listens while its context is open, and hands every request to the handler."""

    def __init__(self, handler: Handler, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        self._handler, self._tls, self._host = handler, tls, host
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.visits = 0
        self.requests: list[Command] = []

    @property
    def address(self) -> Address:
        """Where it listens."""
        assert self._server is not None
        host, port = self._server.sockets[0].getsockname()[:2]
        return Address(host, port)

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, self._host, 0, ssl=self._tls)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Stop, and hang up on everybody."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.visits += 1
        visit, decoder = Visit(self.visits, writer), FrameDecoder()
        try:
            while data := await reader.read(65_536):
                for request in decoder.feed(data):
                    self.requests.append(request)
                    await self._handler(visit, request)
        except (OSError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            writer.close()
