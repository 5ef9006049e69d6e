"""Headers as JSON, RocketMQ's default serialisation.

Source: RemotingCommand.java and RemotingSerializable.java, rocketmq-all-5.3.3.
"""

import json
from typing import Any

from rocketmq_capacity.errors import shown
from rocketmq_capacity.protocol.codes import LANGUAGES, Serialization
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.each_once import each_once
from rocketmq_capacity.protocol.errors import RemoteProtocolError

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def encode_header(command: Command) -> bytes:
    """The header's bytes, without any length."""
    fields: dict[str, Any] = {
        "code": command.code,
        "extFields": dict(command.ext_fields),
        "flag": command.flag,
        "language": command.language,
        "opaque": command.opaque,
        "serializeTypeCurrentRPC": "JSON",
        "version": command.version,
    }
    if command.remark:
        fields["remark"] = command.remark
    return _encode(fields).encode("ascii")


def decode_header(header: bytes, body: bytes) -> Command:
    """Read a header.

    Of the extFields only texts are kept, as in a binary header.

    Errors: `RemoteProtocolError` where it is not JSON, or a number of it is not a number.
    """
    try:
        fields = json.loads(header, object_pairs_hook=each_once)
    except (ValueError, RecursionError) as error:
        raise RemoteProtocolError(f"the header ({len(header)} bytes) is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise RemoteProtocolError(f"the header is a JSON {type(fields).__name__}; expected an object")
    ext_fields = fields.get("extFields") or {}
    remark = fields.get("remark")
    language = fields.get("language")
    if not isinstance(ext_fields, dict) or not (remark is None or isinstance(remark, str)):
        raise RemoteProtocolError("the header's extFields or remark has a wrong type; expected an object, a string")
    return Command(
        code=_integer(fields, "code"),
        opaque=_integer(fields, "opaque"),
        flag=_integer(fields, "flag"),
        remark=remark,
        ext_fields={name: value for name, value in ext_fields.items() if isinstance(value, str)},
        body=body,
        language=language if isinstance(language, str) else LANGUAGES[0],
        version=_integer(fields, "version"),
        serialization=Serialization.JSON,
    )


def _integer(fields: dict[str, Any], name: str) -> int:
    """A number of the header; missing is 0, as in the Java class."""
    value = fields.get(name, 0)
    if type(value) is not int or not -(2**31) <= value < 2**31:
        raise RemoteProtocolError(f"the header's {name} is {shown(value)}; expected an integer of 32 bits")
    return value
