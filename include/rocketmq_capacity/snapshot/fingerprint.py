"""The fingerprint of an inventory: equal for equal facts, in whatever order a file lists them."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, get_args, get_origin

import msgspec
from msgspec.structs import fields, replace

from rocketmq_capacity.snapshot.inventory import Inventory, InventoryPart

_encode: Final = msgspec.json.Encoder(order="sorted").encode


def fingerprint(inventory: Inventory) -> str:
    """SHA-256 (hex) of the canonical inventory: without members that are None, keys and lists sorted."""
    digest = hashlib.sha256()
    for piece in _canonical_pieces(inventory):
        digest.update(piece)
    return digest.hexdigest()


def _canonical_pieces(inventory: Inventory) -> Iterator[bytes]:
    """The canonical JSON in pieces, to save memory."""
    lists = dict(_lists_of(Inventory))
    for number, (name, value) in enumerate(inventory.known(sorted(inventory.__struct_fields__))):
        yield b'%b"%b":' % (b"," if number else b"{", name.encode())
        if name not in lists:
            yield _encode(value)
            continue
        yield b"["
        for index, item in enumerate(sorted(map(lists[name], value))):
            yield b"," + item if index else item
        yield b"]"
    yield b"}"


def _canonical(part: InventoryPart) -> bytes:
    """The canonical JSON of a part that has lists."""
    lists = {}
    for name, of_item in _lists_of(type(part)):
        items = getattr(part, name)
        if not items:
            continue
        encoded = list(map(of_item, items))
        in_order = sorted(encoded)
        # Almost all lists of almost all parts, such as the samples of a queue, are in order already.
        if of_item is not _encode or encoded != in_order:
            lists[name] = msgspec.Raw(b"[" + b",".join(in_order) + b"]")
    return _encode(replace(part, **lists) if lists else part)


@cache
def _lists_of(kind: type[InventoryPart]) -> list[tuple[str, Callable[[Any], bytes]]]:
    """The members of a class of parts that are lists, each with the function that makes canonical JSON of an item."""
    return [
        (field.name, _canonical if _has_lists(get_args(choice)[0]) else _encode)
        for field in fields(kind)
        for choice in (field.type, *get_args(field.type))
        if get_origin(choice) is tuple and isinstance(get_args(choice)[0], type)  # rates by hour have an order
    ]


def _has_lists(kind: type) -> bool:
    return issubclass(kind, InventoryPart) and bool(_lists_of(kind))
