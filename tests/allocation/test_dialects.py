"""Go clients and old Java clients, compared with what their own code gave (``recorded/``, with what recorded it)."""

import json
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pytest

from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.allocation.dialect import dialect_of
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Verdict
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client
from tests.fixtures.units import units_of
from tests.simulation.clusters import cluster, group, queues, topic

RECORDED: Final = Path(__file__).parent / "recorded"
GO: Final = {"language": "GO", "version": "V4_5_2"}
OLD: Final = {"language": "JAVA", "version": "V4_7_1"}
NEW: Final = {"language": "JAVA", "version": "V5_3_3"}
Owned = Counter[tuple[str, str]]
"""Client id and queue, as often as consumers own it."""


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDED / name).read_text("utf-8").splitlines()]


def policy_of(record: dict[str, Any]) -> Policy:
    return Policy.model_validate({
        "strategies": [record["strategy"]],
        "machine_rooms": record.get("machine_rooms", []),
        "consistent_hash": {"virtual_nodes": record.get("virtual_nodes", 10)},
    })


def divisions_of(asked: list[dict[str, Any]], libraries: list[list[dict[str, Any]]]) -> list[Division]:
    """A group and a topic for each record; each of its clients runs one of its libraries."""
    topics, groups = [], []
    for number, (record, of_clients) in enumerate(zip(asked, libraries, strict=True)):
        places = (queues(place["broker_name"], place["read_queue_nums"]) for place in record["places"])
        topics.append(topic(record["topic"], *places))
        members = [Client(client_id=one, **of) for one, of in zip(record["client_ids"], of_clients, strict=True)]
        groups.append(group(f"g{number:02}", members, [topics[-1]]))
    found = {facts.consumer_group: facts for facts in units_of(cluster(topics, groups)).business_groups}
    return [Division.of(found[f"g{number:02}"]) for number in range(len(asked))]


def planned(asked: list[dict[str, Any]], libraries: list[list[dict[str, Any]]]) -> list[tuple[Owned, Verdict]]:
    said = []
    for record, division in zip(asked, divisions_of(asked, libraries), strict=True):
        strategies = Strategies(policy_of(record))
        (rows,) = rows_of(division, strategies)
        ids = division.members.client_ids
        owned = Counter((ids[client], f"{queue.broker_name}:{queue.queue_id}") for client, queue in rows.named())
        said.append((owned, strategies.verdict(record["strategy"], division)))
    return said


def all_of(library: dict[str, Any], asked: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [[library] * len(record["client_ids"]) for record in asked]


def recorded(record: dict[str, Any]) -> Owned:
    """Each consumer owns a queue once, however often its list has it."""
    each = zip(record["client_ids"], record["owned"], strict=True)
    return Counter(chain.from_iterable(((client, queue) for queue in set(own)) for client, own in each))


@pytest.mark.parametrize(
    "strategy", ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY-AVG"]
)
def test_groups_of_go_clients_are_allocated_as_these_do(strategy: str) -> None:
    asked = [record for record in records("go_v2.jsonl") if record["strategy"] == strategy]
    assert len(asked) == 24
    has_own_code = strategy not in ("AVG", "AVG_BY_CIRCLE")
    for record, (owned, verdict) in zip(asked, planned(asked, all_of(GO, asked)), strict=True):
        assert owned == recorded(record)
        assert verdict == Verdict(is_applicable=True, dialects=("GO_V2",) if has_own_code else ())


def test_groups_of_java_clients_up_to_4_7_1_are_allocated_by_machine_room_as_these_do() -> None:
    asked = records("java_4_7_1.jsonl")
    assert len(asked) == 24
    for record, (owned, verdict) in zip(asked, planned(asked, all_of(OLD, asked)), strict=True):
        assert owned == recorded(record)
        assert verdict == Verdict(is_applicable=True, dialects=("JAVA_4_7_1",))


@pytest.mark.parametrize("name", ["go_v2.jsonl", "java_4_7_1.jsonl"])
def test_the_recorded_groups_tell_the_dialects_apart(name: str) -> None:
    """Else the tests above would pass with one code for all."""
    asked = [one for one in records(name) if one["strategy"] in ("CONSISTENT_HASH", "MACHINE_ROOM")]
    for strategy in {one["strategy"] for one in asked}:
        of_one = [one for one in asked if one["strategy"] == strategy]
        of_new = planned(of_one, all_of(NEW, of_one))
        differ = sum(owned != recorded(one) for one, (owned, _) in zip(of_one, of_new, strict=True))
        assert differ > len(of_one) / 2


@pytest.mark.parametrize("strategy", ["CONSISTENT_HASH", "MACHINE_ROOM"])
def test_in_a_group_of_several_libraries_each_client_owns_what_its_own_code_gives(strategy: str) -> None:
    asked = [
        one
        for one in records("go_v2.jsonl")
        if one["strategy"] == strategy and len(set(one["client_ids"])) == len(one["client_ids"]) > 1
    ]
    assert len(asked) > 10
    torn = [[GO if index % 2 else NEW for index in range(len(one["client_ids"]))] for one in asked]
    of_all_new = planned(asked, all_of(NEW, asked))
    for record, (owned, verdict), (of_new, _) in zip(asked, planned(asked, torn), of_all_new, strict=True):
        go = set(record["client_ids"][1::2])
        assert owned == Counter({
            **{pair: count for pair, count in recorded(record).items() if pair[0] in go},
            **{pair: count for pair, count in of_new.items() if pair[0] not in go},
        })
        assert verdict == Verdict(is_applicable=True, dialects=("GO_V2", "JAVA"))


def test_of_consumers_that_share_an_id_and_differ_in_their_library_nothing_is_computed() -> None:
    record = records("go_v2.jsonl")[2] | {"client_ids": ["c1", "c1", "c2"]}
    (division,) = divisions_of([record], [[GO, NEW, NEW]])
    assert Strategies(policy_of(record)).verdict("CONSISTENT_HASH", division) == Verdict(
        is_applicable=False,
        reason="consumers of different libraries share the client id c1, and compute it differently",
    )


@pytest.mark.parametrize(
    ("library", "dialect"),
    [
        (NEW, "JAVA"),
        (OLD, "JAVA_4_7_1"),
        (GO, "GO_V2"),
        ({"language": "JAVA", "version": "V3_2_6"}, "JAVA_4_7_1"),
        ({"language": "JAVA", "version": "V4_7_0_SNAPSHOT"}, "JAVA_4_7_1"),
        ({"language": "JAVA", "version": "V4_8_0"}, "JAVA"),
        ({"language": "CPP", "version": "V4_7_1"}, "JAVA"),
        ({"language": "JAVA", "version": "something else"}, "JAVA"),
        ({"language": "JAVA"}, "JAVA"),
        ({}, "JAVA"),
        ({"version": "V4_7_1"}, "JAVA_4_7_1"),
        ({"language": "GO"}, "GO_V2"),
    ],
)
def test_language_and_version_tell_the_dialect(library: dict[str, Any], dialect: str) -> None:
    assert dialect_of(library.get("language"), library.get("version")) == dialect
