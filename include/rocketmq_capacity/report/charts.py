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
LABEL_WIDTH: Final = 210
LABEL_CHARACTERS: Final = 28
PANEL_WIDTH: Final = 230
PHONE_WIDTH: Final = 312
"""Of a picture without a column of names, which fits a screen of 390 pixels."""
SPACING: Final = 14
MARGIN: Final = 4
AXIS_ROOM: Final = 44
ROW_HEIGHT: Final = 22
VALUE_ROOM: Final = 1.3
"""End of the scale / longest bar: room for the bar's figure."""
WHOLE_PERCENT: Final = 100.0
SIDE_ROOM: Final = 1.55
"""End of the axis / 100 %: room for the figure and its side."""
FIGURES: Final = ",.12~g"
"""The format of figures on an axis, with all their digits. In d3's default format 500 is ``5e+2``."""
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
class Span:
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
    names = [_cut(words(bar.name) if bar.is_rest else bar.name) for bar in loads.bars]
    sides = [(loads.current, "in use", "--bar", [bar.current for bar in loads.bars])]
    if loads.alternative is not None:
        values = [bar.alternative for bar in loads.bars]
        sides.append((loads.alternative, "best other strategy", "--bar-alternative", values))
    longest = max((value for _, _, _, values in sides for value in values if value is not None), default=1.0) or 1.0
    panels = [
        _bars({"text": _cut(strategy), "subtitle": words(role)}, color, values, loads, longest * VALUE_ROOM)
        for strategy, role, color, values in sides
    ]
    return _side_by_side([_names(names), *panels], len(names))


def overview_chart(spans: Sequence[Span]) -> Drawing:
    """One line for each group, from its FLOOR to today's PEAK: how much of the unevenness can be mended."""
    names = [_cut(span.name) for span in spans]
    data = [
        {"row": row, "peak": span.peak, "floor": span.floor, "alternative": span.alternative, "text": number(span.peak)}
        for row, span in enumerate(spans)
    ]
    most = max(max(span.peak, span.alternative or 0) for span in spans)
    scale = {"domain": [1, max(1.5, 1 + (most - 1) * 1.15)], "nice": False}
    axis = {"title": words("Busiest client's load ÷ average (PEAK; 1 is even)"), "format": FIGURES}
    x = {"type": "quantitative", "scale": scale, "axis": axis}
    y = _row(len(names))

    def mark(field: str, **how: Any) -> Spec:
        return {"mark": how, "encoding": {"y": y, "x": {"field": field, **x}}}

    panel: Spec = {
        "data": {"values": data},
        "width": 2 * PANEL_WIDTH,
        "height": {"step": ROW_HEIGHT},
        "layer": [
            {
                "mark": {"type": "rule", "color": "var(--bar)", "strokeWidth": 3, "opacity": 0.35},
                "encoding": {"y": y, "x": {"field": "floor", **x}, "x2": {"field": "peak"}},
            },
            mark("floor", type="tick", color="var(--muted)", thickness=3, size=14),
            mark("alternative", type="point", shape="diamond", color="var(--bar-alternative)", size=90, strokeWidth=2),
            mark("peak", type="point", shape="circle", filled=True, color="var(--bar)", size=90, opacity=1),
            *_figures({"y": y, "x": {"field": "peak", **x}, "text": {"field": "text"}}, 9),
        ],
    }
    return _side_by_side([_names(names), panel], len(names), top=8)


def size_chart(bars: Sequence[SizeBar], bound_percent: float | None) -> Drawing:
    """Bars of the busiest client's busy share and of the idle clients, one line for each number of clients.

    Busy shares are on the axis from 0 to 100 %, with the bound as a dashed line.
    """
    axis = _busy_axis(bound_percent, VALUE_ROOM)
    busy = _size_bars(bars, [bar.busy_percent for bar in bars], "Busiest client", axis)
    busy["layer"].extend(_bound_line(bound_percent, axis))
    idle = [float(bar.idle) for bar in bars]
    idle_axis: Spec = {
        "type": "quantitative",
        "scale": {"domain": [0, max(idle) * VALUE_ROOM], "nice": False},
        "axis": {"title": words("clients"), "format": FIGURES},
    }
    panels = [busy, _size_bars(bars, idle, "Idle clients", idle_axis)] if any(idle) else [busy]
    return _side_by_side([_names([_cut(words(bar.name)) for bar in bars]), *panels], len(bars))


