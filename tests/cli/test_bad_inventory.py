"""Whatever is malformed in an inventory is refused with its file and its place."""

import json
import math
import re
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.snapshot.inventory_file import parse_inventory
from rocketmq_capacity.vocabulary import CONSUME_FROM_WHERE
from tests.cli.conftest import Refusal
from tests.cli.small_cluster import CLUSTER, LEFT_OUT, cluster_with, places, written

QUEUES = "topics[0].queues[0]"
WRITTEN = "topics[0].offsets[0]"
GROUP = "consumer_groups[0]"
CLIENT = "consumer_groups[0].clients[0]"
VIEW = "nameserver_views[0]"
LOST = "missing_brokers[0]"
READ = "consumer_groups[0].offsets[0]"

OUT_OF_RANGE: list[tuple[str, Any]] = [
    *((f"{QUEUES}.perm", value) for value in (-1, 8)),
    *((f"{QUEUES}.{name}", value) for name in ("read_queue_nums", "write_queue_nums") for value in (-1, 65_537)),
    *((f"{WRITTEN}.queue_id", value) for value in (-1, 65_537)),
    *((f"{WRITTEN}.{name}", value) for name in ("min_offset", "max_offset") for value in (-1, 2**63, 10**30)),
    *((f"{READ}.{name}", value) for name in ("broker_offset", "consumer_offset") for value in (-1, 2**63)),
    *((f"{READ}.samples[0].{name}", value) for name in ("broker_offset", "consumer_offset") for value in (-1, 2**63)),
    (f"{READ}.queue_id", -1),
    (f"{WRITTEN}.put_msgs_per_s", -0.5),
    (f"{WRITTEN}.put_msgs_per_s", 1e19),
    (f"{CLIENT}.status[0].consume_rt_ms", -1.0),
    (f"{CLIENT}.status[0].consume_ok_msgs_per_s", -0.1),
    *((f"{CLIENT}.consume_threads", value) for value in (-1, 65_537)),
    (f"{CLIENT}.consume_batch_size", -1),
    (f"{CLIENT}.pull_threshold_for_queue", 65_537),
    (f"{CLIENT}.owned_queues[0].queue_id", -2),
    *((f"{CLIENT}.owned_queues[0].cached_msgs", value) for value in (-1, 2**63)),
    (f"{GROUP}.pop_share_queue_num", 2**31),
    *((f"{GROUP}.pass_ratios[0].pass_ratio", value) for value in (-0.1, 1.1)),
    *((f"{CLIENT}.pull_threshold_for_topic", value) for value in (-1, 2**63)),
    ("brokers[0].broker_id", -1),
    (f"{VIEW}.brokers[0].broker_id", -1),
    (f"{VIEW}.routes[0].queues[0].perm", 8),
    (f"{VIEW}.routes[0].queues[0].read_queue_nums", 65_537),
    ("brokers[0].broker_perm", 9),
]

WRONG_TYPES: list[tuple[str, Any]] = [
    ("brokers", None),
    ("topics", "pay"),
    ("topics[0]", "pay"),
    (f"{QUEUES}.perm", "RW"),
    (f"{QUEUES}.read_queue_nums", 4.5),
    (f"{QUEUES}.read_queue_nums", True),
    (f"{QUEUES}.broker_name", None),
    (f"{GROUP}.orderly", 1),
    (f"{GROUP}.clients", 12),
    (f"{CLIENT}.client_id", None),
    (f"{CLIENT}.seen_on", "broker-a"),
    (f"{CLIENT}.allocate_strategy", ["AVG"]),
    (f"{VIEW}.routes[0].queues", None),
]
"""What :data:`OF_ANOTHER_TYPE` does not try, and what careless writers write."""

OF_ANOTHER_TYPE: Final[dict[type, Any]] = {dict: [], list: {}, str: 7, bool: "true", int: "7", float: "7"}

