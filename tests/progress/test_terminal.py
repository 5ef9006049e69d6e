"""Progress on a terminal."""

import re
import time
from io import StringIO
from typing import Final

import pytest

from rocketmq_capacity.progress.on_stream import progress_on

COLOUR: Final = re.compile(r"\x1b\[(?:\d+;)*3\dm")
CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Screen(StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def drawn(stream: Screen) -> str:
    """All that was drawn, one drawing after the other, without colours and moves."""
    return CONTROL.sub("", stream.getvalue())


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary terminal of 100 columns."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def wait_for(text: str, screen: Screen) -> None:
    """Wait until it is drawn."""
    deadline = time.monotonic() + 300
    while text not in drawn(screen):
        assert time.monotonic() < deadline, drawn(screen)
        time.sleep(0.05)


def shown() -> Screen:
    """Two steps, a warning and where the result is."""
    screen = Screen()
    with progress_on(screen) as progress:
        with progress.step("assess") as step:
            with progress.phase("groups", 30) as phase:
                phase.done = 12
                wait_for("groups 12 of 30", screen)
                progress.tell("[nobody] offers a core")
            step.tells("findings: 3 CRITICAL")
        with progress.step("publish"):
            pass
        progress.tell("plan: done, in out", "INFO")
    return screen


def test_each_step_has_a_row_with_its_outcome_and_seconds() -> None:
    text = drawn(shown())
    assert "[nobody] offers a core" in text
    *_, assess, publish, result = text.splitlines()
    assert re.fullmatch(r"\* assess +findings: 3 CRITICAL; peak memory [\d,]+ MiB +\d+\.\d s *", assess)
    assert re.fullmatch(r"\* publish +peak memory [\d,]+ MiB +\d+\.\d s *", publish)
    assert result == "plan: done, in out"


def test_colours_are_there_and_go_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    assert COLOUR.search(shown().getvalue())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(shown().getvalue())


def test_a_step_that_fails_is_marked() -> None:
    screen = Screen()
    with pytest.raises(ValueError, match="broker"), progress_on(screen) as progress, progress.step("assess"):
        raise ValueError("no such broker")
    assert drawn(screen).splitlines()[-1].startswith("x assess")


def test_what_is_refused_before_a_step_begins_draws_nothing() -> None:
    screen = Screen()
    with progress_on(screen):
        pass
    assert screen.getvalue() == ""


def test_a_terminal_that_cannot_draw_anew_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    screen = Screen()
    with progress_on(screen) as progress, progress.step("assess"):
        pass
    assert "\x1b" not in screen.getvalue()
    assert "INFO assess: begins\n" in screen.getvalue()
