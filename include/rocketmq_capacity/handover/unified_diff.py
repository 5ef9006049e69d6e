"""A unified diff, from lines and what changes in them. ``git apply`` and ``patch`` take it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

CONTEXT: Final = 3
"""Unchanged lines around a change."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one line, or a new line.

    Attributes:
        at: index of the line that changes, or before which the new one comes.
        line: the line as it is to be.
        is_new: whether it comes between others.
    """

    at: int
    line: str
    is_new: bool

    @property
    def end(self) -> int:
        """The index of the first line behind it."""
        return self.at + (not self.is_new)


def unified_diff(file: str, lines: Sequence[str], edits: Iterable[Edit]) -> str:
    """The diff of a file with these lines; empty without edits, which are sorted and do not overlap.

    Lines have no ends; each of them ends with a newline in the file.
    """
    hunks: list[str] = []
    new = 0
    for together in _near(edits):
        hunks += _hunk(lines, together, new)
        new += sum(edit.is_new for edit in together)
    head = [f"--- a/{file}", f"+++ b/{file}"] if hunks else []
    return "".join(f"{line}\n" for line in (*head, *hunks))


def _near(edits: Iterable[Edit]) -> Iterator[list[Edit]]:
    """The edits of each hunk: those whose contexts touch."""
    together: list[Edit] = []
    for edit in edits:
        if together and edit.at - together[-1].end > 2 * CONTEXT:
            yield together
            together = []
        together.append(edit)
    if together:
        yield together


def _hunk(lines: Sequence[str], edits: Sequence[Edit], new: int) -> Iterator[str]:
    """The lines of a hunk, behind so many new ones of earlier hunks."""
    start, end = max(0, edits[0].at - CONTEXT), min(len(lines), edits[-1].end + CONTEXT)
    more = sum(edit.is_new for edit in edits)
    yield f"@@ -{start + 1},{end - start} +{start + 1 + new},{end - start + more} @@"
    position = start
    for edit in edits:
        yield from (f" {line}" for line in lines[position : edit.at])
        yield from (f"-{line}" for line in lines[edit.at : edit.end])
        yield f"+{edit.line}"
        position = edit.end
    yield from (f" {line}" for line in lines[position:end])
