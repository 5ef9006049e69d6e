"""No English is left in a Chinese error, though pydantic, msgspec, argparse and the system have said a part of it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from rocketmq_capacity.cli import OPTIONS, arguments
from rocketmq_capacity.client.options import ConnectionOptions, read_connection
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.language.current import error_words, speaking
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.yaml_file import mapping_of_text, validated
from rocketmq_capacity.simulation.change import changes
from rocketmq_capacity.simulation.scenario import apply, scenario_of_text
from rocketmq_capacity.snapshot.inventory_file import parse_inventory
from rocketmq_capacity.vocabulary import SQL92
from tests.cli.small_cluster import cluster_with
from tests.fixtures.environment import ROOT
from tests.language.others import SYSTEM

BAD: tuple[Any, ...] = (
    None,
    "x",
    "",
    -1,
    1e9,
    2.5,
    float("inf"),
    True,
    0,
    [],
    ["x"],
    [{}],
    [-1],
    {},
    {"x": 1},
    "2027-13-45",
    "a" * 999,
)
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|rocketmq-capacity( plan)? --help")
WORDS = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
HAN = re.compile("[\u4e00-\u9fff]")


def said(error: object) -> str:
    with speaking("zh-CN"):
        return error_words(str(error))


def left_english(errors: Iterable[BadInput]) -> list[str]:
    """The errors that are not wholly Chinese, except for the place and for values."""
    lines = {str(error): said(error) for error in errors}
    assert lines
    return [line for line in lines.values() if not HAN.search(line) or WORDS.search(QUOTED.sub("", line))]


def places(
    schema: dict[str, Any], node: dict[str, Any], place: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    """Every place that a document of this schema can have; 0 is in a list."""
    node = schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    for one in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        yield from places(schema, one, place)
    for name, inner in node.get("properties", {}).items():
        yield (*place, name)
        yield from places(schema, inner, (*place, name))
    for name, inner in ((0, node.get("items")), ("some", node.get("additionalProperties"))):
        if isinstance(inner, dict):
            yield (*place, name)
            yield from places(schema, inner, (*place, name))


def documents(model: type[BaseModel]) -> Iterator[dict[str, Any]]:
    """Documents with one wrong value each."""
    schema = model.model_json_schema()
    for place in dict.fromkeys(places(schema, schema)):
        for value in BAD:
            document: Any = value
            for name in reversed(place):
                document = [document] if name == 0 else {name: document}
            yield document


def errors_of(read: Any, inputs: Iterable[Any]) -> Iterator[BadInput]:
    for one in inputs:
        try:
            read(one)
        except BadInput as error:
            yield error


def test_what_is_wrong_with_any_key_of_a_policy() -> None:
    errors = errors_of(lambda one: validated(one, Policy, "policy.yaml"), documents(Policy))
    assert left_english(errors) == []


def test_what_is_wrong_with_any_field_of_a_change() -> None:
    for change in changes():
        name = {"change": change.change_name()}
        texts = [json.dumps({"name": "x", "changes": [{**name, **one}]}) for one in documents(change)]
        assert left_english(errors_of(lambda text: scenario_of_text(text, "scenario.yaml"), texts)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"change": "add_clients", "consumer_group": "x", "count": 1},
        {"change": "remove_clients", "consumer_group": "g_pay", "client_ids": ["x"]},
        {"change": "remove_clients", "consumer_group": "g_pay", "count": 9},
        {"change": "set_queues", "topic": "x", "read_queue_nums": 1, "write_queue_nums": 1},
        {"change": "set_queues", "topic": "pay", "broker_name": "x", "read_queue_nums": 1, "write_queue_nums": 1},
        {"change": "add_broker", "broker_name": "b", "topics_like": "x"},
        {"change": "add_broker", "broker_name": "broker-a", "topics_like": "broker-a"},
        {"change": "lose_room", "room": "x"},
        {"change": "lose_nameserver", "nameserver": "10.0.0.1:1"},
        {"change": "set_request_mode", "consumer_group": "g_pay", "topic": "x", "message_request_mode": "POP"},
        {"change": "subscribe", "consumer_group": "g_pay", "topic": "pay", "expression": "*"},
        {"change": "subscribe", "consumer_group": "g_pay", "topic": "pay", "expression": "a", "expression_type": SQL92},
        {"change": "subscribe", "consumer_group": "g_pay", "topic": "TBW102", "expression": "*"},
        {"change": "unsubscribe", "consumer_group": "g_pay", "topic": "x"},
    ],
)
def test_what_the_cluster_of_a_change_does_not_have(change: dict[str, Any]) -> None:
    scenario = scenario_of_text(json.dumps({"name": "x", "changes": [change]}), "scenario.yaml")
    cluster = cluster_with("topics[1]", {"topic": "TBW102"})
    cluster["brokers"][0]["config"]["enablePropertyFilter"] = "false"
    inventory = parse_inventory(json.dumps(cluster).encode(), source="inventory.json")
    errors = errors_of(lambda one: apply(inventory, one, Policy(), "scenario.yaml"), [scenario])
    assert left_english(errors) == []


@pytest.mark.parametrize(
    "policy",
    [{1: 2}, {"accepted": [{"rule": "HOT_QUEUE", "by": "li", "why": "x", "until": "2027-03-01"}]}],
)
def test_what_is_wrong_with_a_policy_as_a_whole(policy: dict[Any, Any]) -> None:
    assert left_english(errors_of(lambda one: validated(one, Policy, "policy.yaml"), [policy])) == []


def test_what_is_wrong_with_any_field_of_a_connection(tmp_path: Path) -> None:
    file = tmp_path / "connection.yaml"

    def read(document: dict[str, Any]) -> None:
        file.write_text(json.dumps(document))
        read_connection(file)

    assert left_english(errors_of(read, documents(ConnectionOptions))) == []


def test_what_is_wrong_with_any_member_of_an_inventory() -> None:
    whole = json.loads((ROOT / "include" / "sample" / "inventory.json").read_text())
    small = {name: value[:1] if isinstance(value, list) else value for name, value in whole.items()}
    errors = errors_of(lambda data: parse_inventory(data, source="inventory.json"), changed(small))
    assert left_english(errors) == []


def changed(document: Any) -> Iterator[bytes]:
    """The document with each of its values wrong, and without each of its members."""
    for place in members(document):
        *above, last = place
        for value in (None, "", "x", -1, 2.5, True, [], {}, ["x"], {"x": 1}, KeyError):
            whole = deepcopy(document)
            inner = whole
            for name in above:
                inner = inner[name]
            if value is not KeyError:
                inner[last] = value
            elif isinstance(last, str):
                del inner[last]
            yield json.dumps(whole).encode()


def members(node: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    pairs = node.items() if isinstance(node, dict) else enumerate(node[:1]) if isinstance(node, list) else ()
    for name, inner in pairs:
        yield (*place, name)
        yield from members(inner, (*place, name))


@pytest.mark.parametrize("text", ["{", "", "x", '{"a":1,}', "[1", '{"a" 1}', "{} x", '"', "[]", "[1,]", "{1:1}"])
def test_what_is_wrong_with_json(text: str) -> None:
    errors = errors_of(lambda data: parse_inventory(data, source="inventory.json"), [text.encode()])
    assert left_english(errors) == []


@pytest.mark.parametrize("text", ["a: b: c", "a:\n\tb: 1", "a: [", "a: {b", "a: 'b", "a\nb: 1", "- a\nb: 1", "a: @b"])
def test_what_is_wrong_with_yaml(text: str) -> None:
    errors = list(errors_of(lambda one: mapping_of_text(one, "policy.yaml", "a policy file"), [text]))
    english = re.compile(r"（.*）|\(.*\)")
    assert all(HAN.search(english.sub("", said(error))) for error in errors)
    assert errors


@pytest.mark.parametrize("number", SYSTEM)
def test_what_the_system_says(number: int) -> None:
    line = said(f"/x: cannot be read ({os.strerror(number)}); expected a policy file")
    assert re.fullmatch(r"/x: 无法读取（[^A-Za-z]+）；应为策略文件", line), line


@pytest.mark.parametrize(
    "words",
    [
        ["plan"],
        ["plan", "--out"],
        ["plan", "--out", "x", "--overwrite=1"],
        ["plan", "--out", "x", "--language", "fr"],
        ["fly"],
    ],
)
def test_what_argparse_says(words: list[str]) -> None:
    assert left_english(errors_of(arguments, [words])) == []


@pytest.mark.parametrize("command", ["", *OPTIONS])
def test_the_help_is_chinese_and_fits(command: str) -> None:
    program = [sys.executable, "-m", "rocketmq_capacity", *command.split(), "--help", "--language", "zh-CN"]
    told = subprocess.run(program, capture_output=True, text=True, timeout=300, check=True).stdout
    assert told.startswith("用法：")
    assert "选项:" in told
    assert not WORDS.search(told.replace("rocketmq-capacity", "").partition("\n\n")[2].replace("Apache RocketMQ", ""))
    assert max(len(line) + len(HAN.findall(line)) for line in told.splitlines()) <= 80
