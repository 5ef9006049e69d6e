"""The picture of shares over time: lanes as high as the shares, each with its words."""

import re
import xml.etree.ElementTree as ET

from rocketmq_capacity.report.lanes import HEIGHT, Lane, Step, lanes
from rocketmq_capacity.report.timeline import LABELS, TEXTS, WIDTH


def drawn(*found: Lane) -> ET.Element:
    return ET.fromstring(lanes(found, "c", "a title", "what is drawn"))


def a_lane(*steps: tuple[int, float, float]) -> Lane:
    made = tuple(Step(begin, 1, share, failed) for begin, share, failed in steps)
    return Lane("<b>all", "without", made, ("comes back", "nothing fails"))


def test_a_lane_is_as_high_as_its_shares_and_the_part_that_fails_is_drawn_over_it() -> None:
    share, failed = (
        path.attrib["d"] for path in drawn(a_lane((0, 0.5, 0.0), (1, 0.5, 0.25), (2, 0.0, 0.0))).iter("path")
    )
    third = (WIDTH - LABELS - TEXTS) / 3

    def at(second: float) -> str:
        return f"H{LABELS + second * third:.1f}"

    assert share == f"M{LABELS:.1f},{HEIGHT:.1f}{at(0)}V{HEIGHT / 2:.1f}{at(2)}V{HEIGHT:.1f}{at(3)}V{HEIGHT:.1f}Z"
    assert failed == f"M{LABELS:.1f},{HEIGHT:.1f}{at(1)}V{HEIGHT * 0.75:.1f}{at(2)}V{HEIGHT:.1f}{at(3)}V{HEIGHT:.1f}Z"


def test_every_lane_has_its_words_and_names_stay_text() -> None:
    picture = drawn(a_lane((0, 1.0, 0.0)))
    words = [text.text for text in picture.iter("text")]

    assert {"<b>all", "without", "comes back", "nothing fails"} <= set(words)
    assert picture.findtext("title") == "a title"


def test_the_same_lanes_give_the_same_bytes_with_short_numbers() -> None:
    lane = a_lane((0, 1 / 3, 0.0), (1, 2 / 3, 0.0))

    assert lanes([lane], "c", "t", "d") == lanes([lane], "c", "t", "d")
    assert not re.search(r"\d\.\d\d", str(lanes([lane], "c", "t", "d")).replace("0.75", ""))


def test_without_seconds_there_is_still_a_picture() -> None:
    assert len([*drawn(a_lane()).iter("path")]) == 2
