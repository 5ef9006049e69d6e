"""Errors if no answer came. Errors inside an answer are in `rocketmq_capacity.protocol.errors`."""

from collections.abc import Sequence

from rocketmq_capacity.settings.address import Address


class TransportError(Exception):
    """No answer came, for a reason of the network or of the peer's health."""


class ConnectError(TransportError):
    """No connection could be made."""


class ConnectionLostError(TransportError):
    """The connection ended before the answer came."""


class RequestTimeoutError(TransportError):
    """The peer did not answer in time."""


class PeerGivenUpError(TransportError):
    """The peer failed too often in a row, so it is not asked any more."""


class NoNameServerError(TransportError):
    """None of the name servers answered.

    Args:
        failures: each address, in the order they were asked, and how it failed.
    """

    def __init__(self, failures: Sequence[tuple[Address, Exception]]) -> None:
        self.failures = tuple(failures)
        super().__init__("no name server answered: " + "; ".join(f"{address}: {why}" for address, why in failures))