HALF_AT: Final = json.dumps(CLUSTER).index('"pay"') + len('"\\ud800')
"""Where the half of a character ends that replaces the first name of the topic."""

MISSING = [
    *("cluster_name", "taken_at", "brokers", "topics", "consumer_groups", "format"),
    *("brokers[0].broker_name", "topics[0].topic", f"{QUEUES}.broker_name", f"{WRITTEN}.queue_id"),
    *(f"{GROUP}.consumer_group", f"{GROUP}.subscriptions[0].topic", f"{CLIENT}.client_id"),
    *(f"{CLIENT}.owned_queues[0].queue_id", f"{CLIENT}.status[0].topic", f"{READ}.broker_name"),
    *(f"{READ}.samples[0].at", "failures[0].broker_addr", "proxies[0].proxy_addr"),
    *("producers[0].producer_group", "producers[0].client_id", f"{GROUP}.pass_ratios[0].topic"),
    *(f"{VIEW}.nameserver_addr", f"{VIEW}.brokers[0].broker_id", f"{VIEW}.routes[0].topic", f"{VIEW}.routes[0].queues"),
    *("brokers[0].drifted_topics[0].topic", "brokers[0].disks[0].used_ratio"),
    *(f"{LOST}.{name}" for name in ("broker_name", "seen_at", "topics", "topics[0].topic", "readers[0].topic")),
    *("topics[0].hourly.most_msgs_per_s", f"{GROUP}.past_members[0].client_ids", f"{GROUP}.hourly.most_lag"),
]

EMPTY = [
    "brokers[0].broker_name",
    "topics[0].topic",
    f"{QUEUES}.broker_name",
    f"{GROUP}.consumer_group",
    "proxies[0].proxy_addr",
    *("producers[0].producer_group", "producers[0].client_id", f"{GROUP}.pass_ratios[0].topic"),
    *(f"{VIEW}.nameserver_addr", f"{VIEW}.brokers[0].broker_name", f"{VIEW}.routes[0].topic"),
]

TIMES = [
    *("taken_at", f"{CLIENT}.started_at", f"{CLIENT}.answered_at", f"{READ}.last_timestamp", f"{READ}.samples[0].at"),
    *("brokers[0].master_changed_at", "brokers[0].disks[0].at", f"{LOST}.seen_at"),
    *("topics[0].hourly.first_at", f"{GROUP}.past_members[0].first_at", f"{GROUP}.past_members[0].last_at"),
    f"{GROUP}.hourly.first_at",
    *(f"{CLIENT}.owned_queues[0].last_{name}_at" for name in ("locked", "pulled", "consumed")),
]
NO_TIMES = [
    "",
    "yesterday",
    "2026-11-20",
    "2026-11-20T02:00:00",
    "2026-11-20T02:00:00+01:00",
    "2026-02-30T02:00:00Z",
    "1969-12-31T23:59:59Z",
]

REPEATED = [
    ("topics[1]", CLUSTER["topics"][0], "topic"),
    ("missing_brokers[1]", CLUSTER["missing_brokers"][0], "broker_name"),
    (f"{LOST}.topics[1]", {"topic": "pay"}, "topic"),
    (f"{LOST}.readers[1]", {"consumer_group": "g_pay", "topic": "pay"}, "consumer_group, topic"),
    ("topics[0].queues[1]", {"broker_name": "broker-a", "read_queue_nums": 1}, "broker_name"),
    ("topics[0].offsets[1]", {"broker_name": "broker-a", "queue_id": 0}, "broker_name, queue_id"),
    ("consumer_groups[1]", {"consumer_group": "g_pay"}, "consumer_group"),
    (f"{GROUP}.subscriptions[1]", {"topic": "pay"}, "topic"),
    (f"{CLIENT}.subscriptions[1]", {"topic": "pay", "expression": "a"}, "topic"),
    (f"{CLIENT}.status[1]", {"topic": "pay"}, "topic"),
    (f"{GROUP}.pass_ratios[1]", {"topic": "pay"}, "topic"),
    (f"{GROUP}.offsets[1]", {"topic": "pay", "broker_name": "broker-a", "queue_id": 0}, "topic, broker_name, queue_id"),
    ("brokers[1]", {"broker_name": "broker-a", "broker_id": 0, "broker_addr": "10.0.1.9:10911"}, "broker_name"),
    ("proxies[1]", {"proxy_addr": "10.0.8.1:8080", "mode": "LOCAL"}, "proxy_addr"),
    ("nameserver_views[1]", {"nameserver_addr": "10.0.9.1:9876"}, "nameserver_addr"),
    (f"{VIEW}.brokers[1]", {"broker_name": "broker-a", "broker_id": 0}, "broker_name, broker_id"),
    (f"{VIEW}.routes[1]", {"topic": "pay", "queues": []}, "topic"),
    (f"{VIEW}.routes[0].queues[1]", {"broker_name": "broker-a"}, "broker_name"),
]


