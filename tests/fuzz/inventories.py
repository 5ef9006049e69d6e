"""Inventory files."""

from collections.abc import Iterator
from typing import Final

import msgspec

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.snapshot.fingerprint import fingerprint
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from tests.cli.small_cluster import CLUSTER
from tests.fuzz.target import Target, check_line

HEX_DIGITS: Final = 64
"""Of a fingerprint."""


def read_file(data: bytes) -> None:
    """An inventory is read or refused in one line; what was read is the same after it is stored."""
    inventory = inventory_of(data)
    if inventory is not None:
        assert parse_inventory(b"".join(render_inventory(inventory)), source="stored") == inventory
        assert len(fingerprint(inventory)) == HEX_DIGITS


def seeds() -> Iterator[bytes]:
    """A small cluster with a part of every kind."""
    yield msgspec.json.encode(CLUSTER)


def inventory_of(data: bytes) -> Inventory | None:
    """The inventory of these bytes; None if they are refused, in one line."""
    try:
        return parse_inventory(data, source="fuzzed")
    except BadInput as error:
        check_line(error)
        return None


TARGETS: Final = (Target("inventories", read_file, seeds, share=4),)
