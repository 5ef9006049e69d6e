"""Addresses at which something is wrong."""

import socket
from collections.abc import Iterator

import pytest

from rocketmq_capacity.settings.address import Address
from tests.fixtures.ports import free_port


@pytest.fixture
def free_address() -> Address:
    """An address at which nobody listens."""
    return Address("127.0.0.1", free_port())


@pytest.fixture
def deaf_address() -> Iterator[Address]:
    """An address that answers no attempt to connect: its queue of connections is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        host, port = listener.getsockname()
        waiting = [socket.socket() for _ in range(8)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex((host, port))
            yield Address(host, port)
        finally:
            for one in waiting:
                one.close()