def refused(refusal: Refusal, folder: Path, cluster: Any) -> str:
    """The refusal of a plan of the cluster, without its beginning, the file's name."""
    inventory = written(folder, cluster)
    line = refusal("plan", "--inventory", inventory, "--out", folder / "out")
    assert line.startswith(f"{inventory}: ")
    return line.removeprefix(f"{inventory}: ")


@pytest.mark.parametrize(("place", "value"), OUT_OF_RANGE)
def test_a_number_out_of_range_is_refused(refusal: Refusal, tmp_path: Path, place: str, value: Any) -> None:
    assert refused(refusal, tmp_path, cluster_with(place, value)).startswith(f"$.{place}: ")


@pytest.mark.parametrize(("place", "value"), WRONG_TYPES)
def test_a_value_of_another_type_is_refused(refusal: Refusal, tmp_path: Path, place: str, value: Any) -> None:
    assert refused(refusal, tmp_path, cluster_with(place, value)).startswith(f"$.{place}: ")


def test_every_member_of_the_inventory_refuses_a_value_of_another_type() -> None:
    """Each one by its place; the small cluster has a part of every kind, with every member."""
    for place, value in places(CLUSTER):
        other = OF_ANOTHER_TYPE[type(value)]
        with pytest.raises(BadInput) as refused:
            parse_inventory(json.dumps(cluster_with(place, other)).encode(), source="inventory")
        assert refused.value.place == f"$.{place}"
        assert "expected" in str(refused.value).lower()


def test_the_small_cluster_has_every_member_of_an_inventory() -> None:
    parts: list[Any] = [parse_inventory(json.dumps(CLUSTER).encode(), source="inventory")]
    for part in parts:
        members = {name: getattr(part, name) for name in part.__struct_fields__}
        assert [name for name, value in members.items() if value is None or value == ()] == [], type(part).__name__
        for value in members.values():
            parts += [one for one in value if isinstance(one, msgspec.Struct)] if isinstance(value, tuple) else []


@pytest.mark.parametrize("place", MISSING)
def test_a_required_member_that_is_missing_is_named(refusal: Refusal, tmp_path: Path, place: str) -> None:
    assert refused(refusal, tmp_path, cluster_with(place, LEFT_OUT)).startswith(f"$.{place}: ")


@pytest.mark.parametrize("place", EMPTY)
def test_an_empty_name_is_refused(refusal: Refusal, tmp_path: Path, place: str) -> None:
    assert refused(refusal, tmp_path, cluster_with(place, "")).startswith(f"$.{place}: ")


@pytest.mark.parametrize("place", TIMES)
@pytest.mark.parametrize("text", NO_TIMES)
def test_a_time_that_is_not_utc_iso_8601_is_refused(refusal: Refusal, tmp_path: Path, place: str, text: str) -> None:
    said = refused(refusal, tmp_path, cluster_with(place, text))
    assert said == f"$.{place}: is {text!r}; expected a UTC ISO-8601 time such as 2026-11-20T02:00:00Z"


