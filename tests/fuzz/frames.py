"""Bytes of a connection: frames, and the two forms of their headers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rocketmq_capacity.protocol.codes import Serialization
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import RemoteProtocolError
from rocketmq_capacity.protocol.frame import FrameDecoder, encode_frame
from rocketmq_capacity.protocol.header_binary import decode_header as decode_binary
from rocketmq_capacity.protocol.header_json import decode_header as decode_json
from tests.fuzz.target import Target
from tests.protocol.test_recorded_bodies import RECORDED

LARGEST_FRAME: Final = 65_536
PIECES: Final = 32
LENGTHS: Final = 8
"""Bytes of a frame before its header."""


def read_frames(data: bytes) -> None:
    """The commands are the same however the stream is cut, and they are bounded and typed."""
    whole, size = _commands([data]), max(1, len(data) // PIECES)
    assert whole == _commands([data[start : start + size] for start in range(0, len(data), size)])
    for command in whole or ():
        _check(command)


def read_header(data: bytes) -> None:
    """A header is read or refused; what was read is the same after it is written and read again.

    The first byte chooses the form: ``b`` for the binary one, else JSON.
    """
    decode = decode_binary if data[:1] == b"b" else decode_json
    try:
        command = decode(data[1:], b"")
    except RemoteProtocolError:
        return
    _check(command)
    frame = encode_frame(Command(0, 0, remark=command.remark, ext_fields=command.ext_fields))
    (again,) = FrameDecoder().feed(frame)
    assert (again.remark or "") == (command.remark or "")
    assert again.ext_fields == command.ext_fields


def frame_seeds() -> Iterator[bytes]:
    """Frames in both forms with real bodies."""
    for serialization in Serialization:
        yield b"".join(
            encode_frame(Command(code, opaque=number, flag=1, body=_body(code), serialization=serialization))
            for number, code in enumerate((38, 402))
        )


def header_seeds() -> Iterator[bytes]:
    """Headers in both forms."""
    command = Command(17, 5, flag=1, remark="no topic route info", ext_fields={"topic": "pay", "group": "g"})
    for letter, serialization in ((b"j", Serialization.JSON), (b"b", Serialization.ROCKETMQ)):
        yield letter + encode_frame(replace(command, serialization=serialization))[LENGTHS:]


def _body(code: int) -> bytes:
    return next(RECORDED.glob(f"{code:03}-*")).read_bytes()


def _commands(parts: list[bytes]) -> list[Command] | None:
    """The commands of a stream that arrives in parts; None if it is not of the protocol."""
    decoder, commands = FrameDecoder(max_frame_bytes=LARGEST_FRAME), list[Command]()
    try:
        for part in parts:
            commands += decoder.feed(part)
    except RemoteProtocolError:
        return None
    return commands


def _check(command: Command) -> None:
    assert all(-(2**31) <= number < 2**31 for number in (command.code, command.opaque, command.flag, command.version))
    assert command.remark is None or isinstance(command.remark, str)
    assert all(isinstance(one, str) for pair in command.ext_fields.items() for one in pair)


TARGETS: Final = (
    Target("frames", read_frames, frame_seeds, share=2),
    Target("headers", read_header, header_seeds, share=3),
)
