"""What a fuzz target is: one door for bytes from outside, and what may come out of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocketmq_capacity.errors import LONGEST_PLACE, LONGEST_PROBLEM, BadInput

CORPUS: Final = Path(__file__).parent / "corpus"
"""A folder for each target: inputs that were wrong once, and small ones of each kind. They belong to the tests."""
LONGEST_ERROR: Final = 8 * (LONGEST_PLACE + LONGEST_PROBLEM)
"""Characters of an error's line: place and problem, with escapes."""


@dataclass(frozen=True, slots=True)
class Target:
    """One door.

    Attributes:
        name: of its folder in the corpus.
        read: takes any bytes. It returns, and raises only what is a defect.
        seeds: real inputs, beside those in the corpus.
        longest: bytes of an input at most.
        share: of the executions of a long run; a slow target has less.
    """

    name: str
    read: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]] = lambda: iter(())
    longest: int = 4_096
    share: float = 1.0

    def kept(self) -> list[Path]:
        """The files of its corpus."""
        return sorted(file for file in (CORPUS / self.name).glob("*") if file.is_file())


def check_line(error: BadInput) -> None:
    """Check that an error is what a person gets: one line of moderate length that no terminal obeys."""
    line = str(error).removeprefix(error.source)
    assert line.isprintable(), line
    assert len(line) <= LONGEST_ERROR, len(line)
