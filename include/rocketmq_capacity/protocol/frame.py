"""Frames: commands to bytes, and a stream of bytes back to commands, however it is cut.

Layout, big endian: int32 length of all that follows, int8 serialisation and int24 length of the header, header, body.
Source: RemotingCommand.java (encode, decode) and NettyDecoder.java, rocketmq-all-5.3.3.
"""

import struct
from typing import Final

from rocketmq_capacity.protocol import header_binary, header_json
from rocketmq_capacity.protocol.codes import Serialization
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import LocalProtocolError, RemoteProtocolError
from rocketmq_capacity.protocol.limits import MAX_FRAME_BYTES

_LENGTHS: Final = struct.Struct(">II")
_LENGTH_BYTES: Final = 4
_MAX_HEADER_BYTES: Final = 2**24 - 1
_ENCODERS: Final = {
    Serialization.JSON: header_json.encode_header,
    Serialization.ROCKETMQ: header_binary.encode_header,
}
_DECODERS: Final = {
    int(Serialization.JSON): header_json.decode_header,
    int(Serialization.ROCKETMQ): header_binary.decode_header,
}


def encode_frame(command: Command, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> bytes:
    """A command as bytes, its header in the serialisation that the command names.

    Errors: `LocalProtocolError` where the frame or its header is larger than allowed.
    """
    header = _ENCODERS[command.serialization](command)
    length = _LENGTH_BYTES + len(header) + len(command.body)
    if len(header) > _MAX_HEADER_BYTES or length > max_frame_bytes:
        problem = f"a frame of {length} bytes with a header of {len(header)} bytes cannot be sent"
        raise LocalProtocolError(f"{problem}; allowed are {max_frame_bytes} and {_MAX_HEADER_BYTES}")
    return _LENGTHS.pack(length, command.serialization << 24 | len(header)) + header + command.body


class FrameDecoder:
    """Collects bytes and gives back the commands that are complete.

    After an error the stream has no meaning any more: every later call raises the same error.
    """

    def __init__(self, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._buffer = bytearray()
        self._error: RemoteProtocolError | None = None

    def feed(self, data: bytes) -> list[Command]:
        """Take the next bytes; the commands that they complete, in order.

        Errors: `RemoteProtocolError` where the bytes are not frames, or a frame is larger than the limit.
        """
        if self._error is not None:
            raise self._error
        self._buffer += data
        commands: list[Command] = []
        start = 0
        try:
            while (end := self._end_of_frame(start)) is not None:
                commands.append(self._decode(start, end))
                start = end
        except RemoteProtocolError as error:
            self._error = error
            raise
        if start:
            del self._buffer[:start]
        return commands

    def _end_of_frame(self, start: int) -> int | None:
        """Where the frame that begins here ends; None while it is not complete."""
        if len(self._buffer) - start < _LENGTHS.size:
            return None
        length, mark = _LENGTHS.unpack_from(self._buffer, start)
        header_length = mark & _MAX_HEADER_BYTES
        if length > self._max_frame_bytes:
            problem = f"the peer announces a frame of {length} bytes; allowed are {self._max_frame_bytes}"
            raise RemoteProtocolError(f"{problem} (is this a RocketMQ port?)")
        if header_length > length - _LENGTH_BYTES:
            raise RemoteProtocolError(f"a header of {header_length} bytes leaves its frame of {length} bytes")
        if mark >> 24 not in _DECODERS:
            known = ", ".join(str(int(kind)) for kind in Serialization)
            raise RemoteProtocolError(f"the header's serialisation is {mark >> 24}; known are {known}")
        end = start + _LENGTH_BYTES + length
        return end if end <= len(self._buffer) else None

    def _decode(self, start: int, end: int) -> Command:
        _, mark = _LENGTHS.unpack_from(self._buffer, start)
        header_start = start + _LENGTHS.size
        header_end = header_start + (mark & _MAX_HEADER_BYTES)
        header, body = bytes(self._buffer[header_start:header_end]), bytes(self._buffer[header_end:end])
        return _DECODERS[mark >> 24](header, body)
