r"""Java's properties text, the body of request 26.

The broker writes ``key=value`` lines and escapes nothing (MixAll.properties2String); Java's own tools read them with
`Properties.load`, so escapes, continued lines and comments count here as they do there. One difference: the text is
UTF-8 here, where `Properties.load` takes bytes for Latin-1 and spoils what is not ASCII.
Source: java.util.Properties.load(Reader); MixAll.java, rocketmq-all-5.3.3.
"""

import re
from typing import Final

from rocketmq_capacity.protocol.whole_characters import whole_characters

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_BLANK: Final = " \t\f"
_TRAILING_BACKSLASHES: Final = re.compile(r"\\*+\Z")
_KEY: Final = re.compile(r"(?:[^\\=: \t\f]++|\\.)*+", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[ \t\f]*+[=:]?[ \t\f]*+")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_NAMED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str) -> dict[str, str]:
    r"""Keys and values, the last of equal keys wins.

    Errors: none; a ``\u`` without its four hexadecimal digits, at which Java gives the whole text up, stays as it is:
    the broker escapes nothing, so it is the beginning of a name in a Windows path.
    """
    properties: dict[str, str] = {}
    for line in _logical_lines(text):
        key = _KEY.match(line)
        key_end = key.end() if key else 0
        separator = _SEPARATOR.match(line, key_end)
        value_start = separator.end() if separator else key_end
        properties[_unescaped(line[:key_end])] = _unescaped(line[value_start:])
    return properties


def _logical_lines(text: str) -> list[str]:
    """Lines that hold a property, with those that end in an odd number of backslashes joined to the next."""
    lines: list[str] = []
    parts: list[str] = []
    for natural in _LINE_END.split(text):
        line = natural.lstrip(_BLANK)
        if not parts and (not line or line[0] in "#!"):
            continue
        backslashes = _TRAILING_BACKSLASHES.search(line)
        continues = backslashes is not None and len(backslashes[0]) % 2 == 1
        parts.append(line[:-1] if continues else line)
        if not continues:
            lines.append("".join(parts))
            parts = []
    return [*lines, "".join(parts)] if parts else lines


def _unescaped(text: str) -> str:
    return whole_characters(_ESCAPE.sub(_character, text)) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    if escape[2] == "u":
        return escape[0]
    return _NAMED.get(escape[2], escape[2])
