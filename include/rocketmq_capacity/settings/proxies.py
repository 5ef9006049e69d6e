"""Proxies in a policy and a connection: the addresses of their remoting ports."""

from typing import Annotated

from pydantic import AfterValidator, Field

from rocketmq_capacity.settings.address import parse_address


def _checked(text: str) -> str:
    try:
        return str(parse_address(text))
    except ValueError:
        # The error does not show the text: in a connection file it may be a secret in the wrong place.
        raise ValueError("is not an address; expected HOST:REMOTING-PORT") from None


ProxyAddress = Annotated[str, Field(strict=True), AfterValidator(_checked)]
"""``host:port`` of a Proxy's remoting port (ProxyConfig.remotingListenPort, 8080 by default)."""
