"""The inventory file: read strictly, and written in pieces.

A wrong type, a number out of range or a repeated key is a :class:`BadInput` that names the place in the file.
"""

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from rocketmq_capacity.errors import HALF_A_CHARACTER, BadInput, shown
from rocketmq_capacity.settings.input_file import content_of
from rocketmq_capacity.snapshot.inventory import FORMAT, Inventory
from rocketmq_capacity.snapshot.inventory_values import check_values
from rocketmq_capacity.snapshot.repeated_members import has_each_once, repeated_member
from rocketmq_capacity.vocabulary import CONSUME_FROM_WHERE, MESSAGE_MODELS, PROTOCOLS, PROXY_MODES, REQUEST_MODES

LARGEST: Final = 8 * 2**30
"""Bytes of a file: 10,000 groups with 108,000 clients take 0.4 GB."""
CHECKED_AT_A_TIME: Final = 2**20
"""Bytes of a file that are in memory as text at a time."""

_CHOICES: Final = {
    "message_request_mode": REQUEST_MODES,
    "message_model": MESSAGE_MODELS,
    "consume_from_where": CONSUME_FROM_WHERE,
    "protocol": PROTOCOLS,
    "mode": PROXY_MODES,
}
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
_SOME_KEY: Final = "[...]"
_STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]")
_HALF: Final = re.compile(r"surrogate pair \((byte \d+)\)")
_NO_CHOICE: Final = re.compile(r"Invalid enum value (.*)", re.DOTALL)


def read_inventory(path: Path) -> Inventory:
    """Read and check an inventory file.

    Errors: :class:`BadInput` naming the file, the place in it and what was expected.
    """
    return parse_inventory(content_of(path, "an inventory file", LARGEST), source=str(path))


def parse_inventory(data: bytes, *, source: str) -> Inventory:
    """Decode and check the bytes of an inventory.

    ``source`` names them in errors. Errors: :class:`BadInput`, as of :func:`read_inventory`.
    """
    _check_utf_8(data, source)
    try:
        inventory = msgspec.json.decode(data, type=Inventory)
    except (msgspec.DecodeError, RecursionError) as error:
        # A file that is not an inventory at all is reported as that, and not by the first member that is wrong.
        document = _checked_document(data, source)
        raise _bad_input(str(error), document, source) from None
    _check_format(inventory.format, source)
    if not has_each_once(data, msgspec.json.encode(inventory)) and (place := repeated_member(data)):
        raise BadInput(source, place, "is given twice; expected each member of an object once")
    check_values(inventory, source)
    return inventory


def render_inventory(inventory: Inventory) -> Iterator[bytes]:
    """The file's bytes in pieces: without members that are None, indented by two spaces, with a final newline.

    In pieces, because otherwise memory would hold a large inventory three times as text.
    """
    for number, (name, value) in enumerate(inventory.known(inventory.__struct_fields__)):
        yield b'%b\n  "%b": ' % (b"," if number else b"{", name.encode())
        if not isinstance(value, tuple) or not value:
            yield msgspec.json.encode(value)
            continue
        for index, item in enumerate(value):
            rendered = msgspec.json.format(msgspec.json.encode(item), indent=2)
            yield b"%b\n    %b" % (b"," if index else b"[", rendered.replace(b"\n", b"\n    "))
        yield b"\n  ]"
    yield b"\n}\n"


def _check_utf_8(data: bytes, source: str) -> None:
    if data.isascii():  # quick, and true of most
        return
    # In parts: as one text, a file takes up to four times its size.
    decoder = getincrementaldecoder("utf-8")()
    for start in range(0, len(data), CHECKED_AT_A_TIME):
        kept = len(decoder.getstate()[0])  # the first bytes of a character that the part before ended in
        part = data[start : start + CHECKED_AT_A_TIME]
        try:
            decoder.decode(part, final=start + len(part) == len(data))
        except UnicodeDecodeError as error:
            at = start - kept + error.start
            raise BadInput(source, f"byte {at}", "is not UTF-8; expected UTF-8 text") from None


def _checked_document(data: bytes, source: str) -> dict[str, Any]:
    """The document as plain values. Errors: BadInput if this is not JSON, not an object, or of another format."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        if half := _HALF.search(str(error)):
            raise BadInput(source, half[1], HALF_A_CHARACTER) from None
        raise BadInput(source, "", f"is not JSON ({error}); expected an inventory, {FORMAT}") from None
    if not isinstance(document, dict):
        raise BadInput(source, "$", f"is not an object; expected an inventory, {FORMAT}")
    _check_format(document.get("format"), source)
    return document


def _check_format(value: Any, source: str) -> None:
    if value != FORMAT:
        raise BadInput(source, "$.format", f"is {shown(value)}; expected {FORMAT!r}")


def _bad_input(error: str, document: dict[str, Any], source: str) -> BadInput:
    """The error text of msgspec about a document, as a BadInput that names the member and what is expected."""
    problem, _, place = error.rpartition(" - at ")
    problem, place = (problem, place.strip("`")) if problem else (error, "$")
    place = _with_key(place, document)
    if missing := _MISSING.fullmatch(problem):
        return BadInput(source, f"{place}.{missing[1]}", "is missing; expected a value")
    if unknown := _NO_CHOICE.fullmatch(problem):
        choices = _CHOICES[place.rpartition(".")[2]]
        return BadInput(source, place, f"is {unknown[1]}; expected {' or '.join(choices)}")
    return BadInput(source, place, problem)


def _with_key(place: str, document: Any) -> str:
    """The place with the key of a broker's property, which msgspec leaves out: ``$.brokers[0].config[...]``."""
    if not place.endswith(_SOME_KEY):
        return place
    held, before = document, place.removesuffix(_SOME_KEY)
    for name, index in _STEP.findall(before):
        held = held[name] if name else held[int(index)]
    key = next((key for key, value in held.items() if not isinstance(value, str)), None)
    return place if key is None else f"{before}.{key}"
