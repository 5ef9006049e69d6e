"""Progress on a terminal: a row for each step. The running step has a bar, counts and seconds."""

from dataclasses import dataclass
from typing import Final, TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from rocketmq_capacity.progress import wording
from rocketmq_capacity.progress.progress import INFO, Display, ProgressStep

DRAWN_EACH_S: Final = 4
BAR_WIDTH: Final = 12


@dataclass(slots=True)
class _Row:
    """A step as it is shown; ``seconds`` once it has ended."""

    step: ProgressStep
    seconds: float | None = None


class Terminal(Display):
    """Live rows. Rich respects ``NO_COLOR``.

    Args:
        stream: the terminal.
        said: how the texts are said.
    """

    def __init__(self, stream: TextIO, said: wording.English = wording.IN_ENGLISH) -> None:
        self._said = said
        self._rows: list[_Row] = []
        self._spinner = Spinner("line")
        self._live = Live(
            get_renderable=self._table,
            console=Console(file=stream),
            refresh_per_second=DRAWN_EACH_S,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._is_over = False
        self._at_the_end: list[str] = []

    def begins(self, step: ProgressStep) -> None:
        """A row."""
        self._rows.append(_Row(step))
        self._live.start()

    def ends(self) -> None:
        """The row shows what was made."""
        self._rows[-1].seconds = self._rows[-1].step.seconds

    def tells(self, line: str, level: str) -> None:
        """A warning is shown above the rows; anything else below them at the end."""
        if level == INFO:
            self._at_the_end.append(self._said.words(line))
        else:
            self._live.console.print(self._said.words(line), style="yellow", markup=False, highlight=False)

    def closes(self) -> None:
        """The rows stay as they are."""
        self._is_over = True
        self._live.stop()
        for line in self._at_the_end:
            self._live.console.print(line, markup=False, highlight=False)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column()
        table.add_column(no_wrap=True)
        table.add_column(ratio=1)
        table.add_column(no_wrap=True, justify="right")
        for row in list(self._rows):
            seconds = wording.seconds(row.step.seconds if row.seconds is None else row.seconds)
            table.add_row(self._mark(row), Text(row.step.name), self._state(row), Text(seconds, "cyan"))
        return table

    def _mark(self, row: _Row) -> RenderableType:
        if row.seconds is not None:
            return Text("*", "green")
        return Text("x", "red") if self._is_over else self._spinner

    def _state(self, row: _Row) -> RenderableType:
        """The outcome; before the end of the step, how far its phase is."""
        phase = row.step.phase
        if row.seconds is not None:
            return Text(wording.outcome(row.step, self._said))
        if phase is None or phase.total is None:
            return Text(self._said.words(phase.name) if phase is not None else "")
        line = Table.grid(padding=(0, 1))
        counts = Text(f"{self._said.words(phase.name)} {wording.how_far(phase, self._said)}")
        line.add_row(ProgressBar(total=max(phase.total, 1), completed=phase.done, width=BAR_WIDTH), counts)
        return line
