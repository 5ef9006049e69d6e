"""Progress as plain lines: for logs, pipes and files."""

import time
from datetime import UTC, datetime
from typing import Final, TextIO

from rocketmq_capacity.progress import wording
from rocketmq_capacity.progress.progress import INFO, Display, Phase, Step

SILENT_AT_MOST_S: Final = 20.0
"""A log gets a line at least every half minute."""


class Lines(Display):
    """``2026-11-20T02:00:07Z INFO assess: groups: 1,000 of 10,003 after 20.0 s``.

    The first line is written together with the second one. So a refusal before the work begins is a single line.

    Args:
        stream: where they are written.
        silent_at_most_s: after this time without a line, one is written about the running phase.
    """

    def __init__(self, stream: TextIO, silent_at_most_s: float = SILENT_AT_MOST_S) -> None:
        self._stream, self._silent_at_most_s = stream, silent_at_most_s
        self._first: str | None = None
        self._written_at = time.monotonic()
        self._step = Step("")

    def begins(self, step: Step) -> None:
        """A line."""
        is_first, self._step = not self._step.name, step
        line = stamped(INFO, f"{step.name}: begins")
        if is_first:
            self._first = line
        else:
            self._write(line)

    def phase_begins(self, phase: Phase) -> None:
        """A line."""
        to_do = "" if phase.total is None else f", {phase.total:,} to do"
        self._say(f"{phase.name}: begins{to_do}")

    def looks(self) -> None:
        """A line if there has been none for a long time."""
        if time.monotonic() - self._written_at < self._silent_at_most_s:
            return
        step = self._step
        if step.phase is None:
            self._say(f"under way for {wording.seconds(step.seconds)}")
        else:
            far = wording.how_far(step.phase) or "under way"
            self._say(f"{step.phase.name}: {far} after {wording.seconds(step.phase.seconds)}")

    def phase_ends(self, phase: Phase) -> None:
        """A line."""
        done = "done" if phase.total is None else f"{phase.total:,} done"
        self._say(f"{phase.name}: {done} in {wording.seconds(phase.seconds)}")

    def ends(self) -> None:
        """A line."""
        step = self._step
        self._say(f"done in {wording.seconds(step.seconds)}: {wording.outcome(step)}")

    def tells(self, line: str, level: str) -> None:
        """A line."""
        self._write(stamped(level, line))

    def closes(self) -> None:
        """Nothing is left to do."""

    def _say(self, text: str) -> None:
        self._write(stamped(INFO, f"{self._step.name}: {text}"))

    def _write(self, line: str) -> None:
        first, self._first = self._first or "", None
        self._stream.write(first + line)
        self._stream.flush()
        self._written_at = time.monotonic()


def stamped(level: str, text: str) -> str:
    """A line of a log, with its end."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {level} {text}\n"
