"""One connection with many requests at a time.

Every request has a future; the response with its number resolves it. A single request needs no task, no lock and no
timer: bytes are decoded as soon as they arrive, all requests of one turn of the loop are sent in one write, and one
timer for the whole connection watches the oldest request.
"""

import asyncio
import os
import socket
import ssl
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from rocketmq_capacity.client.errors import ConnectError, ConnectionLostError, RequestTimeoutError
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import RemoteProtocolError
from rocketmq_capacity.protocol.frame import FrameDecoder, encode_frame
from rocketmq_capacity.protocol.signature import signed_fields
from rocketmq_capacity.settings.address import Address
from rocketmq_capacity.settings.networks import Network, is_in


@dataclass(slots=True)
class _Question:
    """A request under way; ``deadline`` is in seconds of the loop's clock, set when the request is sent."""

    code: RequestCode
    fields: Mapping[str, str]
    limit_s: float
    answer: asyncio.Future[Command]
    deadline: float = 0.0


class Connection(asyncio.Protocol):
    """A connection, open until `close` or until the peer ends it.

    Attributes:
        answered: requests that were answered in time.
        unanswered: requests that were under way when the connection ended.
    """

    def __init__(self, address: Address, settings: ConnectionSettings) -> None:
        self.address = address
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._decoder = FrameDecoder(max_frame_bytes=settings.max_frame_bytes)
        self._transport: asyncio.Transport | None = None
        self._closed: Exception | None = None
        self._next_opaque = 1
        self._waiting: deque[_Question] = deque()
        self._open: dict[int, _Question] = {}
        self._outbox: list[bytes] = []
        self._last_heard = self._loop.time()
        self.answered = 0
        self.unanswered = 0
        self._watch: asyncio.TimerHandle | None = None

    @classmethod
    async def open(cls, address: Address, settings: ConnectionSettings) -> "Connection":
        """Connect.

        Errors: `ConnectError` if nobody listens, the handshake fails, the time is up, or the address is outside the
        networks of the settings.
        """
        loop = asyncio.get_running_loop()
        name = address.host if settings.tls is not None else None
        try:
            async with asyncio.timeout(settings.connect_timeout_s):
                *others, last = await _hosts(address, settings.networks)
                for host in others:
                    with suppress(OSError):  # the next address of the same name may answer
                        return await cls._connected(loop, host, address, settings, name)
                return await cls._connected(loop, last, address, settings, name)
        except TimeoutError:
            raise ConnectError(f"cannot connect: timed out after {settings.connect_timeout_s:g} s") from None
        except (OSError, ssl.CertificateError, ValueError) as error:
            raise ConnectError(f"cannot connect: {_words(error)}") from None

    @classmethod
    async def _connected(
        cls,
        loop: asyncio.AbstractEventLoop,
        host: str,
        address: Address,
        settings: ConnectionSettings,
        name: str | None,
    ) -> "Connection":
        """Connect to a host; its certificate has to be that of the name."""
        _, connection = await loop.create_connection(
            lambda: cls(address, settings), host, address.port, ssl=settings.tls, server_hostname=name
        )
        return connection

    @property
    def is_open(self) -> bool:
        """Whether a request can still be sent."""
        return self._closed is None

    @property
    def reason(self) -> Exception | None:
        """Why no request can be sent any more; None while the connection is open."""
        return self._closed

    def ask(self, code: RequestCode, fields: Mapping[str, str], *, limit_s: float) -> asyncio.Future[Command]:
        """Send a request, now or when its turn comes; ``limit_s`` counts from the sending.

        Errors: the future's, `RequestTimeoutError`, `ConnectionLostError` or `RemoteProtocolError`.
        """
        answer: asyncio.Future[Command] = self._loop.create_future()
        if self._closed is not None:
            answer.set_exception(self._closed)
            return answer
        self._waiting.append(_Question(code, fields, limit_s, answer))
        self._send_waiting()
        return answer

    def close(self) -> None:
        """Close the connection; requests under way fail."""
        self.end(ConnectionLostError("closed by us"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The loop calls this when the connection is open, TLS included."""
        self._transport = cast(asyncio.Transport, transport)
        self._last_heard = self._loop.time()

    def data_received(self, data: bytes) -> None:
        """Called by the loop with the next bytes."""
        try:
            commands = self._decoder.feed(data)
        except RemoteProtocolError as error:
            self.end(error)
            return
        for command in commands:
            # The peer numbers its own requests (such as 40) itself. So a request with one of our numbers is no answer.
            question = self._open.pop(command.opaque, None) if command.is_response else None
            if question is None:
                continue
            # Only an answer is a sign of life: a peer may send bytes, or answers to nothing, for ever.
            self._last_heard = self._loop.time()
            self.answered += 1
            if not question.answer.done():
                question.answer.set_result(command)
        self._send_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop when the connection has ended, with the error if there was one."""
        self.end(ConnectionLostError(f"connection lost: {_words(exc)}" if exc else "the peer closed the connection"))

    def _send_waiting(self) -> None:
        """Send waiting requests, up to the number that may be open at a time."""
        now = self._loop.time()
        while self._waiting and len(self._open) < self._settings.in_flight:
            question = self._waiting.popleft()
            if question.answer.done():
                continue
            opaque, self._next_opaque = self._next_opaque, self._next_opaque % (2**31 - 1) + 1
            question.deadline = now + question.limit_s
            self._open[opaque] = question
            if not self._outbox:
                self._loop.call_soon(self._flush)
            self._outbox.append(self._encoded(question, opaque))
        if self._watch is None and self._open:
            self._watch_oldest()

    def _encoded(self, question: _Question, opaque: int) -> bytes:
        fields, credentials = question.fields, self._settings.credentials
        if credentials is not None:
            fields = signed_fields(
                fields,
                b"",
                access_key=credentials.access_key,
                secret_key=credentials.secret_key,
                security_token=credentials.security_token,
            )
        serialization = self._settings.serialization
        return encode_frame(Command(question.code, opaque, ext_fields=fields, serialization=serialization))

    def _flush(self) -> None:
        data, self._outbox = b"".join(self._outbox), []
        if self._transport is not None and self._closed is None:
            self._transport.write(data)

    def _watch_oldest(self) -> None:
        """Set the timer to the first deadline of the open requests."""
        due = min(question.deadline for question in self._open.values())
        self._watch = self._loop.call_at(due, self._give_up_late)

    def _give_up_late(self) -> None:
        """Fail the requests that are due. If nothing was answered for half of the limit, fail all, and the connection.

        A peer that answers other requests is only slow. One that answers nothing is frozen.
        """
        self._watch = None
        now = self._loop.time()
        late = [opaque for opaque, question in self._open.items() if question.deadline <= now]
        if late and now - self._last_heard >= (limit_s := self._open[late[0]].limit_s) / 2:
            self.end(RequestTimeoutError(f"timed out after {limit_s:g} s, with every other request"))
            return
        for opaque in late:
            question = self._open.pop(opaque)
            if not question.answer.done():
                question.answer.set_exception(RequestTimeoutError(f"timed out after {question.limit_s:g} s"))
        self._send_waiting()

    def end(self, reason: Exception) -> None:
        """Fail all requests with the reason, and close; only the first call has an effect."""
        if self._closed is not None:
            return
        self._closed = reason
        if self._watch is not None:
            self._watch.cancel()
        if self._transport is not None:
            self._transport.abort()
        self._decoder = FrameDecoder()  # the old one may hold most of a large frame
        self.unanswered = len(self._open)
        questions = [*self._open.values(), *self._waiting]
        self._open.clear()
        self._waiting.clear()
        for question in questions:
            if not question.answer.done():
                question.answer.set_exception(reason)


async def _hosts(address: Address, networks: Sequence[Network]) -> list[str]:
    """Where to connect to: the host itself, or with networks those of its IP addresses that are inside.

    Errors: `ConnectError` if none is inside; OSError if the host has no address.
    """
    if not networks:
        return [address.host]
    addresses = await asyncio.get_running_loop().getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    hosts = list(dict.fromkeys(str(where[0]) for *_, where in addresses))
    inside = [host for host in hosts if is_in(host, networks)]
    if not inside:
        raise ConnectError(f"{', '.join(hosts)} is outside the networks of the connection; nothing was sent to it")
    return inside


def _words(error: Exception) -> str:
    """An error in one line: the system's text for its number, if it has one, else its own text."""
    system = isinstance(error, OSError) and not isinstance(error, ssl.SSLError | socket.gaierror) and error.errno
    text = os.strerror(system) if system else " ".join(str(error).split())
    return text or type(error).__name__
