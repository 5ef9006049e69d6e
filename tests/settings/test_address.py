"""Addresses are read as they are usually written, and anything else is bad input."""

from ipaddress import ip_address

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.address import Address, ip_of, parse_address, parse_nameservers


@pytest.mark.parametrize(
    ("text", "address", "shown"),
    [
        ("10.0.9.1:9876", Address("10.0.9.1", 9876), "10.0.9.1:9876"),
        (" mq.example.org:1 ", Address("mq.example.org", 1), "mq.example.org:1"),
        ("[::1]:9876", Address("::1", 9876), "[::1]:9876"),
        ("fe80::1:10911", Address("fe80::1", 10911), "[fe80::1]:10911"),
        ("host:65535", Address("host", 65_535), "host:65535"),
    ],
)
def test_a_host_and_a_port_are_separated(text: str, address: Address, shown: str) -> None:
    assert parse_address(text) == address
    assert str(address) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "host",
        "host:",
        ":9876",
        "host:0",
        "host:65536",
        "host:x",
        "host:-1",
        "host:\u0661",
        "fe80::1",
        "a:b:1",
        "[::1:9876",
        "host]:1",
    ],
)
def test_what_is_no_address_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match="is not an address; expected HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "ip"),
    [
        ("10.0.0.1:40001", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.1"),
        ("[fe80::1]:40001", "fe80::1"),
        ("fe80::1:40001", "fe80::1"),
        ("fe80::1", "fe80::1"),
        ("[fe80::1]", "fe80::1"),
        ("mq.example.org:1", None),
        ("", None),
        (None, None),
    ],
)
def test_the_ip_address_is_found_with_and_without_a_port(text: str | None, ip: str | None) -> None:
    assert ip_of(text) == (ip_address(ip) if ip else None)


def test_name_servers_come_one_by_one_or_in_one_text_each_once_in_their_order() -> None:
    addresses = parse_nameservers(["b:1;a:2;", "c:3", "a:2"])
    assert list(map(str, addresses)) == ["b:1", "a:2", "c:3"]


@pytest.mark.parametrize("nameservers", [[], [""], [";"], ["a:1;b"]])
def test_no_address_or_a_bad_one_is_bad_input(nameservers: list[str]) -> None:
    with pytest.raises(BadInput, match="--nameserver"):
        parse_nameservers(nameservers)