@pytest.mark.parametrize("place", ["topics[0].hourly.first_at", f"{GROUP}.hourly.first_at"])
def test_hours_that_end_after_all_times_are_refused(refusal: Refusal, tmp_path: Path, place: str) -> None:
    text = "9999-12-31T23:00:00Z"
    problem = f"$.{place}: is {text}, with 2 hours; expected hours that end before the year 10000"
    assert refused(refusal, tmp_path, cluster_with(place, text)) == problem


@pytest.mark.parametrize(("place", "part", "key"), REPEATED)
def test_a_name_that_must_be_unique_is_refused_the_second_time(
    refusal: Refusal, tmp_path: Path, place: str, part: Any, key: str
) -> None:
    said = refused(refusal, tmp_path, cluster_with(place, part))
    first = re.sub(r"\[1\]$", "[0]", place)
    assert said.startswith(f"$.{place}: repeats ({key}")
    assert f"of $.{first}; expected each once" in said


def test_a_broker_has_one_kind_of_settings_for_a_group(refusal: Refusal, tmp_path: Path) -> None:
    twice = [{"broker_names": ["broker-a", "broker-b"]}, {"broker_names": ["broker-a"], "consume_enable": False}]
    said = refused(refusal, tmp_path, cluster_with(f"{GROUP}.settings", twice))
    assert said.startswith(f"$.{GROUP}.settings[*].broker_names[2]: repeats (broker_name) = 'broker-a'")


@pytest.mark.parametrize(
    ("topics", "place"),
    [
        ([{"read_queue_nums": 4}], "[0].topic"),
        ([{"topic": ""}], "[0].topic"),
        ([{"topic": "pay", "read_queue_nums": -1}], "[0].read_queue_nums"),
        ([{"topic": "pay", "master_write_queue_nums": 65_537}], "[0].master_write_queue_nums"),
        ([{"topic": "pay"}, {"topic": "pay"}], "[1]"),
    ],
)
def test_what_a_slave_lacks_is_said_in_the_contracts_words(
    refusal: Refusal, tmp_path: Path, topics: list[Any], place: str
) -> None:
    said = refused(refusal, tmp_path, cluster_with("brokers[0].drifted_topics", topics))
    assert said.startswith(f"$.brokers[0].drifted_topics{place}: ")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(refusal: Refusal, tmp_path: Path, number: str) -> None:
    file = tmp_path / "inventory.json"
    file.write_text(json.dumps(CLUSTER).replace("100.0", number))
    assert refusal("plan", f"--inventory={file}", "--out=out").startswith(f"{file}: is not JSON (")
    assert json.dumps(math.nan) == "NaN"  # what careless writers make of it


@pytest.mark.parametrize("name", ["", "a b", "C1\n", "../C1", "C/1", "Кластер", "x" * 256])
def test_a_cluster_name_that_is_no_plain_name_is_refused(refusal: Refusal, tmp_path: Path, name: str) -> None:
    said = refused(refusal, tmp_path, cluster_with("cluster_name", name))
    assert said.startswith("$.cluster_name: is ")
    assert said.endswith("expected 1 to 255 of A-Z a-z 0-9 and ._-")


