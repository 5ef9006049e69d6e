"""Charts as inline SVG."""

import xml.etree.ElementTree as ET

from rocketmq_capacity.report.charts import Drawing, PeakSpan, load_chart, overview_chart
from rocketmq_capacity.report.loads import COUNT, loads_of
from rocketmq_capacity.report.svg import inline_svg
from rocketmq_capacity.tables import ClientLoad
from tests.report.row_builders import a_load

CLIPPED = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "width": 50,
    "height": 50,
    "data": {"values": [{"x": 1}, {"x": 9}]},
    "mark": {"type": "bar", "clip": True},
    "encoding": {"x": {"field": "x", "type": "quantitative", "scale": {"domain": [0, 5]}}},
}


def parsed(drawing, chart_id="chart-1", title="Title", description="Description"):
    return ET.fromstring(inline_svg(drawing, chart_id, title, description))


def a_chart(clients=5):
    rows = [ClientLoad(**a_load("g", "AVG", f"c{n}@1", 1 + n)) for n in range(clients)]
    loads = loads_of(rows, COUNT, "AVG", None)
    assert loads
    return load_chart(loads)


def test_a_chart_has_a_name_and_a_description():
    root = parsed(a_chart(), "chart-1", "Queues <&> per client", "Bars.")

    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "chart-1-title chart-1-text"
    assert root.find("title[@id='chart-1-title']").text == "Queues <&> per client"
    assert root.find("desc[@id='chart-1-text']").text == "Bars."


def test_charts_of_one_page_share_no_id():
    drawing = Drawing(CLIPPED, 60, 60)
    charts = [parsed(drawing, name) for name in ("chart-1", "chart-2")]

    ids = [{element.get("id") for element in chart.iter() if element.get("id")} for chart in charts]
    uses = [{e.get("clip-path")[5:-1] for e in chart.iter() if e.get("clip-path")} for chart in charts]

    assert not ids[0] & ids[1]
    assert len(ids[0]) == 3
    assert all(used and used <= known for used, known in zip(uses, ids, strict=True))


def test_the_same_chart_is_the_same_bytes():
    first, second = (inline_svg(a_chart(), "chart-1", "t", "d") for _ in range(2))

    assert first == second


def test_a_chart_takes_its_colours_from_the_page_and_its_size_from_its_rows():
    small, big = (parsed(a_chart(clients)) for clients in (4, 8))
    fills = {e.get("fill") for e in small.iter() if e.get("fill") not in {None, "none", "transparent"}}

    assert fills == {"var(--text)", "var(--muted)", "var(--bar)", "var(--halo)"}
    assert int(big.get("height")) > int(small.get("height"))
    assert big.get("width") == small.get("width")


def test_bars_are_as_long_as_their_values():
    root = parsed(a_chart(4))

    bars = [e.get("d") for e in root.iter("path") if e.get("fill") == "var(--bar)"]
    lengths = [float(path.split("h")[1].split("v")[0]) for path in bars]

    assert [round(length / lengths[-1]) for length in lengths] == [4, 3, 2, 1]


def test_the_overview_has_a_line_for_every_group_even_without_an_alternative():
    spans = [PeakSpan("g_a", 3.0, 1.0, 1.5, is_best=False), PeakSpan("g_b", 2.0, 1.25, None, is_best=True)]

    root = parsed(overview_chart(spans))

    texts = ["".join(e.itertext()) for e in root.iter("text")]
    assert {"g_a", "g_b", "3", "2"} <= set(texts)
    assert len([e for e in root.iter("path") if e.get("stroke") == "var(--bar-alternative)"]) == 1
