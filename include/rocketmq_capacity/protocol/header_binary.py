"""Headers in RocketMQ's own binary serialisation.

Layout, big endian: int16 code, int8 language, int16 version, int32 opaque, int32 flag, int32 length and remark,
int32 length and extFields, each of them int16 length and key, int32 length and value; text is UTF-8.
Source: RocketMQSerializable.java, rocketmq-all-5.3.3.
"""

import struct
from typing import Final

from rocketmq_capacity.protocol.codes import LANGUAGES, Serialization
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import LocalProtocolError, RemoteProtocolError

_FIXED: Final = struct.Struct(">hbhiii")  # code, language, version, opaque, flag, length of remark
_INT: Final = struct.Struct(">i")
_SHORT: Final = struct.Struct(">h")
_MAX_SHORT: Final = 2**15 - 1


def encode_header(command: Command) -> bytes:
    """The header's bytes, without any length.

    Errors: `LocalProtocolError` where a code, a version or a key does not fit.
    """
    if not (0 <= command.code <= _MAX_SHORT and 0 <= command.version <= _MAX_SHORT):
        problem = f"code {command.code} or version {command.version} does not fit a binary header"
        raise LocalProtocolError(f"{problem}; allowed are 0 to {_MAX_SHORT}")
    remark = (command.remark or "").encode()
    language = LANGUAGES.index(command.language) if command.language in LANGUAGES else LANGUAGES.index("OTHER")
    fixed = _FIXED.pack(command.code, language, command.version, command.opaque, command.flag, len(remark))
    fields = b"".join(_encode_field(key, value) for key, value in command.ext_fields.items())
    return fixed + remark + _INT.pack(len(fields)) + fields


def decode_header(header: bytes, body: bytes) -> Command:
    """Read a header.

    Errors: `RemoteProtocolError` where a length points outside, or text is not UTF-8.
    """
    try:
        code, language, version, opaque, flag, remark_length = _FIXED.unpack_from(header)
        remark, at = _text(header, _FIXED.size, remark_length)
        (fields_length,) = _INT.unpack_from(header, at)
        ext_fields = _decode_fields(header, at + _INT.size, fields_length)
    except (struct.error, UnicodeDecodeError) as error:
        raise RemoteProtocolError(f"the binary header ({len(header)} bytes) is broken: {error}") from None
    return Command(
        code=code,
        opaque=opaque,
        flag=flag,
        remark=remark or None,
        ext_fields=ext_fields,
        body=body,
        language=LANGUAGES[language] if 0 <= language < len(LANGUAGES) else "OTHER",
        version=version,
        serialization=Serialization.ROCKETMQ,
    )


def _encode_field(key: str, value: str) -> bytes:
    name, content = key.encode(), value.encode()
    if len(name) > _MAX_SHORT:
        raise LocalProtocolError(f"the key of an extField has {len(name)} bytes; allowed are {_MAX_SHORT}")
    return _SHORT.pack(len(name)) + name + _INT.pack(len(content)) + content


def _decode_fields(header: bytes, at: int, length: int) -> dict[str, str]:
    end = at + length
    if length < 0 or end > len(header):
        raise RemoteProtocolError(f"extFields of {length} bytes at {at} leave a header of {len(header)} bytes")
    fields: dict[str, str] = {}
    while at < end:
        (key_length,) = _SHORT.unpack_from(header, at)
        key, at = _text(header, at + _SHORT.size, key_length)
        (value_length,) = _INT.unpack_from(header, at)
        fields[key], at = _text(header, at + _INT.size, value_length)
    return fields


def _text(header: bytes, at: int, length: int) -> tuple[str, int]:
    """The text of a length, and where it ends."""
    end = at + length
    if length < 0 or end > len(header):
        raise RemoteProtocolError(f"a text of {length} bytes at {at} leaves a header of {len(header)} bytes")
    return header[at:end].decode(), end
