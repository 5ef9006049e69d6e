"""The inventory as bytes: what is written, and which digest identifies it."""

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.snapshot.fingerprint import fingerprint
from rocketmq_capacity.snapshot.inventory import FORMAT
from rocketmq_capacity.snapshot.inventory_file import CHECKED_AT_A_TIME, parse_inventory, render_inventory

SAMPLE = Path(__file__).parents[2] / "include" / "sample" / "inventory.json"
CLUSTER: dict[str, Any] = {
    "format": FORMAT,
    "cluster_name": "C1",
    "taken_at": "2026-11-20T02:00:00Z",
    "nameservers": ["b:9876", "a:9876"],
    "brokers": [
        {"broker_name": "broker-b", "broker_id": 0, "config": {"z": "1", "é": "2", "Z": "3"}, "runtime": {}},
        {"broker_name": "broker-a", "broker_id": 1},
    ],
    "topics": [{"topic": "pay", "order": False, "queues": [], "offsets": [{"broker_name": "broker-a", "queue_id": 0}]}],
    "consumer_groups": [
        {
            "consumer_group": "g_pay",
            "subscriptions": [{"topic": "pay"}, {"topic": "%RETRY%g_pay", "expression": 'a" || "b'}],
            "clients": [{"client_id": "c2", "seen_on": ["b", "a"]}, {"client_id": "c1", "status": []}],
            "offsets": [
                {
                    "topic": "pay",
                    "broker_name": "broker-a",
                    "queue_id": 0,
                    "consumer_offset": 5,
                    "samples": [{"at": "2026-11-20T01:59:55Z"}, {"at": "2026-11-20T01:59:50Z", "broker_offset": 7}],
                }
            ],
        }
    ],
}


def fingerprint_of(cluster: dict[str, Any]) -> str:
    return fingerprint(parse_inventory(json.dumps(cluster).encode(), source="cluster"))


def canonical(value: Any) -> str:
    """Canonical JSON, made by another library."""
    if isinstance(value, dict):
        members = (f"{canonical(name)}:{canonical(value[name])}" for name in sorted(value) if value[name] is not None)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted(map(canonical, value), key=str.encode)) + "]"
    return json.dumps(value, ensure_ascii=False)


def shuffled(value: Any, random: Random) -> Any:
    """The same facts with the members of every object and the items of every list in another order."""
    if isinstance(value, dict):
        return {name: shuffled(value[name], random) for name in random.sample(list(value), len(value))}
    if isinstance(value, list):
        return [shuffled(item, random) for item in random.sample(value, len(value))]
    return value


def test_the_sample_is_written_as_it_was_read() -> None:
    assert b"".join(render_inventory(parse_inventory(SAMPLE.read_bytes(), source="sample"))) == SAMPLE.read_bytes()


def test_unknown_members_are_left_out_and_empty_ones_and_the_masters_id_stay() -> None:
    unknown = {**CLUSTER, "failures": None, "brokers": [{**CLUSTER["brokers"][0], "version": None}]}

    written = b"".join(render_inventory(parse_inventory(json.dumps(unknown).encode(), source="cluster")))

    known = {name: value for name, value in unknown.items() if value is not None}
    known["brokers"] = [CLUSTER["brokers"][0]]
    assert written == json.dumps(known, indent=2, ensure_ascii=False).encode() + b"\n"


BEHIND_PROXIES: dict[str, Any] = {
    **CLUSTER,
    "proxies": [{"proxy_addr": "p2:8080", "mode": "LOCAL", "version": "V5_3_3"}, {"proxy_addr": "p1:8080"}],
    "consumer_groups": [
        {
            "consumer_group": "g_pay",
            "message_model": "LITE_SELECTIVE",
            "consume_from_where": "CONSUME_FROM_MIN_OFFSET",
            "clients": [{"client_id": "c2", "protocol": "GRPC", "seen_on": ["p2:8080", "p1:8080"]}],
        }
    ],
}


def test_proxies_and_protocols_are_written_as_they_were_read() -> None:
    read = parse_inventory(json.dumps(BEHIND_PROXIES).encode(), source="cluster")

    assert json.loads(b"".join(render_inventory(read))) == BEHIND_PROXIES


def test_a_fingerprint_without_proxies_is_what_it_was_before_there_were_any() -> None:
    cluster = parse_inventory(json.dumps(CLUSTER).encode(), source="cluster")

    assert fingerprint(cluster) == "0e331cb0f7fcd0ee1875875d4e7dd8fcd476e31a6ff36123ab149bd1f7b244d0"


@pytest.mark.parametrize(
    "cluster",
    [CLUSTER, BEHIND_PROXIES, json.loads(SAMPLE.read_bytes())],
    ids=["small", "behind proxies", "sample"],
)
def test_the_fingerprint_is_the_digest_of_the_canonical_inventory(cluster: dict[str, Any]) -> None:
    assert fingerprint_of(cluster) == hashlib.sha256(canonical(cluster).encode()).hexdigest()


@pytest.mark.parametrize("seed", range(5))
def test_equal_facts_in_any_order_have_equal_fingerprints(seed: int) -> None:
    assert fingerprint_of(shuffled(CLUSTER, Random(seed))) == fingerprint_of(CLUSTER)


@pytest.mark.parametrize(
    "other",
    [
        {"failures": []},
        {"nameservers": None},
        {"topics": []},
        {"brokers": [CLUSTER["brokers"][0], {"broker_name": "broker-a", "broker_id": 0}]},
    ],
)
def test_other_facts_have_another_fingerprint(other: dict[str, Any]) -> None:
    assert fingerprint_of({**CLUSTER, **other}) != fingerprint_of(CLUSTER)


@pytest.mark.parametrize("at", [0, 1, CHECKED_AT_A_TIME - 3, CHECKED_AT_A_TIME, 2 * CHECKED_AT_A_TIME + 5])
@pytest.mark.parametrize(
    "wrong", [b"\xff", b"\xe2\x82", b"\x82"], ids=["no byte of a text", "two of three", "a last one"]
)
def test_the_first_byte_that_is_not_utf_8_is_named(at: int, wrong: bytes) -> None:
    whole = "a€ä".encode() * (CHECKED_AT_A_TIME // 2)
    data = whole[:at].decode(errors="ignore").encode() + wrong + whole
    with pytest.raises(UnicodeDecodeError) as expected:
        data.decode()

    with pytest.raises(BadInput, match=rf"^cluster: byte {expected.value.start}: is not UTF-8"):
        parse_inventory(data, source="cluster")


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_character_across_two_parts_of_a_file_is_read(cut: int) -> None:
    start = json.dumps({**CLUSTER, "note": ""}).encode().removesuffix(b'"}')
    data = start + b"a" * (CHECKED_AT_A_TIME - len(start) - cut) + "😀".encode() + b'"}'

    assert parse_inventory(data, source="cluster").cluster_name == "C1"
