"""One name server, broker or Proxy: a connection that is made when it is needed, and again if it was lost."""

import asyncio
from typing import TypeVar

from rocketmq_capacity.client.connection import Connection
from rocketmq_capacity.client.errors import PeerGivenUpError
from rocketmq_capacity.client.retry import retrying
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.request import Request
from rocketmq_capacity.settings.address import Address

T = TypeVar("T")


class Peer:
    """The receiver of requests.

    A peer is given up if as many connections in a row failed as a request has attempts. Every later request then fails
    at once with the same error. So a frozen broker costs a few time limits, and not one for each request.
    """

    def __init__(self, address: Address, settings: ConnectionSettings) -> None:
        self.address = address
        self.version: int | None = None
        """RocketMQ's number of the peer's version, from its last answer; None before the first."""
        self._settings = settings
        self._connection: Connection | None = None
        self._connecting: asyncio.Task[Connection] | None = None
        self._failed_in_a_row = 0
        self._given_up: PeerGivenUpError | None = None
        self._reading = asyncio.Lock()
        """Answers are read one after the other. A large one takes long, and between two of them `give_up` can act."""
        self._is_over = False

    async def call(self, request: Request[T]) -> T:
        """Send the request, again if it failed for a reason that may pass.

        Errors: `TransportError` if no answer came, `ResponseError` if the peer refused, `RemoteProtocolError` if the
        answer is not of the protocol.
        """
        return await retrying(self._settings)(self._ask, request)

    def give_up(self, reason: str) -> None:
        """Fail every request, those under way and all later ones, with the reason; answers not read yet are dropped."""
        self._given_up, self._is_over = PeerGivenUpError(reason), True
        if self._connecting is not None:
            self._connecting.cancel()
        if self._connection is not None:
            self._connection.end(self._given_up)

    async def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        if self._connection is not None:
            self._connection.close()

    async def _ask(self, request: Request[T]) -> T:
        connection = self._connection
        if connection is None or not connection.is_open:
            connection = await self._connected()
        limit_s = self._settings.request_timeout_s + request.relay_s
        response = await connection.ask(request.code, request.ext_fields, limit_s=limit_s)
        self.version = response.version
        async with self._reading:
            if self._is_over and self._given_up is not None:  # while others were read
                raise self._given_up
            return request.answer(response, max_body_bytes=self._settings.max_body_bytes)

    async def _connected(self) -> Connection:
        """An open connection; requests at the same time share one attempt to open it."""
        if self._given_up is not None:
            raise self._given_up
        if self._connecting is None:
            self._note_lost_connection()
            if self._given_up is not None:
                raise self._given_up
            self._connecting = asyncio.create_task(Connection.open(self.address, self._settings))
            self._connecting.add_done_callback(self._note_connecting)
        connecting = self._connecting
        try:
            connection = await asyncio.shield(connecting)
        except asyncio.CancelledError:
            if connecting.cancelled() and self._given_up is not None:
                raise self._given_up from None
            raise
        if self._given_up is not None:  # while it connected
            raise self._given_up
        return connection

    def _note_lost_connection(self) -> None:
        """Count the failure of the connection that is being replaced.

        The row begins with it if it answered more than it left open. A peer that answers one request of each
        connection, and then keeps all others waiting, would else be asked for ever.
        """
        lost, self._connection = self._connection, None
        if lost is not None and lost.reason is not None:
            if lost.answered > lost.unanswered:
                self._failed_in_a_row = 0
            self._note_failure(lost.reason)

    def _note_connecting(self, connecting: asyncio.Task[Connection]) -> None:
        self._connecting = None
        if connecting.cancelled():
            return
        error = connecting.exception()
        if error is None:
            self._connection = connecting.result()
        elif isinstance(error, Exception):
            self._note_failure(error)

    def _note_failure(self, error: Exception) -> None:
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._settings.attempts:
            self._given_up = PeerGivenUpError(str(error))
