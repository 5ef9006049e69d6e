"""Inputs that are nearly right: seeds with a few seeded changes."""

import random
from collections.abc import Iterator, Sequence
from typing import Final

PIECES: Final = (
    b"",
    b"-1",
    b"null",
    b"[]",
    b"{}",
    b'""',
    b"1e400",
    b"9" * 400,
    b"1" + b"0" * 30,
    b"9" * 5_000,
    b'"\\ud800"',
    b"\xff",
    b"\x00",
    b"\x1b[2J",
    b"[" * 900,
    b'{"a":' * 700,
    b"\\",
    b'"',
    b"\n",
    b"\xe2\x80\xae",
)
"""What decoders are often wrong about."""
MOST_CHANGES: Final = 4


def mutations(seeds: Sequence[bytes], count: int, chance: random.Random, longest: int) -> Iterator[bytes]:
    """So many changed seeds; the same for the same chance."""
    for _ in range(count):
        data = chance.choice(seeds)
        for _ in range(chance.randint(1, MOST_CHANGES)):
            data = _changed(data, seeds, chance)
        yield data[:longest]


def _changed(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    begin = chance.randint(0, len(data))
    end = min(len(data), begin + chance.choice((0, 1, 2, 8, 64)))
    match chance.randrange(5):
        case 0:
            piece = chance.choice(PIECES)
        case 1:
            piece = bytes([chance.randrange(256)])
        case 2:
            piece = data[begin:end] * 2
        case 3:
            other = chance.choice(seeds)
            start = chance.randint(0, len(other))
            piece = other[start : start + 32]
        case _:
            piece = b""
    return data[:begin] + piece + data[end:]
