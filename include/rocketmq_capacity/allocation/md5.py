"""MD5 (RFC 1321) of many texts at once, with numpy: a step of the algorithm is one operation on whole columns.

hashlib and Spark make an object for each text, which for short texts takes several times the time of the hashing.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Words = npt.NDArray[np.uint32]
Integers = npt.NDArray[np.int64]

_BLOCK: Final = 64
_LENGTH: Final = 8
_AT_A_TIME: Final = 16_384
"""Texts: their words and what a step makes of them stay in a core's cache."""

_START: Final = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_SINES: Final = (np.abs(np.sin(np.arange(1, 65))) * 2**32).astype(np.uint32)
_SHIFTS: Final = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
_WORDS: Final = ((1, 0), (5, 1), (3, 5), (7, 0))
_MIXES: Final[tuple[Callable[[Words, Words, Words], Words], ...]] = (
    lambda b, c, d: d ^ (b & (c ^ d)),
    lambda b, c, d: c ^ (d & (b ^ c)),
    lambda b, c, d: b ^ c ^ d,
    lambda b, c, d: c ^ (b | ~d),
)
"""Of each round of 16 steps: how far words turn, which word of the block comes next (a * step + b), what is mixed."""


def first_words(texts: pa.BinaryArray) -> Integers:
    """The first four bytes of each digest, as a big-endian number. No text may be null."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    lengths = np.diff(offsets)
    blocks = (lengths + _LENGTH) // _BLOCK + 1
    longest = int(blocks.max(initial=1)) * _BLOCK
    data = np.append(np.frombuffer(texts.buffers()[2] or b"", np.uint8), np.zeros(longest, np.uint8))
    digests = np.empty(len(texts), np.uint32)
    for count in range(1, longest // _BLOCK + 1):
        alike = np.flatnonzero(blocks == count)
        for start in range(0, len(alike), _AT_A_TIME):
            some = alike[start : start + _AT_A_TIME]
            digests[some] = _digests(_padded(data, offsets[some], lengths[some], count))
    return digests.byteswap().astype(np.int64)


def _padded(data: npt.NDArray[np.uint8], starts: Integers, lengths: Integers, blocks: int) -> Words:
    """Texts of so many blocks each, as little-endian words of 32 bits: one row a word, one column a text."""
    size = blocks * _BLOCK
    places, ends = np.arange(size), np.arange(size + 1)[:, None]
    keep = np.where(places < ends, 0xFF, 0).astype(np.uint8)
    end = np.where(places == ends, 0x80, 0).astype(np.uint8)
    from_each_byte = np.ndarray(len(data) - size + 1, f"V{size}", data, strides=1)
    padded = _long_words(from_each_byte[starts])
    padded &= _long_words(keep.view(f"V{size}").ravel()[lengths])
    padded |= _long_words(end.view(f"V{size}").ravel()[lengths])
    padded[:, -1] = lengths * 8
    return np.ascontiguousarray(padded.view(np.uint32).T)


def _long_words(rows: npt.NDArray[np.void]) -> npt.NDArray[np.uint64]:
    return rows.view(np.uint64).reshape(len(rows), -1)


def _digests(words: Words) -> Words:
    """The first word of each digest."""
    state = [np.full(words.shape[1], word, np.uint32) for word in _START]
    for block in words.reshape(-1, _BLOCK // 4, words.shape[1]):
        a, b, c, d = state
        for step in range(64):
            kind = step // 16
            times, plus = _WORDS[kind]
            turned = _MIXES[kind](b, c, d)
            turned += a
            turned += block[(times * step + plus) % 16]
            turned += _SINES[step]
            shift = _SHIFTS[kind][step % 4]
            high = turned << shift
            turned >>= 32 - shift
            turned |= high
            turned += b
            a, b, c, d = d, turned, b, c
        state = [before + after for before, after in zip(state, (a, b, c, d), strict=True)]
    return state[0]
