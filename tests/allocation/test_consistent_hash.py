"""What the fleets of the differential test are too small, or too ordinary, to reach."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from rocketmq_capacity.allocation import consistent_hash, md5

BEGINNINGS = [("ü§€x" * 90).encode()[:length] for length in range(300)]
"""Of every length, over the bounds of a block: 55 and 56 bytes, 64, 119 and so on."""


@pytest.mark.parametrize("ending", [b"", b"]", b" and more than eight bytes"])
def test_many_digests_at_once_are_those_of_hashlib(ending: bytes) -> None:
    numbers = [0, 7, 10, 99, 100, 12_345]
    pairs = [(whose, number) for whose in range(len(BEGINNINGS)) for number in numbers] * 12  # more than go together
    texts = [b"%b%d%b" % (BEGINNINGS[whose], number, ending) for whose, number in pairs]
    expected = [int.from_bytes(hashlib.md5(text, usedforsecurity=False).digest()[:4], "big") for text in texts]
    whose, number = np.array(pairs).T
    beginnings = pa.array(BEGINNINGS, pa.binary())
    assert md5.first_words(beginnings, whose, number, ending).tolist() == expected
    some = slice(6 * 100, 6 * 103)
    assert md5.first_words(beginnings[100:103], whose[some] - 100, number[some], ending).tolist() == expected[some]
    assert md5.first_words(beginnings, whose[:0], number[:0], ending).tolist() == []
    assert md5.first_words(beginnings[:0], whose[:0], number[:0], ending).tolist() == []


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
