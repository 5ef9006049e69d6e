"""The machine room of a client."""

import ipaddress

import pytest

from rocketmq_capacity.settings.rooms import RoomRules

ROOMS = RoomRules.model_validate({
    "clients": [
        {"cidr": "10.1.0.0/16", "room": "hz"},
        {"cidr": "10.2.3.4/16", "room": "sh"},
        {"pattern": "^(?P<room>[a-z]+)-"},
        {"cidr": "fe80::/64", "room": "v6"},
    ]
})


@pytest.mark.parametrize(
    ("client_id", "client_addr", "room"),
    [
        ("c", "10.1.2.3:40001", "hz"),
        ("bj-1", "10.2.255.255:40001", "sh"),
        ("bj-1", "10.3.0.1:40001", "bj"),
        ("c", "[fe80::7]:40001", "v6"),
        ("c", "fe80::7", "v6"),
        ("c", "10.3.0.1:40001", None),
        ("c", "a-host:40001", None),
        ("c", None, None),
        ("bj-1", None, "bj"),
    ],
)
def test_the_first_rule_that_names_a_room_wins(client_id: str, client_addr: str | None, room: str | None) -> None:
    assert ROOMS.of_client(client_id, client_addr) == room


def test_networks_are_read_with_the_policy_and_addresses_once_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[object] = []

    def counted(text: object) -> ipaddress.IPv4Address:
        parsed.append(text)
        return ipaddress.IPv4Address(text)

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a network is parsed again")

    monkeypatch.setattr("rocketmq_capacity.settings.address.ip_address", counted)
    for kind in ("ip_network", "IPv4Network.__init__", "IPv6Network.__init__"):
        monkeypatch.setattr(f"ipaddress.{kind}", refused)
    monkeypatch.setattr("rocketmq_capacity.settings.rooms.ip_network", refused)

    assert [ROOMS.of_client("c", f"10.9.0.{number}:1") for number in range(3)] == [None] * 3
    assert len(parsed) == 3
