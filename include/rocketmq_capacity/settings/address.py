"""Addresses: ``host:port``, with an IPv6 host in brackets or bare. Only this module parses them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address
from typing import Final

from rocketmq_capacity.errors import BadInput, shown

_MAX_PORT: Final = 65_535


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Read ``host:port``.

    Errors: ValueError with what was expected.
    """
    host, separator, port = text.strip().rpartition(":")
    host = _without_brackets(host)
    is_port = port.isascii() and port.isdigit() and 0 < int(port) <= _MAX_PORT
    if not (separator and host and is_port and (_is_ipv6(host) or not set(host) & set("[:]"))):
        raise ValueError(f"{shown(text)} is not an address; expected HOST:PORT with a port from 1 to {_MAX_PORT}")
    return Address(host, int(port))


def ip_of(text: str | None) -> IPv4Address | IPv6Address | None:
    """The IP address in ``host:port`` or ``host``; None if there is none, such as for a host's name."""
    host = _without_brackets((text or "").strip())
    with suppress(ValueError):  # without a port, the text is the host
        host = parse_address(host).host
    try:
        return ip_address(host)
    except ValueError:
        return None


def parse_nameservers(nameservers: Sequence[str]) -> tuple[Address, ...]:
    """Read the addresses of name servers, each once, in their order; an item may have several, separated by ``;``.

    Errors: `BadInput` if one is not an address, or there is none.
    """
    texts = [text.strip() for item in nameservers for text in item.split(";") if text.strip()]
    if not texts:
        raise BadInput("--nameserver", "", "names no address; expected HOST:PORT[;HOST:PORT...]")
    try:
        return tuple(dict.fromkeys(parse_address(text) for text in texts))
    except ValueError as error:
        raise BadInput("--nameserver", "", str(error)) from None


def _without_brackets(host: str) -> str:
    """The host, without a pair of brackets; one that has only one of them keeps it, and is no address."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except AddressValueError:
        return False
    return True
