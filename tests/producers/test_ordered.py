"""Which share of ordered messages goes to other queues: by the Proxy's hash, and by the selector for keys."""

from math import lcm
from typing import Final

import pytest

from rocketmq_capacity.producers import moved_keys, moved_message_groups, ordered_write_queues


def consistent_hash(key: int, buckets: int) -> int:
    """Guava's Hashing.consistentHash, line by line."""
    state, candidate = key % 2**64, 0
    while True:
        state = (2862933555777941757 * state + 1) % 2**64
        following = int((candidate + 1) / (((state >> 33) + 1) / 2**31))
        if not 0 <= following < buckets:
            return candidate
        candidate = following


CHANGES: Final = [
    ({"a": 4}, {"a": 8}),
    ({"a": 1}, {"a": 64}),
    ({"a": 2, "b": 2}, {"a": 3, "b": 3}),
    ({"a": 4, "b": 4}, {"a": 8, "b": 8}),
    ({"a": 1, "b": 3, "c": 2}, {"a": 4, "b": 4, "c": 4}),
    ({"a": 2, "b": 2}, {"a": 2, "b": 2, "c": 2}),
    ({"a": 8}, {"a": 4}),
    ({"a": 4, "b": 4, "c": 4}, {"a": 4, "c": 4}),
    ({"a": 4, "b": 4}, {"b": 4, "c": 4}),
]


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_the_share_is_what_the_hash_of_the_proxy_moves(before: dict[str, int], after: dict[str, int]) -> None:
    old, new = (ordered_write_queues(counts) for counts in (before, after))
    keys = range(0, 2_000_000, 101)
    moved = sum(old[consistent_hash(key, len(old))] != new[consistent_hash(key, len(new))] for key in keys)
    assert moved_message_groups(old, new) == pytest.approx(moved / len(keys), abs=0.015)


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_the_share_of_keys_is_what_every_hash_moves(before: dict[str, int], after: dict[str, int]) -> None:
    old, new = (ordered_write_queues(counts) for counts in (before, after))
    hashes = range(lcm(len(old), len(new)))
    moved = sum(old[key % len(old)] != new[key % len(new)] for key in hashes)
    assert moved_keys(old, new) == pytest.approx(moved / len(hashes), abs=1e-12)


def test_queues_stand_by_broker_in_javas_order() -> None:
    assert ordered_write_queues({"b": 1, "a": 2, "B": 1}) == [("B", 0), ("a", 0), ("a", 1), ("b", 0)]
