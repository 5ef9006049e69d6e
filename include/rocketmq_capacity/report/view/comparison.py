"""Two JSON objects of figures (before and after a change) -> one table, what differs first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity.report.facts import short
from rocketmq_capacity.report.figures import PER_CENT, figure, label, per_cent_number, signed, unit_of
from rocketmq_capacity.report.limits import TABLE_ROWS
from rocketmq_capacity.report.view.first import First

LOWER_IS_BETTER: Final = frozenset({
    "idle",
    "idle_clients",
    "orphans",
    "orphan_queues",
    "doubly_owned",
    "doubly_owned_queues",
    "peak",
    "excess",
    "utilisation",
    "lag",
})
"""Figures of which less is plainly good; of all others the table says the difference and does not judge it."""

LEFT_OUT: Final = frozenset({"gini", "cv", "floor"})
"""Metrics that only plan.json and the tables have: PEAK and EXCESS say what a reader decides by."""
NAMES: Final = ("consumer_group", "topic", "broker_name", "client_id", "strategy")
"""The members that distinguish the entries of a list of objects."""
HOLDERS: Final = frozenset({"groups", "consumer_groups", "topics", "brokers", "clients", "strategies"})
"""An object under one of these has names of the cluster for keys, and not fields."""
ABSENT: Final = object()
LISTED: Final = 3
"""Entries of a list that are named beside their number."""


class Name(str):
    """A part of a path that is a name of the cluster: it is written as it is."""

    __slots__ = ()


Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FigureChange:
    """One figure, before and after."""

    label: str
    before: str
    after: str
    difference: str
    """Signed, for numbers, of ratios in points of a hundred; else ``changed`` or ``no change``."""
    verdict: str
    """``better``, ``worse`` or empty."""
    bars: tuple[float, float] | None
    """Both sides as bars, 1 is the whole width: of ratios 100 %, else the larger side; None if they are no numbers."""


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """What a change would do."""

    changes: First[FigureChange]
    unchanged: int
    """Figures that stay as they are; they are not listed."""


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> ComparisonView:
    """Every figure that differs, in the objects' order; one that is missing on a side is not stated there."""
    old, new = dict(_shown(before)), dict(_shown(after))
    old, new = _unknown_in_parts(old, new), _unknown_in_parts(new, old)
    paths = list(dict.fromkeys((*old, *new)))
    changed = [path for path in paths if old.get(path, ABSENT) != new.get(path, ABSENT)]
    shown = (_change(path, old.get(path, ABSENT), new.get(path, ABSENT)) for path in changed[:TABLE_ROWS])
    return ComparisonView(First(shown, len(changed)), len(paths) - len(changed))


def _shown(value: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    return ((path, held) for path, held in _leaves(value, ()) if path[-1] not in LEFT_OUT)


def _unknown_in_parts(side: Mapping[Path, Any], other: Mapping[Path, Any]) -> dict[Path, Any]:
    """The side with an object that is unknown as the figures that the other side has of it, each unknown."""
    unknown = {path for path, value in side.items() if value is None}
    inside: dict[Path, list[Path]] = {}
    for path in other if unknown else ():
        for length in range(1, len(path)):
            if path[:length] in unknown:
                inside.setdefault(path[:length], []).append(path)
    parts: dict[Path, Any] = {}
    for path, value in side.items():
        parts |= dict.fromkeys(inside.get(path, ())) or {path: value}
    return parts


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping):
        holds_names = bool(path) and path[-1] in HOLDERS
        for name, held in value.items():
            yield from _leaves(held, (*path, Name(str(name)) if holds_names else str(name)))
    elif isinstance(value, list | tuple) and value and all(_name_of(item) for item in value):
        for item in value:
            rest = {name: held for name, held in item.items() if name not in NAMES}
            yield from _leaves(rest, (*path, Name(_name_of(item))))
    else:
        yield path, value


def _name_of(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    named = " ".join(str(item[name]) for name in NAMES if item.get(name) is not None)
    return named if any(name not in NAMES for name in item) else ""


def _change(path: Path, before: Any, after: Any) -> FigureChange:
    name = path[-1] if path else ""
    difference, verdict = _difference(name, before, after)
    return FigureChange(
        label=_label(path),
        before=_side(name, before),
        after=_side(name, after),
        difference=difference,
        verdict=verdict,
        bars=_bars(name, before, after),
    )


def _label(path: Path) -> str:
    """``g_pay: PEAK of queues``: a name without the field that holds it, then the figure."""
    figures = 2 if path[-2:] in METRIC_WORDS else 1
    holders, last = path[:-figures], path[-figures:]
    said = [
        _words(part)
        for place, part in enumerate(holders)
        if isinstance(part, Name) or not isinstance((*holders, "")[place + 1], Name)
    ]
    return ": ".join([*said, METRIC_WORDS.get(last) or "".join(map(_words, last))])


def _words(part: str) -> str:
    return part if isinstance(part, Name) else label(part)


def _bars(name: str, before: Any, after: Any) -> tuple[float, float] | None:
    old, new = _amount(before), _amount(after)
    if old is None or new is None or min(old, new) < 0 or max(old, new) == 0:
        return None
    whole = 1.0 if unit_of(name) == PER_CENT else max(old, new)
    return min(old / whole, 1.0), min(new / whole, 1.0)


METRIC_WORDS: Final[Mapping[Path, str]] = {
    ("count", "peak"): "PEAK of queues",
    ("count", "excess"): "EXCESS of queues",
    ("traffic", "peak"): "PEAK of messages/s",
    ("traffic", "excess"): "EXCESS of messages/s",
    ("lag", "peak"): "PEAK of lag",
    ("lag", "excess"): "EXCESS of lag",
}
"""Loads and their metrics."""


def _side(name: str, value: Any) -> str:
    if value is ABSENT:
        return "not stated"
    if isinstance(value, list | tuple):
        first = ", ".join(short(name, item) for item in value[:LISTED])
        return f"{len(value):,}: {first}, …" if len(value) > LISTED else first or "none"
    return short(name, value) if isinstance(value, Mapping) else figure(name, value)


def _difference(name: str, before: Any, after: Any) -> tuple[str, str]:
    old, new = _amount(before), _amount(after)
    if old is None or new is None:
        return "changed", ""
    step = round(new - old, 6)
    if step == 0:
        return "changed", ""  # a list with as many, but other entries
    verdict = "better" if step < 0 else "worse"
    amount = signed(step)
    if unit_of(name) == PER_CENT:
        points = round(per_cent_number(new) - per_cent_number(old), 1)
        amount = f"{signed(points)} points" if points else signed(points)
    return amount, verdict if name in LOWER_IS_BETTER else ""


def _amount(value: Any) -> float | None:
    if isinstance(value, bool) or value is ABSENT:
        return None
    if isinstance(value, list | tuple):
        return len(value)
    return value if isinstance(value, int | float) else None
