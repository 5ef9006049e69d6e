"""Progress as lines."""

import re
from io import StringIO
from typing import Final

from rocketmq_capacity.progress.lines import LogLines
from rocketmq_capacity.progress.on_stream import progress_on
from rocketmq_capacity.progress.progress import INFO, Phase, ProgressStep

STAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (INFO|WARNING) ")
FIGURES: Final = re.compile(r"\d+(?:\.\d)? s\b|peak memory [\d,]+ MiB")


def without_figures(stream: StringIO) -> list[str]:
    """What the lines say, without their moments, seconds and bytes."""
    lines = stream.getvalue().splitlines()
    assert all(STAMP.match(line) for line in lines)
    return [FIGURES.sub("*", STAMP.sub("", line)) for line in lines]


def test_each_step_and_each_phase_has_a_line_for_its_beginning_and_for_its_end() -> None:
    stream = StringIO()
    with progress_on(stream) as progress:
        with progress.step("assess") as step:
            with progress.phase("Spark starts"):
                pass
            with progress.phase("groups", 10_003):
                pass
            step.tells("findings: 3 CRITICAL, 1 WARNING, 0 INFO")
        progress.tell("assess: the tables are in /lake/shop/r1/tables", INFO)

    assert without_figures(stream) == [
        "assess: begins",
        "assess: Spark starts: begins",
        "assess: Spark starts: done in *",
        "assess: groups: begins, 10,003 to do",
        "assess: groups: 10,003 done in *",
        "assess: done in *: findings: 3 CRITICAL, 1 WARNING, 0 INFO; *",
        "assess: the tables are in /lake/shop/r1/tables",
    ]


def test_what_is_refused_before_anything_is_done_leaves_no_line() -> None:
    stream = StringIO()
    lines = LogLines(stream)
    lines.begins(ProgressStep("collect"))
    lines.closes()
    assert stream.getvalue() == ""


def test_the_first_beginning_is_written_with_the_next_line() -> None:
    stream = StringIO()
    lines = LogLines(stream)
    lines.begins(ProgressStep("collect"))
    lines.tells("a broker is slow", "WARNING")
    assert without_figures(stream) == ["collect: begins", "a broker is slow"]


def test_a_step_without_news_for_long_says_how_far_it_is() -> None:
    stream = StringIO()
    lines = LogLines(stream, silent_at_most_s=0)
    step = ProgressStep("assess")
    lines.begins(step)
    lines.looks()
    for step.phase in (Phase("Spark starts"), Phase("groups", 10_003, lambda: 1_000)):
        lines.looks()

    assert without_figures(stream) == [
        "assess: begins",
        "assess: under way for *",
        "assess: Spark starts: under way after *",
        "assess: groups: 1,000 of 10,003 after *",
    ]


def test_a_step_with_news_says_nothing_between() -> None:
    stream = StringIO()
    lines = LogLines(stream)
    lines.begins(ProgressStep("assess"))
    lines.phase_begins(Phase("groups", 3))
    before = stream.getvalue()
    lines.looks()
    assert stream.getvalue() == before


def test_whoever_wants_nothing_gets_nothing() -> None:
    stream = StringIO()
    with progress_on(stream, quiet=True) as progress, progress.step("assess"), progress.phase("groups", 3):
        progress.tell("nobody offers a core")
    assert stream.getvalue() == ""
