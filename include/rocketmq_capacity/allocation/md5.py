"""MD5 (RFC 1321) of many texts at once, with numpy: a step of the algorithm is one operation on whole columns.

hashlib and Spark make an object for each text, which for short texts takes several times the time of the hashing.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Words = npt.NDArray[np.uint32]
Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.void]
"""Of so many bytes each."""

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


def first_words(beginnings: pa.BinaryArray, whose: Integers, numbers: Integers, ending: bytes = b"") -> Integers:
    """The first four bytes of each digest, as a big-endian number.

    The texts: ``beginnings[whose]``, then the number in digits, then the ending. No beginning may be null, numbers have
    at most nine digits, and ``whose`` had better ascend: what texts near one another begin with is prepared once.
    """
    data, starts, lengths = _bytes(beginnings)
    endings = np.array([b"%d%b\x80" % (number, ending) for number in range(int(numbers.max(initial=0)) + 1)])
    tails, behind = endings.view(f"V{endings.itemsize}"), np.char.str_len(endings) - 1
    longest = int(lengths.max(initial=0)) + endings.itemsize + _LENGTH + _BLOCK
    data = np.append(data, np.zeros(longest, np.uint8))
    digests = np.empty(len(numbers), np.uint32)
    for start in range(0, len(numbers), _AT_A_TIME):
        some = slice(start, start + _AT_A_TIME)
        ends = lengths[whose[some]] + behind[numbers[some]]
        blocks = (ends + _LENGTH) // _BLOCK + 1
        for count in np.flatnonzero(np.bincount(blocks)).tolist():
            alike = start + np.flatnonzero(blocks == count)
            beginning, first = whose[alike], whose[alike].min()
            near = slice(first, beginning.max() + 1)
            texts = _padded(data, starts[near], lengths[near], count * _BLOCK)[beginning - first]
            _place(tails[numbers[alike]], texts, lengths[beginning])
            _words(texts, np.uint64)[:, -1] = ends[alike - start] * 8
            digests[alike] = _digests(np.ascontiguousarray(_words(texts, np.uint32).T))
    return digests.byteswap().astype(np.int64)


def _bytes(texts: pa.BinaryArray) -> tuple[Bytes, Integers, Integers]:
    """All bytes of the texts, and where each text starts and how long it is."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    return np.frombuffer(texts.buffers()[2] or b"", np.uint8), offsets[:-1], np.diff(offsets)


def _padded(data: Bytes, starts: Integers, lengths: Integers, size: int) -> Rows:
    """So many bytes of each text, zeros after its end."""
    rows = _from_each_byte(data, size)[starts]
    _words(rows, np.uint8)[:] *= np.arange(size) < lengths[:, None]
    return rows


def _place(tails: Rows, texts: Rows, at: Integers) -> None:
    """Write a tail into each text, from so many bytes on."""
    bytes_from = _from_each_byte(texts.view(np.uint8), tails.itemsize)
    bytes_from[np.arange(len(texts)) * texts.itemsize + at] = tails


def _from_each_byte(data: Bytes, size: int) -> Rows:
    """A view of the so many bytes from each byte on."""
    return np.ndarray(len(data) - size + 1, f"V{size}", data, strides=1)


def _words(rows: Rows, word: type[np.unsignedinteger[Any]]) -> npt.NDArray[Any]:
    """The same bytes as unsigned integers: one row a text."""
    return rows.view(word).reshape(len(rows), -1)


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
