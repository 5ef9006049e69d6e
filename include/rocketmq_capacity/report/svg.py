"""A chart's specification -> inline SVG: one image with a name and a description, the same bytes for the same input."""

import re
import xml.etree.ElementTree as ET  # parses what vl-convert has just written, nothing from outside
from typing import Final

import vl_convert
from markupsafe import Markup

from rocketmq_capacity.language.current import words
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.report.charts import Drawing, Spec

VEGA_LITE: Final = "6.4"
KEPT_ATTRIBUTES: Final = frozenset({
    "clip-path",
    "d",
    "display",
    "fill",
    "fill-opacity",
    "font-size",
    "font-weight",
    "height",
    "id",
    "opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-miterlimit",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "transform",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
})
"""Attributes that draw; all others (classes, roles of the parts, event handlers) are removed."""
KEPT_ELEMENTS: Final = frozenset({"svg", "g", "path", "line", "text", "tspan", "rect", "circle", "clipPath", "defs"})
REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")
LONG_FRACTION: Final = re.compile(r"(\d+\.\d{2})\d+")
EMPTY_PATHS: Final = frozenset({"", "M0,0h0v0h0Z"})


def inline_svg(drawing: Drawing, chart_id: str, title: str, description: str) -> Markup:
    """The chart as mark-up for the page.

    ``chart_id`` must be unique on the page. Every id inside the image begins with it, so that no two charts share one.
    Errors: what vl-convert raises for a specification that is not Vega-Lite.
    """
    root = ET.fromstring(_drawn(drawing.spec))  # noqa: S314  # what vl-convert has just written
    _clean(root, chart_id)
    root.attrib.clear()
    root.attrib.update({
        "class": "chart",
        "role": "img",
        "aria-labelledby": f"{chart_id}-title {chart_id}-text",
        "viewBox": f"0 0 {drawing.width} {drawing.height}",
        "width": str(drawing.width),
        "height": str(drawing.height),
    })
    for index, (name, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(name, {"id": f"{chart_id}-{'text' if name == 'desc' else name}"})
        element.text = visible(words(text))
        root.insert(index, element)
    return Markup(ET.tostring(root, encoding="unicode", short_empty_elements=False))  # noqa: S704  # ElementTree has escaped it


def start_to_draw() -> None:
    """Draw nothing: the first chart of a process takes 0.3 s longer than the others."""
    _drawn({"data": {"values": []}, "mark": "bar"})


def _drawn(spec: Spec) -> str:
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])


def _clean(element: ET.Element, chart_id: str) -> None:
    element.tag = element.tag.rpartition("}")[2]  # SVG inside HTML needs no namespace
    for name in list(element.attrib):
        if name not in KEPT_ATTRIBUTES:
            del element.attrib[name]
    for name, value in element.attrib.items():
        element.attrib[name] = LONG_FRACTION.sub(r"\1", REFERENCE.sub(rf"url(#{chart_id}-\1)", value))
    if "id" in element.attrib:
        element.attrib["id"] = f"{chart_id}-{element.attrib['id']}"
    for child in list(element):
        _clean(child, chart_id)
        is_empty = child.tag == "path" and _draws_nothing(child)
        if child.tag not in KEPT_ELEMENTS or is_empty or (child.tag == "g" and len(child) == 0):
            element.remove(child)


def _draws_nothing(path: ET.Element) -> bool:
    return path.attrib.get("d", "") in EMPTY_PATHS or not {"fill", "stroke"} & path.attrib.keys()
