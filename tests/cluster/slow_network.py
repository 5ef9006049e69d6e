"""A network in front of a broker that can be slow, or gone: a TCP proxy on another address of the loopback device.

It is for real clients, to which the broker registers this address. Faults between our own client and a cluster are in
`faulty_network`.
"""

import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

ADDRESS: Final = "127.0.0.2"
"""What the broker is to register (``brokerIP1``); it listens on 127.0.0.1 itself."""


class SlowNetwork:
    """Hands everything on, each piece of what clients send so many seconds late; a context manager.

    Attributes:
        delay_s: how late.
    """

    def __init__(self, port: int) -> None:
        """Say in front of which port of 127.0.0.1 it stands; nothing listens before it is entered."""
        self.delay_s = 0.0
        self._port = port
        self._listener = socket.socket()
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((ADDRESS, self._port))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.refuse()

    def refuse(self) -> None:
        """Close every connection, and refuse new ones."""
        for one in (self._listener, *self._open):
            with suppress(OSError):  # it is closed already
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):  # refuse() has closed the listener
            while True:
                client, _ = self._listener.accept()
                try:
                    broker = socket.create_connection(("127.0.0.1", self._port))
                except OSError:
                    client.close()
                    continue
                self._open += [client, broker]
                threading.Thread(target=self._hand_on, args=(client, broker, True), daemon=True).start()
                threading.Thread(target=self._hand_on, args=(broker, client, False), daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket, is_late: bool) -> None:
        with suppress(OSError):  # one side has closed its connection
            while piece := source.recv(65_536):
                if is_late:
                    time.sleep(self.delay_s)
                target.sendall(piece)
        for one in (source, target):
            with suppress(OSError):  # it is closed already
                one.shutdown(socket.SHUT_RDWR)
