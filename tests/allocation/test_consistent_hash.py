"""What the fleets of the differential test are too small, or too ordinary, to reach."""

import hashlib

import pyarrow as pa
import pytest

from rocketmq_capacity.allocation import consistent_hash, md5

TEXTS = [("ü§€x" * 90).encode()[:length] for length in range(300)]
"""Of every length, over the bounds of a block: 55 and 56 bytes, 64, 119 and so on."""


def test_many_digests_at_once_are_those_of_hashlib() -> None:
    texts = pa.array(TEXTS * 300, pa.binary())  # more than are hashed together
    expected = [int.from_bytes(hashlib.md5(text, usedforsecurity=False).digest()[:4], "big") for text in TEXTS]
    assert md5.first_words(texts).tolist() == expected * 300
    assert md5.first_words(texts[3:7]).tolist() == expected[3:7]
    assert md5.first_words(texts[:0]).tolist() == []


def test_groups_are_searched_alike_together_and_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = [{"broker_name": name, "readable": 9} for name in ("broker-a", "broker-b")]
    topics = [{"topic": f"topic-{number}", "brokers": brokers} for number in range(3)]
    clients = [[f"10.0.0.{number % 7}@{group}" for number in range(group)] for group in range(12)]
    columns = {
        "consumer_group": [f"group-{group:02}" for group in range(12)],
        "client_ids": [sorted(ids) for ids in clients],
        "topics": [topics[: 1 + group % 3] for group in range(12)],
    }
    batch = pa.RecordBatch.from_pydict(columns)
    together = consistent_hash.owners_in(batch, ["consumer_group"], 10)
    monkeypatch.setattr(consistent_hash, "_NODES_AT_A_TIME", 50)
    apart = consistent_hash.owners_in(batch, ["consumer_group"], 10)
    assert apart.equals(together)
    owners = together.to_pydict()
    assert len(owners["topic"]) == 23  # eleven groups have consumers
    assert {len(places) for places in owners["hash_owners"]} == {18}
    assert len({tuple(places) for places in owners["hash_owners"]}) > 15