@pytest.mark.parametrize("value", ["rocketmq-capacity/inventory/2", "", None, 1, "rocketmq-capacity/plan/1"])
def test_an_unknown_format_is_named_before_anything_else_that_is_wrong(
    refusal: Refusal, tmp_path: Path, value: Any
) -> None:
    said = refused(refusal, tmp_path, {"format": value, "cluster_name": 7})
    assert said == f"$.format: is {value!r}; expected 'rocketmq-capacity/inventory/1'"


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (f"{GROUP}.message_model", "clustering", "CLUSTERING or BROADCASTING or LITE_SELECTIVE"),
        (f"{GROUP}.message_request_mode", "PUSH", "PULL or POP"),
        (f"{GROUP}.consume_from_where", "LAST_OFFSET", " or ".join(CONSUME_FROM_WHERE)),
        (f"{GROUP}.subscriptions[0].message_request_mode", "", "PULL or POP"),
        (f"{CLIENT}.protocol", "grpc", "REMOTING or GRPC"),
        ("proxies[0].mode", "REMOTE", "CLUSTER or LOCAL"),
    ],
)
def test_a_word_that_is_not_one_of_the_known_is_refused_with_these(
    refusal: Refusal, tmp_path: Path, place: str, value: str, expected: str
) -> None:
    said = refused(refusal, tmp_path, cluster_with(place, value))
    assert said == f"$.{place}: is {value!r}; expected {expected}"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not JSON (Input data was truncated)"),
        (b"{", "is not JSON (Input data was truncated)"),
        (json.dumps(CLUSTER).encode()[:-40], "is not JSON (Input data was truncated)"),
        (json.dumps(CLUSTER).encode() + b"{}", "is not JSON (JSON is malformed: trailing characters"),
        (b"format: rocketmq-capacity/inventory/1", "is not JSON ("),
        (b"\xef\xbb\xbf" + json.dumps(CLUSTER).encode(), "is not JSON ("),
        (b"[" * 100_000, "is not JSON ("),
        (json.dumps(CLUSTER).encode().replace(b'"pay"', b'"\\ud800"', 1), f"byte {HALF_AT}: has half a character ("),
        (json.dumps(CLUSTER).encode().replace(b'"pay"', b'"\\udfff"', 1), f"byte {HALF_AT}: has half a character ("),
        (json.dumps(CLUSTER).encode().replace(b'"pay"', b'"\\ud800A"', 1), f"byte {HALF_AT}: has half a character ("),
        (b"[]", "$: is not an object"),
        (b"null", "$: is not an object"),
        (b'"rocketmq-capacity/inventory/1"', "$: is not an object"),
        (json.dumps(CLUSTER).encode("utf-16"), "byte 0: is not UTF-8"),
        (json.dumps(cluster_with("topics[0].topic", "é"), ensure_ascii=False).encode("latin-1"), "byte "),
    ],
)
def test_what_is_no_json_in_utf_8_is_refused(refusal: Refusal, tmp_path: Path, data: bytes, said: str) -> None:
    file = tmp_path / "inventory.json"
    file.write_bytes(data)
    assert refusal("plan", f"--inventory={file}", "--out=out").startswith(f"{file}: {said}")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *((f"{QUEUES}.perm", value) for value in (0, 7, None)),
        *((f"{QUEUES}.read_queue_nums", value) for value in (0, 65_536, None)),
        *((f"{WRITTEN}.max_offset", value) for value in (0, 2**63 - 1, None)),
        (f"{WRITTEN}.put_msgs_per_s", 0),
        (f"{CLIENT}.owned_queues[0].queue_id", -1),
        (f"{GROUP}.pop_share_queue_num", -1),
        (f"{GROUP}.message_model", "LITE_SELECTIVE"),
        *((f"{GROUP}.consume_from_where", value) for value in (*CONSUME_FROM_WHERE, None)),
        (f"{CLIENT}.protocol", "REMOTING"),
        (f"{CLIENT}.seen_on", ["broker-a", "10.0.8.1:8080", "10.0.8.2:8080"]),
        ("proxies[0].mode", "LOCAL"),
        ("proxies", []),
        (f"{GROUP}.clients[1]", CLUSTER["consumer_groups"][0]["clients"][0]),
        (f"{GROUP}.subscriptions[0].topic", "absent"),
        (f"{QUEUES}.broker_name", "absent"),
        ("brokers[1]", {"broker_name": "broker-a", "broker_id": 1}),
        ("cluster_name", "x" * 255),
        ("taken_at", "1970-01-01T00:00:00Z"),
        ("taken_at", "2026-11-20T02:00:00.5+00:00"),
        *((part, []) for part in ("brokers", "topics", "consumer_groups")),
        ("a_member_of_a_later_version", {"any": "thing"}),
    ],
)
def test_what_the_contract_allows_is_read(place: str, value: Any) -> None:
    cluster = cluster_with(place, value)
    read = parse_inventory(json.dumps(cluster).encode(), source="inventory")
    assert read.cluster_name == cluster["cluster_name"]


