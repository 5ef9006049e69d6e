"""The picture of a change that spreads: bars as long as their seconds, and every one in words."""

import xml.etree.ElementTree as ET

from rocketmq_capacity.report.timeline import EDGE, WIDTH, Stretch, TimelineRow, timeline

LONGEST = WIDTH - 2 * EDGE


def drawn(*courses: TimelineRow) -> ET.Element:
    return ET.fromstring(timeline(courses, "c", "a title", "what is drawn"))


def a_course(name: str, *stretches: tuple[str, float, float | None]) -> TimelineRow:
    return TimelineRow(name, tuple(Stretch(words, "red", worst, mean) for words, worst, mean in stretches))


def widths(picture: ET.Element) -> list[float]:
    return [float(bar.attrib["width"]) for bar in picture.iter("rect")]


def test_a_bar_is_as_long_as_its_seconds_and_the_average_is_a_part_of_it() -> None:
    picture = drawn(a_course("g", ("unread", 100, 25), ("read twice", 50, None)))

    assert widths(picture) == [LONGEST, LONGEST / 4, LONGEST / 2]


def test_every_bar_has_a_description_in_words() -> None:
    words = [text.text for text in drawn(a_course("g", ("unread", 62.5, 20), ("read twice", 5, None))).iter("text")]

    assert "unread 20 s, at most 62.5 s" in words
    assert "read twice at most 5 s" in words


def test_the_axis_begins_at_0_and_has_few_whole_marks() -> None:
    marks = [text.text for text in drawn(a_course("g", ("unread", 153, None))).iter("text")][:5]

    assert marks == ["0", "60", "120", "Seconds after the change", "g"]


def test_the_picture_has_a_name_and_a_description_and_names_stay_text() -> None:
    picture = drawn(a_course("<b>&\u202e", ("unread", 1, None)))

    assert picture.attrib["aria-labelledby"] == "c-title c-text"
    assert picture.findtext("title") == "a title"
    assert "<b>&[U+202E]" in [text.text for text in picture.iter("text")]
    assert not list(picture.iter("b"))


def test_a_change_without_any_wait_still_has_a_picture() -> None:
    assert widths(drawn(a_course("g", ("unread", 0.0, 0.0)))) == [1, 1]
    assert len(list(drawn().iter("text"))) >= 1
