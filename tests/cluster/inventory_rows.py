"""What an inventory holds as rows, so that two snapshots of one cluster can be compared value by value."""

import json
from typing import Any, Final

import msgspec

from rocketmq_capacity.snapshot.inventory import Inventory

Place = tuple[Any, ...]
"""Where a value stands in an inventory: keys, and the names of entries of lists."""
KEYS: Final = ("consumer_group", "producer_group", "client_id", "topic", "broker_name", "broker_id", "queue_id")
LEFT_OUT: Final = ("failures", "nameservers", "nameserver_views", "runtime", "status", "client_addr")
"""Failures, what is compared elsewhere, and figures that change all the time, as everything does that ends in _at. A
client has another address on each broker, and the first broker that names it counts."""


def rows_of(value: Any, place: Place = ()) -> dict[Place, Any]:
    """Each value of a document by its place; an entry of a list stands under its names, or under itself."""
    if isinstance(value, dict):
        parts = [((*place, key), of) for key, of in value.items() if key not in LEFT_OUT and not key.endswith("_at")]
    elif isinstance(value, list):
        parts = [((*place, *_names(entry)), entry) for entry in value]
    else:
        return {} if value is None else {place: value}
    rows: dict[Place, Any] = {}
    for at, of in parts:
        rows |= rows_of(of, at)
        if isinstance(value, list):
            rows[at] = True
    return rows


def _names(entry: Any) -> Place:
    return tuple(entry[key] for key in KEYS if key in entry) if isinstance(entry, dict) else (entry,)


def stored_rows(inventory: Inventory) -> dict[Place, Any]:
    """All rows that can be compared with those of another snapshot."""
    return rows_of(json.loads(msgspec.json.encode(inventory)))
