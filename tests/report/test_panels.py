"""Pictures of figures over time: lines with gaps, levels, marks and the days below."""

import re
import xml.etree.ElementTree as ET
from typing import Any

from rocketmq_capacity.report.panels import (
    DAY_S,
    HEIGHT,
    HOUR_S,
    LEFT,
    MOST_TIMES,
    RIGHT,
    TITLE,
    Level,
    Mark,
    Panel,
    PanelLine,
    panels,
)
from rocketmq_capacity.report.timeline import WIDTH

COLOUR = "var(--bar)"


def drawn(*made: Panel, marks: tuple[Mark, ...] = ()) -> ET.Element:
    return ET.fromstring(panels(made, "c", "a title", "what is drawn", marks))


def paths(picture: ET.Element, colour: str) -> list[str]:
    return [path.attrib["d"] for path in picture.iter("path") if path.get("stroke") == colour]


def points(path: str) -> list[list[tuple[float, float]]]:
    """The lines of a path, as the points that they go through."""
    lines: list[list[tuple[float, float]]] = []
    for kind, given in re.findall(r"([Mlh])([^Mlh]*)", path):
        x, y = (*map(float, given.split()), 0.0)[:2]
        if kind == "M":
            lines.append([(x, y)])
        elif given != "0":
            (last_x, last_y) = lines[-1][-1]
            lines[-1].append((round(last_x + x, 1), round(last_y + y, 1)))
    return lines


def texts(picture: ET.Element) -> list[str]:
    return [text.text or "" for text in picture.iter("text")]


def a_panel(*values: float | None, **members: Any) -> Panel:
    points = [(float(hour * 3_600), value) for hour, value in enumerate(values)]
    return Panel("messages/s", (PanelLine(points, COLOUR),), **members)


def test_a_line_goes_from_the_first_moment_to_the_last_and_to_the_end_of_a_plain_scale() -> None:
    picture = drawn(a_panel(0.0, 150.0, 200.0))
    middle, end = LEFT + (WIDTH - LEFT - RIGHT) / 2, WIDTH - RIGHT
    (path,) = paths(picture, COLOUR)
    assert points(path) == [[(LEFT, TITLE + HEIGHT), (middle, TITLE + HEIGHT / 4), (end, TITLE)]]
    assert {"0", "100", "200", "messages/s"} <= set(texts(picture))


def test_what_is_unknown_interrupts_a_line_and_a_single_moment_is_a_dot() -> None:
    (path,) = paths(drawn(a_panel(1.0, None, 1.0)), COLOUR)
    assert re.sub(r"[\d.]+ [\d.]+", "", path) == "Mh0Mh0"


def test_moments_that_are_far_apart_are_not_joined() -> None:
    line = PanelLine([(0.0, 1.0), (10.0, 1.0), (100.0, 1.0)], COLOUR, gap_s=10.0)
    (path,) = paths(drawn(Panel("x", (line,))), COLOUR)
    assert [len(line) for line in points(path)] == [2, 1]


def test_points_at_one_height_are_one_piece_of_a_long_line_that_ends_where_it_should() -> None:
    values = [1.0, 1.0, 1.0, 2.0, *(value / 7 for value in range(200)), 3.0, 3.0]
    (path,) = paths(drawn(a_panel(*values)), COLOUR)
    (line,) = points(path)
    assert len(line) == len(values) - 1
    assert line[0][1] == line[1][1]
    assert line[-1][0] == WIDTH - RIGHT


def test_a_large_number_of_an_axis_is_in_millions_and_more() -> None:
    assert {"0", "1 M", "2 M"} <= set(texts(drawn(a_panel(0.0, 2_000_000.0))))
    assert {"0", "500,000", "1 M"} <= set(texts(drawn(a_panel(0.0, 1_000_000.0))))
    assert {"0", "1.5 G", "3 G"} <= set(texts(drawn(a_panel(0.0, most=3e9))))


def test_a_level_is_drawn_unless_it_is_far_above_all_values() -> None:
    assert "too much" in texts(drawn(a_panel(10.0, 20.0, levels=(Level(40.0, "too much"),))))
    far = drawn(a_panel(10.0, 20.0, levels=(Level(41.0, "too much"),)))
    assert "too much" not in texts(far)
    assert not paths(far, "var(--critical-line)")


def test_an_axis_of_percentages_is_of_the_value_that_is_the_whole() -> None:
    assert {"0 %", "25 %", "50 %"} <= set(texts(drawn(a_panel(10.0, 20.0, whole=40.0))))


def below(first_s: float, last_s: float) -> list[str]:
    """The days or times that a picture names below."""
    picture = drawn(Panel("x", (PanelLine([(first_s, 1.0), (last_s, 1.0)], COLOUR),)))
    return [text for text in texts(picture) if re.fullmatch(r"\d\d[-:]\d\d", text)]


def test_days_are_named_at_their_midnights_and_only_as_many_as_have_room() -> None:
    assert below(DAY_S / 2, 2.5 * DAY_S) == ["01-02", "01-03"]
    for days in range(2, 400):
        assert 2 <= len(below(DAY_S / 3, (days + 1 / 3) * DAY_S)) <= MOST_TIMES
    assert below(0.0, 5.0 * DAY_S) == ["01-01", "01-02", "01-03", "01-04", "01-05", "01-06"]


def test_of_a_day_or_two_times_of_day_are_named() -> None:
    assert below(2 * HOUR_S, 14 * HOUR_S) == ["03:00", "06:00", "09:00", "12:00"]
    assert below(0.0, 2 * DAY_S - 1) == ["00:00", "12:00", "00:00", "12:00"]
    assert below(600.0, 1_200.0) == []


def test_a_mark_has_its_number_and_one_of_another_time_is_left_out() -> None:
    picture = drawn(a_panel(1.0, 1.0), marks=(Mark(1_800.0, 1), Mark(9_000.0, 2)))
    assert len(paths(picture, "var(--info-line)")) == 1


def test_names_stay_text() -> None:
    picture = drawn(Panel("<b>&\u202e", (PanelLine([(0.0, 1.0)], COLOUR),)))
    assert "<b>&[U+202E]" in texts(picture)