def busy_chart(pairs: Sequence[BusyPair], bound_percent: float) -> Drawing:
    """Two bars for each group on the axis from 0 to 100 %: how busy its busiest client is before and after a change.

    The name of the group is above its bars, so that the picture fits a phone. The dashed line is the bound. A bar of
    more than 100 % ends there; its figure says how much it is.
    """
    names = [{"row": 3 * place, "name": _cut(pair.name)} for place, pair in enumerate(pairs)]
    sides = [(side, at) for pair in pairs for side, at in (("before", pair.before), ("after", pair.after))]
    data = [
        {
            "row": 3 * (place // 2) + place % 2 + 1,
            "value": min(at or 0.0, WHOLE_PERCENT),
            "text": f"{words('unknown') if at is None else f'{number(at)} %'} {words(side)}",
            "past": side == "before",
        }
        for place, (side, at) in enumerate(sides)
    ]
    x = _busy_axis(bound_percent, SIDE_ROOM)
    y = _row(3 * len(pairs))
    opacity = {"condition": {"test": "datum.past", "value": 0.45}, "value": 1}
    name_text = {"type": "text", "align": "left", "color": "var(--text)", "fontSize": 12, "fontWeight": 600}
    panel: Spec = {
        "data": {"values": data},
        "width": PHONE_WIDTH,
        "height": {"step": ROW_HEIGHT},
        "layer": [
            {
                "mark": {"type": "bar", "color": "var(--bar)", "height": {"band": 0.72}},
                "encoding": {"y": y, "x": {"field": "value", **x}, "opacity": opacity},
            },
            *_bound_line(bound_percent, x),
            {
                "data": {"values": names},
                "mark": name_text,
                "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "name"}},
            },
            *_figures({"y": y, "x": {"field": "value", **x}, "text": {"field": "text"}}, 5),
        ],
    }
    return _side_by_side([panel], 3 * len(pairs), top=8)


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
    return [{"mark": rule, "encoding": {"x": {"datum": bound_percent, **x}}}]


def _size_bars(bars: Sequence[SizeBar], values: Sequence[float | None], title: str, x: Spec) -> Spec:
    """The bars end with the axis; the figures say how much they are."""
    end = x["scale"]["domain"][1] / VALUE_ROOM
    data = [
        {
            "row": row,
            "value": min(value or 0.0, end),
            "text": words("unknown") if value is None else number(value),
            "now": bar.is_today,
        }
        for row, (bar, value) in enumerate(zip(bars, values, strict=True))
    ]
    y = _row(len(bars))
    color = {"condition": {"test": "datum.now", "value": "var(--bar)"}, "value": "var(--bar-alternative)"}
    return {
        "title": {"text": words(title)},
        "data": {"values": data},
        "width": PANEL_WIDTH,
        "height": {"step": ROW_HEIGHT},
        "layer": [
            {
                "mark": {"type": "bar", "height": {"band": 0.72}},
                "encoding": {"y": y, "x": {"field": "value", **x}, "color": color},
            },
            *_figures({"y": y, "x": {"field": "value", **x}, "text": {"field": "text"}}, 5),
        ],
    }


def _side_by_side(panels: list[Spec], rows: int, top: int = 48) -> Drawing:
    spec: Spec = {
        "$schema": SCHEMA,
        "config": CONFIG,
        "autosize": "none",
        "bounds": "flush",
        "padding": {"left": MARGIN, "top": top, "right": MARGIN, "bottom": AXIS_ROOM},
        "spacing": SPACING,
        "hconcat": panels,
    }
    width = sum(panel["width"] for panel in panels) + SPACING * (len(panels) - 1) + 2 * MARGIN
    return Drawing(spec, width, rows * ROW_HEIGHT + top + AXIS_ROOM)


def _names(names: Sequence[str]) -> Spec:
    return {
        "data": {"values": [{"row": row, "name": name} for row, name in enumerate(names)]},
        "width": LABEL_WIDTH,
        "height": {"step": ROW_HEIGHT},
        "mark": {"type": "text", "align": "right", "color": "var(--text)", "fontSize": 12},
        "encoding": {
            "y": _row(len(names)),
            "x": {"value": LABEL_WIDTH},
            "text": {"field": "name"},
        },
    }


def _bars(title: Spec, color: str, values: Sequence[float | None], loads: Loads, end: float) -> Spec:
    data = [
        {"row": row, "value": value or 0, "text": _bar_text(value), "rest": loads.bars[row].is_rest}
        for row, value in enumerate(values)
    ]
    axis = {
        "title": words(loads.measure.unit),
        "format": "~s" if end >= 10_000 else FIGURES,
        "tickMinStep": loads.measure.step,
    }
    x = {"type": "quantitative", "scale": {"domain": [0, end], "nice": False}, "axis": axis}
    y = _row(len(values))
    opacity = {"condition": {"test": "datum.rest", "value": 0.45}, "value": 1}
    return {
        "title": title,
        "data": {"values": data},
        "width": PANEL_WIDTH,
        "height": {"step": ROW_HEIGHT},
        "layer": [
            {
                "mark": {"type": "bar", "color": f"var({color})", "height": {"band": 0.72}},
                "encoding": {"y": y, "x": {"field": "value", **x}, "opacity": opacity},
            },
            {
                "mark": {"type": "rule", "color": "var(--text)", "strokeDash": [4, 3], "opacity": 0.75},
                "encoding": {"x": {"datum": loads.average, **x}},
            },
            *_figures({"y": y, "x": {"field": "value", **x}, "text": {"field": "text"}}, 5),
        ],
    }


def _figures(encoding: Spec, dx: int) -> list[Spec]:
    how = {"type": "text", "align": "left", "dx": dx, "fontSize": 12}
    halo = {**how, "color": "var(--halo)", "stroke": "var(--halo)", "strokeWidth": 4}
    return [{"mark": mark, "encoding": encoding} for mark in (halo, {**how, "color": "var(--text)"})]


def _row(rows: int) -> Spec:
    return {"field": "row", "type": "ordinal", "axis": None, "scale": {"domain": list(range(rows))}}


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
