"""The machine rooms of brokers and clients, by rules on their names and addresses."""

import re
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Final, Self

from pydantic import BeforeValidator, ValidationInfo, model_validator

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.address import ip_of
from rocketmq_capacity.settings.patterns import Compiling, found_group
from rocketmq_capacity.settings.section import Section

ROOM: Final = "room"
_ROOMS: Final = re.compile(r"\(\?P?<room>")
_ip_of: Final = lru_cache(maxsize=1)(ip_of)
"""All rules ask for a client's address before the next client comes."""


class BrokerRoom(Section):
    """A rule for a broker's machine room: a pattern on its name, or its exact name."""

    pattern: str | None = None
    broker_name: str | None = None
    room: str | None = None

    @model_validator(mode="after")
    def _one_way(self, info: ValidationInfo) -> Self:
        _check_room_rule(self.pattern, self.broker_name, self.room, "broker_name", info)
        return self

    def room_of(self, broker_name: str) -> str | None:
        """The room, or None if this rule does not match the broker."""
        if self.pattern is not None:
            return found_group(self.pattern, broker_name, ROOM)
        return self.room if broker_name == self.broker_name else None


def _network(cidr: object) -> object:
    if isinstance(cidr, str):
        with suppress(ValueError):  # the error below says more
            return ip_network(cidr, strict=False)
    elif cidr is None or isinstance(cidr, IPv4Network | IPv6Network):
        return cidr
    raise ValueError(f"{shown(cidr)} is not a network; expected one such as 10.1.0.0/16")


Network = Annotated[IPv4Network | IPv6Network, BeforeValidator(_network)]


class ClientRoom(Section):
    """A rule for a client's machine room: a pattern on its client_id, or a network that has its address."""

    pattern: str | None = None
    cidr: Network | None = None
    room: str | None = None

    @model_validator(mode="after")
    def _one_way(self, info: ValidationInfo) -> Self:
        _check_room_rule(self.pattern, self.cidr, self.room, "cidr", info)
        return self

    def room_of(self, client_id: str, client_addr: str | None) -> str | None:
        """The room, or None if this rule does not match the client."""
        if self.pattern is not None:
            return found_group(self.pattern, client_id, ROOM)
        ip = _ip_of(client_addr)
        return self.room if self.cidr is not None and ip is not None and ip in self.cidr else None


def _check_room_rule(
    pattern: str | None, exact: object, room: str | None, exact_name: str, info: ValidationInfo
) -> None:
    if (pattern is None) == (exact is None):
        raise ValueError(f"expected either pattern or {exact_name}")
    if pattern is not None:
        if ROOM not in Compiling.of(info.context).compile(pattern).groupindex:
            raise ValueError("pattern has no group (?P<room>…); expected one that finds the room")
        if len(_ROOMS.findall(pattern)) > 1:
            raise ValueError("pattern has the group (?P<room>…) more than once; expected one, or a rule for each")
        if room is not None:
            raise ValueError("is given a pattern and a room; expected only the pattern, whose group gives the room")
    elif not room:
        raise ValueError(f"expected room together with {exact_name}")


class RoomRules(Section):
    """Rules in order; the first that gives a room wins."""

    brokers: tuple[BrokerRoom, ...] = ()
    clients: tuple[ClientRoom, ...] = ()

    def of_broker(self, broker_name: str) -> str | None:
        """The broker's room, or None if no rule matches."""
        return next((room for rule in self.brokers if (room := rule.room_of(broker_name))), None)

    def of_client(self, client_id: str, client_addr: str | None) -> str | None:
        """The client's room, or None if no rule matches."""
        return next((room for rule in self.clients if (room := rule.room_of(client_id, client_addr))), None)
