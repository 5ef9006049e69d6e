"""A JSON object of figures (a finding's evidence) -> facts that a template writes: texts, lists and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rocketmq_capacity.language.current import words
from rocketmq_capacity.report.figures import figure, label
from rocketmq_capacity.report.limits import ITEMS, TABLE_ROWS
from rocketmq_capacity.tables.dataset import Queue


@dataclass(frozen=True, slots=True)
class Table:
    """Records of one shape."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int
    """Records that are left out."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A named value, as exactly one of: a text, a list, a table, or facts of its own."""

    label: str
    text: str | None = None
    items: tuple[str, ...] = ()
    more: int = 0
    table: Table | None = None
    facts: tuple["Fact", ...] = ()


def facts_of(value: Mapping[str, Any], rule: str = "") -> tuple[Fact, ...]:
    """One fact for each of the first entries, in the object's order; ``rule`` is the one whose evidence it is."""
    return tuple(_fact(str(name), held, rule) for name, held in islice(value.items(), TABLE_ROWS))


def _fact(name: str, value: Any, rule: str) -> Fact:
    if isinstance(value, Mapping):
        if not value:
            return Fact(label(name), text=words("none"))
        return Fact(label(name), facts=facts_of(value, rule), more=max(0, len(value) - TABLE_ROWS))
    if not isinstance(value, list | tuple):
        return Fact(label(name), text=figure(name, value, rule))
    if not value:
        return Fact(label(name), text=words("none"))
    if all(isinstance(item, Mapping) for item in value):
        return Fact(label(name), table=_table(value, rule))
    items = tuple(short(name, item, rule) for item in value[:ITEMS])
    return Fact(label(name), items=items, more=len(value) - len(items))


def _table(records: Sequence[Mapping[str, Any]], rule: str) -> Table:
    names = list(dict.fromkeys(name for record in records for name in record))
    rows = tuple(tuple(short(name, record.get(name), rule) for name in names) for record in records[:TABLE_ROWS])
    return Table(tuple(label(name) for name in names), rows, len(records) - len(rows))


def short(name: str, value: Any, rule: str = "") -> str:
    """Any value in one line; ``rule`` is the one whose evidence has it."""
    if isinstance(value, Mapping):
        if {"broker_name", "queue_id"} <= value.keys():
            return queue_name(value)
        return ", ".join(
            f"{words(label(str(key)))} {short(str(key), held, rule)}" for key, held in value.items()
        ) or words("none")
    if isinstance(value, list | tuple):
        left_out = len(value) - ITEMS
        listed = ", ".join(short(name, item, rule) for item in value[:ITEMS])
        return words(f"{listed} and {left_out:,} more") if left_out > 0 else listed or words("none")
    return figure(name, value, rule)


def subject(named: str | Queue) -> str:
    """What a finding is about, in one line."""
    return named if isinstance(named, str) else f"{named.topic} {named.broker_name} {named.queue_id}"


def queue_name(queue: Mapping[str, Any]) -> str:
    """``pay broker-a 0``: topic, broker and id, as ``mqadmin`` lists them."""
    parts = (queue.get("topic"), queue["broker_name"], queue["queue_id"])
    return " ".join(str(part) for part in parts if part is not None)
