"""Faults of a network between our client and a server: what it does with an answer instead of passing it on."""

import asyncio
import random
import struct
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rocketmq_capacity.protocol.frame import encode_frame
from rocketmq_capacity.protocol.limits import MAX_BODY_BYTES
from tests.cluster.faulty_network import Answer, Fault

ANSWER_S: Final = 2.0
"""The limit of a request; a real answer takes milliseconds, on a busy machine some hundred."""
FOR_EVER: Final = 3_600.0


async def drip(answer: Answer) -> None:
    """A byte now and then: a whole answer would take minutes."""
    for at in range(len(answer.frame)):
        await answer.send(answer.frame[at : at + 1])
        await asyncio.sleep(0.5)


async def stall(answer: Answer) -> None:
    """Half a frame, and then nothing."""
    await answer.send(answer.frame[: len(answer.frame) // 2])
    await asyncio.sleep(FOR_EVER)


async def stall_in_a_large_frame(answer: Answer) -> None:
    """The beginning of a frame that is as large as is allowed."""
    await answer.send(struct.pack(">II", 60 * 2**20, 100) + b" " * 2**20)
    await asyncio.sleep(FOR_EVER)


async def say_nothing(answer: Answer) -> None:
    """As a frozen process."""
    await asyncio.sleep(FOR_EVER)


async def reset(answer: Answer) -> None:
    """The connection ends instead of an answer."""
    answer.reset()


async def reset_half_way(answer: Answer) -> None:
    """The connection ends in the middle of a frame."""
    await answer.send(answer.frame[: len(answer.frame) // 2])
    answer.reset()


async def garbage(answer: Answer) -> None:
    """Bytes that are no frames."""
    await answer.send(random.Random(answer.request.opaque).randbytes(10_000))


async def oversized(answer: Answer) -> None:
    """A length beyond all limits, and as many bytes as are taken."""
    await answer.send(struct.pack(">I", 2**31 - 1))
    for _ in range(1_000):
        await answer.send(b"\0" * 2**20)


async def bomb(answer: Answer) -> None:
    """A small body that would be a large one."""
    await answer.send(encode_frame(replace(answer.response, code=0, remark=None, body=BOMB)))


async def other_number(answer: Answer) -> None:
    """An answer to a request that nobody sent."""
    await answer.send(encode_frame(replace(answer.response, opaque=answer.response.opaque + 1_000_000)))


async def no_response(answer: Answer) -> None:
    """The number of our request, in a request of the server's own."""
    await answer.send(encode_frame(replace(answer.response, flag=0)))


async def flood(answer: Answer) -> None:
    """Answers to nothing, as many as are taken."""
    stray = encode_frame(replace(answer.response, opaque=answer.response.opaque + 1_000_000, body=b"x" * 10_000))
    while True:
        await answer.send(stray)
        await asyncio.sleep(0.001)


async def cut(answer: Answer) -> None:
    """A whole frame, whose body ends too early."""
    body = answer.response.body
    await answer.send(encode_frame(replace(answer.response, body=body[: len(body) // 2])))


async def late(answer: Answer) -> None:
    """After the limit of the request."""
    answer.send_later(answer.frame, ANSWER_S + 1)


async def doubled(answer: Answer) -> None:
    """Twice, at once and later again, with a body that is not the right one."""
    await answer.send(answer.frame + answer.frame)
    answer.send_later(encode_frame(replace(answer.response, body=b'{"offsetTable":{}}')), 0.2)


def refuses_with(code: int) -> Fault:
    async def refuse(answer: Answer) -> None:
        await answer.send(encode_frame(replace(answer.response, code=code, remark="so it is", body=b"")))

    return refuse


BOMB: Final = zlib.compress(b"\0" * (MAX_BODY_BYTES + 2**20), 1)
STALLING: Final = (drip, stall, stall_in_a_large_frame, say_nothing, other_number, no_response, flood)
FAULTS: Final[Mapping[str, Fault]] = {
    **{fault.__name__: fault for fault in (*STALLING, reset, reset_half_way, garbage, oversized, bomb, cut, late)},
    **{f"code {code}": refuses_with(code) for code in (1, 2, 3, 14, 16, 215, 1500, 99_999)},
}
"""Faults that leave no right answer."""
