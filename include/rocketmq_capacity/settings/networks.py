"""Networks in a connection: the addresses that may get our credentials."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Annotated

from pydantic import AfterValidator, Field

Network = IPv4Network | IPv6Network


def parse_network(text: str) -> Network:
    """A network such as ``10.0.0.0/8``, or a single address. Errors: ValueError, which does not show the text."""
    try:
        return ip_network(text)
    except ValueError:
        raise ValueError("is not a network; expected one such as 10.0.0.0/8") from None


def is_in(address: str, networks: Iterable[Network]) -> bool:
    """Whether an IP address is in one of the networks; a link's name after ``%`` does not count."""
    number = ip_address(address.partition("%")[0])
    return any(number in network for network in networks)


NetworkText = Annotated[str, Field(strict=True), AfterValidator(lambda text: str(parse_network(text)))]