@pytest.mark.parametrize(
    "place",
    [
        *("nameserver_views", f"{VIEW}.brokers", f"{VIEW}.routes"),
        *("proxies", "proxies[0].mode", "proxies[0].version", f"{CLIENT}.protocol"),
        *("nameservers", "failures", "brokers[0].broker_addr", "brokers[0].broker_perm", "topics[0].queues"),
        *("topics[0].offsets", "topics[0].order", f"{GROUP}.clients", f"{GROUP}.offsets", f"{GROUP}.subscriptions"),
        *(f"{GROUP}.message_model", f"{CLIENT}.seen_on", f"{CLIENT}.owned_queues", f"{CLIENT}.status"),
        *(f"{READ}.samples", f"{READ}.consumer_offset", f"{CLIENT}.allocate_strategy", f"{CLIENT}.answered_at"),
        *(f"{CLIENT}.owned_queues[0].{name}" for name in ("dropped", "locked", "cached_msgs", "last_pulled_at")),
    ],
)
def test_an_optional_member_may_be_missing_or_null(place: str) -> None:
    for value in (LEFT_OUT, None):
        parse_inventory(json.dumps(cluster_with(place, value)).encode(), source="inventory")


TEXT: Final = json.dumps(CLUSTER)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (TEXT.replace('"taken_at"', '"taken_at": "2020-01-01T00:00:00Z", "taken_at"', 1), "$.taken_at"),
        (TEXT.replace('"perm"', '"perm": null, "perm"', 1), "$.topics[0].queues[0].perm"),
        (TEXT.replace('"perm"', '"perm" : 6,\n"perm"', 1), "$.topics[0].queues[0].perm"),
        (TEXT.replace('"client_id"', '"client_\\u0069d": "x", "client_id"', 1), f"$.{CLIENT}.client_id"),
        (TEXT.replace('"perm"', '"\\uff5e\\\\": 6, "\\uff5e\\\\": 6, "perm"', 1), "$.topics[0].queues[0].\uff5e\\"),
        (TEXT.replace('"perm"', '"\\u003a": "\\u003a", "\\u003a": 6, "perm"', 1), "$.topics[0].queues[0].:"),
        (TEXT.replace('"taken_at"', '"unknown": {"a": [1, {"b": 1, "b": 2}]}, "taken_at"', 1), "$.unknown.a[1].b"),
        (
            json.dumps(CLUSTER, separators=(",", ":")).replace('"perm"', '"perm":6,"perm"', 1),
            "$.topics[0].queues[0].perm",
        ),
    ],
)
def test_a_member_that_is_given_twice_is_named(refusal: Refusal, tmp_path: Path, text: str, place: str) -> None:
    (tmp_path / "inventory.json").write_text(text)
    line = refusal("plan", "--inventory=inventory.json", "--out=out")
    assert line == f"inventory.json: {place}: is given twice; expected each member of an object once"


def test_names_in_values_are_no_members(tmp_path: Path) -> None:
    odd = {"broker_name": 'a":{"b":', "config": {":": '":', "x": ":"}}
    inventory = parse_inventory(json.dumps({**CLUSTER, "brokers": [odd]}).encode(), source="odd")
    assert inventory.brokers[0].config == odd["config"]


def test_a_device_is_no_inventory(refusal: Refusal) -> None:
    line = refusal("plan", "--inventory=/dev/zero", "--out=out")
    assert line == "/dev/zero: is a device; expected an inventory file"
