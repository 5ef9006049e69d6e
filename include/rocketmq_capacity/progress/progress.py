"""Steps in sequence, each with phases. A display is called when they begin and end, and every second between."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Self

from rocketmq_capacity.progress.memory import held_bytes, root_of_program

LOOK_EVERY_S: Final = 1.0
MEASURING_SHARE: Final = 0.01
"""Of a core. The system walks through all pages to say how much memory is in use: 50 ms for 3 GB."""

INFO: Final = "INFO"
WARNING: Final = "WARNING"
ERROR: Final = "ERROR"


@dataclass(slots=True)
class Phase:
    """A part of a step that takes some time.

    Attributes:
        name: such as ``groups``.
        total: how many units there are to do; None if the phase has no units.
        counted: returns how many of them are done, if other processes do them.
        done: how many of them are done.
        begun_at: on the clock `time.monotonic`.
    """

    name: str
    total: int | None = None
    counted: Callable[[], int] | None = None
    done: int = 0
    begun_at: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.begun_at

    def looked_at(self) -> int:
        """How many units are done now. A repeated unit counts again, up to the total."""
        if self.counted is not None:
            self.done = min(self.counted(), self.total or 0)
        return self.done


@dataclass(slots=True)
class ProgressStep:
    """A step of the work.

    Attributes:
        name: such as ``assess``.
        outcome: its results, in a few words each.
        phase: the one that is running.
        peak_bytes: the most memory that the program was seen to use during the step; None if unknown.
        begun_at: on the clock `time.monotonic`.
    """

    name: str
    outcome: list[str] = field(default_factory=list)
    phase: Phase | None = None
    peak_bytes: int | None = None
    begun_at: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.begun_at

    def tells(self, outcome: str) -> None:
        """Add to the outcome, which is shown at its end."""
        self.outcome.append(outcome)


class Display:
    """The base of displays of the progress; this one shows nothing."""

    def begins(self, step: ProgressStep) -> None:
        """A step begins."""

    def phase_begins(self, phase: Phase) -> None:
        """A phase of the step begins."""

    def looks(self) -> None:
        """Called every second while the step runs, by another thread."""

    def phase_ends(self, phase: Phase) -> None:
        """The phase has succeeded."""

    def ends(self) -> None:
        """The step has succeeded."""

    def tells(self, line: str, level: str) -> None:
        """Something else that people should know."""

    def closes(self) -> None:
        """The last call."""


class Progress:
    """How far the work is.

    A context. While it is open, the display is called every second. Steps follow one another, and so do the phases of a
    step. If a body fails, its end is not shown; the error is.

    Args:
        display: None if nothing is to be shown.
    """

    def __init__(self, display: Display | None = None) -> None:
        self._display = display
        self._begun_at = time.monotonic()
        self._step: ProgressStep | None = None
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._measures_at = 0.0

    def __enter__(self) -> Self:
        if self._display is not None:
            self._looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._display is not None:
            self._looking.join()
            self._display.closes()

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.monotonic() - self._begun_at

    @contextmanager
    def step(self, name: str) -> Iterator[ProgressStep]:
        """The body is a step."""
        step = ProgressStep(name)
        if self._display is None:
            yield step
            return
        with self._lock:
            self._step = step
            self._display.begins(step)
        try:
            yield step
            self._measure(step)
            with self._lock:
                self._display.ends()
        finally:
            self._step = None

    @contextmanager
    def phase(self, name: str, total: int | None = None, counted: Callable[[], int] | None = None) -> Iterator[Phase]:
        """The body is a phase of the step.

        Args:
            name: of what is done.
            total: how many units there are to do.
            counted: returns how many of them are done, if the body does not count them itself.
        """
        step, phase = self._step, Phase(name, total, counted)
        if self._display is None or step is None:
            yield phase
            return
        with self._lock:
            step.phase = phase
            self._display.phase_begins(phase)
        try:
            yield phase
            with self._lock:
                self._display.phase_ends(phase)
        finally:
            step.phase = None

    def tell(self, line: str, level: str = WARNING) -> None:
        """Something else that people should know; a warning, unless the level is `INFO`."""
        if self._display is not None:
            with self._lock:
                self._display.tells(line, level)

    def _look(self) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            step = self._step
            if step is None or self._display is None:
                continue
            self._measure(step)
            with self._lock:
                if step is self._step:
                    self._display.looks()

    def _measure(self, step: ProgressStep) -> None:
        """Measure the memory, unless that was done a moment ago."""
        if step.peak_bytes is not None and time.monotonic() < self._measures_at:
            return
        begun_s = time.thread_time()
        held = held_bytes(root_of_program())
        self._measures_at = time.monotonic() + (time.thread_time() - begun_s) / MEASURING_SHARE
        if held is not None:
            step.peak_bytes = max(held, step.peak_bytes or 0)
