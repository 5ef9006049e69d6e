"""JSON files with a member a line."""

from typing import Any

import msgspec


def json_file(value: Any) -> bytes:
    """The bytes of a file; equal for equal values."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
