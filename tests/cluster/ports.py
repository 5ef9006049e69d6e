"""Ports of the loopback address for what the tests start."""

import random
import socket
from typing import Final

_PORTS: Final = (10_000, 32_000)
"""Below those that the system gives to outgoing connections, which come and go."""


def free_ports(count: int) -> list[int]:
    """Ports that are free on the loopback address, with the ports that a broker takes beside its own (-2 and +1)."""
    found: list[int] = []
    taken: set[int] = set()
    while len(found) < count:
        port = random.randrange(*_PORTS)
        group = {port - 2, port, port + 1}
        if not group & taken and all(_is_free(beside) for beside in group):
            found.append(port)
            taken |= group
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
