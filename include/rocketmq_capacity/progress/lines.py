"""Progress as plain lines: for logs, pipes and files."""

import time
from datetime import UTC, datetime
from typing import Final, TextIO

from rocketmq_capacity.progress import wording
from rocketmq_capacity.progress.progress import INFO, Display, Phase, ProgressStep

SILENT_AT_MOST_S: Final = 20.0
"""A log gets a line at least every half minute."""


class LogLines(Display):
    """``2026-11-20T02:00:07Z INFO assess: groups: 1,000 of 10,003 after 20.0 s``.

    The first line is written together with the second one. So a refusal before the work begins is a single line.

    Args:
        stream: where they are written.
        silent_at_most_s: after this time without a line, one is written about the running phase.
        said: how the texts are said.
    """

    def __init__(
        self, stream: TextIO, silent_at_most_s: float = SILENT_AT_MOST_S, said: wording.English = wording.IN_ENGLISH
    ) -> None:
        self._stream, self._silent_at_most_s, self._said = stream, silent_at_most_s, said
        self._first: str | None = None
        self._written_at = time.monotonic()
        self._step = ProgressStep("")

    def begins(self, step: ProgressStep) -> None:
        """A line."""
        is_first, self._step = not self._step.name, step
        line = stamped(INFO, self._said.phrase("{name}: begins", name=step.name))
        if is_first:
            self._first = line
        else:
            self._write(line)

    def phase_begins(self, phase: Phase) -> None:
        """A line."""
        name = self._said.words(phase.name)
        if phase.total is None:
            self._say(self._said.phrase("{name}: begins", name=name))
        else:
            self._say(self._said.phrase("{name}: begins, {total} to do", name=name, total=f"{phase.total:,}"))

    def looks(self) -> None:
        """A line if there has been none for a long time."""
        if time.monotonic() - self._written_at < self._silent_at_most_s:
            return
        step = self._step
        if step.phase is None:
            self._say(self._said.phrase("under way for {time}", time=wording.seconds(step.seconds)))
        else:
            name, seconds = self._said.words(step.phase.name), wording.seconds(step.phase.seconds)
            far = wording.how_far(step.phase, self._said) or self._said.phrase("under way")
            self._say(self._said.phrase("{name}: {far} after {time}", name=name, far=far, time=seconds))

    def phase_ends(self, phase: Phase) -> None:
        """A line."""
        name, seconds = self._said.words(phase.name), wording.seconds(phase.seconds)
        if phase.total is None:
            self._say(self._said.phrase("{name}: done in {time}", name=name, time=seconds))
        else:
            total = f"{phase.total:,}"
            self._say(self._said.phrase("{name}: {total} done in {time}", name=name, total=total, time=seconds))

    def ends(self) -> None:
        """A line."""
        step = self._step
        outcome = wording.outcome(step, self._said)
        self._say(self._said.phrase("done in {time}: {outcome}", time=wording.seconds(step.seconds), outcome=outcome))

    def tells(self, line: str, level: str) -> None:
        """A line."""
        self._write(stamped(level, self._said.words(line)))

    def closes(self) -> None:
        """Nothing is left to do."""

    def _say(self, text: str) -> None:
        self._write(stamped(INFO, self._said.phrase("{name}: {text}", name=self._step.name, text=text)))

    def _write(self, line: str) -> None:
        first, self._first = self._first or "", None
        self._stream.write(first + line)
        self._stream.flush()
        self._written_at = time.monotonic()


def stamped(level: str, text: str) -> str:
    """A line of a log, with its end."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {level} {text}\n"
