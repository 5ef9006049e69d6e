"""Vega-Lite specifications of the page's charts.

Colours are the page's CSS variables, so that a chart follows light and dark. Names are only in the data, never in an
expression. They are shortened here, because a chart must not depend on the fonts of the machine that draws it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity.language.current import words
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.report.loads import Loads

Spec = dict[str, Any]

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
"""The version of the language; nothing is fetched from this address."""
LABEL_CHARACTERS: Final = 44
WIDTH: Final = 312
"""Of a picture, which fits a screen of 390 pixels: names are above their bars, and never beside them."""
MARGIN: Final = 4
TOP: Final = 8
AXIS_ROOM: Final = 44
ROW_HEIGHT: Final = 18
VALUE_ROOM: Final = 1.3
"""End of the scale / longest bar: room for the bar's figure."""
WHOLE_PERCENT: Final = 100.0
TEN_THOUSAND: Final = 10_000
"""From here on the figures of an axis are short."""
SIDE_ROOM: Final = 1.55
"""End of the axis / 100 %: room for the figure and its side."""
FIGURES: Final = ",.12~g"
"""The format of figures on an axis, with all their digits. In d3's default format 500 is ``5e+2``."""
ONE: Final[Spec] = {"values": [{}]}
"""The data of a layer that is one line, whatever the other layers show."""
CONFIG: Final[Spec] = {
    "aria": False,  # the chart is one image with one description; the table beside it has the details
    "background": None,
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "gridColor": "var(--chart-grid)",
        "labelColor": "var(--muted)",
        "labelFontSize": 12,
        "tickCount": 4,
        "ticks": False,
        "titleColor": "var(--muted)",
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "title": {
        "anchor": "start",
        "color": "var(--text)",
        "fontSize": 13,
        "fontWeight": 600,
        "offset": 10,
        "subtitleColor": "var(--muted)",
        "subtitleFontSize": 12,
    },
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A specification and the size of its picture in pixels, which does not depend on fonts."""

    spec: Spec
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PeakSpan:
    """A group in the overview: its PEAK today, its FLOOR, and the PEAK of the best other strategy.

    ``is_best``: no strategy is better than today's. Otherwise an alternative may be safer without being more even.
    """

    name: str
    peak: float
    floor: float
    alternative: float | None
    is_best: bool


@dataclass(frozen=True, slots=True)
class SizeBar:
    """A group with one number of clients; the busy share of its busiest client is None if unknown."""

    name: str
    busy_percent: float | None
    idle: int
    is_today: bool


@dataclass(frozen=True, slots=True)
class BusyPair:
    """A group with how busy its busiest client is before and after a change, in per cent; None is unknown."""

    name: str
    before: float | None
    after: float | None


def load_chart(loads: Loads) -> Drawing:
    """Bars of one load for each client, under today's strategy and under the best other one, on the same scale."""
    sides = [(f"{loads.current} ({words('in use')})", "--bar", [bar.current for bar in loads.bars])]
    if loads.alternative is not None:
        values = [bar.alternative for bar in loads.bars]
        sides.append((f"{loads.alternative} ({words('best other strategy')})", "--bar-alternative", values))
    longest = max((value for _, _, values in sides for value in values if value is not None), default=1.0) or 1.0
    end = longest * VALUE_ROOM
    axis = {
        "title": words(loads.measure.unit),
        "format": "~s" if end >= TEN_THOUSAND else FIGURES,
        "tickMinStep": loads.measure.step,
    }
    x = {"type": "quantitative", "scale": {"domain": [0, end], "nice": False}, "axis": axis}
    above = [words(bar.name) if bar.is_rest else bar.name for bar in loads.bars]
    lines = _Lines(above, bars=len(sides), first=len(sides))
    y = lines.y
    faint = {"condition": {"test": "datum.rest", "value": 0.45}, "value": 1}
    layers = [
        {
            "data": {"values": [{"row": at, "name": f"\u25a0 {said}", "color": f"var({color})"}]},
            "mark": {"type": "text", "align": "left", "color": f"var({color})", "fontSize": 12},
            "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "name"}},
        }
        for at, (said, color, _) in enumerate(sides)
    ]
    for side, (_, color, values) in enumerate(sides):
        data = [
            {"row": lines.bar(place, side), "value": value or 0, "text": _bar_text(value), "rest": bar.is_rest}
            for place, (value, bar) in enumerate(zip(values, loads.bars, strict=True))
        ]
        bars = {"y": y, "x": {"field": "value", **x}}
        layers += [
            {
                "data": {"values": data},
                "mark": {"type": "bar", "color": f"var({color})", "height": {"band": 0.72}},
                "encoding": {**bars, "opacity": faint},
            },
            *({"data": {"values": data}, **layer} for layer in _figures({**bars, "text": {"field": "text"}}, 5)),
        ]
    rule = {"type": "rule", "color": "var(--text)", "strokeDash": [4, 3], "opacity": 0.75}
    average = {"data": ONE, "mark": rule, "encoding": {"x": {"datum": loads.average, **x}}}
    return _drawing([*layers, average, lines.names()], lines.rows)


def overview_chart(spans: Sequence[PeakSpan]) -> Drawing:
    """One line for each group, from its FLOOR to today's PEAK: how much of the unevenness can be mended."""
    lines = _Lines([span.name for span in spans], bars=1)
    data = [
        {
            "row": lines.bar(place, 0),
            "peak": span.peak,
            "floor": span.floor,
            "alternative": span.alternative,
            "text": number(span.peak),
        }
        for place, span in enumerate(spans)
    ]
    most = max(max(span.peak, span.alternative or 0) for span in spans)
    scale = {"domain": [1, max(1.5, 1 + (most - 1) * 1.15)], "nice": False}
    axis = {"title": words("Busiest client's load ÷ average (PEAK; 1 is even)"), "format": FIGURES}
    x = {"type": "quantitative", "scale": scale, "axis": axis}
    y = lines.y

    def mark(field: str, **how: Any) -> Spec:
        return {"mark": how, "encoding": {"y": y, "x": {"field": field, **x}}}

    layers = [
        {
            "mark": {"type": "rule", "color": "var(--bar)", "strokeWidth": 3, "opacity": 0.35},
            "encoding": {"y": y, "x": {"field": "floor", **x}, "x2": {"field": "peak"}},
        },
        mark("floor", type="tick", color="var(--muted)", thickness=3, size=14),
        mark("alternative", type="point", shape="diamond", color="var(--bar-alternative)", size=90, strokeWidth=2),
        mark("peak", type="point", shape="circle", filled=True, color="var(--bar)", size=90, opacity=1),
        *_figures({"y": y, "x": {"field": "peak", **x}, "text": {"field": "text"}}, 9),
    ]
    return _drawing([*({"data": {"values": data}, **layer} for layer in layers), lines.names()], lines.rows)


def size_chart(bars: Sequence[SizeBar], bound_percent: float | None) -> Drawing:
    """Bars of the busiest client's busy share, for each number of clients, with how many of them are idle.

    Busy shares are on the axis from 0 to 100 %, with the bound as a dashed line. A bar of more than 100 % ends there;
    its figure says how much it is.
    """
    lines = _Lines([_size_name(bar) for bar in bars], bars=1)
    data = [
        {
            "row": lines.bar(place, 0),
            "value": min(bar.busy_percent or 0.0, WHOLE_PERCENT),
            "text": words("unknown") if bar.busy_percent is None else f"{number(bar.busy_percent)} %",
            "now": bar.is_today,
        }
        for place, bar in enumerate(bars)
    ]
    color = {"condition": {"test": "datum.now", "value": "var(--bar)"}, "value": "var(--bar-alternative)"}
    return _busy_bars(lines, data, bound_percent, VALUE_ROOM, {"color": color})


def _size_name(bar: SizeBar) -> str:
    return words(f"{bar.name}, {number(bar.idle)} idle" if bar.idle else bar.name)


def busy_chart(pairs: Sequence[BusyPair], bound_percent: float) -> Drawing:
    """Two bars for each group on the axis from 0 to 100 %: how busy its busiest client is before and after a change.

    The dashed line is the bound. A bar of more than 100 % ends there; its figure says how much it is.
    """
    lines = _Lines([pair.name for pair in pairs], bars=2)
    sides = [(side, at) for pair in pairs for side, at in (("before", pair.before), ("after", pair.after))]
    data = [
        {
            "row": lines.bar(place // 2, place % 2),
            "value": min(at or 0.0, WHOLE_PERCENT),
            "text": f"{words('unknown') if at is None else f'{number(at)} %'} {words(side)}",
            "past": side == "before",
        }
        for place, (side, at) in enumerate(sides)
    ]
    opacity = {"condition": {"test": "datum.past", "value": 0.45}, "value": 1}
    return _busy_bars(lines, data, bound_percent, SIDE_ROOM, {"opacity": opacity}, color="var(--bar)")


def _busy_bars(
    lines: "_Lines", data: Sequence[Spec], bound_percent: float | None, room: float, look: Spec, **mark: str
) -> Drawing:
    """Bars of busy shares with their figures, and the bound; ``look`` is what a bar looks like."""
    x = _busy_axis(bound_percent, room)
    encoding = {"y": lines.y, "x": {"field": "value", **x}}
    layers = [
        {"mark": {"type": "bar", "height": {"band": 0.72}, **mark}, "encoding": {**encoding, **look}},
        *_figures({**encoding, "text": {"field": "text"}}, 5),
    ]
    values = [{"data": {"values": data}, **layer} for layer in layers]
    return _drawing([*values, *_bound_line(bound_percent, x), lines.names()], lines.rows)


def _busy_axis(bound_percent: float | None, room: float) -> Spec:
    """The axis of all busy shares, always from 0 to 100 %; beyond is room for figures."""
    marks = [0, WHOLE_PERCENT] if bound_percent is None else [0, bound_percent, WHOLE_PERCENT]
    return {
        "type": "quantitative",
        "scale": {"domain": [0, WHOLE_PERCENT * room], "nice": False},
        "axis": {"title": words("% of its time"), "format": FIGURES, "values": marks},
    }


def _bound_line(bound_percent: float | None, x: Spec) -> list[Spec]:
    if bound_percent is None:
        return []
    rule = {"type": "rule", "color": "var(--text)", "strokeDash": [4, 3], "opacity": 0.75}
    return [{"data": ONE, "mark": rule, "encoding": {"x": {"datum": bound_percent, **x}}}]


class _Lines:
    """The lines of a picture: each name, and below it its bars."""

    def __init__(self, names: Sequence[str], bars: int, first: int = 0) -> None:
        """``first`` is the number of lines above all names."""
        self._names, self._each, self._first = names, 1 + bars, first
        self.rows = first + self._each * len(names)
        self.y: Spec = {"field": "row", "type": "ordinal", "axis": None, "scale": {"domain": list(range(self.rows))}}

    def bar(self, place: int, number_of_bar: int) -> int:
        """The line of a name's bar."""
        return self._first + self._each * place + 1 + number_of_bar

    def names(self) -> Spec:
        """All names, as a layer."""
        rows = [{"row": self._first + self._each * place, "name": _cut(name)} for place, name in enumerate(self._names)]
        return {
            "data": {"values": rows},
            "mark": {"type": "text", "align": "left", "color": "var(--text)", "fontSize": 12, "fontWeight": 600},
            "encoding": {"y": self.y, "x": {"value": 0}, "text": {"field": "name"}},
        }


def _drawing(layers: list[Spec], rows: int) -> Drawing:
    spec: Spec = {
        "$schema": SCHEMA,
        "config": CONFIG,
        "autosize": "none",
        "bounds": "flush",
        "padding": {"left": MARGIN, "top": TOP, "right": MARGIN, "bottom": AXIS_ROOM},
        "width": WIDTH,
        "height": {"step": ROW_HEIGHT},
        "layer": layers,
    }
    return Drawing(spec, WIDTH + 2 * MARGIN, rows * ROW_HEIGHT + TOP + AXIS_ROOM)


def _figures(encoding: Spec, dx: int) -> list[Spec]:
    how = {"type": "text", "align": "left", "dx": dx, "fontSize": 12}
    halo = {**how, "color": "var(--halo)", "stroke": "var(--halo)", "strokeWidth": 4}
    return [{"mark": mark, "encoding": encoding} for mark in (halo, {**how, "color": "var(--text)"})]


def _bar_text(value: float | None) -> str:
    if value is None:
        return words("unknown")
    return words("0 (idle)") if value == 0 else number(value)


def _cut(name: str) -> str:
    text = visible(name)
    if len(text) <= LABEL_CHARACTERS:
        return text
    half = LABEL_CHARACTERS // 2
    return f"{text[: half - 1]}…{text[-half:]}"
